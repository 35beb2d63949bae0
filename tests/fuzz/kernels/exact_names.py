"""Have the base give functions that kernels call names that tell them apart.

The base generates a function once for each name, which holds the names of module and function, the types of the arguments and the
``repr`` of the constants: the products of one factory share a name, and the second call runs the first one's code. The fork numbers
them. With this in place the base does so too, by rules of its own, so that such programs can be compared.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from triton.compiler import code_generator
from triton.language import core
from triton.runtime.jit import JITCallable

__all__ = ["exact_names"]


class _Named(str):
    """The name of a function, and the function."""

    function: Any


@contextmanager
def exact_names() -> Iterator[None]:
    """Have the kernel that is compiled meanwhile tell the functions that it calls apart."""
    full_name, mangle = code_generator.get_full_name, code_generator.mangle_fn
    known: dict[str, list[str]] = {}

    def named(function: Any) -> str:
        name = _Named(full_name(function))
        name.function = function
        return name

    def mangled(name: str, types: Sequence[Any], constants: Mapping[Any, Any], context: Any) -> str:
        given: str = mangle(name, types, constants, context)
        what = f"{_function(name)} {[_text(value) for value in constants.values()]} {[_type(type_) for type_ in types]}"
        same = known.setdefault(given, [])
        if what not in same:
            same.append(what)
        at = same.index(what)
        return f"{given}.{at}" if at else given

    code_generator.get_full_name, code_generator.mangle_fn = named, mangled
    try:
        yield
    finally:
        code_generator.get_full_name, code_generator.mangle_fn = full_name, mangle


def _function(name: Any) -> str:
    return _text(name.function) if isinstance(name, _Named) else name


def _text(value: Any) -> str:
    """Describe a constant by its type and content, a function by its source and what it has from around it."""
    if isinstance(value, core.constexpr):
        return _text(value.value)
    if isinstance(value, JITCallable):
        cells = value.fn.__closure__ or ()
        return f"{value.src} {value.starting_line_number} {[_text(cell.cell_contents) for cell in cells]}"
    if isinstance(value, core.dtype):
        return f"dtype {value.name}"
    if isinstance(value, (list, tuple, core.tuple)):
        return f"{type(value).__name__} {[_text(item) for item in value]}"
    return f"{type(value)} {value!r}"


def _type(type_: Any) -> str:
    """Describe the constants in a type."""
    if isinstance(type_, core.constexpr_type):
        return _text(type_.value)
    if isinstance(type_, core.tuple_type):
        return f"{[_type(item) for item in type_.types]}"
    if isinstance(type_, core._aggregate_type):
        return f"{[(name, _type(field)) for name, field in type_.fields]}"
    return ""
