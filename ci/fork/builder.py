"""From the pin and the queue to verified wheels and an index."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from fork.assembly.archive import WheelArchive
from fork.assembly.provenance import Origin
from fork.assembly.version import Ingredients, fork_version
from fork.assembly.wheel import Changes, Plan, assemble, wheel_name
from fork.config import BaseWheel, Lane
from fork.errors import ForkError
from fork.git import Git
from fork.index.writing import PublishedFileError, published_hashes, write_index
from fork.layout import Layout
from fork.locks import locked
from fork.native import build_native, native_environment
from fork.project import Project
from fork.queue.overlay import read_overlay, shipped_files
from fork.queue.patch import Patch
from fork.queue.series import read_lock, read_series
from fork.queue.tree import apply_series, lay_out
from fork.verify import verify_wheel

__all__ = [
    "Built",
    "Prepared",
    "build_wheels",
    "gather_ingredients",
    "native_extensions",
    "output_folder",
    "prepare",
    "publish",
    "rebuild_faults",
]

Step = Callable[[str], None]


class BaseMismatchError(ForkError):
    """The base wheels of a lane do not carry the same sources, so one patched tree cannot serve them all."""

    exit_code = 23


class OutputFolderError(ForkError):
    """The folder for the results cannot be made."""

    exit_code = 29


@dataclass(frozen=True)
class Built:
    """A wheel that was published.

    :param path: The file.
    :param sha256: Its SHA-256.
    :param size: Its size in bytes.
    :param seconds: How long assembling and verifying it took.
    :param changed: Whether the file is new; ``False`` where the same bytes lay there already.
    """

    path: Path
    sha256: str
    size: int
    seconds: float
    changed: bool


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
    """
    queue = project.patches(lane)
    patches = read_series(queue).sound()
    step("laying out the base")
    git = lay_out(lane, base_wheel, folder / "tree")
    apply_series(git, patches, read_lock(queue), step)
    layout = Layout.of(lane)
    shipped = shipped_files(base_wheel, layout, git("ls-files").splitlines())
    overlay = read_overlay(project.overlay(lane), layout, shipped)
    ingredients = gather_ingredients(project, lane, {wheel.filename: wheel.sha256 for wheel in lane.wheels}, patches)
    patched, removed = _patched_files(git, layout)
    return Prepared(
        lane=lane,
        patches=patches,
        ingredients=ingredients,
        version=fork_version(lane, ingredients),
        changes=Changes(patched, removed, overlay),
        native=native_extensions(project, machines, folder / "native", step),
        sources=read_sources(base_wheel, layout),
    )


def gather_ingredients(
    project: Project, lane: Lane, base: Mapping[str, str], patches: tuple[Patch, ...]
) -> Ingredients:
    """Gather what the version's digest covers from a checkout; see :class:`fork.assembly.version.Ingredients`."""
    requirements = project.root / "ci" / "requirements"
    return Ingredients.gather(
        lane=lane,
        base=base,
        patches=patches,
        overlay=project.overlay(lane),
        native=project.native,
        requirements=[path for path in (requirements / "tool.txt", requirements / "native.txt") if path.is_file()],
    )


def native_extensions(
    project: Project, machines: Iterable[str], work: Path, step: Step
) -> dict[str, Mapping[str, bytes]]:
    """Build the native extension for some machines.

    :returns: Machine -> path in the wheel -> content; empty where the checkout has no ``native/``.
    :raises NativeBuildError: It cannot be built.
    """
    if not (project.native / "CMakeLists.txt").is_file():
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


@contextmanager
def output_folder(wheelhouse: Path) -> Iterator[Path]:
    """Give an empty staging folder inside the wheelhouse; it is gone at the end, whatever happens.

    :raises BusyError: Another build writes into the wheelhouse.
    """
    try:
        wheelhouse.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFolderError(
            f"cannot make the folder '{wheelhouse}': {error.strerror}", "choose another --out"
        ) from None
    staging = wheelhouse / ".staging"
    with locked(
        wheelhouse / ".lock",
        f"another build writes into {wheelhouse}",
        "wait for it to end, or give this one a folder of its own with --out",
    ):
        try:
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def build_wheels(
    prepared: Prepared, bases: Sequence[tuple[BaseWheel, Path]], wheelhouse: Path, staging: Path, step: Step
) -> list[Built]:
    """Assemble, verify and publish a wheel for each base, then write the index.

    :param bases: The base wheels and where they lie, verified.
    :param wheelhouse: Where the wheels and ``simple/`` go.
    :param staging: From :func:`output_folder`.
    :raises BaseMismatchError: A base wheel has other sources than the one that the queue was applied on.
    :raises VerifyError: What was built is not in order; nothing of it is published.
    """
    built = []
    layout = Layout.of(prepared.lane)
    for wheel, path in bases:
        if read_sources(path, layout) != prepared.sources:
            raise BaseMismatchError(
                f"the sources in '{path.name}' are not those that the queue was applied on",
                "pin wheels of one release only",
            )
        built.append(publish(prepared.plan(wheel), path, wheelhouse, staging, step, compare_with=path))
    step("writing the index")
    write_index(wheelhouse, prepared.version)
    return built


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


def publish(
    plan: Plan, base: Path, wheelhouse: Path, staging: Path, step: Step, compare_with: Path | None = None
) -> Built:
    """Assemble and verify one wheel in the staging folder, then move it into the wheelhouse.

    :param compare_with: Base wheel that undeclared differences are looked for against.
    :raises PublishedFileError: A file of that name with other bytes was published already.
    """
    started = monotonic()
    name = wheel_name(base.name, plan.version)
    staged, target = staging / name, wheelhouse / name
    step(f"assembling {name}")
    assemble(base, plan, staged)
    step(f"verifying {name}")
    verify_wheel(staged, compare_with)
    digest = _sha256(staged)
    published = published_hashes(wheelhouse).get(name) or (_sha256(target) if target.is_file() else digest)
    same = target.is_file() and _sha256(target) == digest
    if published != digest or (target.is_file() and not same):
        raise PublishedFileError(
            f"'{name}' was published with other bytes",
            "raise 'revision' in fork.toml; if the file in the wheelhouse is merely damaged, remove it",
        )
    size = staged.stat().st_size
    if same:
        staged.unlink()
    else:
        staged.replace(target)
    return Built(target, digest, size, monotonic() - started, not same)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
