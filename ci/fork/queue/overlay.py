"""Our own modules, which go into the wheel beside upstream's."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from fork.assembly.archive import WheelArchive
from fork.assembly.version import source_files
from fork.errors import ForkError
from fork.layout import Layout
from fork.queue.patch import Patch

__all__ = ["OverlayError", "overlay_faults", "overlay_files", "patch_faults", "read_overlay", "shipped_files"]


class OverlayError(ForkError):
    """An overlay file hides an upstream file or has no place in the wheel."""

    exit_code = 14


def overlay_faults(folder: Path, layout: Layout, shipped: Collection[str]) -> list[str]:
    """List the overlay files that hide what upstream ships, or that have no place in the wheel.

    :param folder: ``overlay/<lane>``; may be missing.
    :param shipped: Paths in the wheel of everything else that goes into it.
    """
    faults = []
    for path in source_files(folder):
        name = path.relative_to(folder).as_posix()
        place = layout.to_wheel(name)
        if place is None:
            faults.append(f"the overlay file '{name}' has no place in the wheel; put it below python/triton/")
        elif place in shipped:
            faults.append(f"the overlay file '{name}' hides an upstream file; change that one with a patch")
        elif clash := next((other for other in _same_module(place) if other in shipped), None):
            faults.append(f"the overlay file '{name}' is imported under the name of upstream's '{clash}'")
    return faults


def patch_faults(folder: Path, patches: Iterable[Patch], base: Iterable[str]) -> list[str]:
    """List the patches that make or change a file of the overlay, or make one in a folder that only the overlay has.

    :param folder: ``overlay/<lane>``; may be missing.
    :param base: Paths in the checkout of what the base has.
    """
    known = {str(parent) for name in base for parent in PurePosixPath(name).parents}
    own = {path.relative_to(folder).as_posix() for path in source_files(folder)}
    folders = {str(parent) for name in own for parent in PurePosixPath(name).parents} - known
    return [
        f"'{patch.name}' makes or changes '{file}', which belongs to the overlay; put it into {folder.parent.name}/{folder.name}/"
        for patch in patches
        for file in patch.files
        if file in own or any(str(parent) in folders for parent in PurePosixPath(file).parents)
    ]


def _same_module(place: str) -> list[str]:
    """Name the files that define a module of the same name: a package hides a module, an extension both."""
    module = place.removesuffix("/__init__.py").removesuffix(".py")
    return [f"{module}.py", f"{module}/__init__.py", f"{module}.so"] if place.endswith(".py") else []


def shipped_files(base_wheel: Path, layout: Layout, tree: Iterable[str]) -> set[str]:
    """List what goes into a wheel besides the overlay: what the base ships, and what the queue adds.

    :param tree: Paths in the checkout of the patched tree.
    """
    with WheelArchive.open(base_wheel) as archive:
        members = {member.filename for member in archive.members}
    return members | {place for name in tree if (place := layout.to_wheel(name))}


def read_overlay(folder: Path, layout: Layout, shipped: Collection[str]) -> dict[str, bytes]:
    """Read the overlay.

    :param shipped: See :func:`overlay_faults`.
    :returns: Path in the wheel -> content.
    :raises OverlayError: A file hides one of upstream, or is not below a folder that the wheel ships.
    """
    faults = overlay_faults(folder, layout, shipped)
    if faults:
        raise OverlayError("; ".join(faults), "move the file, or make its change a patch of the queue")
    return overlay_files(folder, layout)


def overlay_files(folder: Path, layout: Layout) -> dict[str, bytes]:
    """Read the files of an overlay that have a place in the wheel, by that place."""
    places = {layout.to_wheel(path.relative_to(folder).as_posix()): path for path in source_files(folder)}
    return {place: path.read_bytes() for place, path in places.items() if place}
