"""Texts of functions and classes for the keys of kernels: what they are made of, not what they are called.

A kernel may have them as constants, call them while it is compiled, or read what they hold.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from triton.fork import _value_texts

__all__ = ["describe_class", "describe_function", "is_installed"]


def is_installed(value: Any) -> bool:
    """Tell whether a class or function comes with Python or Triton, which are in the key as a whole."""
    return _comes_along(str(value.__module__))


def _comes_along(module: str) -> bool:
    root = module.partition(".")[0]
    return root == "triton" or root in sys.stdlib_module_names


def _edition(module: str) -> str | None:
    """Give what stands for all of a package that was installed: going through it would take too long.

    :param module: The name of a module.
    :returns: ``None`` for a program's own modules.
    """
    root = sys.modules.get(module.partition(".")[0])
    path = str(getattr(root, "__file__", None))
    if "site-packages" not in path and "dist-packages" not in path:
        return None
    return f"{getattr(root, '__name__', '')} {getattr(root, '__version__', '')}"


def describe_class(kind: type, inside: frozenset[int]) -> str:
    """Describe the methods and the plain values of a class: a kernel may call the one and read the other."""
    if id(kind) in inside:
        return "(again)"
    inside = inside | {id(kind)}
    parts = []
    for base in kind.__mro__:
        if is_installed(base):
            continue
        edition = _edition(str(base.__module__))
        if edition is not None:
            parts.append(f"{base.__qualname__} of {edition}")
            continue
        for name, member in sorted(base.__dict__.items()):
            # property, static and class methods, functools.cached_property
            wrapped = (getattr(member, name, None) for name in ("fget", "__func__", "func"))
            function = next(filter(None, wrapped), member)
            if isinstance(function, FunctionType):
                parts.append(f"{name}={describe_function(function, inside)}")
            elif not name.startswith("__") and _value_texts.is_data(member):
                parts.append(f"{name}={_value_texts.describe(member, inside)}")
    return hashlib.sha256("; ".join(parts).encode()).hexdigest()


def describe_function(function: FunctionType | MethodType, inside: frozenset[int]) -> str:
    """Describe a Python function by its code, its defaults, and the values that it names."""
    if isinstance(function, MethodType):
        return f"method of {_value_texts.describe(function.__self__, inside)}: {_value_texts.describe(function.__func__, inside)}"
    if is_installed(function):
        return f"function {function.__module__}.{function.__qualname__}"
    inside = inside | {id(function)}
    code = function.__code__
    named = _values_named(function)
    parts = [
        _code_text(code),
        _value_texts.describe(function.__defaults__, inside),
        _value_texts.describe(function.__kwdefaults__, inside),
    ]
    parts += [
        f"{name}={_value_texts.describe(value, inside)}" for name, value in sorted(named.items()) if _may_decide(value)
    ]
    digest = hashlib.sha256("; ".join(parts).encode()).hexdigest()
    return f"function {function.__module__}.{function.__qualname__} {digest}"


def _values_named(function: FunctionType) -> dict[str, Any]:
    """Give what the names in a function's code mean: globals, what modules among these hold, and the closure."""
    names, scope = sorted(set(_names_in(function.__code__))), function.__globals__
    named = {name: scope[name] for name in names if name in scope}
    for holder_name, holder in list(named.items()):
        if isinstance(holder, ModuleType) and not _comes_along(holder.__name__) and _edition(holder.__name__) is None:
            held = vars(holder)
            named.update({f"{holder_name}.{name}": held[name] for name in names if name in held})
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            named[name] = cell.cell_contents
        except ValueError:  # not yet assigned
            continue
    return named


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _may_decide(value: Any) -> bool:
    """Tell whether a value that a plain function names is looked at: not what changes as the program runs, a logger say."""
    kinds = (FunctionType, MethodType, type, tuple, list, dict, set, frozenset)
    return (
        isinstance(value, kinds)
        or _value_texts.is_data(value)
        or dataclasses.is_dataclass(value)
        or hasattr(value, "cache_key")
    )


def _code_text(code: CodeType) -> str:
    constants = [
        _code_text(item) if isinstance(item, CodeType) else _value_texts.describe(item) for item in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"
