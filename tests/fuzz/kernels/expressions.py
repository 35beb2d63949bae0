"""Expressions for values of run time, by their type.

Each way to write one is registered with what it fits and how often it is taken; ``operations``, ``library`` and ``calls`` have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.fuzz.kernels.constants import constant, passed, shape
from tests.fuzz.kernels.kinds import FLOATS, SIGNED, Constant, Tensor, spelled
from tests.fuzz.kernels.module import ANY, Context

__all__ = ["Way", "arguments", "arranged", "expression", "layout", "number_for", "ranges", "sized", "way"]

Fits = Callable[[Context, Tensor], bool]
Writes = Callable[[Context, Tensor, int], str]


class Way(NamedTuple):
    """One way to write an expression.

    :param weight: How often it is taken.
    :param fits: Tells whether it can give a value of a type.
    :param write: Writes it, with parts of that depth.
    """

    weight: int
    fits: Fits
    write: Writes


WAYS: list[Way] = []


def way(weight: int, fits: Fits) -> Callable[[Writes], Writes]:
    """Register a way to write an expression."""

    def register(write: Writes) -> Writes:
        WAYS.append(Way(weight, fits, write))
        return write

    return register


def expression(context: Context, tensor: Tensor, depth: int = 3) -> str:
    """Write an expression.

    :param context: Where it stands.
    :param tensor: The type that it must have.
    :param depth: How deep it may be nested.
    """
    if depth <= 0 or not context.spend():
        return leaf(context, tensor)
    options = [(8, Way(8, lambda *_: True, lambda c, t, _: leaf(c, t)))]
    options += [(one.weight, one) for one in WAYS if one.fits(context, tensor)]
    return context.choices.together(lambda: context.choices.weighted(options).write(context, tensor, depth - 1))


def sized(context: Context, tensor: Tensor) -> bool:
    """Tell whether the sizes of all dimensions are known."""
    return all(dimension in context.module.sizes for dimension in tensor.shape)


def number_for(context: Context, dtype: str, depth: int = 1) -> str:
    """Write a constant that a value of a data type can be combined with."""
    if dtype in FLOATS and context.choices.chance(60):
        return constant(context, Constant("float"), depth)
    if dtype in SIGNED or dtype in FLOATS:
        return constant(context, Constant("int"), depth)
    return context.module.hole(("1", "2", "3"), "literal")


def leaf(context: Context, tensor: Tensor) -> str:
    """Write an expression that has no parts of its type."""
    names = context.named(tensor)
    if names and context.choices.chance(85):
        return context.choices.pick(names)
    if tensor.dtype.startswith("*"):
        return _pointer(context, tensor)
    if not sized(context, tensor):
        others = [name for name, kind in context.tensors() if kind.shape == tensor.shape]
        return f"{context.choices.pick(others)}.to({spelled(tensor.dtype)})"
    dtype = constant(context, Constant("dtype", (tensor.dtype,)), 0)
    ways = ["full"]
    ways += ["zeros"] if tensor.dtype != "i1" else []
    ways += ["range"] if len(tensor.shape) == 1 and tensor.dtype != "i1" else []
    ways += ["program"] if not tensor.shape and tensor.dtype == "i32" and not context.pure else []
    made = context.choices.pick(ways)
    if made == "range":
        return f"{span(context, tensor.shape[0])}{'' if tensor.dtype == 'i32' else f'.to({dtype})'}"
    if made == "program":
        return f"tl.{context.choices.pick(['program_id', 'num_programs'])}({context.module.hole(('0', '1', '2'), 'literal')})"
    size = shape(context, tensor.shape) if tensor.shape else "()"
    placed = layout(context, tensor.shape)
    if made == "zeros":
        return f"tl.zeros({size}, {context.choices.pick(['', 'dtype='])}{dtype}{placed})"
    value = constant(context, Constant("bool"), 1) if tensor.dtype == "i1" else number_for(context, tensor.dtype)
    return f"tl.full({size}, {value}, {dtype}{placed})"


def span(context: Context, dimension: str) -> str:
    """Write the numbers below the size of a dimension."""
    return f"tl.arange(0, {ranges(context, dimension)}{layout(context, (dimension,))})"


def layout(context: Context, dimensions: tuple[str, ...]) -> str:
    """Write the argument that Gluon takes where a block is made."""
    if not context.module.gluon or not dimensions:
        return ""
    return f", layout={passed(context, Constant('layout', dimensions), 0)}"


def arranged(context: Context, text: str, dimensions: tuple[str, ...]) -> str:
    """Bring a block, in Gluon, into the layout of its shape."""
    if not context.module.gluon or not dimensions:
        return text
    return f"tl.convert_layout({text}, {passed(context, Constant('layout', dimensions), 0)})"


def sliced(context: Context, text: str, axis: int, dimensions: tuple[str, ...]) -> str:
    """Bring a block, in Gluon, into a layout from which it can be widened to a shape along an axis."""
    if not context.module.gluon:
        return text
    return f"tl.convert_layout({text}, tl.SliceLayout({axis}, {passed(context, Constant('layout', dimensions), 0)}))"


def ranges(context: Context, dimension: str) -> str:
    """Write the size of a dimension where ``arange`` or a shape takes it."""
    return constant(context, Constant("size", (dimension,)), 0)


def arguments(context: Context, tensors: Sequence[Tensor], depth: int) -> list[str]:
    """Write several expressions."""
    return [expression(context, tensor, depth) for tensor in tensors]


def _pointer(context: Context, tensor: Tensor) -> str:
    """Write a pointer of a data type that one of the parameters has."""
    (base, *_) = context.named(Tensor(tensor.dtype)) or ["0"]
    if not tensor.shape:
        return base
    if len(tensor.shape) == 1:
        return f"({base} + {span(context, tensor.shape[0])})"
    rows, columns = (sliced(context, span(context, tensor.shape[at]), 1 - at, tensor.shape) for at in (0, 1))
    return f"({base} + {rows}[:, None] * {ranges(context, tensor.shape[1])} + {columns}[None, :])"


def is_triton(context: Context) -> bool:
    """Tell whether a program is not in Gluon."""
    return not context.module.gluon


def is_block(context: Context, tensor: Tensor) -> bool:
    """Tell whether a type is a block of known sizes that is not made of pointers."""
    return bool(tensor.shape) and sized(context, tensor) and not tensor.dtype.startswith("*")


def is_number(_: Context, tensor: Tensor) -> bool:
    """Tell whether one can calculate with a type."""
    return not tensor.dtype.startswith("*") and tensor.dtype != "i1"


def is_any_shape(tensor: Tensor) -> bool:
    """Tell whether a type has the shape of whatever a function is called with."""
    return tensor.shape == (ANY,)
