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
from unidiff.patch import PatchSet

from fork.config import Lane
from fork.errors import ForkError
from fork.git import Git
from fork.project import Project
from fork.queue.edit import apply_or_point_to_edit, export_queue, move_into_place, working_on
from fork.queue.merging import Merge, commit_as, favour_queue, merge_commit
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
    :param predicted: It was only tried, as if the conflicts of the patches before it had been settled the queue's way.
    """

    name: str
    status: str
    detail: str = ""
    predicted: bool = False


@dataclass(frozen=True)
class _State:
    onto: str
    outcomes: list[Outcome]
    head: str = ""  # the commit on which the last outcome, where it is a conflict, waits to be settled


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
        if state.outcomes and state.outcomes[-1].status == "conflict":
            last = state.outcomes[-1]
            status = _settle(git, _queue_commits(git)[len(state.outcomes) - 1], state.head)
            state.outcomes[-1] = Outcome(last.name, status, last.detail)
        else:
            git("reset", "--quiet", "--hard")  # a process that was killed may have left something
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
    state = _State(content["onto"], [Outcome(**row) for row in content["outcomes"]], content["head"])
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


def _queue_commits(git: Git) -> list[str]:
    """List the commits of the queue on the old upstream, in the order of the series."""
    root = git("rev-list", "--max-parents=0", "old-queue")
    return git("rev-list", "--reverse", f"{root}..old-queue").split()


def _settle(git: Git, commit: str, head: str) -> str:
    """Take what a person made of a conflict: committed, staged, or nothing, which drops the patch."""
    if git.run("diff", "--quiet").returncode != 0:
        raise RebaseError(f"there are changes in {git.folder} that are not staged", "`git add` them, then --continue")
    if git("rev-parse", "HEAD") != head:
        return "settled"
    if not _staged(git):
        return "dropped"
    commit_as(git, commit)
    return "settled"


def _staged(git: Git) -> bool:
    return git.run("diff", "--cached", "--quiet", "HEAD").returncode != 0


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
    pending = list(zip(patches, _queue_commits(git), strict=True))[len(state.outcomes) :]
    for number, (patch, commit) in enumerate(pending):
        step(patch.name)
        outcome, _ = _carry_over(git, patch, commit)
        state.outcomes.append(_with_upstream(outcome, patch, state.onto))
        conflict = outcome.status == "conflict"
        _save(git, replace(state, head=git("rev-parse", "HEAD") if conflict else ""))
        if conflict:
            return [*state.outcomes, *_predict(git, pending[number:], state.onto, step)]
    return state.outcomes


def _predict(
    git: Git, pending: Sequence[tuple[Patch, str]], onto: str, step: Callable[[str], None]
) -> Iterator[Outcome]:
    """Try the patches after the first, which conflicts, on a copy of the tree: each conflict is settled the queue's way.

    So each patch is judged by what it changes itself.
    """
    with _beside(git.folder, "trial") as scratch:
        git("clone", "--quiet", "--shared", ".", str(scratch))
        trial = Git(scratch)
        for number, (patch, commit) in enumerate(pending):
            step(patch.name)
            outcome, merge = _carry_over(trial, patch, commit)
            if outcome.status == "conflict" and merge:
                favour_queue(trial, merge)
                if _staged(trial):
                    commit_as(trial, commit)
            if number:
                yield replace(_with_upstream(outcome, patch, onto), predicted=True)


def _with_upstream(outcome: Outcome, patch: Patch, onto: str) -> Outcome:
    """Add to the detail what the patch says of upstream, where the new version is one that has it, or has a part."""
    said = dict(patch.trailers).get("Applied-Upstream", "")
    versions = re.findall(r"(?:^|\), )(\d+(?:\.\d+)+)", said)
    if not any(Version(version) <= Version(onto) for version in versions):
        return outcome
    part = "" if outcome.status == "already upstream" else " in part"
    return replace(outcome, detail="; ".join(filter(None, [outcome.detail, f"already upstream{part}: {said}"])))


def _save(git: Git, state: _State) -> None:
    file = git.folder / ".git" / _STATE
    partial = file.with_suffix(".new")
    partial.write_text(json.dumps(asdict(state), indent=2) + "\n", "utf-8")
    partial.replace(file)


def _carry_over(git: Git, patch: Patch, commit: str) -> tuple[Outcome, Merge | None]:
    """Merge a patch and commit it, or leave it in the work tree where it needs a person."""
    if git.run("apply", "--reverse", "--check", "-", stdin=patch.data).returncode == 0:
        return Outcome(patch.name, "already upstream"), None
    probe = git.run("apply", "--check", "--verbose", "-", stdin=patch.data)
    merge = merge_commit(git, commit)
    if not merge.settled:
        return Outcome(patch.name, "conflict", _where(patch, merge)), merge
    if not _staged(git):
        return Outcome(patch.name, "already upstream", "found by the 3-way merge"), merge
    commit_as(git, commit)
    if probe.returncode != 0:
        detail = f"imports joined in {', '.join(merge.joined)}" if merge.joined else ""
        return Outcome(patch.name, "3-way", detail), merge
    moved = re.findall(r"offset (-?\d+) line", probe.stderr.decode(errors="replace"))
    return Outcome(patch.name, "offset" if moved else "clean", f"by {', '.join(moved)} lines" if moved else ""), merge


def _where(patch: Patch, merge: Merge) -> str:
    """Name the files that need a person, with the lines of the hunks in conflict and how many hunks there are."""
    hunks = {file.path: len(file) for file in PatchSet(patch.data.decode("utf-8", errors="replace"))}
    places = []
    for file, lines in merge.conflicts.items():
        if lines == (0,):
            places.append(f"{file} is not in the new version")
        else:
            where = " and ".join(f"line {line}" for line in lines)
            places.append(f"{file}, hunk at {where} ({len(lines)} of {hunks.get(file, len(lines))})")
    places += [f"{file} cannot be parsed after the merge" for file in merge.broken]
    return "; ".join(places)
