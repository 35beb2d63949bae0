"""The upstream checkout of a source build: is it the pinned one and untouched, and a copy of it to patch and build in."""

from __future__ import annotations

import shutil
from pathlib import Path

from fork.config import Lane
from fork.errors import ForkError
from fork.git import Git

__all__ = ["SubmoduleCommitError", "SubmoduleDirtyError", "SubmoduleEmptyError", "check_checkout", "copy_checkout"]

#: Upstream's ``setup.py`` adds ``+git<commit>`` to the version unless the branch has a name that begins with ``release``.
BRANCH = "release/fork"

_LISTED = 10


class SubmoduleEmptyError(ForkError):
    """The submodule with upstream's sources is not populated."""

    exit_code = 40


class SubmoduleCommitError(ForkError):
    """The submodule is not at the commit that ``fork.toml`` pins."""

    exit_code = 41


class SubmoduleDirtyError(ForkError):
    """The submodule has changes: staged, unstaged, untracked, or in a submodule of its own."""

    exit_code = 42


def check_checkout(checkout: Path, lane: Lane) -> None:
    """See to it that a checkout is upstream at the pinned commit and nothing else.

    Files that upstream's own ``.gitignore`` covers do not count: the build does not see them.

    :param checkout: Folder of the submodule. It is only read; not even its index is refreshed.
    :param lane: Gives the commit, and the name of the submodule for the messages.
    :raises SubmoduleEmptyError: There is no checkout.
    :raises SubmoduleCommitError: It is at another commit.
    :raises SubmoduleDirtyError: It has changes; the message names the files.
    """
    name, populate = lane.submodule, f"run: git submodule update --init --depth 1 {lane.submodule}"
    if not (checkout / ".git").exists():
        what = "is not a git checkout" if checkout.is_dir() and any(checkout.iterdir()) else "is empty"
        raise SubmoduleEmptyError(f"the submodule '{name}' {what}; a build from source needs it", populate)
    head = Git(checkout).run(*_reading(checkout), "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    commit = head.stdout.decode().strip()
    if head.returncode != 0:
        reason = head.stderr.decode(errors="replace").strip()
        raise SubmoduleEmptyError(
            f"the submodule '{name}' has no commit checked out{': ' if reason else ''}{reason}", populate
        )
    if commit != lane.commit:
        raise SubmoduleCommitError(f"the submodule '{name}' is at {commit}, fork.toml pins {lane.commit}", populate)
    changes = _changes(checkout)
    if changes:
        more = f" and {len(changes) - _LISTED} more" if len(changes) > _LISTED else ""
        raise SubmoduleDirtyError(
            f"the submodule '{name}' has changes: {', '.join(changes[:_LISTED])}{more}",
            f"make them patches with `ci/fork.sh edit`, or put them aside: git -C {name} stash --include-untracked",
        )


def copy_checkout(checkout: Path, lane: Lane, folder: Path) -> Git:
    """Check the pinned commit out in a repository of its own that borrows the objects of the checkout.

    A ``git worktree`` would do too, but it would leave a branch and a record in the submodule when the process is killed.
    A ``git clone --shared`` refuses to borrow from a shallow checkout, which a submodule usually is.

    :param checkout: Folder of the submodule, already checked.
    :param folder: Where; is made.
    :returns: The repository: the commit is tagged ``base``, the branch is one from which upstream makes release versions.
    """
    git = Git.init(folder)
    objects, shallow = (
        checkout / Git(checkout)(*_reading(checkout), "rev-parse", "--git-path", part)
        for part in ("objects", "shallow")
    )
    alternates = folder / ".git" / "objects" / "info" / "alternates"
    alternates.parent.mkdir(exist_ok=True)
    alternates.write_text(f"{objects.resolve()}\n", "utf-8")
    if shallow.is_file():
        shutil.copyfile(shallow, folder / ".git" / "shallow")
    git("checkout", "--quiet", "-B", BRANCH, lane.commit)
    git("tag", "base")
    return git


def _reading(checkout: Path) -> tuple[str, ...]:
    # A container often builds as root from a folder of another user's, which git reads only when told so.
    return "--no-optional-locks", "-c", f"safe.directory={checkout.resolve()}"


def _changes(checkout: Path) -> list[str]:
    listing = Git(checkout)(
        *_reading(checkout),
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=none",
        "--no-renames",
    )
    return [_change(entry) for entry in listing.split("\0") if entry]


def _change(entry: str) -> str:
    staged, unstaged, path = entry[0], entry[1], entry[3:]
    if staged == "?":
        return f"{path} (untracked)"
    words = [word for word, flag in (("staged", staged), ("unstaged", unstaged)) if flag != " "]
    return f"{path} ({', '.join(words)})"
