"""The checkout-shaped tree: the base as one commit, each patch of the queue as a commit on top."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from fork.archive.wheels import WheelArchive
from fork.config import Lane
from fork.errors import ForkError
from fork.git import Git, GitError, check_room
from fork.layout import Layout
from fork.queue.patch import Patch
from fork.queue.series import Lock

__all__ = [
    "PatchConflictError",
    "TreeMismatchError",
    "apply_patches",
    "apply_series",
    "commits",
    "export",
    "lay_out",
    "lock_of",
    "verify_files",
    "verify_lock",
]

_EXPORT_OPTIONS = (
    "--stdout",
    "--zero-commit",
    "--no-signature",
    "--no-stat",
    "--no-numbered",
    "--keep-subject",
    "--full-index",
    "--no-renames",
    "--unified=1",
    "--encode-email-headers",
)


class PatchConflictError(ForkError):
    """A patch does not apply; the message names the patch, the file and the hunk."""

    exit_code = 12


class TreeMismatchError(ForkError):
    """Git applied the series, but the resulting tree is not the one that it must be."""

    exit_code = 13


def lay_out(lane: Lane, base_wheel: Path, folder: Path) -> Git:
    """Lay the sources in a wheel out as in a checkout and commit them.

    :param lane: Gives the layout.
    :param base_wheel: A wheel of the lane, already verified; the sources are the same in all of them.
    :param folder: Where; must be empty.
    :returns: The repository; its branch is ``fork``, its first commit is tagged ``base``.
    """
    git = Git.init(folder)
    layout = Layout.of(lane)
    with WheelArchive.open(base_wheel) as archive:
        for member in archive.members:
            place = layout.to_tree(member.filename)
            if place and layout.is_source(member.filename):
                target = folder / place
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
    git.commit_all(f"Triton {lane.version}, wheel base")
    git("tag", "base")
    return git


def apply_patches(git: Git, patches: Iterable[Patch], progress: Callable[[str], None] = lambda _: None) -> None:
    """Apply patches with ``git am``, each a commit, and check that each commit says what its patch says.

    Neither fuzz nor a 3-way merge is used. Git can skip hunks and exit with 0 (oven-sh/bun#35099), hence the comparison of the
    commit with the patch.

    :param git: The repository, its work tree clean.
    :param patches: In their order.
    :param progress: Is told the name of each patch.
    :raises PatchConflictError: One does not apply.
    :raises TreeMismatchError: Git left a part of one out.
    """
    for patch in patches:
        progress(patch.name)
        done = git.run(
            "am", "--quiet", "--keep", "--keep-cr", "--no-3way", "--committer-date-is-author-date", stdin=patch.data
        )
        check_room(git.folder, done)
        if done.returncode != 0:
            conflict = _conflict(git, patch, done.stdout + done.stderr)
            git.run("am", "--abort")
            raise conflict
        applied = _touched(export(git, "HEAD"))
        if applied != _touched(patch.data):
            lost = sorted(_touched(patch.data) - applied) or sorted(applied - _touched(patch.data))
            where = ", ".join(f"{file} ({lines})" for file, lines in lost)
            raise TreeMismatchError(
                f"git skipped a part of '{patch.name}' without saying so: {where}",
                "the patch is damaged or aims outside the tree; make it anew with `edit` and `refresh`",
            )


def apply_series(
    git: Git, patches: Iterable[Patch], lock: Lock | None, progress: Callable[[str], None] = lambda _: None
) -> None:
    """Apply the series on a laid out base and compare both trees with the lock.

    :raises PatchConflictError: A patch does not apply.
    :raises TreeMismatchError: A tree is not the locked one, or there is no lock.
    """
    if lock is None:
        raise TreeMismatchError("the series has no series.lock", "`ci/fork.sh refresh` writes it")
    if git.tree("base") != lock.base:
        raise TreeMismatchError(
            f"the sources of the base have the tree {git.tree('base')}, locked is {lock.base}",
            "after a change of the pin or of the layout in fork.toml, `ci/fork.sh refresh` locks the new one",
        )
    apply_patches(git, patches, progress)
    verify_lock(git, lock)


def verify_lock(git: Git, lock: Lock) -> None:
    """Compare the tree after the last patch with the locked one.

    :raises TreeMismatchError: They differ.
    """
    if git.tree() != lock.patched:
        raise TreeMismatchError(
            f"the patched sources have the tree {git.tree()}, locked is {lock.patched}",
            "a patch or the series changed; look at the difference, then `ci/fork.sh refresh` locks the new tree",
        )


def verify_files(git: Git, lock: Lock | None) -> None:
    """Compare the files that the series changes with the locked ones, on a base that holds more files than a wheel.

    :raises TreeMismatchError: One differs, or there is no lock.
    """
    if lock is None:
        raise TreeMismatchError("the series has no series.lock", "`ci/fork.sh refresh` writes it")
    blobs = dict(_blobs(git, list(lock.files)))
    differing = [name for name, blob in lock.files.items() if blobs.get(name) != blob]
    if differing:
        raise TreeMismatchError(
            f"after the series these files are not the locked ones: {', '.join(differing)}",
            "the checkout and the published wheel differ there, or a patch changed: compare them, then `ci/fork.sh refresh`",
        )


def lock_of(git: Git) -> Lock:
    """Describe the tree of ``HEAD`` on its ``base`` for :func:`fork.queue.series.write_lock`."""
    listing = git("diff", "--name-only", "-z", "--no-renames", "base", "HEAD")
    changed = [name for name in listing.split("\0") if name]
    return Lock(git.tree("base"), git.tree(), dict(_blobs(git, changed)))


def _blobs(git: Git, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give the blob of each of the named files that exists in ``HEAD``."""
    listing = git("ls-tree", "-r", "-z", "HEAD", "--", *names) if names else ""
    for row in filter(None, listing.split("\0")):
        yield row.partition("\t")[2], row.split()[2]


def commits(git: Git) -> list[str]:
    """List the commits on top of the base, oldest first.

    :raises GitError: There is a merge among them, which no patch can express.
    """
    if git("rev-list", "--merges", "base..HEAD"):
        raise GitError("the tree has a merge commit on top of the base", "rebase it: a patch queue is a straight line")
    return git("rev-list", "--reverse", "base..HEAD").split()


def export(git: Git, revision: str) -> bytes:
    """Write one commit as a patch file, always in the same form.

    :param revision: The commit.
    :returns: The bytes of the file: no hash of the commit, no version of git, one line of context, whole blob hashes.
    """
    done = git.run("format-patch", "-1", *_EXPORT_OPTIONS, revision)
    if done.returncode != 0:
        raise GitError(f"cannot export {revision}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _touched(data: bytes) -> set[tuple[str, str]]:
    """Describe a patch by its files and the lines it removes and adds, whatever their offsets and context."""
    text = re.sub(
        r"\n-- \n[^\n]*\s*$", "\n", data.decode("utf-8", errors="surrogateescape")
    )  # git's version, as a signature
    touched: set[tuple[str, str]] = set()
    for section in re.split(r"^diff --git ", text, flags=re.MULTILINE)[1:]:
        file = section.partition("\n")[0].rpartition(" b/")[2]
        start = section.find("\n@@ ")
        hunks = section[start:] if start >= 0 else ""
        removed = len(re.findall(r"^-", hunks, flags=re.MULTILINE))
        added = len(re.findall(r"^\+", hunks, flags=re.MULTILINE))
        touched.add((file, f"{removed} lines removed, {added} added"))
    return touched


def _conflict(git: Git, patch: Patch, output: bytes) -> PatchConflictError:
    said = output.decode("utf-8", errors="replace")
    place = re.search(r"error: patch failed: (\S+):(\d+)", said)
    missing = re.search(r"error: (\S+): (does not exist in index|already exists in \S+.*)", said)
    if place:
        file, line = place[1], int(place[2])
        return PatchConflictError(
            f"'{patch.name}' does not apply: file {file}, hunk at line {line} ({_hunk_number(patch, file, line)})",
            "`ci/fork.sh edit` opens the tree at the patch; settle it there, then `ci/fork.sh refresh`",
        )
    if missing:
        return PatchConflictError(
            f"'{patch.name}' does not apply: file {missing[1]} {missing[2]}",
            "a patch to a file that the wheel does not carry, such as C++, needs `./build.sh --source`",
        )
    return PatchConflictError(f"'{patch.name}' does not apply in {git.folder}: {said.strip()}", "make the patch anew")


def _hunk_number(patch: Patch, file: str, line: int) -> str:
    section = patch.data.decode("utf-8", errors="replace").partition(f" b/{file}\n")[2].partition("\ndiff --git ")[0]
    starts = [int(start) for start in re.findall(r"^@@ -(\d+)", section, flags=re.MULTILINE)]
    return f"hunk {starts.index(line) + 1} of {len(starts)}" if line in starts else f"one of {len(starts)} hunks"
