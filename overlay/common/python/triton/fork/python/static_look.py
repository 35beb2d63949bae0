"""Look at classes and objects of others without running their code.

``getattr``, ``hasattr`` and ``isinstance`` run ``__getattr__``, ``__getattribute__``, properties, also one called ``__class__``,
and those of metaclasses. What is here asks the slots of Python's own types.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, cast

__all__ = [
    "attributes_of",
    "found_in",
    "function_of",
    "is_made_in_python",
    "is_numpy_scalar",
    "members_of",
    "mro_of",
    "name_of",
]

_mro: Any = type.__dict__["__mro__"]
_members: Any = type.__dict__["__dict__"]
_module: Any = type.__dict__["__module__"]
_qualname: Any = type.__dict__["__qualname__"]
_flags: Any = type.__dict__["__flags__"]
_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8  # of a class made by a class statement; of one made in C, since 3.10


def mro_of(kind: type) -> tuple[type, ...]:
    """Give a class and its bases, in the order in which Python looks."""
    return cast("tuple[type, ...]", _mro.__get__(kind))


def members_of(kind: type) -> Mapping[str, Any]:
    """Give what a class statement put into a class."""
    return cast("Mapping[str, Any]", _members.__get__(kind))


def name_of(kind: type) -> tuple[str, str]:
    """Give the module and the name of a class."""
    try:
        module = _module.__get__(kind)
    except AttributeError:
        module = ""
    return module if type(module) is str else "", cast("str", _qualname.__get__(kind))


def is_numpy_scalar(kind: type) -> bool:
    """Tell whether a class is one of NumPy's numbers, words or times, without importing NumPy."""
    return ("numpy", "generic") in map(name_of, mro_of(kind))


def found_in(kind: type, name: str) -> Any:
    """Give what a class or one of its bases has by a name, as it is in the class; ``None`` where there is nothing."""
    for base in mro_of(kind):
        members = members_of(base)
        if name in members:
            return members[name]
    return None


def is_made_in_python(kind: type) -> bool:
    """Tell whether the attributes of an instance are all that there is of it."""
    flags = [_flags.__get__(base) for base in mro_of(kind)[:-1]]
    return all(flag & _HEAP_TYPE and not flag & _IMMUTABLE_TYPE for flag in flags)


def attributes_of(value: Any) -> dict[str, Any] | None:
    """Give the attributes of an instance by name, or nothing where there is no way to see them."""
    kind = type(value)
    state: dict[str, Any] = {}
    seen = False
    own: Any = None
    for base in mro_of(kind):
        members = members_of(base)
        own = members.get("__dict__") if own is None else own
        if "__slots__" not in members:
            continue
        seen = True
        for name, member in members.items():
            if type(member) is MemberDescriptorType:
                try:
                    state.setdefault(name, member.__get__(value))
                except AttributeError:  # not set
                    continue
    if type(own) in (GetSetDescriptorType, MemberDescriptorType):  # not a property that somebody wrote
        seen = True
        held = own.__get__(value)
        if issubclass(type(held), dict):
            state.update(dict.items(held))
    return state if seen else None


def function_of(member: Any) -> FunctionType | None:
    """Give the Python function that a member of a class runs.

    :param member: A method, a property, a cached property, a static or class method, or what ``functools.wraps`` made.
    """
    kind = type(member)
    if kind is FunctionType:
        return cast("FunctionType", member)
    for name in ("fget", "__func__", "func"):
        for base in mro_of(kind):
            descriptor = members_of(base).get(name)
            if type(descriptor) is MemberDescriptorType:
                found = descriptor.__get__(member)
                return found if type(found) is FunctionType else None
    attributes = attributes_of(member) or {}
    found = attributes.get("func") or attributes.get("__wrapped__")
    return found if type(found) is FunctionType else None
