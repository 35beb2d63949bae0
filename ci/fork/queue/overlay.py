"""Our own modules, which go into the wheel beside upstream's.

They lie in two folders, ``overlay/common`` and ``overlay/<lane>``. The wheel gets their union. Neither folder may hide a file of
the other: which of two files a lane is built from must not depend on an order that nobody sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from fork.archive.wheels import WheelArchive
from fork.errors import ForkError
from fork.layout import Layout
from fork.queue.mirrors import MIRRORS
from fork.queue.patch import Patch

__all__ = [
    "OverlayError",
    "overlay_faults",
    "overlay_files",
    "patch_faults",
    "read_overlay",
    "shipped_files",
    "source_files",
]


class OverlayError(ForkError):
    """An overlay file hides another file or has no place in the wheel."""

    exit_code = 14


def overlay_faults(folders: Sequence[Path], layout: Layout, shipped: Collection[str]) -> list[str]:
    """List the overlay files that hide what upstream ships or another file of the overlay, or that have no place in the wheel.

    :param folders: ``overlay/common`` and ``overlay/<lane>``; each may be missing.
    :param shipped: Paths in the wheel of everything else that goes into it.
    """
    files = [name for name, _ in _sources(folders)]
    own = {place for name in files if (place := layout.to_wheel(name))}
    where = " and ".join(folder.name for folder in folders)
    faults = [f"the overlay file '{name}' is in both {where}" for name, count in Counter(files).items() if count > 1]
    for name in dict.fromkeys(files):
        place = layout.to_wheel(name)
        if place is None:
            faults.append(f"the overlay file '{name}' has no place in the wheel; put it below python/triton/")
        elif place in shipped:
            faults.append(f"the overlay file '{name}' hides an upstream file; change that one with a patch")
        elif clash := next((other for other in _same_module(place) if other in shipped), None):
            faults.append(f"the overlay file '{name}' is imported under the name of upstream's '{clash}'")
        elif clash := next((other for other in _same_module(place) if other in own - {place}), None):
            faults.append(f"the overlay file '{name}' is imported under the name of '{clash}' in the overlay")
    return faults


def patch_faults(folders: Sequence[Path], patches: Iterable[Patch], base: Iterable[str]) -> list[str]:
    """List the patches that make or change a file of the overlay, or make one in a folder that only the overlay has.

    :param folders: ``overlay/common`` and ``overlay/<lane>``; each may be missing.
    :param base: Paths in the checkout of what the base has.
    """
    known = {str(parent) for name in base for parent in PurePosixPath(name).parents}
    own = {name for name, _ in _sources(folders)}
    inside = {str(parent) for name in own for parent in PurePosixPath(name).parents} - known
    where = " or ".join(f"{folder.parent.name}/{folder.name}/" for folder in folders)
    return [
        f"'{patch.name}' makes or changes '{file}', which belongs to the overlay; put it into {where}"
        for patch in patches
        for file in patch.files
        if file in own or any(str(parent) in inside for parent in PurePosixPath(file).parents)
    ]


def source_files(folder: Path) -> list[Path]:
    """List the files below a folder, sorted, leaving out hidden ones, what Python leaves behind, and the mirror lock.

    :returns: Empty where there is no folder.
    """
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path != folder / MIRRORS
        and not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
    ]


def _sources(folders: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Give each file of the overlay with its path in a checkout."""
    for folder in folders:
        for path in source_files(folder):
            yield path.relative_to(folder).as_posix(), path


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


def read_overlay(folders: Sequence[Path], layout: Layout, shipped: Collection[str]) -> dict[str, bytes]:
    """Read the overlay.

    :param folders: ``overlay/common`` and ``overlay/<lane>``; each may be missing.
    :param shipped: See :func:`overlay_faults`.
    :returns: Path in the wheel -> content.
    :raises OverlayError: A file hides another, or is not below a folder that the wheel ships.
    """
    faults = overlay_faults(folders, layout, shipped)
    if faults:
        raise OverlayError("; ".join(faults), "move the file, or make its change a patch of the queue")
    return overlay_files(folders, layout)


def overlay_files(folders: Iterable[Path], layout: Layout) -> dict[str, bytes]:
    """Read the files of an overlay that have a place in the wheel, by that place."""
    places = {layout.to_wheel(name): path for name, path in _sources(folders)}
    return {place: path.read_bytes() for place, path in places.items() if place}
