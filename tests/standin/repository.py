"""Makes git repositories of the stand-in: upstream, and a fork of it that has upstream as a submodule."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from fork.config import Lane, load
from fork.git import Git
from fork.queue.series import read_series, write_lock
from fork.queue.tree import apply_patches, lock_of

_HERE = Path(__file__).parent
_NO_COMMIT = "0" * 40


@dataclass(frozen=True)
class StandIn:
    """The stand-in in a temporary folder.

    :param fork: The checkout of the fork.
    :param checkout: Its submodule, populated with a depth of 1 as a user would.
    :param lane: The lane, pinned to the commit of the stand-in.
    """

    fork: Path
    checkout: Path
    lane: Lane

    def apply(self, folder: Path) -> None:
        """Apply the queue."""
        apply_patches(Git(folder), read_series(self.fork / "patches" / self.lane.name).sound())

    def snapshot(self) -> dict[str, str]:
        """Hash every file of the submodule, those that git keeps for it too."""
        return {
            path.relative_to(self.fork).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for folder in (self.checkout, self.fork / ".git" / "modules" / self.lane.submodule)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


def make_standin(folder: Path) -> StandIn:
    """Make both repositories in an empty folder."""
    upstream = Git.init(folder / "upstream")
    upstream.commit_all("Older commit, which a shallow submodule leaves out")
    shutil.copytree(
        _HERE / "checkout", folder / "upstream", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    upstream.commit_all("Stand-in 3.6.0")
    commit = upstream("rev-parse", "HEAD")

    fork = folder / "fork"
    shutil.copytree(_HERE / "project", fork)
    pin = fork / "fork.toml"
    pin.write_text(pin.read_text("utf-8").replace(_NO_COMMIT, commit, 1), "utf-8")
    _lock(upstream, fork / "patches" / "3.6")
    git = Git.init(fork)
    add_submodule(git, folder / "upstream", "triton")
    git.commit_all("Fork of the stand-in")
    return StandIn(fork, fork / "triton", load(pin).lane())


def _lock(upstream: Git, patches: Path) -> None:
    upstream("tag", "base")
    apply_patches(upstream, read_series(patches).sound())
    write_lock(patches, lock_of(upstream))
    upstream("reset", "--quiet", "--hard", "base")


def add_submodule(git: Git, source: Path, name: str) -> None:
    """Add a repository as a shallow submodule."""
    local = ("-c", "protocol.file.allow=always")
    git(*local, "submodule", "--quiet", "add", "--depth", "1", source.resolve().as_uri(), name)
