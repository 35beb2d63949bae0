"""The queue as commits: open it in a tree, write the commits back as patch files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fork.config import Lane
from fork.errors import ForkError
from fork.git import Git
from fork.locks import locked
from fork.project import Project
from fork.queue.edit_record import REMAINING, Record, unfinished
from fork.queue.overlay import patch_faults
from fork.queue.patch import Patch, PatchFormatError
from fork.queue.series import Lock, QueueError, read_series, write_lock, write_series
from fork.queue.tree import PatchConflictError, apply_patches, commits, export, lay_out, lock_of

__all__ = [
    "EditError",
    "Refreshed",
    "apply_or_point_to_edit",
    "export_queue",
    "move_into_place",
    "open_tree",
    "refresh",
    "working_on",
]

_SAVE_HINT = (
    "save the commits with `git format-patch base` in the tree, open it anew with `ci/fork.sh edit --discard` and `git am` them "
    "there"
)


class EditError(ForkError):
    """There is no tree to write back, or one that would be lost."""

    exit_code = 19


@dataclass(frozen=True)
class Refreshed:
    """What ``refresh`` did.

    :param written: Names of the patches that are new or whose bytes changed.
    :param removed: Names of the patches that are gone.
    :param kept: How many stayed as they were.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: int


@contextmanager
def working_on(project: Project, lane: Lane) -> Iterator[None]:
    """Keep other processes from editing, refreshing or rebasing the same queue.

    :raises BusyError: Another process does so.
    """
    project.state.mkdir(exist_ok=True)
    with locked(
        project.state / f"queue-{lane.name}.lock",
        f"another process works on the queue of lane {lane.name}",
        "wait for it to end, or work in a clone of your own",
    ):
        yield


def move_into_place(fresh: Path, folder: Path) -> None:
    """Put a finished folder where another may be; a kill leaves the old one, the new one, or none, never a part of one."""
    old = folder.with_name(f"{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def open_tree(
    project: Project, lane: Lane, base_wheel: Path, *, discard: bool, progress: Callable[[str], None] = lambda _: None
) -> Path:
    """Open the tree of a lane for editing, with each patch as a commit.

    :param base_wheel: A verified wheel of the lane.
    :param discard: Throw away an open tree with work in it.
    :returns: The folder, a git repository on the branch ``fork``.
    :raises BusyError: Another process works on the queue.
    :raises EditError: A tree with work that the queue does not hold is open already.
    :raises PatchConflictError: A patch does not apply. The tree is open at that patch, ``git am`` is under way.
    """
    folder = project.edit_tree(lane)
    fresh = folder.with_name(f"{folder.name}.new")
    with working_on(project, lane):
        if folder.exists() and not discard and _has_work(Git(folder)):
            raise EditError(
                f"a tree with work in it is open in {folder}",
                "write it back with `ci/fork.sh refresh`, or throw it away with `ci/fork.sh edit --discard`",
            )
        patches = read_series(project.patches(lane)).sound()
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            git = lay_out(lane, base_wheel, fresh)
            conflict = _apply_as_far_as_possible(git, patches, folder, progress)
            Record.take(git, patches).write(git)
            move_into_place(fresh, folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    if conflict:
        raise conflict
    return folder


def refresh(
    project: Project,
    lane: Lane,
    base_wheel: Path,
    scratch: Path,
    *,
    drop: Collection[str] = (),
    earlier: Sequence[tuple[Lane, Path]] = (),
) -> Refreshed:
    """Write the commits of the open tree back as patch files, or, where none is open, lock what the files say.

    :param base_wheel: A verified wheel of the lane.
    :param scratch: An empty folder.
    :param drop: Patches whose commits were removed on purpose.
    :param earlier: The earlier releases of the lane with a verified wheel of each; the patches must apply on all of them.
    :raises BusyError: Another process works on the queue.
    :raises PatchConflictError: A patch does not apply on the base, or on an earlier release.
    :raises EditError: The open tree has uncommitted changes or something under way in it, the queue on disk is not the one that
        it was made of, or a patch has no commit and is not in ``drop``.
    :raises QueueError: A commit lacks a trailer, two name the same patch file, or one makes a file of the overlay.
    """
    folder, target = project.edit_tree(lane), project.patches(lane)
    with working_on(project, lane):
        git = lay_out(lane, base_wheel, scratch / "tree")
        if folder.exists():
            base, git = git.tree("base"), Git(folder)
            patches = _committed(git, base, target, drop)
        else:
            if drop:
                raise EditError("no tree is open, hence there is no commit to drop", "begin with `ci/fork.sh edit`")
            apply_or_point_to_edit(git, read_series(target).sound())
            patches = export_queue(git)
        faults = patch_faults(project.overlays(lane), patches, git("ls-tree", "-r", "--name-only", "base").splitlines())
        if faults:
            raise QueueError(faults)
        locks = {lane.lock: lock_of(git)}
        for release, wheel in earlier:
            locks[release.lock] = _lock_on(release, wheel, patches, scratch / release.version)
        before = {patch.name: patch.data for patch in read_series(target).patches}
        write_series(target, patches)
        for name, lock in locks.items():
            write_lock(target, lock, name)
        if folder.exists():
            Record.take(git, patches).write(git)
            shutil.rmtree(folder / ".git" / REMAINING, ignore_errors=True)
    after = {patch.name: patch.data for patch in patches}
    written = tuple(name for name, data in after.items() if before.get(name) != data)
    return Refreshed(written, tuple(sorted(set(before) - set(after))), len(after) - len(written))


def _lock_on(release: Lane, wheel: Path, patches: Sequence[Patch], folder: Path) -> Lock:
    git = lay_out(release, wheel, folder)
    try:
        apply_patches(git, patches)
    except PatchConflictError as error:
        raise PatchConflictError(
            f"on {release.version}: {error.message}",
            "write the patch so that it fits all releases of the lane, or give that release a lane of its own",
        ) from None
    return lock_of(git)


def apply_or_point_to_edit(git: Git, patches: Sequence[Patch]) -> None:
    """Apply patches on the pinned base.

    :raises PatchConflictError: One does not apply; the hint names the way to settle it.
    """
    try:
        apply_patches(git, patches)
    except PatchConflictError as error:
        raise PatchConflictError(error.message, "`ci/fork.sh edit` opens the tree at this patch") from None


def export_queue(git: Git) -> tuple[Patch, ...]:
    """Export every commit on top of the base as a patch that is named by its ``Patch-Name:`` trailer.

    :raises QueueError: A commit lacks a header that every patch has, or two commits name the same file.
    """
    patches: list[Patch] = []
    faults: list[str] = []
    for commit in commits(git):
        subject = git("show", "--no-patch", "--format=%s", commit)
        named = git("show", "--no-patch", "--format=%(trailers:key=Patch-Name,valueonly)", commit).strip()
        if not named:
            faults.append(f"the commit '{subject}' has no 'Patch-Name: <group>/<slug>.patch' trailer")
            continue
        try:
            patches.append(Patch.parse(named, export(git, commit)))
        except PatchFormatError as error:
            faults += [f"the commit '{subject}' {fault}" for fault in error.faults]
    names = [patch.name for patch in patches]
    faults += [
        f"{names.count(name)} commits name '{name}'" for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if faults:
        raise QueueError(faults)
    return tuple(patches)


def _has_work(git: Git) -> bool:
    record = Record.read(git)
    return record is None or not record.untouched(git)


def _apply_as_far_as_possible(
    git: Git, patches: Sequence[Patch], folder: Path, progress: Callable[[str], None]
) -> PatchConflictError | None:
    """Apply patches; leave ``git am`` under way for the first that does not apply, the later ones as files beside it.

    :param folder: Where the tree will lie.
    """
    for number, patch in enumerate(patches):
        before = git("rev-parse", "HEAD")
        try:
            apply_patches(git, [patch], progress)
        except PatchConflictError as error:
            rest = [patch, *patches[number + 1 :]]
            options = ("--quiet", "--keep", "--keep-cr", "--3way", "--committer-date-is-author-date")
            if git.run("am", *options, stdin=patch.data).returncode != 0:
                rest = rest[1:]
                steps = "settle it there, `git add` the files, `git am --continue`"
            else:
                git("reset", "--quiet", "--hard", before)  # a person is to see what the merge made of it
                steps = "a 3-way merge settles it: go on there"
            kept = git.folder / ".git" / REMAINING
            kept.mkdir()
            for place, later in enumerate(rest, 1):
                (kept / f"{place:04}-{PurePosixPath(later.name).name}").write_bytes(later.data)
            then = f", then `git am --keep --3way .git/{REMAINING}/*.patch`" if rest else ""
            return PatchConflictError(
                error.message, f"the tree is open in {folder}; {steps}{then}, then `ci/fork.sh refresh`"
            )
    return None


def _committed(git: Git, base: str, queue: Path, drop: Collection[str]) -> tuple[Patch, ...]:
    """Export the open tree, provided that writing it back takes nothing from the queue that nobody meant to remove."""
    record = Record.read(git)
    if record is None:
        raise EditError(f"nothing says which queue the tree in {git.folder} was made of", _SAVE_HINT)
    reason = unfinished(git)
    if reason:
        raise EditError(f"the tree in {git.folder} is not finished: {reason}", "finish or abort it, then `refresh`")
    if git("status", "--porcelain"):
        raise EditError(
            f"the tree in {git.folder} has uncommitted changes", "commit them, each idea a commit, or undo them"
        )
    if record.base != base or git.tree("base") != base:
        raise EditError("the pinned base is not the one that the tree was opened on", _SAVE_HINT)
    patches = export_queue(git)
    foreign = record.foreign(queue, patches)
    if foreign:
        raise EditError(f"the queue changed since the tree was opened: {', '.join(foreign)}", _SAVE_HINT)
    _confirm_drops(record, patches, drop)
    return patches


def _confirm_drops(record: Record, patches: Sequence[Patch], drop: Collection[str]) -> None:
    gone = [name for name in record.series if name not in {patch.name for patch in patches}]
    unknown = [name for name in drop if name not in gone]
    if unknown:
        raise EditError(
            f"no dropped commit has the name {', '.join(unknown)}", "remove the commit first: `git rebase -i base`"
        )
    unconfirmed = [name for name in gone if name not in drop]
    if unconfirmed:
        options = " ".join(f"--drop {name}" for name in unconfirmed)
        raise EditError(
            f"no commit is left of {', '.join(unconfirmed)}",
            f"to remove it from the queue: `ci/fork.sh refresh {options}`; else `git am` the patch file in the tree",
        )
