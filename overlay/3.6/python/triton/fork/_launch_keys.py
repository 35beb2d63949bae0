"""Tell constants of launches apart that are equal but not the same.

A launch finds its kernel in dictionaries, which take ``1``, ``1.0`` and ``True`` for one key, ``0.0`` and ``-0.0``, a named tuple
and a plain one, a member of an ``IntEnum`` and its value: whichever came first decided which code the others got. The entry of
such a constant carries what equality leaves out, its kind. The text of a key, which hooks see, stays the base's wherever that
says which constant it is.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Container, Sequence
from typing import Any

from ._rebound_cells import variant
from ._switches import enabled
from ._value_texts import describe

__all__ = ["PLAIN", "SUFFICIENT", "SWITCH", "constant", "distinction", "without_kinds"]

#: The environment variable that leaves it to equality which constants are the same; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_EQUAL_CONSTANTS"


class _AllTypes:
    def __contains__(self, _: object) -> bool:
        return True


#: Constants of these types are nothing but themselves among each other.
PLAIN: Container[type] = frozenset({int, str, type(None)}) if enabled(SWITCH) else _AllTypes()

_ATOMS: frozenset[type] = frozenset({bool, int, str, bytes, type(None), type(Ellipsis)})
#: Types of which equal instances are the same; others are found as they come.
SUFFICIENT: set[type] = {*_ATOMS}
_insufficient: set[type] = {float, complex}
_MOST_KNOWN = 1024
# id -> an object, held so that no other one gets its id, what its attributes were, and its kind
_known: dict[int, tuple[object, dict[str, Any], Any]] = {}


def constant(value: Any) -> tuple[Any, ...]:
    """Give the entry of a constant in a specialisation.

    :param value: What was passed, or is the default, for a parameter marked ``constexpr``.
    :returns: ``("constexpr", value)``, as in the base, and the kind of values that equality could mistake for others.
    """
    kind = type(value)
    if kind in PLAIN:
        return ("constexpr", value)
    return ("constexpr", value, kind if kind in SUFFICIENT or (kind is float and value) else _kind(value))


def without_kinds(specialization: Sequence[Any]) -> list[Any]:
    """Give the specialisation as the base has it.

    :param specialization: The entries of all parameters.
    """
    return [entry[:2] if len(entry) == 3 else entry for entry in specialization]


def distinction(specialization: Sequence[Any]) -> str:
    """Give what has to follow the text of a specialisation so that it means one list of constants.

    :param specialization: The entries of all parameters, with kinds.
    :returns: Nothing where all constants are numbers, words, functions, data types, or tuples of these.
    """
    unclear = [
        f"{number} {describe(entry[1])}"
        for number, entry in enumerate(specialization)
        if len(entry) == 3 and not _is_clear(entry[1])
    ]
    return f"; {'; '.join(unclear)}" if unclear else ""


def _is_clear(value: Any) -> bool:
    from triton.language.core import constexpr, dtype
    from triton.runtime.jit import JITCallable

    kind = type(value)
    if kind is tuple:
        return all(map(_is_clear, value))
    if kind is constexpr:
        return _is_clear(value.value)
    return kind in _ATOMS or kind in (float, complex, dtype) or isinstance(value, JITCallable)


def _kind(value: Any) -> Any:
    """Give what tells a value from others that equal it: its type, that of what it holds, the sign of a zero."""
    from triton.runtime.jit import JITCallable

    kind = type(value)
    if kind in SUFFICIENT:
        return kind
    if kind is tuple:
        return (kind, *[_kind(item) for item in value])
    if issubclass(kind, JITCallable):
        return kind, variant(value)
    if kind not in _insufficient:
        suffices = _suffices(kind)
        known = SUFFICIENT if suffices else _insufficient
        if len(known) < _MOST_KNOWN:
            known.add(kind)
        if suffices:
            return kind
    if kind.__name__ == "constexpr" and kind.__module__ == "triton.language.core":
        return kind, _kind(value.value)
    if hasattr(value, "__dict__"):
        return kind, _kind_of_object(value)
    if issubclass(kind, float):
        return kind if value else (kind, math.copysign(1.0, value))
    if issubclass(kind, (tuple, list)):
        return (kind, *map(_kind, value))
    if issubclass(kind, frozenset):
        return kind, frozenset((item, _kind(item)) for item in value)
    return kind, describe(value)


def _suffices(kind: type) -> bool:
    """Tell whether instances of a type that are equal are the same."""
    from triton.language.core import dtype

    return kind is dtype or issubclass(kind, enum.Enum) or kind.__eq__ is object.__eq__


def _kind_of_object(value: Any) -> Any:
    attributes = value.__dict__
    known = _known.get(id(value))
    if known is not None and known[0] is value and _are_same(known[1], attributes):
        return known[2]
    kind: Any
    if dataclasses.is_dataclass(value) and _is_generated(type(value).__eq__):
        fields = dataclasses.fields(value)
        kind = tuple([(_kind if field.compare else describe)(getattr(value, field.name)) for field in fields])
    else:
        kind = describe(value)
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[id(value)] = (value, dict(attributes), kind)
    return kind


def _are_same(before: dict[str, Any], now: dict[str, Any]) -> bool:
    return len(before) == len(now) and all(name in now and now[name] is value for name, value in before.items())


def _is_generated(function: Any) -> bool:
    """Tell whether ``dataclass`` made a method, which then compares the fields."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename == "<string>"
