"""The source and the parameters of a kernel, found when they are first asked for.

``inspect.getsourcelines`` reads the file's lines and then tokenizes them from the function's first line to find its end. The
lines are kept when the function is decorated, as in the base, so a file that changes later does no harm; the rest, and with
it most of the cost of a ``@jit`` that is never launched, waits.
"""

from __future__ import annotations

import inspect
import linecache
import re
from types import FunctionType
from typing import Any

from ._function_lines import function_source
from ._kept_source import keep
from ._switches import enabled

__all__ = ["defer", "defers_parameters", "resolve"]

_SOURCE = frozenset({"raw_src", "starting_line_number", "_src"})
_PARAMETERS = frozenset({"params", "arg_names", "constexprs"})
_ALL = _SOURCE | _PARAMETERS | {"signature"}
_PENDING = "_pending_source"
_GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_DEFINITION = re.compile(r"\s*def\s+\w+\s*\(")
_MOST_LINES_OF_DECORATORS = 200

# The import in progress, the file it reads and the lines of that file: they need to be checked once per import.
_importing: tuple[Any, str, list[str]] = (None, "", [])


def defer(kernel: Any, function: Any) -> bool:
    """Keep what finding a function's source takes, where doing so later gives what doing so now would.

    :param kernel: The object that is to have the source; :func:`resolve` sets its attributes.
    :param function: What was decorated.
    :returns: ``False`` where the caller is to find source and signature at once.
    """
    if not enabled("TRITON_FORK_DEFERRED_SOURCE") or type(function) is not FunctionType:
        return False
    if function.__dict__ or function.__code__.co_flags & _GENERATES:
        return False
    # The base refuses a const that is no pointer when the function is decorated.
    if any(
        isinstance(value, str) and value.lstrip().startswith("const ") for value in function.__annotations__.values()
    ):
        return False
    lines = _lines_of(function)
    first = function.__code__.co_firstlineno - 1
    if not _is_plain_definition(lines, first):
        return False
    kernel.__dict__[_PENDING] = (lines, first, function)
    return True


def defers_parameters(kernel: Any) -> bool:
    """Tell whether a kernel's parameters wait as well.

    :param kernel: What :func:`defer` was called with.
    """
    return _PENDING in kernel.__dict__


def resolve(kernel: Any, name: str) -> Any:
    """Find what was deferred, and set the attributes that it gives.

    :param kernel: What :func:`defer` was called with.
    :param name: The attribute that was asked for, one that is not set.
    :raises AttributeError: The kernel has no such attribute.
    """
    attributes = kernel.__dict__
    pending = attributes.get(_PENDING)
    if pending is not None and name in _ALL:
        lines, first, function = pending
        if name in _SOURCE:
            _find_source(attributes, lines, first)
        elif name == "signature":
            attributes.setdefault(name, inspect.signature(function))
        else:
            kernel._find_params()
        if attributes.keys() >= _ALL:
            # Torch takes `fn` out of a kernel to pickle it: nothing else may hold the function then.
            attributes.pop(_PENDING, None)
    if name in attributes:
        return attributes[name]
    member = getattr(type(kernel), name, None)
    if isinstance(member, property):  # whose own error brought Python here, and is to be seen
        return member.__get__(kernel)
    raise AttributeError(f"{type(kernel).__name__!r} object has no attribute {name!r}", name=name, obj=kernel)


def _find_source(attributes: dict[str, Any], lines: list[str], first: int) -> None:
    block, text, tree = function_source(lines, first)
    if tree is not None:
        keep(attributes, text, tree)
    for name, value in {"raw_src": block, "starting_line_number": first + 1, "_src": text}.items():
        attributes.setdefault(name, value)


def _lines_of(function: FunctionType) -> list[str]:
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
