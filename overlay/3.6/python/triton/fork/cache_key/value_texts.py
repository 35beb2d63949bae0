"""Texts of values for the keys of kernels: different for different values, the same in every process.

``str`` is neither: ``1`` and ``"1"`` give one text, a set's depends on the hash seed, an object's on its address.

Mirrors python/triton/compiler/compiler.py: ASTSource.hash
"""

from __future__ import annotations

import enum
import os
import sys
from collections import namedtuple
from types import FunctionType, ModuleType
from typing import Any

from triton.fork.cache_key.content_texts import describe
from triton.fork.cache_key.definition_texts import is_data
from triton.fork.cache_key.names_asked import Names, names_asked
from triton.fork.cache_key.object_texts import has_known_equality
from triton.fork.python.interruptions import pass_on
from triton.fork.python.static_look import attributes_of, found_in, is_numpy_scalar, members_of, name_of
from triton.fork.settings import at_import

__all__ = [
    "CONSTANTS_SWITCH",
    "constant_text",
    "constants_text",
    "describe",
    "is_data",
    "name_text",
    "text_of_attributes",
    "text_of_default",
    "text_of_fields",
    "text_of_read",
]

#: The environment variable that leaves the texts of constants to the base; read when this module is imported.
CONSTANTS_SWITCH = "TRITON_FORK_FIX_KEY_OF_CONSTANTS"

_CONSTANTS_ON = at_import(CONSTANTS_SWITCH)

#: What a function given as ``repr=`` is asked about.
SpecializationProxy = namedtuple("SpecializationProxy", ["constants", "signature"])

_NUMBERS = frozenset(map(id, (bool, int, float, complex, type(None))))
_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range})
_CONTAINERS = frozenset({tuple, list, set, frozenset, dict})
_MOST_LEVELS = 20
_ADDRESS = " at 0x"
_WORDS_OF_OTHERS = frozenset({"None", "True", "False", "nan", "inf", "void", "Ellipsis"})


def constants_text(source: Any) -> str:
    """Give the part of a key that stands for the constants of a kernel, and for the name that it gets from ``repr=``.

    :param source: An ``ASTSource``.
    """
    if not _CONSTANTS_ON:
        constants = [value for _, value in sorted(source.constants.items())]
        return "-".join([value.cache_key if hasattr(value, "cache_key") else str(value) for value in constants])
    names = Names(lambda: names_asked([source.fn, *source.constants.values()]))
    texts = [constant_text(value, names) for _, value in sorted(source.constants.items())]
    return "-".join(texts) + name_text(source)


def constant_text(value: Any, names: Names | None = None) -> str:
    """Give the text of a compile-time constant of a kernel.

    Numbers, data types, functions with a key and plain words keep the base's text, so that the keys of most kernels, and
    with them the names of their dump and override folders, stay what they were.

    :param value: The constant.
    :param names: What the code that gets the constant may ask it for; everything where that is not known.
    """
    kind = type(value)
    if id(kind) in _NUMBERS:
        return str(value)
    from triton.language.core import constexpr, dtype
    from triton.runtime.jit import JITCallable

    if issubclass(kind, JITCallable):
        return str(value.cache_key) + ("noinline" if value.__dict__.get("noinline") else "")
    if hasattr(value, "cache_key"):  # the base asks every constant
        return str(value.cache_key)
    inner = value.value if issubclass(kind, constexpr) else value
    if id(type(inner)) in _NUMBERS or issubclass(type(inner), dtype):
        return str(value)
    if type(inner) is str and inner.isalpha() and inner not in _WORDS_OF_OTHERS:
        return str(value)
    if _is_whole(inner, _MOST_LEVELS):
        return describe(value, names=names)
    # A description leaves out what code can hardly ask for. Where that cannot be proved, the base's text tells constants apart too.
    try:
        text = str(value)
    except RecursionError:
        return describe(value, names=names)
    if names is not None and names.get() is None and _ADDRESS not in text:
        if _is_told(inner, _MOST_LEVELS):
            return text
        kind = type(inner)
        has_parts = issubclass(kind, enum.Enum) or kind in _CONTAINERS
        if not has_parts and _has_text(kind) and not has_known_equality(kind):
            # All that it holds would count, times and counters too: the class, its value and the base's text have to do.
            held = [base.__repr__(inner) for base in (int, float, complex, str, bytes) if issubclass(kind, base)]
            return " ".join([*name_of(kind), *held, text])
    return f"{describe(value, names=names)} {text}"


def _is_told(value: Any, levels: int) -> bool:
    """Tell whether the base knows a constant by its text alone: objects that are compared by identity, and tuples of them.

    Where it is not known what code asks them for, a description would hold their times and counters.
    """
    kind = type(value)
    if kind in (tuple, list):
        return levels > 0 and all(_is_whole(part, levels) or _is_told(part, levels - 1) for part in value)
    if issubclass(kind, enum.Enum):  # whose text leaves out its value
        return levels > 0 and _is_told((attributes_of(value) or {}).get("_value_"), levels - 1)
    return found_in(kind, "__eq__") is members_of(object)["__eq__"] and _has_text(kind)


def _has_text(kind: type) -> bool:
    own = any(found_in(kind, name) is not members_of(object)[name] for name in ("__repr__", "__str__"))
    return own and not issubclass(kind, type)


def _is_whole(value: Any, levels: int) -> bool:
    """Tell whether a description says all that a constant consists of: it is plain data, or has a key."""
    from triton.language.core import constexpr, dtype
    from triton.runtime.jit import JITCallable

    kind = type(value)
    if kind in _PLAIN:
        return True
    if kind is constexpr:
        return _is_whole(value.value, levels - 1)
    if kind in (set, frozenset):  # have an order, which the base's text shows
        return not value
    if kind in _CONTAINERS:
        parts = [*value, *value.values()] if kind is dict else value
        return levels > 0 and all(_is_whole(part, levels - 1) for part in parts)
    return kind is dtype or issubclass(kind, JITCallable) or is_numpy_scalar(kind)


def name_text(source: Any) -> str:
    """Give the name that a kernel gets from a function of its own, ``repr=``, as a part of its key.

    :param source: An ``ASTSource``.
    :returns: Nothing where the kernel is named like its function. What the function itself reads, a rank or a time, is no part
        of the key: the name is.
    """
    function = source.fn
    if function.__dict__.get("_repr") is None:
        return ""
    names = function.arg_names
    constants = {names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
    try:
        return f"-named {function.repr(SpecializationProxy(constants, source.signature))}"
    except Exception as error:  # it is asked again, and its error reported, where the kernel is compiled
        pass_on(error)
        return "-named"


def text_of_read(value: Any, passed_through: bool = False, names: Names | None = None) -> str | None:
    """Give the text of a value that a source reads through a module, a name or an attribute.

    :param value: Anything.
    :param passed_through: Whether it is only read to get at one of its attributes, which has a text of its own.
    :param names: What the code that gets the value may ask it for; everything where that is not known.
    :returns: ``None`` for what has a key of its own, or belongs to Triton.
    """
    from triton.runtime.jit import JITCallable

    if value is None or issubclass(type(value), (JITCallable, ModuleType)):
        return None
    if is_data(value):
        return describe(value, names=names)
    if passed_through:
        return None if callable(value) else "?"
    if _is_marked(value, "__triton_builtin__") or _is_marked(value, "__triton_aggregate__"):
        return None
    return _describe_or_give_up(value, names)


def _is_marked(value: Any, mark: str) -> bool:
    kind = type(value)
    if kind is FunctionType:
        return bool(value.__dict__.get(mark))
    return bool(found_in(value, mark)) if issubclass(kind, type) else found_in(kind, mark) is True


def text_of_fields(annotations: dict[str, Any]) -> str:
    """Give the text of the fields of an aggregate, whose order is that of the values in the code.

    :param annotations: The annotations of the class. A class among them is named; where it is used it has a key.
    """
    kinds = [
        ".".join(name_of(value)) if issubclass(type(value), type) else describe(value) for value in annotations.values()
    ]
    return str(dict(zip(annotations, kinds, strict=True)))


def text_of_attributes(holder: Any) -> str:
    """Give the text of all that may be meant where an attribute is read by a name that is not known.

    :param holder: A module, a class or an object.
    """
    kind = type(holder)
    attributes = members_of(holder) if issubclass(kind, type) else attributes_of(holder) or {}
    held = {name: value for name, value in attributes.items() if not name.startswith("__")}
    texts = {name: text_of_default(value) for name, value in held.items() if not isinstance(value, ModuleType)}
    return str(sorted(texts.items()))


def text_of_default(value: Any) -> str:
    """Give the text of a value that a function holds whatever its source is.

    :param value: Anything.
    """
    return describe(value) if is_data(value) else _describe_or_give_up(value)


def _describe_or_give_up(value: Any, names: Names | None = None) -> str:
    """Describe a value that is no constant; what the base leaves out of its keys must not make these differ in every process."""
    if value is os.environ or value is sys.modules:
        return "?"
    try:
        if found_in(type(value), "data_ptr") is not None:  # memory of a device is left alone
            return "?"
        return describe(value, beyond=lambda _: "?", names=names, addresses=False)
    except Exception as error:  # anybody's code: nobody's program may fail for it
        pass_on(error)
        return "?"
