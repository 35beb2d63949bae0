"""What the generator knows of values: their types, with dimensions by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "FLOATS",
    "INTEGERS",
    "NAMES",
    "SIGNED",
    "WIDE_FLOATS",
    "Aggregate",
    "Constant",
    "Kind",
    "Tensor",
    "Tuple",
    "spelled",
]

INTEGERS = ("i32", "i64", "i16", "i8", "u32", "u8", "u64")
SIGNED = ("i32", "i64", "i16", "i8")
WIDE_FLOATS = ("fp32", "fp64")
FLOATS = ("fp32", "fp16", "bf16", "fp64")
#: Names of data types in a signature and in the language.
NAMES = {
    "i1": "int1",
    **{name: name.replace("i", "int") for name in SIGNED},
    **{name: name.replace("u", "uint") for name in ("u8", "u32", "u64")},
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
}


@dataclass(frozen=True)
class Tensor:
    """A value of run time.

    :param dtype: As in a signature; with ``*`` before it, a pointer to such.
    :param shape: Names of dimensions, none for a scalar.
    """

    dtype: str
    shape: tuple[str, ...] = ()


@dataclass(frozen=True)
class Constant:
    """A value that is known while compiling.

    :param kind: ``int``, ``float``, ``bool``, ``str``, ``none``, ``dtype``, ``size``, ``shape``, ``tuple``, ``enum``, ``function``.
    :param detail: The data type, the dimensions or the kinds of items, where the value must be one.
    """

    kind: str
    detail: tuple[object, ...] = ()


@dataclass(frozen=True)
class Tuple:
    """A tuple of values.

    :param items: The types of its items.
    :param fields: Their names, of a named tuple.
    """

    items: tuple[Kind, ...]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Aggregate:
    """A value of a class of the program's own, marked as an aggregate.

    :param name: The class.
    :param fields: Names and types of its fields.
    """

    name: str
    fields: tuple[tuple[str, Kind], ...]


Kind = Tensor | Constant | Tuple | Aggregate


def spelled(dtype: str, language: str = "tl") -> str:
    """Write a data type as a kernel does."""
    if dtype.startswith("*"):
        return f"{language}.pointer_type({spelled(dtype[1:], language)})"
    return f"{language}.{NAMES[dtype]}"


def scalars(dtypes: Sequence[str]) -> list[Tensor]:
    """Give the scalar types."""
    return [Tensor(dtype) for dtype in dtypes]
