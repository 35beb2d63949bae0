"""The queue as commits: open it in a tree, write the commits back as patch files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fork.config import Lane
from fork.errors import ForkError
from fork.git import Git
from fork.patch import Patch, PatchFormatError
from fork.project import Project
from fork.series import Lock, QueueError, read_lock, read_series, write_lock, write_series
from fork.tree import apply_patches, commits, export, lay_out, lock_of

__all__ = ["EditError", "Refreshed", "export_queue", "open_tree", "refresh"]


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


def open_tree(
    project: Project, lane: Lane, base_wheel: Path, *, discard: bool, progress: Callable[[str], None] = lambda _: None
) -> Path:
    """Open the tree of a lane for editing, with each patch as a commit.

    :param base_wheel: A verified wheel of the lane.
    :param discard: Throw away an open tree with work in it.
    :returns: The folder, a git repository on the branch ``fork``.
    :raises EditError: A tree with work that the queue does not hold is open already.
    """
    folder = project.edit_tree(lane)
    if folder.exists() and not discard and _has_work(project, lane, Git(folder)):
        raise EditError(
            f"a tree with work in it is open in {folder}",
            "write it back with `ci/fork.sh refresh`, or throw it away with `ci/fork.sh edit --discard`",
        )
    shutil.rmtree(folder, ignore_errors=True)
    series = read_series(project.patches(lane)).sound()
    git = lay_out(lane, base_wheel, folder)
    try:
        apply_patches(git, series, progress)
    except ForkError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def refresh(project: Project, lane: Lane, base_wheel: Path, scratch: Path) -> Refreshed:
    """Write the commits of the open tree back as patch files, or, where none is open, lock what the files say.

    :param base_wheel: A verified wheel of the lane, for the case that no tree is open.
    :param scratch: An empty folder.
    :raises EditError: The open tree has uncommitted changes.
    :raises QueueError: A commit lacks a trailer, or two name the same patch file.
    """
    folder = project.edit_tree(lane)
    if folder.exists():
        git = Git(folder)
        if git("status", "--porcelain"):
            raise EditError(
                f"the tree in {folder} has uncommitted changes", "commit them, each idea a commit, or undo them"
            )
    else:
        git = lay_out(lane, base_wheel, scratch / "tree")
        apply_patches(git, read_series(project.patches(lane)).sound())
    target = project.patches(lane)
    before = {patch.name: patch.data for patch in read_series(target).patches}
    patches = export_queue(git)
    write_series(target, patches)
    write_lock(target, lock_of(git))
    after = {patch.name: patch.data for patch in patches}
    written = tuple(name for name, data in after.items() if before.get(name) != data)
    return Refreshed(written, tuple(sorted(set(before) - set(after))), len(after) - len(written))


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


def _has_work(project: Project, lane: Lane, git: Git) -> bool:
    if git("status", "--porcelain"):
        return True
    lock: Lock | None = read_lock(project.patches(lane))
    return lock is None or git.tree() != lock.patched
