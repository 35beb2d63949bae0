"""Texts of values for the keys of kernels: different for different values, the same in every process.

``str`` is neither: ``1`` and ``"1"`` give one text, a set's depends on the hash seed, an object's on its address.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import os
import re
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from triton.fork._definition_texts import describe_class, describe_function, is_installed
from triton.fork._key_search import key_of_called
from triton.fork._switches import enabled

__all__ = [
    "CONSTANTS_SWITCH",
    "constant_text",
    "describe",
    "instead_of",
    "is_data",
    "text_of_attributes",
    "text_of_default",
    "text_of_fields",
    "text_of_read",
]

#: The environment variable that leaves the texts of constants to the base; read when this module is imported.
CONSTANTS_SWITCH = "TRITON_FORK_FIX_KEY_OF_CONSTANTS"

_CONSTANTS_ON = enabled(CONSTANTS_SWITCH)

_NUMBERS = (bool, int, float, complex, type(None))
_SIMPLE = (*_NUMBERS, str, bytes, type(Ellipsis), range, slice)
_WORDS_OF_OTHERS = frozenset({"None", "True", "False", "nan", "inf", "void", "Ellipsis"})
_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8  # of a class made by a class statement; of one made in C, since 3.10
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def constant_text(value: Any) -> str:
    """Give the text of a compile-time constant of a kernel.

    Numbers, data types, functions with a key and plain words keep the base's text, so that the keys of most kernels, and
    with them the names of their dump and override folders, stay what they were.
    """
    if type(value) in _NUMBERS:
        return str(value)
    if (text := _text_of_kernel(value)) is not None:
        return text
    from triton.language.core import constexpr, dtype

    inner = value.value if isinstance(value, constexpr) else value
    if type(inner) in _NUMBERS or isinstance(inner, dtype):
        return str(value)
    if type(inner) is str and inner.isalpha() and inner not in _WORDS_OF_OTHERS:
        return str(value)
    return describe(value)


def instead_of(base: Callable[[Any], str]) -> Callable[[Any], str]:
    """Give the function that writes the constants of a kernel.

    :param base: The base's.
    """
    return constant_text if _CONSTANTS_ON else base


def is_data(value: Any) -> bool:
    """Tell whether a value that kernels name without wrapping it in ``constexpr`` belongs into the key.

    Kernels reach these through modules, defaults and closures. Anything else (a logger, a table that changes as the
    program runs) cannot reach the code and would only spoil the key.
    """
    from triton.language.core import constexpr, dtype

    if isinstance(value, (*_SIMPLE, dtype, constexpr, enum.Enum)):
        return True
    return isinstance(value, tuple) and all(is_data(item) for item in value)


def text_of_read(value: Any, passed_through: bool = False) -> str | None:
    """Give the text of a value that a source reads through a module, a name or an attribute.

    :param value: Anything.
    :param passed_through: Whether it is only read to get at one of its attributes, which has a text of its own.
    :returns: ``None`` for what has a key of its own, or belongs to Triton.
    """
    from triton.runtime.jit import JITCallable

    if value is None or isinstance(value, (JITCallable, ModuleType)):
        return None
    if is_data(value):
        return describe(value)
    if passed_through:
        return None if callable(value) else "?"
    if getattr(value, "__triton_builtin__", False) or getattr(value, "__triton_aggregate__", False):
        return None
    return _describe_or_give_up(value)


def text_of_fields(annotations: dict[str, Any]) -> str:
    """Give the text of the fields of an aggregate, whose order is that of the values in the code.

    :param annotations: The annotations of the class. A class among them is named; where it is used it has a key.
    """
    kinds = [
        f"{value.__module__}.{value.__qualname__}" if isinstance(value, type) else describe(value)
        for value in annotations.values()
    ]
    return str(dict(zip(annotations, kinds, strict=True)))


def text_of_attributes(holder: Any) -> str:
    """Give the text of all that may be meant where an attribute is read by a name that is not known.

    :param holder: A module, a class or an object.
    """
    held = {name: value for name, value in vars(holder).items() if not name.startswith("__")}
    texts = {name: text_of_default(value) for name, value in held.items() if not isinstance(value, ModuleType)}
    return str(sorted(texts.items()))


def text_of_default(value: Any) -> str:
    """Give the text of a value that a function holds whatever its source is.

    :param value: Anything.
    """
    return describe(value) if is_data(value) else _describe_or_give_up(value)


def _describe_or_give_up(value: Any) -> str:
    """Describe a value that is no constant; what the base leaves out of its keys must not make these differ in every process."""
    if value is os.environ or value is sys.modules:
        return "?"
    try:
        text = "?" if hasattr(value, "data_ptr") else describe(value)  # memory of a device is left alone
    except Exception:  # anybody's code: nobody's program may fail for it
        return "?"
    return _ADDRESS.sub("", text)


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
    if (text := _text_of_kernel(value)) is not None:
        return f"kernel {text}"
    if isinstance(value, type):
        name = f"class {value.__module__}.{value.__qualname__}"
        return name if is_installed(value) else f"{name} {describe_class(value, inside)}"
    inside = inside | {id(value)}
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, (FunctionType, MethodType)):
        return describe_function(value, inside)
    return f"{kind.__module__}.{kind.__qualname__} {_describe_content(value, inside)}"


def _text_of_kernel(value: Any) -> str | None:
    from triton.runtime.jit import JITCallable

    if isinstance(value, JITCallable):
        return key_of_called(value) + ("noinline" if value.__dict__.get("noinline") else "")
    return str(value.cache_key) if hasattr(value, "cache_key") else None


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
                else f"{text} {describe_class(kind, inside)} {describe(_state(value), inside)}"
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
    # Its text may leave out anything, or have sets in it: what Python can see of the object is what counts.
    state = _state(value)
    parts = [] if has_address or (state is not None and _is_made_in_python(kind)) else [text]
    parts += [base.__repr__(value) for base in (int, float, complex, str, bytes) if isinstance(value, base)]
    if state is not None:
        parts.append(f"{describe_class(kind, inside)} {describe(state, inside)}")
    if has_address and any("__reduce__" in vars(base) for base in kind.__mro__[:-1]):
        parts.append(describe(_reduced(value), inside))  # made in C, with a state of its own: functools.partial
    return " ".join(parts) or text


def _is_made_in_python(kind: type) -> bool:
    """Tell whether the attributes of an instance are all that there is of it."""
    in_python = [base.__flags__ & _HEAP_TYPE and not base.__flags__ & _IMMUTABLE_TYPE for base in kind.__mro__[:-1]]
    return all(in_python)


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
