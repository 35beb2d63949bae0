"""Texts of values for the keys of kernels: different for different values, the same in every process.

``str`` is neither: ``1`` and ``"1"`` give one text, a set's depends on the hash seed, an object's on its address.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import re
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

__all__ = ["constant_text", "describe", "is_data"]

_NUMBERS = (bool, int, float, complex, type(None))
_SIMPLE = (*_NUMBERS, str, bytes, type(Ellipsis), range, slice)
_WORDS_OF_OTHERS = frozenset({"None", "True", "False", "nan", "inf", "void", "Ellipsis"})
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def constant_text(value: Any) -> str:
    """Give the text of a compile-time constant of a kernel.

    Numbers, data types, functions with a key and plain words keep the base's text, so that the keys of most kernels, and
    with them the names of their dump and override folders, stay what they were.
    """
    if type(value) in _NUMBERS:
        return str(value)
    if hasattr(value, "cache_key"):
        return str(value.cache_key)
    from triton.language.core import constexpr, dtype

    inner = value.value if isinstance(value, constexpr) else value
    if type(inner) in _NUMBERS or isinstance(inner, dtype):
        return str(value)
    if type(inner) is str and inner.isalpha() and inner not in _WORDS_OF_OTHERS:
        return str(value)
    return describe(value)


def is_data(value: Any) -> bool:
    """Tell whether a value that kernels name without wrapping it in ``constexpr`` belongs into the key.

    Kernels reach these through modules, defaults and closures. Anything else (a logger, a table that changes as the
    program runs) cannot reach the code and would only spoil the key.
    """
    from triton.language.core import constexpr, dtype

    if isinstance(value, (*_SIMPLE, dtype, constexpr, enum.Enum)):
        return True
    return isinstance(value, tuple) and all(is_data(item) for item in value)


def describe(value: Any, inside: frozenset[int] = frozenset()) -> str:
    """Describe a value by its type and content.

    :param value: Anything.
    :param inside: ``id`` of the values around it, to stop at a cycle.
    :returns: The text. A value of which Python can see nothing but the address is described by ``repr``, as in the base:
        its key differs in every process, which costs a compilation and serves no wrong code.
    """
    kind = type(value)
    if kind in _SIMPLE:
        return f"{kind.__name__} {value!r}"
    if id(value) in inside:
        return "(again)"
    inside = inside | {id(value)}
    if hasattr(value, "cache_key"):
        return f"kernel {value.cache_key}"
    if isinstance(value, type):
        return f"class {value.__module__}.{value.__qualname__}"
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, (FunctionType, MethodType)):
        return _describe_function(value, inside)
    return f"{kind.__module__}.{kind.__qualname__} {_describe_content(value, inside)}"


def _describe_content(value: Any, inside: frozenset[int]) -> str:
    from triton.language.core import constexpr

    kind = type(value)
    if isinstance(value, constexpr):
        return describe(value.value, inside)
    if isinstance(value, enum.Enum):
        return f"{value.name} {describe(value.value, inside)}"
    for container, describe_items in _CONTAINERS:
        if isinstance(value, container):
            text = describe_items(value, inside)
            return (
                text
                if kind is container
                else f"{text} {_describe_class(kind, inside)} {describe(_state(value), inside)}"
            )
    try:
        view = memoryview(value)
    except TypeError:
        pass
    else:  # an array, whose text leaves out what lies in the middle
        return f"{view.format} {view.shape} {hashlib.sha256(view.tobytes()).hexdigest()}"
    return _describe_object(value, inside)


def _describe_sequence(value: Any, inside: frozenset[int]) -> str:
    return f"({', '.join([describe(item, inside) for item in value])})"


def _describe_set(value: Any, inside: frozenset[int]) -> str:
    return f"{{{', '.join(sorted(describe(item, inside) for item in value))}}}"


def _describe_dict(value: Any, inside: frozenset[int]) -> str:
    return f"{{{', '.join(f'{describe(k, inside)}: {describe(v, inside)}' for k, v in value.items())}}}"


_CONTAINERS = (
    (tuple, _describe_sequence),
    (list, _describe_sequence),
    (set, _describe_set),
    (frozenset, _describe_set),
    (dict, _describe_dict),
)


def _describe_object(value: Any, inside: frozenset[int]) -> str:
    kind = type(value)
    text = repr(value)
    has_address = _ADDRESS.search(text) is not None and not isinstance(value, BuiltinFunctionType)
    if not has_address and not dataclasses.is_dataclass(value) and kind.__module__.startswith("triton."):
        return text
    # Its text may leave out anything, so what Python can see of the object comes behind it.
    parts = [] if has_address else [text]
    parts += [base.__repr__(value) for base in (int, float, complex, str, bytes) if isinstance(value, base)]
    state = _state(value)
    if state is not None:
        parts.append(f"{_describe_class(kind, inside)} {describe(state, inside)}")
    if (
        has_address and kind.__reduce__ is not object.__reduce__
    ):  # written in C, with a state of its own: functools.partial
        parts.append(describe(_reduced(value), inside))
    return " ".join(parts) or text


def _reduced(value: Any) -> Any:
    """Give what pickling would keep of an object, or where the object lies."""
    try:
        return value.__reduce__()
    except Exception:  # it may be anybody's code; such a value has another key in every process
        return repr(value)


def _state(value: Any) -> dict[str, Any] | None:
    """Give the attributes of an instance by name, or nothing where there is no way to see them."""
    state: dict[str, Any] = {}
    seen = hasattr(value, "__dict__")
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            seen = True
            if hasattr(value, name):
                state[name] = getattr(value, name)
    state.update(getattr(value, "__dict__", {}))
    for name in [name for name in state if isinstance(getattr(type(value), name, None), functools.cached_property)]:
        del state[name]  # it follows from the rest, and is there only after its first use
    return {name: state[name] for name in sorted(state)} if seen else None


def _describe_class(kind: type, inside: frozenset[int]) -> str:
    """Describe the methods and the plain values of a class: a kernel may call the one and read the other."""
    parts = []
    for base in kind.__mro__:
        if base is object or base.__module__ in ("builtins", "typing", "abc", "enum"):
            continue
        for name, member in sorted(base.__dict__.items()):
            # property, static and class methods, functools.cached_property
            wrapped = (getattr(member, name, None) for name in ("fget", "__func__", "func"))
            function = next(filter(None, wrapped), member)
            if isinstance(function, FunctionType):
                parts.append(f"{name}={_describe_function(function, inside)}")
            elif not name.startswith("__") and is_data(member):
                parts.append(f"{name}={describe(member, inside)}")
    return hashlib.sha256("; ".join(parts).encode()).hexdigest()


def _describe_function(function: FunctionType | MethodType, inside: frozenset[int]) -> str:
    """Describe a Python function by its code, its defaults, and the values that it names."""
    if isinstance(function, MethodType):
        return f"method of {describe(function.__self__, inside)}: {describe(function.__func__, inside)}"
    inside = inside | {id(function)}
    code = function.__code__
    named: dict[str, Any] = {n: function.__globals__[n] for n in code.co_names if n in function.__globals__}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            named[name] = cell.cell_contents
        except ValueError:  # not yet assigned
            continue
    parts = [_code_text(code), describe(function.__defaults__, inside), describe(function.__kwdefaults__, inside)]
    parts += [
        f"{name}={describe(value, inside)}"
        for name, value in sorted(named.items())
        if isinstance(value, FunctionType) or is_data(value)
    ]
    digest = hashlib.sha256("; ".join(parts).encode()).hexdigest()
    return f"function {function.__module__}.{function.__qualname__} {digest}"


def _code_text(code: CodeType) -> str:
    constants = [_code_text(item) if isinstance(item, CodeType) else describe(item) for item in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"
