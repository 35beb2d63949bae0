"""Ways to write expressions: operators of the language, and what takes shapes apart and puts them together."""

from __future__ import annotations

from tests.fuzz.kernels.constants import condition, constant, shape
from tests.fuzz.kernels.expressions import (
    arguments,
    arranged,
    expression,
    is_any_shape,
    is_block,
    is_number,
    is_triton,
    number_for,
    sliced,
    way,
)
from tests.fuzz.kernels.kinds import FLOATS, INTEGERS, SIGNED, WIDE_FLOATS, Constant, Tensor, spelled
from tests.fuzz.kernels.module import Context

__all__ = ["comparison"]

_ORDERS = ("<", "<=", ">", ">=", "==", "!=")


def _operators(dtype: str) -> tuple[str, ...]:
    if dtype in FLOATS:
        return ("+", "-", "*", "/") if dtype in WIDE_FLOATS else ("+", "-", "*")
    return ("+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>") if dtype in INTEGERS else ("&", "|", "^")


@way(9, lambda c, t: not t.dtype.startswith("*"))
def _binary(context: Context, tensor: Tensor, depth: int) -> str:
    one, other = arguments(context, [tensor, tensor], depth)
    operator = context.module.hole(_operators(tensor.dtype), "operator")
    return f"({one} {operator} {other})"


@way(6, is_number)
def _with_constant(context: Context, tensor: Tensor, depth: int) -> str:
    one, number = expression(context, tensor, depth), number_for(context, tensor.dtype)
    operator = context.module.hole(("+", "-", "*"), "operator")
    return f"({one} {operator} {number})" if context.choices.chance(70) else f"({number} {operator} {one})"


@way(3, lambda c, t: bool(t.shape) and is_number(c, t))
def _with_scalar(context: Context, tensor: Tensor, depth: int) -> str:
    if is_any_shape(tensor) and not context.named(Tensor(tensor.dtype)):
        return expression(context, tensor, depth)
    one, other = arguments(context, [tensor, Tensor(tensor.dtype)], depth)
    return f"({one} {context.module.hole(('+', '*', '-'), 'operator')} {other})"


@way(2, lambda c, t: not t.dtype.startswith("*"))
def _unary(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    if tensor.dtype in FLOATS:
        return f"(-{inner})"
    if tensor.dtype in SIGNED:
        return f"({context.choices.pick(['-', '~'])}{inner})"
    return f"(~{inner})"


@way(3, lambda c, t: not t.dtype.startswith("*"))
def _cast(context: Context, tensor: Tensor, depth: int) -> str:
    source = Tensor(context.choices.pick(["i32", "fp32", "i64", "fp16", "i8", "bf16", "u32"]), tensor.shape)
    inner = expression(context, source, depth)
    dtype = constant(context, Constant("dtype", (tensor.dtype,)), 0)
    if context.choices.chance(20):
        return f"tl.cast({inner}, {dtype})"
    return f"({inner}).to({dtype})"


def comparison(context: Context, dimensions: tuple[str, ...], depth: int) -> str:
    """Write a comparison of values of run time."""
    known = sorted({kind.dtype for _, kind in context.tensors() if kind.shape == dimensions and kind.dtype != "i1"})
    tensor = Tensor(context.choices.pick(known or ["i32"]), dimensions)
    one = expression(context, tensor, depth)
    other = number_for(context, tensor.dtype) if context.choices.chance(50) else expression(context, tensor, depth)
    return f"({one} {context.module.hole(_ORDERS, 'comparison')} {other})"


@way(14, lambda c, t: t.dtype == "i1")
def _comparison(context: Context, tensor: Tensor, depth: int) -> str:
    return comparison(context, tensor.shape, depth)


@way(3, lambda c, t: not t.dtype.startswith("*"))
def _where(context: Context, tensor: Tensor, depth: int) -> str:
    test, one, other = arguments(context, [Tensor("i1", tensor.shape), tensor, tensor], depth)
    return f"tl.where({test}, {one}, {other})"


@way(2, lambda c, t: not t.dtype.startswith("*"))
def _chosen(context: Context, tensor: Tensor, depth: int) -> str:
    one, other = arguments(context, [tensor, tensor], depth)
    if context.choices.chance(50) and not context.pure:
        return f"({one} if {comparison(context, (), 0)} else {other})"
    return f"({one} if {condition(context)} else {other})"


@way(2, lambda c, t: t == Tensor("i1"))
def _logic(context: Context, tensor: Tensor, depth: int) -> str:
    one, other = arguments(context, [tensor, tensor], depth)
    return f"({one} {context.choices.pick(['and', 'or'])} {other})"


@way(4, lambda c, t: len(t.shape) == 2 and is_block(c, t))
def _outer(context: Context, tensor: Tensor, depth: int) -> str:
    rows, columns = (Tensor(tensor.dtype, (dimension,)) for dimension in tensor.shape)
    one, other = arguments(context, [rows, columns], depth)
    one, other = sliced(context, one, 1, tensor.shape), sliced(context, other, 0, tensor.shape)
    operator = context.module.hole(("&", "|") if tensor.dtype == "i1" else ("+", "*", "-"), "operator")
    return f"({one}[:, None] {operator} {other}[None, :])"


@way(1, lambda c, t: is_triton(c) and is_block(c, t))
def _broadcast(context: Context, tensor: Tensor, depth: int) -> str:
    if len(tensor.shape) == 2:
        inner = expression(context, Tensor(tensor.dtype, tensor.shape[1:]), depth)
        return f"tl.broadcast_to({inner}[None, :], {shape(context, tensor.shape)})"
    return f"tl.broadcast_to({expression(context, Tensor(tensor.dtype), depth)}, {shape(context, tensor.shape)})"


@way(2, lambda c, t: len(t.shape) == 2 and is_block(c, t))
def _turned(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, Tensor(tensor.dtype, tensor.shape[::-1]), depth)
    ways = ["tl.permute({}, (1, 0))", "tl.trans({})", "({}).T", "({}).trans(1, 0)"]
    text = context.choices.pick(ways if is_triton(context) else ways[:1]).format(inner)
    return arranged(context, text, tensor.shape)


@way(2, is_block)
def _reshaped(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    wanted = shape(context, tensor.shape)
    ways = [f"tl.reshape({inner}, {wanted})", f"({inner}).reshape({wanted})", f"tl.view({inner}, {wanted})"]
    return arranged(context, context.choices.pick(ways if is_triton(context) else ways[:2]), tensor.shape)


@way(1, lambda c, t: t.shape == () or is_block(c, t))
def _comprehension(context: Context, tensor: Tensor, depth: int) -> str:
    if tensor.dtype.startswith("*"):
        return expression(context, tensor, depth)
    one, other = arguments(context, [tensor, tensor], depth)
    item = context.module.name("item")
    return f"[{item} {context.module.hole(('&', '|', '^'), 'operator') if tensor.dtype not in FLOATS else '+'} {item} for {item} in ({one}, {other})][{context.module.hole(('0', '1', '-1'), 'literal')}]"


@way(1, lambda c, t: not t.dtype.startswith("*"))
def _from_tuple(context: Context, tensor: Tensor, depth: int) -> str:
    one, other = arguments(context, [tensor, tensor], depth)
    return context.choices.pick(
        [f"({one}, {other})[{context.module.hole(('0', '1'), 'literal')}]", f"(({one}, 1), {other})[0][0]"]
    )


@way(3, lambda c, t: t.dtype.startswith("*"))
def _moved(context: Context, tensor: Tensor, depth: int) -> str:
    offset = expression(context, Tensor(context.choices.pick(["i32", "i64"]), tensor.shape), depth)
    return f"({expression(context, tensor, depth)} + {offset})"


def _is_bits(dtype: str) -> bool:
    return dtype in {"i32", "fp32", "u32"}


@way(1, lambda c, t: _is_bits(t.dtype))
def _bits(context: Context, tensor: Tensor, depth: int) -> str:
    source = context.choices.pick([dtype for dtype in ("i32", "fp32", "u32") if dtype != tensor.dtype])
    inner = expression(context, Tensor(source, tensor.shape), depth)
    return f"({inner}).to({spelled(tensor.dtype)}, bitcast=True)"
