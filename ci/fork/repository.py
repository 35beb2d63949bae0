"""Which state of the fork's own repository a wheel is built from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fork.git import Git, GitError

__all__ = ["Source", "source_of"]


@dataclass(frozen=True)
class Source:
    """A state of the fork's repository.

    :param commit: The last commit that changed one of the files that a wheel is made from; empty where there is no repository.
        In a shallow clone it can be the commit at which the history begins: it has the same files.
    :param modified: Whether such files differ from that commit.
    """

    commit: str
    modified: bool


def source_of(root: Path, paths: Sequence[str]) -> Source:
    """Ask the repository of a checkout.

    Commits to other files, such as the documentation, do not count, so that they do not make another version.

    :param root: The checkout.
    :param paths: Files and folders relative to it.
    :returns: The state; an empty one where the folder is no repository, such as one of an archive.
    """
    if not (root / ".git").exists():
        return Source("", False)
    # A container often builds as root from a folder of another user's, which git reads only when told so.
    reading = ("--no-optional-locks", "-c", f"safe.directory={root.resolve()}")
    git = Git(root)
    try:
        commit = git(*reading, "log", "-1", "--format=%H", "--", *paths)
        changes = git(*reading, "status", "--porcelain", "--untracked-files=all", "--", *paths)
    except GitError:
        return Source("", False)  # no git, or no commit yet
    return Source(commit, bool(changes)) if commit else Source("", False)
