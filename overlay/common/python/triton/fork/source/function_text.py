"""The source of a function that is decorated, found without the tokenizer of the standard library.

The base calls :func:`inspect.getsourcelines`, which tokenizes the file from the function's first line to find its end, and takes
the decorators off with a regular expression.  Here the lines are found by indentation and checked with Python's parser, and
the tree that this takes is kept for the key.  Whatever is unusual is left to the base's way.

Mirrors python/triton/runtime/jit.py: JITCallable.__init__
"""

from __future__ import annotations

import inspect
import linecache
import re
from types import FunctionType
from typing import Any

from triton.fork.settings import enabled
from triton.fork.source.function_lines import function_source, text_from_definition
from triton.fork.source.trees import keep
from triton.fork.startup.lazy_import import lazy_module

__all__ = ["SWITCH", "definition", "given", "lines_of", "source_lines"]

#: The environment variable that leaves sources to ``inspect``.
SWITCH = "TRITON_FORK_DEFERRED_SOURCE"

textwrap = lazy_module("textwrap")

_DEFINITION = re.compile(r"\s*def\s+\w+\s*\(")
_MOST_LINES_OF_DECORATORS = 200
_OF_INSPECT = inspect.getsourcelines

# The import in progress, the file it reads and the lines of that file: they need to be checked once per import.
_importing: tuple[Any, str, list[str]] = (None, "", [])

#: Function -> the lines of its file, of those whose lines were taken earlier and are to be used now.
given: dict[FunctionType, list[str]] = {}


def source_lines(function: Any) -> tuple[list[str], int]:
    """Give the lines of a function and the number of the first one, as :func:`inspect.getsourcelines` does.

    :param function: What was decorated.
    :raises OSError: There is no source, as in :func:`inspect.getsourcelines`, like every other error.
    """
    lines = given.get(function) if given else None
    if lines is None:
        lines = lines_of(function)
    if lines is None:
        return inspect.getsourcelines(function)
    first = function.__code__.co_firstlineno - 1
    try:
        block, text, tree = function_source(lines, first)
    except ValueError:
        return inspect.getsourcelines(function)
    if tree is not None:
        keep(text, tree)
    return block, first + 1


def definition(lines: list[str]) -> str:
    """Give the dedented text of a function from ``def`` on.

    :param lines: Its lines, with decorators.
    :raises AttributeError: There is no ``def``; the error is the one that the base raises.
    """
    text = text_from_definition(lines) if lines and enabled(SWITCH) else ""
    if text:
        return text
    source = textwrap.dedent("".join(lines))
    start: Any = re.search(r"^def\s+\w+\s*\(", source, re.MULTILINE)
    return source[start.start() :]  # type: ignore[no-any-return]


def lines_of(function: Any) -> list[str] | None:
    """Give the lines of a function's file where a definition that the base would accept starts at the function's line.

    :param function: What was decorated.
    :returns: ``None`` where :func:`inspect.getsourcelines` is to be asked, or was replaced by somebody.
    """
    if type(function) is not FunctionType or function.__dict__ or not enabled(SWITCH):
        return None
    if inspect.getsourcelines is not _OF_INSPECT:
        return None
    lines = _lines_of_file(function)
    return lines if _is_plain_definition(lines, function.__code__.co_firstlineno - 1) else None


def _lines_of_file(function: FunctionType) -> list[str]:
    """Return the lines of a function's file, after a check like that of ``inspect.findsource`` that they are still its own."""
    global _importing
    namespace, file_name = function.__globals__, function.__code__.co_filename
    if not file_name.endswith(".py"):
        return []
    spec = namespace.get("__spec__")
    is_importing = getattr(spec, "_initializing", False)
    if is_importing and _importing[0] is spec and _importing[1] == file_name:
        return _importing[2]
    linecache.checkcache(file_name)
    lines = linecache.getlines(file_name, namespace)
    if is_importing:
        _importing = (spec, file_name, lines)
    return lines


def _is_plain_definition(lines: list[str], first: int) -> bool:
    """Tell whether a definition that the base would accept starts at a line, after nothing but decorators."""
    if first >= len(lines) or not lines[first].lstrip().startswith(("@", "def ")):
        return False
    for line in lines[first : first + _MOST_LINES_OF_DECORATORS]:
        if line.lstrip().startswith("def "):
            return _DEFINITION.match(line) is not None
    return False
