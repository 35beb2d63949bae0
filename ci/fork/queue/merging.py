"""Carries one commit of the queue over to another upstream by a 3-way merge, and says what is left for a person."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fork.git import Git

__all__ = ["Merge", "commit_as", "favour_queue", "join_imports", "merge_commit"]

_REGION = re.compile(
    r"^<<<<<<< [^\n]*\n(?P<upstream>.*?)^\|{7}[^\n]*\n(?P<base>.*?)^=======\n(?P<queue>.*?)^>>>>>>> [^\n]*\n",
    re.DOTALL | re.MULTILINE,
)
_UNMERGED = ("diff", "--name-only", "-z", "--diff-filter=U")

Imports = dict[tuple[int, str], list[str]]


@dataclass(frozen=True)
class Merge:
    """What came of a merge; work tree and index hold it, uncommitted.

    :param conflicts: File -> where it needs a person: the line of each hunk in conflict, or 0 for the file as a whole.
    :param joined: Files in which both sides had only changed imports, which were joined.
    :param broken: Python files that merged, but cannot be parsed afterwards.
    """

    conflicts: Mapping[str, tuple[int, ...]]
    joined: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def settled(self) -> bool:
        """Whether nothing is left for a person."""
        return not self.conflicts and not self.broken


def merge_commit(git: Git, commit: str) -> Merge:
    """Merge the change of a commit into ``HEAD``.

    The merge sees whole files, so it does not mistake a place for another that looks like it, as applying a patch with a line of
    context at an offset can. Nothing is guessed: conflicts stay, but for imports that both sides changed, whose names are joined.

    :param git: The repository, its work tree clean; it has the commit.
    :param commit: A commit of the queue on the old upstream.
    """
    git.run("-c", "merge.conflictStyle=diff3", "cherry-pick", "--no-commit", "--allow-empty", commit)
    joined, conflicts = [], {}
    for file in _names(git, *_UNMERGED):
        lines = _settle(git, file, join_imports)
        if lines:
            conflicts[file] = lines
        else:
            joined.append(file)
    changed = _names(git, "diff", "--name-only", "-z", "--cached", "--diff-filter=AM", "HEAD")
    broken = [file for file in changed if file.endswith(".py") and file not in conflicts and not _parses(git, file)]
    return Merge(conflicts, tuple(joined), tuple(broken))


def favour_queue(git: Git, merge: Merge) -> None:
    """Settle a merge as if a person had taken the queue's side of each conflict, so that later patches can be tried on it.

    A file that the new upstream has no longer stays away.
    """
    for file in merge.conflicts:
        if _settle(git, file, _take_queue):
            git("rm", "--quiet", "--force", "--ignore-unmatch", "--", file)


def commit_as(git: Git, commit: str) -> None:
    """Commit what is staged under the message, author and date of a commit."""
    git("-c", "commit.cleanup=verbatim", "commit", "--quiet", "--no-verify", f"--reuse-message={commit}")


def _take_queue(_upstream: str, _base: str, queue: str) -> str:
    return queue


def join_imports(upstream: str, base: str, queue: str) -> str | None:
    r"""Join what two sides made of the same imports.

    >>> join_imports("import os\nfrom .a import x, y\n", "from .a import x\n", "from .a import x\nfrom .b import z\n")
    'import os\nfrom .a import x, y\nfrom .b import z\n'

    :param upstream: The lines of one side.
    :param base: What both began with.
    :param queue: The lines of the other side.
    :returns: ``None`` where there is anything else than imports of a line each.
    """
    sides = [_imports(text) for text in (upstream, base, queue)]
    if any(side is None for side in sides):
        return None
    now, before, wanted = (side or {} for side in sides)
    texts = {source: line for line in upstream.splitlines() for source in _imports(line) or {}}
    joined = []
    for source in dict.fromkeys([*now, *wanted]):
        old, ours, theirs = before.get(source, []), wanted.get(source, []), now.get(source, [])
        names = [name for name in theirs if name in ours or name not in old]
        names += [name for name in ours if name not in old and name not in names]
        if names:
            joined.append(texts[source] if names == theirs else _line(source, names))
    return "".join(f"{line}\n" for line in joined)


def _imports(text: str) -> Imports | None:
    """Read lines of imports: (number of dots, module) -> names with ``as``; a plain ``import`` has the number -1."""
    found: Imports = {}
    if "#" in text or "(" in text or text[:1].isspace():
        return None
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return None
    for statement in body:
        if isinstance(statement, ast.ImportFrom):
            source = statement.level, statement.module or ""
        elif isinstance(statement, ast.Import):
            source = -1, ", ".join(map(ast.unparse, statement.names))
        else:
            return None
        found.setdefault(source, []).extend(map(ast.unparse, statement.names))
    return found


def _line(source: tuple[int, str], names: Iterable[str]) -> str:
    level, module = source
    return f"import {module}" if level < 0 else f"from {'.' * level}{module} import {', '.join(names)}"


def _settle(git: Git, file: str, resolve: Callable[[str, str, str], str | None]) -> tuple[int, ...]:
    """Resolve the conflicts of a file where that is possible, and stage it where none is left.

    :returns: The lines where one is left; ``(0,)`` where one side has no such file.
    """
    path = git.folder / file
    stages = {row.split()[2] for row in git("ls-files", "--unmerged", "--", file).splitlines()}
    if stages != {"1", "2", "3"} or not path.is_file():
        return (0,)
    text = path.read_bytes().decode("utf-8", errors="surrogateescape")
    left: list[int] = []

    def replacement(region: re.Match[str]) -> str:
        settled = resolve(region["upstream"], region["base"], region["queue"])
        if settled is None:
            left.append(text.count("\n", 0, region.start()) + 1)
        return region[0] if settled is None else settled

    path.write_bytes(_REGION.sub(replacement, text).encode("utf-8", errors="surrogateescape"))
    if not left:
        git("add", "--", file)
    return tuple(left)


def _parses(git: Git, file: str) -> bool:
    try:
        ast.parse((git.folder / file).read_bytes())
    except (SyntaxError, ValueError):
        return False
    return True


def _names(git: Git, *arguments: str) -> list[str]:
    return [name for name in git(*arguments).split("\0") if name]
