"""Parse the source of a function once, not once per specialisation and once more for its cache key.

A tree is shared only between the readers inside Triton: ``JITCallable.parse`` itself gives every caller a tree of its own, as
the base does, because callers may change theirs.
"""

from __future__ import annotations

import ast
from typing import Any

from triton.fork.codegen.kernels import enabled
from triton.fork.state.beside import Beside
from triton.runtime.jit import JITCallable

__all__ = ["SWITCH", "shared_tree"]

#: The environment variable that makes every reader parse the source, as the base does.
SWITCH = "TRITON_FORK_PARSE"

_BASE_PARSE = JITCallable.parse

# Function -> a text and the tree made from it.
_trees: Beside[tuple[str, ast.Module]] = Beside()

#: The classes that leave the trees they visit as they are (``_is_unused`` of an expression statement is set to the same value each
#: time).
_READERS = frozenset(
    {("triton.compiler.code_generator", "CodeGenerator"), ("triton.runtime.jit", "DependenciesFinder")}
)


def shared_tree(function: Any, reader: Any) -> ast.Module:
    """Give the syntax tree of a function to a reader that leaves it as it is.

    The tree goes with the function and belongs to the text it was made from: a function whose source was replaced
    is parsed again.  A function with a ``parse`` of its own, and a reader not known here, get what ``parse`` gives.

    :param function: A ``JITCallable``.
    :param reader: What is going to visit the tree.
    """
    kind = type(reader)
    own_reader = (kind.__module__, kind.__qualname__) in _READERS
    if not own_reader or getattr(function.parse, "__func__", None) is not _BASE_PARSE or not enabled(SWITCH):
        tree: ast.Module = function.parse()
        return tree
    source = function._src
    known = _trees.get(function)
    # Compared by value: the text is all that the tree depends on.
    if known is None or known[0] != source:
        known = (source, function.parse())
        _trees.set(function, known)
    return known[1]
