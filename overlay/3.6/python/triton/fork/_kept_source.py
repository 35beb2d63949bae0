"""What was found out about the source of a function on the way, kept until it is needed again.

Finding the lines of a function, its key, and generating its code all need the syntax tree. It is handed on from one to the
next, with one owner at a time, as if everybody had parsed for himself. Only the trees made last are kept: a process that
finds its kernels in the cache never asks for them again, and the many small objects would make each run of the garbage
collector longer.
"""

from __future__ import annotations

import ast
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._source_reads import Reads

__all__ = ["KeptSource", "keep", "kept", "take_tree"]

_ATTRIBUTE = "_kept_source"
#: More than the functions of a large kernel.
MOST_TREES = 32


class KeptSource:
    """What belongs to one text. Copies of a function share it, pickled ones do without.

    :param source: The text.
    :param tree: Its syntax tree.
    :param reads: What it reads, where that was found.
    """

    __slots__ = ("_trees", "reads", "source")

    def __init__(self, source: str = "", tree: ast.Module | None = None, reads: Reads | None = None) -> None:
        self.source = source
        self.reads = reads
        self._trees = [] if tree is None else [tree]

    def take(self) -> ast.Module | None:
        """Give the tree away, to one caller."""
        try:
            return self._trees.pop()
        except IndexError:
            return None

    def __reduce__(self) -> tuple[type[KeptSource], tuple[()]]:
        return KeptSource, ()


_recent: deque[KeptSource] = deque()


def keep(attributes: dict[str, Any], source: str, tree: ast.Module, reads: Reads | None = None) -> None:
    """Keep what is known of a function's source.

    :param attributes: The ``__dict__`` of a ``JITCallable``.
    :param source: The text that the tree was made from.
    :param tree: The tree, which nobody else has.
    :param reads: What the source reads.
    """
    attributes[_ATTRIBUTE] = found = KeptSource(source, tree, reads)
    _recent.append(found)
    while len(_recent) > MOST_TREES:
        _recent.popleft().take()


def kept(function: Any) -> KeptSource | None:
    """Give what is known of the source that a function has now.

    :param function: A ``JITCallable``.
    """
    found: KeptSource | None = function.__dict__.get(_ATTRIBUTE)
    # Compared by value: the text is all that this depends on, and it may be replaced.
    return found if found is not None and found.source == function._src else None


def take_tree(function: Any) -> ast.Module | None:
    """Hand over the tree of a function's source, once: whoever asks again parses for himself.

    :param function: A ``JITCallable``.
    :returns: ``None`` where there is none.
    """
    found = kept(function)
    return None if found is None else found.take()
