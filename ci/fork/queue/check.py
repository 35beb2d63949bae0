"""Everything that can be wrong with a lane's queue and overlay, found in one pass."""

from __future__ import annotations

from pathlib import Path

from fork.config import Lane
from fork.errors import ForkError
from fork.git import Git
from fork.layout import Layout
from fork.project import Project
from fork.queue.imports import lane_import_faults
from fork.queue.mirrors import MIRRORS, MirrorError, find_mirrors, in_tree, lock_faults, read_mirrors
from fork.queue.overlay import overlay_faults, overlay_files, patch_faults, shipped_files
from fork.queue.series import Lock, QueueError, Series, read_lock, read_series
from fork.queue.tree import apply_patches, commits, export, lay_out, verify_lock

__all__ = ["check_lane"]


def check_lane(project: Project, lane: Lane, base_wheel: Path, folder: Path) -> list[str]:
    """List what is wrong with the queue and the overlay of a lane.

    Looked for are: unlisted, missing, duplicate or unparsable patches, bad headers, a patch that does not apply, a part that git
    skips, a tree other than the locked one, a patch that a new export would write differently, an overlay file that hides one of
    upstream, an import of a patched file or of the overlay that leads nowhere, an upstream function that our code re-does and that
    changed since somebody compared the two.

    :param lane: One release of the lane.
    :param base_wheel: A verified wheel of it.
    :param folder: An empty scratch folder.
    :returns: The faults, each a sentence; empty where all is well.
    """
    patches = project.patches(lane)
    series = read_series(patches)
    faults = list(series.faults)
    lock: Lock | None = None
    try:
        lock = read_lock(patches, lane.lock)
        if lock is None:
            faults.append(f"'{lane.name}/{lane.lock}' is missing; `refresh` writes it")
    except QueueError as error:
        faults += error.faults
    git = lay_out(lane, base_wheel, folder / "tree")
    if lock and git.tree("base") != lock.base:
        faults.append(f"the base has the tree {git.tree('base')}, locked is {lock.base}")
    faults += _apply_faults(git, series, lock, lane.is_latest)
    layout, overlay = Layout.of(lane), project.overlays(lane)
    shipped = shipped_files(base_wheel, layout, git("ls-files").splitlines())
    faults += overlay_faults(overlay, layout, shipped)
    faults += patch_faults(overlay, series.patches, git("ls-tree", "-r", "--name-only", "base").splitlines())
    if len(commits(git)) == len(series.patches):  # else what a missing patch leaves would be said of the overlay
        native = (project.native / "CMakeLists.txt").is_file()
        faults += lane_import_faults(git, layout, overlay_files(overlay, layout), shipped, native)
        faults += _mirror_faults(project, lane, git)
    return faults


def _apply_faults(git: Git, series: Series, lock: Lock | None, in_form: bool) -> list[str]:
    faults = []
    for patch in series.patches:
        try:
            apply_patches(git, [patch])
        except ForkError as error:
            return [error.message]  # what follows would only repeat it
        if in_form and export(git, "HEAD") != patch.data:  # line numbers and blobs are those of the latest release
            faults.append(f"'{patch.name}' is not in the form that `refresh` writes; run `edit` and `refresh`")
    if len(commits(git)) != len(series.patches):
        faults.append("a patch file holds more than one commit")
    if lock and not series.faults:
        try:
            verify_lock(git, lock)
        except ForkError as error:
            faults.append(error.message)
    return faults


def _mirror_faults(project: Project, lane: Lane, git: Git) -> list[str]:
    try:
        locked = read_mirrors(project.overlay(lane) / MIRRORS)
        return lock_faults(locked, find_mirrors(project.root, project.own_code(lane), git), in_tree(git, "base"))
    except MirrorError as error:
        return [error.message]
