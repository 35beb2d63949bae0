"""The mirror lock: which upstream functions our own code re-does, and what they looked like when somebody last compared the two.

A patch that applies cleanly says nothing about these functions: the overlay or the native extension does the same work in other
words, and upstream may change what the work is. Each is named by a line in the file that re-does it, in a comment or a docstring::

    Mirrors python/triton/runtime/jit.py: JITFunction.run, JITFunction._pack_args

A function that a patch puts a decorator of ours on is taken for one as well. ``mirrors.toml`` of the lane's overlay keeps, for each
function, the digest of the upstream definition and the files of ours that re-do it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fork.errors import ForkError
from fork.git import Git
from fork.queue.definitions import decorated, definition_digests

__all__ = [
    "MIRRORS",
    "Change",
    "Mirror",
    "MirrorError",
    "Sources",
    "changes",
    "compared",
    "find_mirrors",
    "in_tree",
    "lock_faults",
    "read_mirrors",
    "write_mirrors",
]

#: Name of the lock in the folder of a lane's overlay.
MIRRORS = "mirrors.toml"

_MARKER = re.compile(r"\bMirrors (?P<file>[\w./-]+\.(?:py|c|cc|cpp|h)): (?P<names>[\w.]+(?:,\s+(?:[#*/]+\s+)?[\w.]+)*)")
_QUEUE = "patches"
_CODE = frozenset({".py", ".c", ".h", ".cc", ".cpp"})
_DIGEST = re.compile(r"[0-9a-f]{16}")
_HEAD = """# The upstream functions that our own code re-does, where it does so, and the digest of the upstream definition that
# it was last compared with. Written by `ci/fork.sh mirrors --accept`, once a person has compared the two.
"""

#: Gives the text of an upstream file by its path in a checkout, ``None`` where there is none.
Sources = Callable[[str], str | None]


class MirrorError(ForkError):
    """The mirror lock cannot be read, or upstream functions that our code re-does are not as it says."""

    exit_code = 54


@dataclass(frozen=True, order=True)
class Mirror:
    """An upstream function that our code re-does.

    :param file: The upstream file, as in a checkout.
    :param name: Qualified name of the function or class.
    :param by: The files of ours that re-do it, relative to the repository, sorted.
    :param digest: Of the upstream definition in the latest release of the lane; empty where it was not compared yet.
    :param earlier: Its other digests, in earlier releases of the lane.
    """

    file: str
    name: str
    by: tuple[str, ...]
    digest: str = ""
    earlier: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} ({self.file})"


@dataclass(frozen=True)
class Change:
    """A locked function that upstream has no longer, or has changed.

    :param mirror: The function, as it is locked.
    :param now: Its digest now; ``None`` where there is no such function.
    """

    mirror: Mirror
    now: str | None

    def __str__(self) -> str:
        what = "has changed" if self.now else "is gone"
        return f"{self.mirror} {what}; re-done by {', '.join(self.mirror.by)}"


def read_mirrors(file: Path) -> list[Mirror]:
    """Read the lock.

    :param file: The ``mirrors.toml`` of a lane; nothing is locked where there is none.
    :raises MirrorError: It is not what :func:`write_mirrors` writes.
    """
    if not file.is_file():
        return []
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
        mirrors = [
            Mirror(source, name, tuple(entry["by"]), entry["digest"], tuple(entry.get("earlier", ())))
            for source, entries in tables.items()
            for name, entry in entries.items()
        ]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise MirrorError(f"{file.name} is damaged: {error}", "`ci/fork.sh mirrors --accept` writes it anew") from None
    if faulty := [
        str(mirror)
        for mirror in mirrors
        if not all(_DIGEST.fullmatch(str(digest)) for digest in (mirror.digest, *mirror.earlier))
    ]:
        raise MirrorError(
            f"{file.name} has no digest of {', '.join(faulty)}", "`ci/fork.sh mirrors --accept` writes it anew"
        )
    return sorted(mirrors)


def write_mirrors(file: Path, mirrors: Iterable[Mirror]) -> None:
    """Write the lock: a table for each upstream file, a line for each function."""
    lines, source = [_HEAD.rstrip("\n")], ""
    for mirror in sorted(mirrors):
        if mirror.file != source:
            source = mirror.file
            lines += ["", f"[{json.dumps(source)}]"]
        earlier = f", earlier = {json.dumps(mirror.earlier)}" if mirror.earlier else ""
        lines.append(
            f"{json.dumps(mirror.name)} = {{ digest = {json.dumps(mirror.digest)}{earlier}, by = {json.dumps(mirror.by)} }}"
        )
    file.parent.mkdir(parents=True, exist_ok=True)  # a lane may have nothing else of its own
    file.write_text("\n".join(lines) + "\n", "utf-8")


def in_tree(git: Git, revision: str) -> Sources:
    """Give the files of a revision."""

    def text(file: str) -> str | None:
        shown = git.run("show", f"{revision}:{file}")
        return shown.stdout.decode("utf-8", errors="replace") if shown.returncode == 0 else None

    return text


def find_mirrors(root: Path, folders: Iterable[Path], git: Git) -> list[Mirror]:
    """Find what is re-done, without digests.

    :param root: The repository.
    :param folders: Where our code lies, for the lane at hand.
    :param git: The tree with the queue applied, its ``base`` tagged.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _CODE and path.is_file():
                for mirrored in _markers(path.read_text("utf-8")):
                    found.setdefault(mirrored, set()).add(path.relative_to(root).as_posix())
    patched, base = in_tree(git, "HEAD"), in_tree(git, "base")
    for file in git(
        "diff", "--name-only", "--no-renames", "--diff-filter=M", "base", "HEAD", "--", "*.py"
    ).splitlines():
        upstream = _digests(file, base)  # what a patch adds is no function of upstream's
        for name in filter(upstream.__contains__, decorated(patched(file) or "", "fork")):
            found.setdefault((file, name), set()).add(_QUEUE)
    return sorted(Mirror(file, name, tuple(sorted(by))) for (file, name), by in found.items())


def compared(mirrors: Sequence[Mirror], sources: Sources, *earlier: Sources) -> list[Mirror]:
    """Give mirrors the digests that their functions have now.

    :param sources: The upstream version that somebody has compared them with.
    :param earlier: The earlier releases of the lane, compared as well.
    :raises MirrorError: Upstream has no such function.
    """
    done, unknown = [], []
    for mirror, digest in _digests_now(mirrors, sources):
        if digest is None:
            unknown.append(f"{mirror}, named in {', '.join(mirror.by)}")
        else:
            done.append(replace(mirror, digest=digest))
    if unknown:
        raise MirrorError(
            f"upstream has no {'; no '.join(unknown)}", "mend the name in the line that begins with 'Mirrors'"
        )
    for release in earlier:
        others = compared(mirrors, release)
        done = [
            mirror if other.digest in (mirror.digest, *mirror.earlier) else _with_earlier(mirror, other.digest)
            for mirror, other in zip(done, others, strict=True)
        ]
    return done


def _with_earlier(mirror: Mirror, digest: str) -> Mirror:
    return replace(mirror, earlier=(*mirror.earlier, digest))


def changes(locked: Iterable[Mirror], sources: Sources) -> list[Change]:
    """List the locked functions that are not in some version of upstream as they were.

    :param sources: The version.
    """
    return [
        Change(mirror, now)
        for mirror, now in _digests_now(locked, sources)
        if now not in (mirror.digest, *mirror.earlier)
    ]


def lock_faults(locked: Iterable[Mirror], found: Iterable[Mirror], sources: Sources) -> list[str]:
    """List where the lock, our code and upstream disagree.

    :param locked: What the lock says.
    :param found: What our code says that it re-does.
    :param sources: The upstream version that the lane is pinned to.
    """
    by_name = {(mirror.file, mirror.name): mirror for mirror in locked}
    re_done = {(mirror.file, mirror.name): mirror for mirror in found}
    faults = [
        f"upstream's {change}; compare them, then `mirrors --accept`" for change in changes(by_name.values(), sources)
    ]
    for key, mirror in re_done.items():
        if key not in by_name:
            faults.append(f"{', '.join(mirror.by)} re-does upstream's {mirror}, which {MIRRORS} does not name")
        elif by_name[key].by != mirror.by:
            faults.append(
                f"{MIRRORS} says that {', '.join(by_name[key].by)} re-does {mirror}; it is {', '.join(mirror.by)}"
            )
    faults += [
        f"{MIRRORS} names {mirror}, which nothing of ours re-does"
        for key, mirror in by_name.items()
        if key not in re_done
    ]
    return faults


def _markers(text: str) -> Iterator[tuple[str, str]]:
    for marker in _MARKER.finditer(text):
        for name in re.findall(r"[\w.]+", marker["names"]):
            yield marker["file"], name.rstrip(".")


def _digests_now(mirrors: Iterable[Mirror], sources: Sources) -> Iterator[tuple[Mirror, str | None]]:
    known: dict[str, Mapping[str, str]] = {}
    for mirror in mirrors:
        if mirror.file not in known:
            known[mirror.file] = _digests(mirror.file, sources)
        yield mirror, known[mirror.file].get(mirror.name)


def _digests(file: str, sources: Sources) -> Mapping[str, str]:
    text = sources(file)
    if text is None:
        return {}
    try:
        return definition_digests(file, text)
    except SyntaxError as error:
        raise MirrorError(
            f"{file} cannot be read: {error}", "use a Python that is as new as upstream's sources"
        ) from None
