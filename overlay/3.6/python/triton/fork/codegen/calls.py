"""Make the functions that a kernel calls without working out the same types again.

The base works the IR types of the arguments out from layouts again although the values have them; what it writes into the
names of functions is in :mod:`triton.fork.codegen.type_names`.

Mirrors python/triton/compiler/code_generator.py: ASTFunction.serialize, ASTFunction.deserialize, mangle_fn
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from triton.fork.codegen.plain import fast_path
from triton.fork.settings import at_import
from triton.fork.state.attached import fork_state

__all__ = [
    "ON",
    "SWITCH",
    "Types",
    "deserialize",
    "note_types",
    "serialize",
]

#: The environment variable that leaves calls to the base; read when ``triton.language`` is imported.
SWITCH = "TRITON_FORK_CALLS"

#: Whether the ways of this module are taken.
ON = at_import(SWITCH)

AnyFunction = Callable[..., Any]

#: Set in an ``ASTFunction`` whose arguments have known types.


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
        fork_state(prototype).argument_types = [handle.get_type() for handle in handles]


@fast_path(ON)
def serialize(base: AnyFunction) -> AnyFunction:
    """Do not work out the IR types of the arguments where they are known."""

    def serialize(self: Any, builder: Any) -> Any:
        types = fork_state(self).argument_types
        if types is None:
            return base(self, builder)
        return builder.get_function_ty(types, self.return_types_ir(builder))

    return serialize


@fast_path(ON)
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
