"""Loads, stores, atomics, block pointers and descriptors."""

from __future__ import annotations

from tests.fuzz.kernels.constants import passed, shape
from tests.fuzz.kernels.expressions import expression, layout, number_for, sized, way
from tests.fuzz.kernels.kinds import Constant, Tensor, spelled
from tests.fuzz.kernels.module import Context

__all__ = ["atomic", "block_pointer", "descriptor", "shared", "store"]

_HINTS = ("", ", cache_modifier='.cg'", ", eviction_policy='evict_last'", ", volatile=True")


def pointers(context: Context) -> list[str]:
    """Give the data types that there are pointers to."""
    if context.pure:
        return []
    kinds = [kind for kind in context.variables.values() if isinstance(kind, Tensor)]
    return sorted({kind.dtype[1:] for kind in kinds if kind.dtype.startswith("*") and not kind.shape})


@way(9, lambda c, t: sized(c, t) and t.dtype in pointers(c))
def _loaded(context: Context, tensor: Tensor, depth: int) -> str:
    pointer = expression(context, Tensor(f"*{tensor.dtype}", tensor.shape), min(depth, 1))
    extra = ""
    if context.choices.chance(30):
        extra = f", mask={expression(context, Tensor('i1', tensor.shape), depth)}"
        if context.choices.chance(60):
            extra += f", other={number_for(context, tensor.dtype, 0)}"
    return f"tl.load({pointer}{extra}{context.choices.pick(_HINTS) if context.choices.chance(20) else ''})"


def store(context: Context) -> list[str]:
    """Write a store."""
    choices = context.choices
    dtype = choices.pick(pointers(context))
    size: tuple[str, ...] = choices.pick([(), ("B",), ("M", "N")])
    pointer = expression(context, Tensor(f"*{dtype}", size), 1)
    value = expression(context, Tensor(dtype, size), 3)
    mask = f", mask={expression(context, Tensor('i1', size), 1)}" if choices.chance(25) else ""
    return [f"tl.store({pointer}, {value}{mask})"]


def atomic(context: Context) -> list[str]:
    """Write an atomic operation, whose result may be kept."""
    choices = context.choices
    dtypes = [dtype for dtype in pointers(context) if dtype in ("fp32", "i32", "i64", "fp64", "u32")]
    if not dtypes:
        return store(context)
    dtype = choices.pick(dtypes)
    size: tuple[str, ...] = choices.pick([(), ("B",)])
    names = ["add"] if dtype.startswith("fp") else ["add", "max", "min", "and", "or", "xor", "xchg"]
    pointer, value = (expression(context, Tensor(kind, size), 1) for kind in (f"*{dtype}", dtype))
    order = choices.pick(["", ", sem='relaxed'", ", sem='release', scope='cta'"])
    call = f"tl.atomic_{context.module.hole(names, 'atomic operation')}({pointer}, {value}{order})"
    if dtype in ("i32", "i64") and choices.chance(20):
        call = f"tl.atomic_cas({pointer}, {value}, {expression(context, Tensor(dtype, size), 1)})"
    if choices.chance(50):
        return [call]
    name = context.module.name("v")
    context.variables[name] = Tensor(dtype, size)
    return [f"{name} = {call}"]


def shared(context: Context) -> list[str]:
    """Write lines that allocate shared memory and use it."""
    choices = context.choices
    kind = Tensor(choices.pick(["fp32", "i32", "fp16"]), ("M", "N"))
    name, value = context.module.name("shared"), context.module.name("v")
    made = context.module.hole([f"tl.SwizzledSharedLayout({n}, 1, {n}, order=[1, 0])" for n in (1, 2, 4)], "layout")
    filled = f", {expression(context, kind, 1)}" if choices.chance(50) else ""
    lines = [f"{name} = tl.allocate_shared_memory({spelled(kind.dtype)}, {shape(context, kind.shape)}, {made}{filled})"]
    if choices.chance(50):
        lines.append(f"{name}.store({expression(context, kind, 1)})")
    placed = layout(context, kind.shape).removeprefix(", layout=")
    if choices.chance(30):
        lines.append(f"{name} = {name}.permute([1, 0]).permute({choices.pick(['[1, 0]', '(1, 0)'])})")
    lines.append(f"{value} = {name}.load({placed})")
    context.variables[value] = kind
    return [*lines, f"{name}._keep_alive()"] if choices.chance(30) else lines


def block_pointer(context: Context) -> list[str]:
    """Write lines that load and store through a block pointer."""
    choices = context.choices
    dtype = choices.pick(pointers(context))
    (base, *_) = context.named(Tensor(f"*{dtype}"))
    name, value = context.module.name("bp"), context.module.name("v")
    height, width = (passed(context, Constant("size", (dimension,)), 0) for dimension in ("M", "N"))
    length = expression(context, Tensor("i32"), 1)
    check = choices.pick(["", ", boundary_check=(0, 1)", ", boundary_check=(1,), padding_option='zero'"])
    lines = [
        f"{name} = tl.make_block_ptr({base}, ({length}, 64), (64, 1), ({choices.pick(['0', length])}, 0), ({height}, {width}), (1, 0))",
        f"{value} = tl.load({name}{check})",
    ]
    context.variables[value] = Tensor(dtype, ("M", "N"))
    if choices.chance(40):
        lines.append(f"{name} = tl.advance({name}, ({choices.pick(['0', height])}, {width}))")
    if choices.chance(60):
        stored = expression(context, Tensor(dtype, ("M", "N")), 1)
        lines.append(f"tl.store({name}, {stored}{check.partition(', padding')[0]})")
    return lines


def descriptor(context: Context) -> list[str]:
    """Write lines that load and store through a descriptor made on the device."""
    choices = context.choices
    dtypes = [dtype for dtype in pointers(context) if dtype in ("fp32", "fp16", "bf16", "i32")]
    if not dtypes:
        return block_pointer(context)
    dtype = choices.pick(dtypes)
    (base, *_) = context.named(Tensor(f"*{dtype}"))
    name, value = context.module.name("desc"), context.module.name("v")
    height, width = (passed(context, Constant("size", (dimension,)), 0) for dimension in ("M", "N"))
    row = expression(context, Tensor("i32"), 1)
    lines = [
        f"{name} = tl.make_tensor_descriptor({base}, shape=[{row}, 64], strides=[64, 1], block_shape=[{height}, {width}])",
        f"{value} = {choices.pick([f'{name}.load([{row}, 0])', f'tl.load_tensor_descriptor({name}, [0, 0])'])}",
    ]
    context.variables[value] = Tensor(dtype, ("M", "N"))
    if choices.chance(60):
        stored = expression(context, Tensor(dtype, ("M", "N")), 1)
        lines.append(f"{name}.store([0, {row}], {stored})")
    return lines
