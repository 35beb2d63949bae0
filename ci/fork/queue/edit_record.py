"""What an open edit tree was made of, kept beside it, so that neither its commits nor a changed queue are lost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fork.git import Git
from fork.queue.patch import Patch
from fork.queue.series import read_series

__all__ = ["REMAINING", "Record", "digests", "unfinished"]

#: Below ``.git``: the patches that could not be applied yet when the tree was opened.
REMAINING = "fork-remaining"

_FILE = "fork-edit.json"
_OWN_REFS = {"refs/heads/fork", "refs/tags/base"}
_COMMITS_FORMAT = "%T%x00%an%x00%ae%x00%aI%x00%B%x00"


@dataclass(frozen=True)
class Record:
    """The queue and the commits of a tree as they were when the two last agreed.

    :param base: Hash of the git tree of the base.
    :param series: The patches of the queue in their order.
    :param patches: Patch file -> SHA-256 of its bytes.
    :param commits: SHA-256 of the trees, authors, dates and messages of the commits on the base.
    """

    base: str
    series: tuple[str, ...]
    patches: Mapping[str, str]
    commits: str

    @classmethod
    def take(cls, git: Git, patches: Sequence[Patch]) -> Record:
        """Describe a tree that agrees with these patches."""
        series = tuple(patch.name for patch in patches)
        return cls(git.tree("base"), series, digests(patches), _commits_digest(git))

    @classmethod
    def read(cls, git: Git) -> Record | None:
        """Read the record of a tree, or return ``None`` where there is none that can be read."""
        try:
            content = json.loads((git.folder / ".git" / _FILE).read_text("utf-8"))
            return cls(content["base"], tuple(content["series"]), dict(content["patches"]), content["commits"])
        except (OSError, ValueError, KeyError, TypeError):
            return None  # the callers treat the tree as one that holds work

    def write(self, git: Git) -> None:
        """Keep the record in the tree's ``.git``."""
        (git.folder / ".git" / _FILE).write_text(json.dumps(asdict(self), indent=2) + "\n", "utf-8")

    def untouched(self, git: Git) -> bool:
        """Say whether the tree holds nothing that the queue did not hold when the two last agreed."""
        references = set(git("for-each-ref", "--format=%(refname)").split())
        return (
            not unfinished(git)
            and not git("status", "--porcelain")
            and references <= _OWN_REFS
            and _commits_digest(git) == self.commits
        )

    def foreign(self, folder: Path, patches: Sequence[Patch]) -> list[str]:
        """Name what someone else changed in the queue on disk.

        What is as these patches say counts as ours: a ``refresh`` that was killed may have written it.

        :param folder: Folder of the queue.
        :param patches: Those that are about to be written.
        """
        ours = digests(patches)
        on_disk = {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*.patch")
        }
        known = [(self.patches.get(name), ours.get(name)) for name in on_disk]
        changed = [name for name, among in zip(on_disk, known, strict=True) if on_disk[name] not in among]
        changed += [name for name in self.patches if name in ours and name not in on_disk]
        order = tuple(patch.name for patch in read_series(folder).patches)
        if not changed and order not in (self.series, tuple(ours)):
            changed.append("series")
        return sorted(changed)


def digests(patches: Sequence[Patch]) -> dict[str, str]:
    """Give the SHA-256 of the bytes of each patch."""
    return {patch.name: hashlib.sha256(patch.data).hexdigest() for patch in patches}


def unfinished(git: Git) -> str | None:
    """Say what is under way in a tree so that its branch ``fork`` does not hold all of its commits."""
    inside = git.folder / ".git"
    if (inside / "rebase-apply" / "applying").exists():
        return "`git am` waits there for a conflict to be settled"
    if (inside / "rebase-merge").exists() or (inside / "rebase-apply").exists():
        return "a `git rebase` is under way there"
    if (inside / "MERGE_HEAD").exists() or (inside / "CHERRY_PICK_HEAD").exists():
        return "a `git merge` or `git cherry-pick` is under way there"
    branch = git.run("symbolic-ref", "--quiet", "HEAD").stdout.decode().strip()
    return None if branch == "refs/heads/fork" else "its HEAD is not the branch `fork`"


def _commits_digest(git: Git) -> str:
    listing = git("log", f"--format={_COMMITS_FORMAT}", "base..HEAD")
    return hashlib.sha256(listing.encode("utf-8", errors="surrogateescape")).hexdigest()
