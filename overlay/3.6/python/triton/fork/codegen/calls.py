"""Name and make the functions that a kernel calls without working out the same texts and types again.

The name of a function in the IR holds the types and constants of its arguments, so the base writes out every layout in every
aggregate at every call; the IR types of the arguments are worked out from layouts again although the values have them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from triton.fork._switches import enabled
from triton.fork.codegen.plain import short_way
from triton.fork.codegen.values import text_of

__all__ = [
    "ON",
    "SWITCH",
    "Types",
    "aggregate_mangle",
    "constant_mangle",
    "deserialize",
    "layout_mangle",
    "note_types",
    "scalar_mangle",
    "serialize",
]

#: The environment variable that leaves calls to the base; read when ``triton.language`` is imported.
SWITCH = "TRITON_FORK_CALLS"

#: Whether the ways of this module are taken.
ON = enabled(SWITCH)

AnyFunction = Callable[..., Any]

_PLAIN = frozenset({int, bool, str, float, type(None)})
_GLUON = "triton.experimental.gluon.language."
_MOST_TEXTS = 512

#: Set in an ``ASTFunction`` whose arguments have known types.
_TYPES = "_fork_argument_types"

#: Identity of a layout -> the layout, a copy of what it consisted of, its text. It is held, so that no other has its identity.
Texts = dict[int, tuple[Any, dict[str, Any], str]]

_texts: Texts = {}


def _remembered(value: Any, write: Callable[[Any], str], texts: Texts) -> str:
    """Give a text of a layout, written once as long as the layout consists of what it did.

    Layouts are frozen but hold lists, which their makers may change, so what a layout consists of is compared each time.
    """
    known = texts.get(id(value))
    if known is not None and known[0] is value and known[1] == value.__dict__:
        return known[2]
    written = write(value)
    if not _is_layout(value.__class__):
        return written
    try:
        copied = _copied(value)
    except TypeError:
        return written
    if len(texts) >= _MOST_TEXTS:
        texts.clear()
    texts[id(value)] = (value, copied.__dict__, written)
    return written


def _is_layout(kind: type) -> bool:
    return kind.__module__.startswith(_GLUON) and dataclasses.is_dataclass(kind)


def _copied(value: Any) -> Any:
    """Copy a layout with all that it consists of.

    :raises TypeError: There is something in it of which nothing is known here.
    """
    from triton.language.core import tuple as triton_tuple

    kind: Any = value.__class__
    if kind in _PLAIN:
        return value
    if kind is list or kind is tuple or kind is triton_tuple:
        return kind([_copied(item) for item in value])
    if _is_layout(kind):
        copied = object.__new__(type(value))
        copied.__dict__.update((name, _copied(part)) for name, part in value.__dict__.items())
        return copied
    raise TypeError(kind)


def _type_of_constant(value: Any) -> str:
    """Give the ``repr`` of the type of a constant."""
    if value.__class__ not in _PLAIN:
        value = _remembered(value, str, _texts)
    return f"constexpr_type[{value}]"


@short_way(ON)
def constant_mangle(base: AnyFunction) -> AnyFunction:
    """Write the type of a constant as its ``repr`` does."""
    names = base.__globals__

    def mangle(self: Any) -> str:
        if self.__class__ is not names["constexpr_type"]:
            return base(self)  # type: ignore[no-any-return]
        return _type_of_constant(self.value)

    return mangle


@short_way(ON)
def scalar_mangle(base: AnyFunction) -> AnyFunction:
    """Write the name of each scalar type once: it follows from its name in the language."""
    names, texts = base.__globals__, dict[str, str]()

    def mangle(self: Any) -> str:
        if self.__class__ is not names["dtype"]:
            return base(self)  # type: ignore[no-any-return]
        text = texts.get(self.name)
        if text is None:
            text = texts[self.name] = base(self)
        return text

    return mangle


@short_way(ON)
def aggregate_mangle(base: AnyFunction) -> AnyFunction:
    """Write the constants among the fields, which are most, in place."""
    names = base.__globals__
    del base

    def write(self: Any) -> str:
        constant_type = names["constexpr_type"]
        fields = [
            _type_of_constant(type_.value) if type_.__class__ is constant_type else type_.mangle()
            for _, type_ in self.fields
        ]
        return f"{self.base_cls.__module__}.{self.base_cls.__qualname__}<{', '.join(fields)}>"

    def mangle(self: Any) -> str:
        return text_of(self, write)

    return mangle


@short_way(ON)
def layout_mangle(base: AnyFunction) -> AnyFunction:
    """Write a layout out once."""
    texts: Texts = {}

    def mangle(self: Any) -> str:
        return _remembered(self, base, texts)

    return mangle


class Types:
    """The types of the arguments of a call, each asked for once.

    :param arguments: The arguments that are not constants.
    """

    def __init__(self, arguments: list[Any]) -> None:
        self._arguments = arguments
        self._types: dict[int, Any] = {}

    def all(self) -> list[Any]:
        """Give the types of all of them."""
        types = [argument.type for argument in self._arguments]
        if ON:
            self._types.update(zip(map(id, self._arguments), types, strict=True))
        return types

    def of(self, argument: Any) -> Any:
        """Give the type of one, or of any other value."""
        type_ = self._types.get(id(argument))
        return argument.type if type_ is None else type_


def note_types(prototype: Any, arguments: Iterable[Any]) -> None:
    """Take the IR types of the arguments of a function from the values that it is called with.

    :param prototype: The ``ASTFunction`` of the function.
    :param arguments: The frontend values that are not constants, in the order of the parameters.
    """
    if ON:
        handles: list[Any] = []
        for argument in arguments:
            argument._flatten_ir(handles)
        prototype.__dict__[_TYPES] = [handle.get_type() for handle in handles]


@short_way(ON)
def serialize(base: AnyFunction) -> AnyFunction:
    """Do not work out the IR types of the arguments where they are known."""

    def serialize(self: Any, builder: Any) -> Any:
        types = self.__dict__.get(_TYPES)
        if types is None:
            return base(self, builder)
        return builder.get_function_ty(types, self.return_types_ir(builder))

    return serialize


@short_way(ON)
def deserialize(base: AnyFunction) -> AnyFunction:
    """Put the arguments of a function together without a template, where none of them is a tuple."""
    names = base.__globals__
    language = names["language"]
    nested = (list, tuple, language.tuple_type)

    def deserialize(self: Any, fn: Any) -> Any:
        types, constants, attributes = self.arg_types, self.constants, self.attrs
        if any(isinstance(type_, nested) for type_ in types) or any(len(path) != 1 for path in constants):
            return base(self, fn)
        handles = [fn.args(index) for index in range(fn.get_num_args())]
        values = []
        cursor = 0
        for index, type_ in enumerate(types):
            path = (index,)
            if path in constants:
                values.append(language.constexpr(constants[path]))
            elif type_ is None:
                values.append(language.constexpr(None))
            else:
                for name, value in attributes.get(path, ()):
                    fn.set_arg_attr(cursor, name, value)
                made, cursor = type_._unflatten_ir(handles, cursor)
                values.append(made)
        return language.tuple(values)

    return deserialize
