"""Our own modules, which go into the wheel beside upstream's."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from fork.assembly.version import source_files
from fork.errors import ForkError
from fork.layout import Layout

__all__ = ["OverlayError", "overlay_faults", "read_overlay"]


class OverlayError(ForkError):
    """An overlay file hides an upstream file or has no place in the wheel."""

    exit_code = 14


def overlay_faults(folder: Path, upstream: Collection[str]) -> list[str]:
    """List the overlay files that hide an upstream file.

    :param folder: ``overlay/<lane>``; may be missing.
    :param upstream: Paths in the checkout of all files of the patched tree.
    """
    names = [path.relative_to(folder).as_posix() for path in source_files(folder)]
    return [
        f"the overlay file '{name}' hides an upstream file; change that one with a patch"
        for name in names
        if name in upstream
    ]


def read_overlay(folder: Path, layout: Layout, upstream: Collection[str]) -> dict[str, bytes]:
    """Read the overlay.

    :returns: Path in the wheel -> content.
    :raises OverlayError: A file hides one of upstream, or is not below a folder that the wheel ships.
    """
    faults = overlay_faults(folder, upstream)
    content: dict[str, bytes] = {}
    for path in source_files(folder):
        name = path.relative_to(folder).as_posix()
        place = layout.to_wheel(name)
        if place is None:
            faults.append(f"the overlay file '{name}' has no place in the wheel; put it below python/triton/")
        else:
            content[place] = path.read_bytes()
    if faults:
        raise OverlayError("; ".join(faults), "move the file, or make its change a patch of the queue")
    return content
