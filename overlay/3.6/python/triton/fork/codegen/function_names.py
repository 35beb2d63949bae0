"""Tell functions of a kernel apart that the base gives one name.

The base generates a function that kernels call once for each name, which holds the names of module and function, the types of the
arguments and the ``repr`` of the constants. Two functions that one function has made, constants of a class with a ``repr`` of
its own, or a ``1`` and a ``"1"`` in an aggregate have one name there, and the second call runs the first one's code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triton.fork.cache_key import value_texts
from triton.fork.codegen.values import once
from triton.fork.python.static_look import name_of
from triton.fork.settings import at_import
from triton.language.core import _aggregate_type, constexpr, constexpr_type, tuple_type
from triton.language.core import tuple as language_tuple
from triton.runtime.jit import JITCallable

__all__ = ["ON", "SWITCH", "ReturnTypes", "disambiguate"]

#: The environment variable that leaves all names to the base; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_CALLED_FUNCTIONS_TOLD_APART"

ON = at_import(SWITCH)

# What repr tells apart together with the class.
_PLAIN = frozenset({bool, int, float, complex, type(None)})
# What a name may hold like the signs around it: names have "_d_" for a point and "_" for a bracket.
_WORDS = frozenset({str, bytes})


class ReturnTypes(dict[str, Any]):
    """The return types of the functions of a kernel by name, shared by all code generators of it, and whose the names are."""

    def __init__(self) -> None:
        super().__init__()
        #: Name that the base gives -> what is called by it and how -> name.
        self.names: dict[str, dict[Any, str]] = {}
        #: What functions and classes are called in messages -> those that are called so.
        self.called: dict[str, list[Any]] = {}
        #: Identity of an object -> the object, and what was said of it when it was met first.
        self.described: dict[int, tuple[Any, str]] = {}

    def number(self, function: Any) -> tuple[str, int]:
        """Give a function its number among those of its name; functions with one key are the same."""
        return self._number(repr(function), function, lambda each: each.cache_key)

    def number_of_class(self, kind: type) -> tuple[str, int]:
        """Give a class its number among those of its name; it is described where there is another one."""
        return self._number(".".join(name_of(kind)), kind, self.description)

    def _number(self, name: str, what: Any, text: Callable[[Any], str]) -> tuple[str, int]:
        known = self.called.setdefault(name, [])
        for number, other in enumerate(known):
            if other is what or text(other) == text(what):
                return name, number
        known.append(what)
        return name, len(known) - 1

    def description(self, value: Any) -> str:
        """Describe an object, which stays what it is while one kernel is compiled, whatever it counts or remembers."""
        found = self.described.get(id(value))
        if found is None:
            found = self.described[id(value)] = value, value_texts.describe(value)
        return found[1]


def disambiguate(
    known: dict[str, Any], name: str, function: Any, constants: Mapping[Any, Any], types: Iterable[Any]
) -> str:
    """Give the name of a function that is called.

    :param known: The return types by name; where they were made elsewhere, all names are the base's.
    :param name: The name that the base gives.
    :param function: The JIT function.
    :param constants: The constants among the arguments by their place.
    :param types: The types of the others.
    :returns: The name, with a number where another function or other constants have it already.
    """
    if not ON or not isinstance(known, ReturnTypes):
        return name
    what = (
        known.number(function),
        tuple([_exact(constant, known) for constant in constants.values()]),
        tuple([_exact_type(type_, known) for type_ in types]),
    )
    names = known.names.setdefault(name, {})
    found = names.get(what)
    if found is None:
        # No name of the base ends like this: it replaces the points of constants, which come last.
        found = names[what] = f"{name}.{len(names)}" if names else name
    return found


def _exact(value: Any, known: ReturnTypes) -> Any:
    """Give what tells a constant apart from others of the same ``repr``.

    The class of a value is asked, never the value: ``hasattr`` runs code of others, and a tuple of the language answers it
    with a ValueError.
    """
    while type(value) is constexpr:
        value = value.value
    kind = type(value)
    if kind in _PLAIN:
        return kind
    if kind in _WORDS:
        return kind, value
    if issubclass(kind, JITCallable):
        return known.number(value)
    if kind is language_tuple:
        return kind, tuple([_exact(item, known) for item in value.values])
    if issubclass(kind, tuple):
        return kind, tuple([_exact(item, known) for item in tuple.__iter__(value)])
    if kind.__module__.partition(".")[0] == "triton":
        return kind
    return known.description(value)


def _exact_type(type_: Any, known: ReturnTypes) -> Any:
    """Give what tells a type apart from others with the same text: the constants in it."""
    if isinstance(type_, constexpr_type):
        return _exact(type_.value, known)
    if isinstance(type_, tuple_type):
        return (*type_.fields, *[_exact_type(item, known) for item in type_.types])
    if isinstance(type_, _aggregate_type):
        return once(
            type_,
            lambda: (known.number_of_class(type_.base_cls), *[_exact_type(field, known) for _, field in type_.fields]),
        )
    return None
