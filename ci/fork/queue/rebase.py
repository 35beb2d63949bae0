"""Carries the queue over to another upstream version and says how each patch fared."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from packaging.version import Version

from fork.config import Lane
from fork.errors import ForkError
from fork.git import Git
from fork.project import Project
from fork.queue.edit import apply_or_point_to_edit, export_queue, move_into_place, working_on
from fork.queue.patch import Patch
from fork.queue.series import read_series, write_lock, write_series
from fork.queue.tree import lay_out, lock_of

__all__ = [
    "Outcome",
    "RebaseConflictError",
    "RebaseError",
    "continue_rebase",
    "discard_rebase",
    "export_rebase",
    "start_rebase",
]

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
    :param status: ``clean``, ``offset``, ``3-way``, ``already upstream``, ``settled`` (by a person), ``dropped`` or ``conflict``.
    :param detail: Lines moved, or files and hunks in conflict, and what the patch says of upstream.
    :param predicted: It was only tried, without the patches before it that conflict.
    """

    name: str
    status: str
    detail: str = ""
    predicted: bool = False


@dataclass(frozen=True)
class _State:
    onto: str
    outcomes: list[Outcome]


def start_rebase(
    project: Project, lane: Lane, old_wheel: Path, new_wheel: Path, *, discard: bool, step: Callable[[str], None]
) -> list[Outcome]:
    """Begin a rebase and go as far as no person is needed.

    The old base and the queue on it are committed in the same repository, so that a 3-way merge finds the blobs that each patch
    was made against (electron/electron#40629).

    :param old_wheel: Verified wheel of the pinned version.
    :param new_wheel: Verified wheel of the version to go to.
    :param discard: Throw away a rebase that is under way.
    :returns: One outcome for each patch; after a conflict the rest is predicted.
    :raises BusyError: Another process works on the queue.
    :raises RebaseError: A rebase is under way.
    """
    folder = project.rebase_tree(lane)
    fresh = folder.with_name(f"{folder.name}.new")
    with working_on(project, lane):
        if (folder / ".git" / _STATE).is_file() and not discard:
            raise RebaseError(
                f"a rebase is under way in {folder}", "go on with --continue, or throw it away with --discard"
            )
        patches = read_series(project.patches(lane)).sound()
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            state = _State(new_wheel.name.split("-")[1], [])
            _save(_lay_out_both(lane, old_wheel, new_wheel, patches, fresh), state)
            move_into_place(fresh, folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        return _advance(Git(folder), patches, state, step)


def continue_rebase(project: Project, lane: Lane, *, step: Callable[[str], None]) -> list[Outcome]:
    """Go on after a person settled a conflict and staged or committed the result, or chose to drop the patch.

    :raises BusyError: Another process works on the queue.
    :raises RebaseError: No rebase is under way, the conflict is not settled, or the queue changed in the meantime.
    """
    with working_on(project, lane):
        git, state, patches = _under_way(project, lane)
        if git("diff", "--name-only", "--diff-filter=U"):
            raise RebaseError(
                f"there are unmerged files in {git.folder}", "settle them, `git add` them, then --continue"
            )
        last = state.outcomes[-1] if state.outcomes else None
        if last and last.status == "conflict":
            status = "settled"
            if _am_open(git):
                status = "dropped" if git.run("diff", "--cached", "--quiet", "HEAD").returncode == 0 else status
                git("am", "--skip" if status == "dropped" else "--continue")
            state.outcomes[-1] = Outcome(last.name, status, last.detail)
        elif _am_open(git):
            git("am", "--abort")  # left by a process that was killed
        return _advance(git, patches, state, step)


def export_rebase(project: Project, lane: Lane, target: Path) -> list[str]:
    """Write the patches that were carried over so far into a folder, also midway.

    :param target: Is made; gets one file for each patch, a ``series`` and, once every patch was carried over, a ``series.lock``.
        Patches not reached yet are copied as they are. Patches of a series that is there already go unless they are written anew.
    :returns: The names written.
    :raises BusyError: Another process works on the queue.
    :raises RebaseError: No rebase is under way, or the folder holds something else than a queue.
    """
    with working_on(project, lane):
        git, state, patches = _under_way(project, lane)
        _refuse_other_content(target)
        reached = {outcome.name for outcome in state.outcomes if outcome.status != "conflict"}
        waiting = tuple(patch for patch in patches if patch.name not in reached)
        written = export_queue(git) + waiting
        target.mkdir(parents=True, exist_ok=True)
        (target / "series.lock").unlink(missing_ok=True)
        write_series(target, written)
        if not waiting:
            write_lock(target, lock_of(git))
        return [patch.name for patch in written]


def discard_rebase(project: Project, lane: Lane) -> Path:
    """Throw away a rebase that is under way.

    :returns: The folder that is gone.
    :raises BusyError: Another process works on the queue.
    :raises RebaseError: No rebase is under way.
    """
    with working_on(project, lane):
        folder = project.rebase_tree(lane)
        if not folder.exists():
            raise RebaseError(f"no rebase of lane {lane.name} is under way", "there is nothing to throw away")
        shutil.rmtree(folder)
    return folder


def _refuse_other_content(target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        return
    unlisted = [fault for fault in read_series(target).faults if fault.endswith("is not listed in series")]
    if not (target / "series").is_file() or unlisted:
        what = "; ".join(unlisted) or "it is not empty and has no series"
        raise RebaseError(f"{target} is not a patch queue: {what}", "name another folder, or empty this one")


def _under_way(project: Project, lane: Lane) -> tuple[Git, _State, tuple[Patch, ...]]:
    folder = project.rebase_tree(lane)
    file = folder / ".git" / _STATE
    if not file.is_file():
        raise RebaseError(
            f"no rebase of lane {lane.name} is under way", "begin one with `ci/fork.sh rebase --onto <version>`"
        )
    content = json.loads(file.read_text("utf-8"))
    state = _State(content["onto"], [Outcome(**row) for row in content["outcomes"]])
    patches = read_series(project.patches(lane)).sound()
    if [outcome.name for outcome in state.outcomes] != [patch.name for patch in patches[: len(state.outcomes)]]:
        raise RebaseError(
            "the queue changed since the rebase began", "begin anew with `ci/fork.sh rebase --onto <version> --discard`"
        )
    return Git(folder), state, patches


def _lay_out_both(lane: Lane, old_wheel: Path, new_wheel: Path, patches: Sequence[Patch], folder: Path) -> Git:
    """Commit the old base, the queue, and the new base on top, tagged ``base``."""
    git = lay_out(lane, old_wheel, folder)
    apply_or_point_to_edit(git, patches)
    git("tag", "old-queue")
    for path in folder.iterdir():
        if path.name != ".git":
            shutil.rmtree(path)
    with _beside(folder, "upstream") as scratch:
        upstream = lay_out(lane, new_wheel, scratch).folder
        shutil.copytree(upstream, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    git.commit_all(f"Upstream sources of {new_wheel.name.split('-')[1]}")
    git("tag", "--force", "base")
    return git


def _am_open(git: Git) -> bool:
    return (git.folder / ".git" / "rebase-apply").is_dir()


@contextmanager
def _beside(folder: Path, purpose: str) -> Iterator[Path]:
    """Name a folder that is not there yet and is removed at the end; what a killed process left there is removed first."""
    place = folder.with_name(f"{folder.name}.{purpose}")
    shutil.rmtree(place, ignore_errors=True)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _advance(git: Git, patches: Sequence[Patch], state: _State, step: Callable[[str], None]) -> list[Outcome]:
    _save(git, state)
    for patch in patches[len(state.outcomes) :]:
        step(patch.name)
        state.outcomes.append(_with_upstream(_carry_over(git, patch), patch, state.onto))
        _save(git, state)
        if state.outcomes[-1].status == "conflict":
            break
    return [*state.outcomes, *_predict(git, patches[len(state.outcomes) :], state.onto, step)]


def _predict(git: Git, patches: Sequence[Patch], onto: str, step: Callable[[str], None]) -> Iterator[Outcome]:
    """Try patches on a copy of the tree, leaving out those that conflict."""
    if not patches:
        return
    with _beside(git.folder, "trial") as scratch:
        trial = Git(scratch)
        git("clone", "--quiet", "--shared", ".", str(trial.folder))
        for patch in patches:
            step(patch.name)
            outcome = _with_upstream(_carry_over(trial, patch), patch, onto)
            if outcome.status == "conflict":
                trial("am", "--abort")
            yield replace(outcome, predicted=True)


def _with_upstream(outcome: Outcome, patch: Patch, onto: str) -> Outcome:
    """Add to the detail what the patch says of upstream, where the new version is one that has it, or has a part."""
    said = dict(patch.trailers).get("Applied-Upstream", "")
    version = re.match(r"\d+(?:\.\d+)+", said)
    if not version or Version(version[0]) > Version(onto):
        return outcome
    part = "" if outcome.status == "already upstream" else " in part"
    return replace(outcome, detail="; ".join(filter(None, [outcome.detail, f"already upstream{part}: {said}"])))


def _save(git: Git, state: _State) -> None:
    file = git.folder / ".git" / _STATE
    partial = file.with_suffix(".new")
    partial.write_text(json.dumps(asdict(state), indent=2) + "\n", "utf-8")
    partial.replace(file)


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
