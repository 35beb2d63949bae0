"""Syntax trees that were made on the way, kept until they are needed again.

Finding the lines of a function, its key, and generating its code all need the syntax tree. It is handed on from one to the
next, with one owner at a time, as if everybody had parsed for himself. Only the trees made last are kept: a process that
finds its kernels in the cache never asks for them again, and the many small objects would make each run of the garbage
collector longer. They are kept by their texts, not in the functions, where others would see, copy or pickle them.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from typing import Any

__all__ = ["MOST_TREES", "keep", "parse", "take_tree"]

#: More than the functions of a large kernel.
MOST_TREES = 32

_ATTEMPTS = 100

# Text -> its tree, which nobody else has.
_trees: OrderedDict[str, ast.Module] = OrderedDict()


def parse(text: str) -> ast.Module:
    """Parse a text as ``ast.parse`` does, also where other threads parse at the same time.

    CPython up to 3.12 counts the depth of all threads' trees in one place and raises SystemError where the count does not come out
    even (python/cpython#106905); the text is not at fault.

    :param text: Source code.
    :raises SyntaxError, ValueError, RecursionError, MemoryError: As ``ast.parse``.
    """
    for _ in range(_ATTEMPTS):
        try:
            return ast.parse(text)
        except SystemError:
            continue
    return ast.parse(text)


def keep(source: str, tree: ast.Module) -> None:
    """Keep the tree of a text.

    :param source: The text that the tree was made from.
    :param tree: The tree, which nobody else has.
    """
    _trees[source] = tree
    while len(_trees) > MOST_TREES:
        try:
            _trees.popitem(last=False)
        except KeyError:  # another thread took the last one
            return


def take_tree(function: Any) -> ast.Module | None:
    """Hand over the tree of a function's source, once: whoever asks again parses for himself.

    :param function: A ``JITCallable``.
    :returns: ``None`` where there is none.
    """
    return _trees.pop(function._src, None)
