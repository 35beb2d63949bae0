"""Carries the queue over to another upstream version and says how each patch fared."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fork.config import Lane
from fork.edit import export_queue
from fork.errors import ForkError
from fork.git import Git
from fork.patch import Patch
from fork.project import Project
from fork.series import read_series
from fork.tree import apply_patches, lay_out

__all__ = ["Outcome", "RebaseConflictError", "RebaseError", "continue_rebase", "export_rebase", "start_rebase"]

_STATE = "fork-rebase.json"


class RebaseConflictError(ForkError):
    """A patch conflicts with the new version; the tree waits for a person to settle it."""

    exit_code = 24


class RebaseError(ForkError):
    """There is no rebase to go on with, or one that would be lost."""

    exit_code = 25


@dataclass(frozen=True)
class Outcome:
    """How a patch fared.

    :param name: The patch.
    :param status: ``clean``, ``offset``, ``3-way``, ``already upstream``, ``settled`` (by a person), ``conflict`` or ``waiting``.
    :param detail: Lines moved, or files and hunks in conflict.
    """

    name: str
    status: str
    detail: str = ""


def start_rebase(
    project: Project, lane: Lane, old_wheel: Path, new_wheel: Path, *, discard: bool, step: Callable[[str], None]
) -> list[Outcome]:
    """Begin a rebase and go as far as no person is needed.

    The old base and the queue on it are committed in the same repository, so that a 3-way merge finds the blobs that each patch
    was made against (electron/electron#40629).

    :param old_wheel: Verified wheel of the pinned version.
    :param new_wheel: Verified wheel of the version to go to.
    :param discard: Throw away a rebase that is under way.
    :returns: One outcome for each patch; after a conflict the rest is ``waiting``.
    :raises RebaseError: A rebase is under way.
    """
    folder = project.rebase_tree(lane)
    if folder.exists() and not discard:
        raise RebaseError(
            f"a rebase is under way in {folder}", "go on with --continue, or throw it away with --discard"
        )
    patches = read_series(project.patches(lane)).sound()
    shutil.rmtree(folder, ignore_errors=True)
    git = lay_out(lane, old_wheel, folder)
    apply_patches(git, patches)
    git("tag", "old-queue")
    for path in folder.iterdir():
        if path.name != ".git":
            shutil.rmtree(path)
    fresh = lay_out(lane, new_wheel, folder.with_name(f"{folder.name}.new"))
    shutil.copytree(fresh.folder, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    shutil.rmtree(fresh.folder)
    git.commit_all(f"Upstream sources of {new_wheel.name.split('-')[1]}")
    git("tag", "--force", "base")
    return _advance(git, patches, [], step)


def continue_rebase(project: Project, lane: Lane, *, step: Callable[[str], None]) -> list[Outcome]:
    """Go on after a person settled a conflict and staged or committed the result, or chose to drop the patch.

    :raises RebaseError: No rebase is under way, or the conflict is not settled.
    """
    git, outcomes = _under_way(project, lane)
    patches = read_series(project.patches(lane)).sound()
    if git("diff", "--name-only", "--diff-filter=U"):
        raise RebaseError(f"there are unmerged files in {git.folder}", "settle them, `git add` them, then --continue")
    last = outcomes[-1] if outcomes else None
    if last and last.status == "conflict":
        if _am_open(git):
            dropped = git.run("diff", "--cached", "--quiet", "HEAD").returncode == 0
            git("am", "--skip" if dropped else "--continue")
            outcomes[-1] = Outcome(last.name, "dropped" if dropped else "settled", last.detail)
        else:
            outcomes[-1] = Outcome(last.name, "settled", last.detail)
    return _advance(git, patches, outcomes, step)


def export_rebase(project: Project, lane: Lane, target: Path) -> list[str]:
    """Write the patches that were carried over so far into a folder, also midway.

    :param target: Is made; gets one file for each patch and a ``series``. Patches not reached yet are copied as they are.
    :returns: The names written.
    :raises RebaseError: No rebase is under way.
    """
    git, outcomes = _under_way(project, lane)
    reached = {outcome.name for outcome in outcomes if outcome.status != "conflict"}
    carried = export_queue(git)
    waiting = [patch for patch in read_series(project.patches(lane)).sound() if patch.name not in reached]
    names = []
    for patch in [*carried, *waiting]:
        file = target / patch.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(patch.data)
        names.append(patch.name)
    (target / "series").write_text("".join(f"{name}\n" for name in names), "utf-8")
    return names


def _under_way(project: Project, lane: Lane) -> tuple[Git, list[Outcome]]:
    folder = project.rebase_tree(lane)
    state = folder / ".git" / _STATE
    if not state.is_file():
        raise RebaseError(
            f"no rebase of lane {lane.name} is under way", "begin one with `ci/fork.sh rebase --onto <version>`"
        )
    return Git(folder), [Outcome(**row) for row in json.loads(state.read_text("utf-8"))]


def _am_open(git: Git) -> bool:
    return (git.folder / ".git" / "rebase-apply").is_dir()


def _advance(git: Git, patches: Sequence[Patch], outcomes: list[Outcome], step: Callable[[str], None]) -> list[Outcome]:
    for patch in patches[len(outcomes) :]:
        step(patch.name)
        outcomes.append(_carry_over(git, patch))
        _save(git, outcomes)
        if outcomes[-1].status == "conflict":
            break
    _save(git, outcomes)
    return [*outcomes, *(Outcome(patch.name, "waiting") for patch in patches[len(outcomes) :])]


def _save(git: Git, outcomes: list[Outcome]) -> None:
    content = json.dumps([asdict(outcome) for outcome in outcomes], indent=2)
    (git.folder / ".git" / _STATE).write_text(content + "\n", "utf-8")


def _carry_over(git: Git, patch: Patch) -> Outcome:
    before = git("rev-parse", "HEAD")
    if git.run("apply", "--reverse", "--check", "-", stdin=patch.data).returncode == 0:
        return Outcome(patch.name, "already upstream")
    probe = git.run("apply", "--check", "--verbose", "-", stdin=patch.data)
    if probe.returncode == 0:
        git("am", "--quiet", "--keep", "--keep-cr", "--no-3way", stdin=patch.data)
        moved = re.findall(r"offset (-?\d+) line", probe.stderr.decode(errors="replace"))
        return Outcome(patch.name, "offset", f"by {', '.join(moved)} lines") if moved else Outcome(patch.name, "clean")
    done = git.run("am", "--quiet", "--keep", "--keep-cr", "--3way", stdin=patch.data)
    if done.returncode == 0:
        if git("rev-parse", "HEAD") == before:
            return Outcome(patch.name, "already upstream", "found by the 3-way merge")
        return Outcome(patch.name, "3-way")
    return Outcome(patch.name, "conflict", _where(git, probe.stderr.decode(errors="replace")))


def _where(git: Git, said: str) -> str:
    """Name the files in conflict and, from git's complaints, the lines of the hunks that did not apply."""
    hunks = re.findall(r"error: patch failed: (\S+):(\d+)", said)
    places = [f"{file}, hunk at line {line}" for file, line in hunks]
    named = {file for file, _ in hunks}
    unmerged = git("diff", "--name-only", "--diff-filter=U").splitlines()
    places += [file for file in unmerged if file not in named]
    places += [f"{file} is not in the new version" for file in re.findall(r"error: (\S+): No such file", said)]
    return "; ".join(places)
