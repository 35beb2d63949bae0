"""Which attributes of an object say which constant it is.

Equality decides. Where a class has an ``__eq__`` of its own, what that reads counts, and nothing else that an object happens to
hold: counters, times, what it remembers, fields that a dataclass does not compare.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from triton.fork.python.code_uses import READ_ANYTHING, uses_of
from triton.fork.python.static_look import attributes_of, found_in, function_of, members_of, mro_of

if TYPE_CHECKING:
    from triton.fork.cache_key.names_asked import Names

__all__ = ["counting_attributes", "has_known_equality"]

# Globals that tell nothing of an object that they are asked about, or are followed.
_HARMLESS = (bool, int, float, complex, str, bytes, tuple, frozenset, type(None), type, ModuleType, BuiltinFunctionType)
_TEXTS = {"hash": ("__hash__",), "repr": ("__repr__",), "str": ("__str__", "__repr__"), "super": ()}
_SMALLEST_HASH = 1 << 31
_MOST_KNOWN = 1024
# id -> a class, held so that no other one gets its id, its __eq__, and what that reads
_equalities: dict[int, tuple[type, Any, frozenset[str] | None]] = {}


def counting_attributes(value: Any, names: Names | None = None) -> dict[str, Any]:
    """Give the attributes of an object that count, by name, in order.

    :param value: The object.
    :param names: What code may ask objects for; ``None`` where that is not known.
    """
    attributes = attributes_of(value) or {}
    kind = type(value)
    counting = _known_equality(kind)
    if counting is None and names is not None:
        counting = names.get()
    # What follows from the rest, and is there only after its first use.
    left_out = _remembered_hash(kind, attributes)
    left_out |= {name for name in attributes if type(found_in(kind, name)) is functools.cached_property}
    kept = [name for name in attributes if name not in left_out and (counting is None or name in counting)]
    return {
        name: attributes[name] for name in sorted(kept, key=repr)
    }  # a dictionary of attributes takes numbers as names


def has_known_equality(kind: type) -> bool:
    """Tell whether it is known which attributes the instances of a class are compared by."""
    return _known_equality(kind) is not None


def _known_equality(kind: type) -> frozenset[str] | None:
    equality = found_in(kind, "__eq__")
    known = _equalities.get(id(kind))
    if known is not None and known[0] is kind and known[1] is equality:
        return known[2]
    if len(_equalities) >= _MOST_KNOWN:
        _equalities.clear()
    found = _read_by_equality(kind)
    _equalities[id(kind)] = kind, equality, found
    return found


def _read_by_equality(kind: type) -> frozenset[str] | None:
    """Give the names that the ``__eq__`` of a class reads, with all that it calls; ``None`` where it may read anything."""
    equality = found_in(kind, "__eq__")
    if type(equality) is not FunctionType:
        return None
    names: set[str] = set()
    left, seen = [equality], set[int]()
    while left:
        function = left.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        uses = uses_of(function.__code__)
        called = _called(kind, function)
        if called is None or uses.imports or not READ_ANYTHING.isdisjoint(uses.attributes | uses.variables):
            return None
        names |= uses.attributes | uses.words
        left += called
    # An equality that reads no attribute compares in a way that is not followed here, or goes by identity.
    return frozenset(names) if not names.isdisjoint(_all_attributes(kind, names)) else None


def _all_attributes(kind: type, names: set[str]) -> set[str]:
    """Give those of some names that are no methods and belong to no class: attributes of instances."""
    return {name for name in names if name.isidentifier() and type(found_in(kind, name)) is not FunctionType} - {
        "__class__",
        "__name__",
        "__qualname__",
    }


def _called(kind: type, function: FunctionType) -> list[FunctionType] | None:
    """Give the Python functions that a function may call on an object; ``None`` where it calls something else."""
    uses = uses_of(function.__code__)
    members = [found_in(kind, name) for name in uses.attributes]
    for builtin, methods in _TEXTS.items():
        if builtin in uses.variables:
            members += [found_in(kind, method) for method in methods]
    if "super" in uses.variables:
        members += [members_of(base).get("__eq__") for base in mro_of(kind)]
    called = [found for found in map(function_of, members) if found is not None]
    scope = function.__globals__
    values = [scope[name] for name in uses.variables if name in scope]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not yet assigned
            continue
    for value in values:
        if type(value) is FunctionType:
            called.append(value)
        elif not issubclass(type(value), _HARMLESS):
            return None
    return called


def _remembered_hash(kind: type, attributes: dict[str, Any]) -> set[str]:
    """Give the attributes in which an object remembers its hash, which depends on the hash seed of the process."""
    function = found_in(kind, "__hash__")
    if type(function) is not FunctionType:
        return set()
    uses = uses_of(function.__code__)
    stored = set(uses.stored)
    if "__setattr__" in uses.attributes or "setattr" in uses.variables:  # as frozen classes do
        stored |= uses.words
    if len(uses.attributes) == 1 and not uses.variables:  # it gives what __init__ has worked out
        stored |= {name for name in uses.attributes if _looks_like_hash(attributes.get(name))}
    return stored & set(attributes)


def _looks_like_hash(value: Any) -> bool:
    return type(value) is int and abs(value) >= _SMALLEST_HASH
