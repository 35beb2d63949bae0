"""Ways to write expressions: functions of the language and of its standard library."""

from __future__ import annotations

from tests.fuzz.kernels.constants import condition
from tests.fuzz.kernels.expressions import (
    arguments,
    arranged,
    expression,
    is_block,
    is_number,
    is_triton,
    layout,
    number_for,
    ranges,
    sized,
    way,
)
from tests.fuzz.kernels.kinds import FLOATS, INTEGERS, WIDE_FLOATS, Tensor, spelled
from tests.fuzz.kernels.module import Context

__all__: list[str] = []

_MATHS = ("exp", "exp2", "log", "log2", "sqrt", "sin", "cos", "rsqrt", "floor", "ceil", "erf", "sqrt_rn")
_LIBDEVICE = ("tanh", "log1p", "expm1", "atan", "trunc")
_SMALL = ("i8", "i16", "bf16", "fp16", "u8")


def _is_free(context: Context, tensor: Tensor) -> bool:
    return not context.pure and sized(context, tensor) and not tensor.dtype.startswith("*")


def _is_plain(context: Context, tensor: Tensor) -> bool:
    return is_triton(context) and _is_free(context, tensor)


@way(3, lambda c, t: t.dtype in WIDE_FLOATS)
def _maths(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    if tensor.dtype == "fp64":
        return f"tl.{context.module.hole(_MATHS[:6], 'function of the language')}({inner})"
    if context.choices.chance(15) and is_triton(context):
        return f"libdevice.{context.module.hole(_LIBDEVICE, 'function of the device library')}({inner})"
    return f"tl.{context.module.hole(_MATHS, 'function of the language')}({inner})"


@way(2, lambda c, t: is_number(c, t) and t.dtype not in ("bf16", "fp16"))
def _extreme(context: Context, tensor: Tensor, depth: int) -> str:
    one, other = arguments(context, [tensor, tensor], depth)
    name = context.module.hole(("tl.minimum", "tl.maximum", "min", "max"), "function of the language")
    return f"{name}({one}, {other})"


@way(1, lambda c, t: is_triton(c) and t.dtype in FLOATS and t.dtype != "bf16")
def _clamped(context: Context, tensor: Tensor, depth: int) -> str:
    parts = arguments(context, [tensor, tensor, tensor], depth)
    nan = context.choices.pick(["", ", propagate_nan=tl.PropagateNan.ALL"])
    return f"tl.clamp({', '.join(parts)}{nan})"


@way(1, is_number)
def _magnitude(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    return context.choices.pick([f"tl.abs({inner})", f"({inner}).abs()"])


@way(1, lambda c, t: t.dtype in WIDE_FLOATS)
def _fused(context: Context, tensor: Tensor, depth: int) -> str:
    return f"tl.fma({', '.join(arguments(context, [tensor] * 3, depth))})"


@way(1, lambda c, t: t.dtype == "fp32")
def _divided(context: Context, tensor: Tensor, depth: int) -> str:
    one, other = arguments(context, [tensor, tensor], depth)
    return f"{context.module.hole(('tl.fdiv', 'tl.div_rn'), 'function of the language')}({one}, {other})"


@way(1, lambda c, t: t.dtype in ("i32", "u32"))
def _rounded_up(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    return f"tl.cdiv({inner}, {number_for(context, tensor.dtype)}).to({spelled(tensor.dtype)})"


@way(4, lambda c, t: _is_free(c, t) and len(t.shape) < 2)
def _reduced(context: Context, tensor: Tensor, depth: int) -> str:
    axis, wider = _with_axis(context, tensor)
    inner = expression(context, wider, depth)
    if tensor.dtype == "i1":
        return arranged(context, f"(tl.sum({inner}.to(tl.int32), {axis}) > 0)", tensor.shape)
    name = context.module.hole(("sum", "max", "min"), "reduction")
    style = context.choices.pick(
        [f"tl.{name}({inner}, {axis})", f"tl.{name}({inner}, axis={axis})", f"({inner}).{name}({axis})"]
    )
    return arranged(context, f"{style}.to({spelled(tensor.dtype)})", tensor.shape)


def _with_axis(context: Context, tensor: Tensor) -> tuple[int, Tensor]:
    """Choose an axis along which a block is made smaller, and the type of the block."""
    if not tensor.shape:
        return 0, Tensor(tensor.dtype, ("B",))
    axis = context.choices.number(0, 1)
    return axis, Tensor(tensor.dtype, ("M", *tensor.shape) if axis == 0 else (*tensor.shape, "N"))


@way(1, lambda c, t: _is_plain(c, t) and t == Tensor("i32"))
def _place(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, Tensor(context.choices.pick(["fp32", "i32"]), ("B",)), depth)
    ties = context.choices.pick(["", ", tie_break_left=False"])
    return f"tl.{context.module.hole(('argmax', 'argmin'), 'reduction')}({inner}, axis=0{ties})"


@way(1, lambda c, t: _is_plain(c, t) and is_block(c, t) and t.dtype not in _SMALL and t.dtype != "i1")
def _scanned(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    axis = context.choices.number(0, len(tensor.shape) - 1)
    reverse = f", reverse={condition(context, 0)}" if context.choices.chance(30) else ""
    return (
        f"tl.{context.module.hole(('cumsum', 'cumprod'), 'scan')}({inner}, {axis}{reverse}).to({spelled(tensor.dtype)})"
    )


@way(1, lambda c, t: _is_plain(c, t) and t == Tensor("fp32", t.shape) and bool(t.shape))
def _softened(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    return context.choices.pick([f"tl.softmax({inner})", f"tl.sigmoid({inner})"])


@way(1, lambda c, t: _is_plain(c, t) and len(t.shape) == 1 and t.dtype in ("fp32", "i32") and c.module.budget > 60)
def _sorted(context: Context, tensor: Tensor, depth: int) -> str:
    context.module.budget -= 30  # much code
    inner = expression(context, tensor, depth)
    return context.choices.pick(
        [f"tl.flip({inner})", f"tl.sort({inner})", f"tl.sort({inner}, descending={condition(context, 0)})"]
    )


@way(1, lambda c, t: _is_free(c, t) and len(t.shape) == 1)
def _gathered(context: Context, tensor: Tensor, depth: int) -> str:
    if tensor.dtype == "i1":
        return expression(context, tensor, depth)
    source, index = arguments(context, [tensor, Tensor("i32", tensor.shape)], depth)
    return f"tl.gather({source}, {index}, 0)"


@way(1, lambda c, t: _is_free(c, t) and t.dtype == "i32" and len(t.shape) == 1)
def _counted(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    return f"tl.histogram({inner}, {ranges(context, tensor.shape[0])}{layout(context, tensor.shape)})"


@way(1, lambda c, t: _is_free(c, t) and len(t.shape) == 1 and t.dtype in (*INTEGERS, *FLOATS))
def _joined(context: Context, tensor: Tensor, depth: int) -> str:
    one, other = arguments(context, [tensor, tensor], depth)
    text = f"tl.split(tl.join({one}, {other}))[{context.module.hole(('0', '1'), 'literal')}]"
    return arranged(context, text, tensor.shape)


@way(2, lambda c, t: _is_plain(c, t) and t.dtype == "fp32" and t.shape == ("M", "M"))
def _product(context: Context, tensor: Tensor, depth: int) -> str:
    source = context.choices.pick(["fp16", "bf16", "fp32"])
    one = expression(context, Tensor(source, ("M", "N")), depth)
    other = expression(context, Tensor(source, ("N", "M")), depth)
    options = ["", ", input_precision='ieee'", ", allow_tf32=False"] if source == "fp32" else [""]
    added = context.named(tensor)
    extra = f", acc={context.choices.pick(added)}" if added and context.choices.chance(50) else ""
    return f"tl.dot({one}, {other}{extra}{context.choices.pick(options)})"


@way(1, lambda c, t: _is_free(c, t) and t.dtype in ("fp32", "i32") and is_block(c, t))
def _assembly(context: Context, tensor: Tensor, depth: int) -> str:
    inner = expression(context, tensor, depth)
    text = context.module.hole(("'mov.b32 $0, $1;'", "'not.b32 $0, $1;'"), "assembly")
    return f"tl.inline_asm_elementwise({text}, '=r,r', [{inner}], dtype={spelled(tensor.dtype)}, is_pure={condition(context, 0)}, pack=1)"


@way(1, lambda c, t: _is_plain(c, t) and t.dtype == "fp32" and bool(t.shape))
def _random(context: Context, tensor: Tensor, depth: int) -> str:
    context.module.budget -= 10
    offset = expression(context, Tensor("i32", tensor.shape), depth)
    return f"tl.rand({expression(context, Tensor('i32'), 0)}, {offset})"
