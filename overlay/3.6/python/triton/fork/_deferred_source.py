"""The source of a kernel, taken out of its file when it is first asked for.

``inspect.getsourcelines`` reads the file's lines and then tokenizes them from the function's first line to find its end. The
lines are kept when the function is decorated, as in the base, so a file that changes later does no harm; the tokenizing, and
with it most of the cost of a ``@jit`` that is never launched, waits.
"""

from __future__ import annotations

import inspect
import linecache
import re
import sys
import textwrap
from types import FunctionType
from typing import Any

from ._switches import enabled

__all__ = ["DEFERRED", "defer", "resolve"]

#: The attributes of a kernel that its source gives.
DEFERRED = frozenset({"raw_src", "starting_line_number", "_src"})
_PENDING = "_pending_source"
_GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_DEFINITION = re.compile(r"\s*def\s+\w+\s*\(")
_MOST_LINES_OF_DECORATORS = 200

# The namespace of the module that is being imported, and the lines of its file: they need to be checked once per import.
_importing: list[Any] = [None, None, None]


def defer(kernel: Any, function: Any) -> bool:
    """Keep what finding a function's source takes, where doing so later must give what doing so now would.

    :param kernel: The object that gets the source; its :data:`DEFERRED` attributes are set by :func:`resolve`.
    :param function: What was decorated.
    :returns: ``False`` where the caller is to find the source at once.
    """
    if not enabled("TRITON_FORK_DEFERRED_SOURCE") or type(function) is not FunctionType:
        return False
    if hasattr(function, "__wrapped__") or function.__code__.co_flags & _GENERATES:
        return False
    lines = _lines_of(function)
    first = function.__code__.co_firstlineno - 1
    if not lines or not _is_plain_definition(lines, first, function.__name__):
        return False
    kernel.__dict__[_PENDING] = (lines, first)
    return True


def resolve(kernel: Any, name: str) -> Any:
    """Find the source that was deferred, and set the attributes it gives.

    :param kernel: The object that :func:`defer` was called with.
    :param name: The attribute that was asked for.
    :raises AttributeError: The kernel has no such attribute.
    """
    pending = kernel.__dict__.get(_PENDING)
    if name not in DEFERRED or pending is None:
        raise AttributeError(f"{type(kernel).__name__!r} object has no attribute {name!r}", name=name, obj=kernel)
    lines, first = pending
    block = inspect.getblock(lines[first:])
    source = textwrap.dedent("".join(block))
    start = re.search(r"^def\s+\w+\s*\(", source, re.MULTILINE)
    if start is None:
        raise ValueError(f"cannot find the definition of {kernel!r} in its source")
    values = {"raw_src": block, "starting_line_number": first + 1, "_src": source[start.start() :]}
    for key, value in values.items():
        kernel.__dict__.setdefault(key, value)
    kernel.__dict__.pop(_PENDING, None)
    return kernel.__dict__[name]


def _lines_of(function: FunctionType) -> list[str]:
    """Return the lines of a function's file; like ``inspect.findsource``, after a check that they are still the file's."""
    namespace, file_name = function.__globals__, function.__code__.co_filename
    if file_name.startswith("<") or not file_name.endswith(".py"):
        return []
    spec = namespace.get("__spec__")
    if spec is not None and getattr(spec, "_initializing", False):
        if _importing[0] is spec and _importing[1] == file_name:
            lines: list[str] = _importing[2]
            return lines
        linecache.checkcache(file_name)
        _importing[:] = [spec, file_name, linecache.getlines(file_name, namespace)]
        return list(_importing[2]) and _importing[2]
    linecache.checkcache(file_name)
    return linecache.getlines(file_name, namespace)


def _is_plain_definition(lines: list[str], first: int, name: str) -> bool:
    """Tell whether a definition that the base would accept starts at a line, after nothing but decorators."""
    if first >= len(lines) or not lines[first].lstrip().startswith(("@", "def ")):
        return False
    for line in lines[first : first + _MOST_LINES_OF_DECORATORS]:
        if line.lstrip().startswith("def "):
            return _DEFINITION.match(line) is not None
    return False
