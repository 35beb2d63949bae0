"""Git in a repository of ours, cut off from the user's and the machine's configuration."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fork.errors import AccessError, DiskFullError, ForkError

__all__ = ["Git", "GitError", "check_room"]

_SETTINGS = {
    "am.keepCr": "true",
    "am.threeWay": "false",
    "commit.gpgSign": "false",
    "core.autocrlf": "false",
    "core.hooksPath": os.devnull,
    "diff.algorithm": "myers",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "gc.auto": "0",
    "user.name": "Triton fork",
    "user.email": "fork@localhost",
}
_STORED = ("am.keepCr", "commit.gpgSign", "core.autocrlf", "core.hooksPath", "user.name", "user.email")


class GitError(ForkError):
    """Git is missing or failed in a way that is not the patch's fault."""

    exit_code = 18


def check_room(folder: Path, done: subprocess.CompletedProcess[bytes]) -> None:
    """Tell a full disk from other failures of git.

    :raises DiskFullError: Git failed for want of room.
    """
    if done.returncode != 0 and re.search(rb"No space left on device|Disk quota exceeded|unable to write", done.stderr):
        raise DiskFullError(f"the disk is full: git cannot write in {folder}", "make room; a tree takes about 10 MB")


@dataclass(frozen=True)
class Git:
    """Runs git in one repository.

    :param folder: The work tree.
    """

    folder: Path

    @classmethod
    def init(cls, folder: Path) -> Git:
        """Make an empty repository whose branch is ``fork``.

        Stored in it are the settings that a person's own git needs to make commits there that export as ours do, and an identity
        where the person has none.
        """
        folder.mkdir(parents=True, exist_ok=True)
        git = cls(folder)
        git("init", "--quiet", "--initial-branch=fork")
        for name in _STORED:
            if not (name.startswith("user.") and _users_own(folder, name)):
                git("config", name, _SETTINGS[name])
        return git

    def environment(self) -> dict[str, str]:
        """Give the environment of the process: no configuration but ours, a fixed committer, English messages."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return kept | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self.folder.parent),
            "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }

    def run(self, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run git and return whatever came of it.

        :param arguments: What follows ``git``.
        :param stdin: Standard input; empty where it is ``None``.
        :raises GitError: There is no git.
        :raises AccessError: The repository is another user's.
        """
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        try:
            done = subprocess.run(
                ["git", *settings, *arguments],
                cwd=self.folder,
                env=self.environment(),
                input=stdin or b"",
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            raise GitError("git is not installed", "install git 2.30 or newer") from None
        if b"dubious ownership" in done.stderr:
            raise AccessError(
                f"the repository in {self.folder} belongs to another user, and git does not work in such",
                "work as that user, or in a clone of your own",
            )
        return done

    def __call__(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Run git and return its standard output without the last line end.

        :raises GitError: It ended with another status than 0.
        """
        done = self.run(*arguments, stdin=stdin)
        if done.returncode != 0:
            raise GitError(
                f"git {arguments[0]} failed in {self.folder}: {done.stderr.decode(errors='replace').strip()}"
            )
        return done.stdout.decode("utf-8", errors="surrogateescape").removesuffix("\n")

    def commit_all(self, message: str) -> str:
        """Commit everything in the work tree with a fixed date and return the hash of its tree."""
        self("add", "--all", "--force", ".")
        self("commit", "--quiet", "--allow-empty", "--no-verify", "--date=2026-01-01T00:00:00Z", f"--message={message}")
        return self.tree()

    def tree(self, revision: str = "HEAD") -> str:
        """Return the hash of the tree of a revision."""
        return self("rev-parse", f"{revision}^{{tree}}")


def _users_own(folder: Path, name: str) -> bool:
    """Say whether the person's or the machine's configuration has a setting."""
    located = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"}
    environment = {key: value for key, value in os.environ.items() if key not in located}
    done = subprocess.run(["git", "config", name], cwd=folder, env=environment, capture_output=True, check=False)
    return bool(done.stdout.strip())
