"""From the pin and the queue to verified wheels and an index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fork.archive.wheels import WheelArchive
from fork.assembly.provenance import Origin
from fork.assembly.version import DECIDING, Ingredients, fork_version
from fork.assembly.wheel import Changes, Plan, assemble, wheel_name
from fork.config import BaseWheel, Lane
from fork.errors import ForkError
from fork.git import Git
from fork.layout import Layout
from fork.native import build_native, native_environment
from fork.project import Project
from fork.publishing import Built, publish, write_and_report
from fork.queue.imports import ImportsError, lane_import_faults
from fork.queue.overlay import read_overlay, shipped_files
from fork.queue.patch import Patch
from fork.queue.series import read_lock, read_series
from fork.queue.tree import apply_series, lay_out
from fork.repository import source_of

__all__ = [
    "Prepared",
    "build_wheels",
    "check_imports",
    "gather_ingredients",
    "has_native",
    "license_files",
    "native_extensions",
    "prepare",
    "rebuild_faults",
]

Step = Callable[[str], None]

# Files at the top of the checkout that go into every wheel.
_LICENSES = ("LICENSE", "NOTICE")


class BaseMismatchError(ForkError):
    """The base wheels of a lane do not carry the same sources, so one patched tree cannot serve them all."""

    exit_code = 23


@dataclass(frozen=True)
class Prepared:
    """What all wheels of a build have in common.

    :param lane: The lane.
    :param patches: The series.
    :param ingredients: What the version's digest covers.
    :param version: The version of the wheels.
    :param changes: What differs from the base, without the native extension.
    :param native: The native extension by machine: path in the wheel -> content; empty where the checkout has no ``native/``.
    :param sources: The unpatched sources by path in the wheel, to compare other base wheels with.
    """

    lane: Lane
    patches: tuple[Patch, ...]
    ingredients: Ingredients
    version: str
    changes: Changes
    native: Mapping[str, Mapping[str, bytes]]
    sources: dict[str, bytes]

    def plan(self, base: BaseWheel) -> Plan:
        """Say what to build from a base wheel; free-threaded Pythons have no stable ABI and go without the extension."""
        native = {} if base.python.endswith("t") else self.native.get(base.machine, {})
        origin = Origin("wheel", base.filename, base.sha256)
        changes = replace(self.changes, native=native)
        return Plan(self.lane, self.version, origin, self.ingredients, self.patches, changes)


def prepare(
    project: Project, lane: Lane, base_wheel: Path, folder: Path, step: Step, machines: Iterable[str] = ()
) -> Prepared:
    """Apply the queue on the sources of a base wheel and gather what goes into every wheel of the lane.

    :param base_wheel: A verified base wheel.
    :param folder: An empty scratch folder.
    :param step: Is told what is being done.
    :param machines: The machines to build the native extension for.
    :raises QueueError, PatchConflictError, TreeMismatchError: The queue is not in order.
    :raises OverlayError: The overlay is not in order.
    :raises ImportsError: A patched file or the overlay imports what is not there.
    """
    queue = project.patches(lane)
    patches = read_series(queue).sound()
    step("laying out the base")
    git = lay_out(lane, base_wheel, folder / "tree")
    apply_series(git, patches, read_lock(queue, lane.lock), step)
    layout = Layout.of(lane)
    shipped = shipped_files(base_wheel, layout, git("ls-files").splitlines())
    overlay = read_overlay(project.overlays(lane), layout, shipped)
    check_imports(git, layout, overlay, shipped, has_native(project))
    ingredients = gather_ingredients(project, lane, {wheel.filename: wheel.sha256 for wheel in lane.wheels}, patches)
    patched, removed = _patched_files(git, layout)
    return Prepared(
        lane=lane,
        patches=patches,
        ingredients=ingredients,
        version=fork_version(lane, ingredients),
        changes=Changes(patched, removed, overlay, licenses=license_files(project)),
        native=native_extensions(project, machines, folder / "native", step),
        sources=read_sources(base_wheel, layout),
    )


def gather_ingredients(
    project: Project, lane: Lane, base: Mapping[str, str], patches: tuple[Patch, ...]
) -> Ingredients:
    """Gather what the version's digest covers from a checkout; see :class:`fork.assembly.version.Ingredients`."""
    root = project.root
    names = ("ci/requirements/tool.txt", "ci/requirements/native.txt", *_LICENSES)
    files = [name for name in names if (root / name).is_file()]
    deciding = [f"ci/fork/{name}" for name in DECIDING]
    folders = [project.patches(lane), *project.own_code(lane)]
    paths = ["fork.toml", *files, *deciding, *(folder.relative_to(root).as_posix() for folder in folders)]
    return Ingredients.gather(
        lane=lane,
        base=base,
        patches=patches,
        overlays=project.overlays(lane),
        native=project.native,
        files=[root / name for name in files],
        source=source_of(root, paths),
    )


def license_files(project: Project) -> dict[str, bytes]:
    """Read the fork's license files, which lie at the top of the checkout, by name."""
    return {name: (project.root / name).read_bytes() for name in _LICENSES if (project.root / name).is_file()}


def has_native(project: Project) -> bool:
    """Tell whether the checkout has the sources of the native extension."""
    return (project.native / "CMakeLists.txt").is_file()


def check_imports(
    git: Git, layout: Layout, overlay: Mapping[str, bytes], shipped: Collection[str], native: bool
) -> None:
    """See to it that what patches and overlay import is there; see :func:`fork.queue.imports.lane_import_faults`.

    :raises ImportsError: Something is not; the message lists everything.
    """
    faults = lane_import_faults(git, layout, overlay, shipped, native)
    if faults:
        raise ImportsError(
            "what is imported is not there:" + "".join(f"\n  - {fault}" for fault in faults),
            "is a file missing in overlay/ or native/? `ci/fork.sh check` lists this too",
        )


def native_extensions(
    project: Project, machines: Iterable[str], work: Path, step: Step
) -> dict[str, Mapping[str, bytes]]:
    """Build the native extension for some machines.

    :returns: Machine -> path in the wheel -> content; empty where the checkout has no ``native/``.
    :raises NativeBuildError: It cannot be built.
    """
    if not has_native(project):
        return {}
    found: dict[str, Mapping[str, bytes]] = {}
    for machine in dict.fromkeys(machines):
        step("getting the tools of the native build")
        found[machine] = build_native(project.native, work, machine, native_environment(), step)
    return found


def read_sources(wheel: Path, layout: Layout) -> dict[str, bytes]:
    """Read the members of a wheel that a patch may change, by path in the wheel."""
    with WheelArchive.open(wheel) as archive:
        return {
            member.filename: archive.read(member) for member in archive.members if layout.is_source(member.filename)
        }


def _patched_files(git: Git, layout: Layout) -> tuple[dict[str, bytes], frozenset[str]]:
    patched: dict[str, bytes] = {}
    removed: set[str] = set()
    listing = git("diff", "--name-status", "-z", "--no-renames", "base", "HEAD").split("\0")
    for status, name in zip(listing[::2], listing[1::2], strict=False):
        place = layout.to_wheel(name)
        if place is None:
            continue  # a file of the checkout that no wheel ships, such as a test
        if status == "D":
            removed.add(place)
        else:
            patched[place] = (git.folder / name).read_bytes()
    return patched, frozenset(removed)


def build_wheels(
    prepared: Prepared, bases: Sequence[tuple[BaseWheel, Path]], wheelhouse: Path, folder: Path, step: Step
) -> list[Built]:
    """Assemble, verify and publish a wheel for each base, then write the index.

    :param bases: The base wheels and where they lie, verified.
    :param wheelhouse: Where the wheels and ``simple/`` go; from :func:`output_folder`.
    :param folder: A scratch folder.
    :raises BaseMismatchError: A base wheel has other sources than the one that the queue was applied on.
    :raises VerifyError: What was built is not in order; nothing of it is published.
    :raises SmokeImportError: What was built cannot be imported; nothing of it is published.
    """
    built = []
    layout = Layout.of(prepared.lane)
    for wheel, path in bases:
        if read_sources(path, layout) != prepared.sources:
            raise BaseMismatchError(
                f"the sources in '{path.name}' are not those that the queue was applied on",
                "pin wheels of one release only",
            )
        built.append(publish(prepared.plan(wheel), path, wheelhouse, folder, step, compare_with=path))
    return write_and_report(wheelhouse, built, prepared.version, step)


def rebuild_faults(prepared: Prepared, wheel: Path, base: BaseWheel, base_path: Path, folder: Path) -> list[str]:
    """Build a wheel again and compare the bytes.

    :param prepared: What the checkout as it is gives.
    :param wheel: The wheel in question, of the same version.
    :param base: The base wheel that it says it was made from, and where that lies.
    :param folder: An empty scratch folder.
    """
    again = folder / wheel_name(base.filename, prepared.version)
    assemble(base_path, prepared.plan(base), again)
    same = again.name == wheel.name and _sha256(again) == _sha256(wheel)
    again.unlink()
    return [] if same else ["its bytes are not those that this checkout builds under the same version"]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
