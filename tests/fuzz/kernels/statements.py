"""Statements but for loops and branches, which are in ``blocks``."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.kernels import memory
from tests.fuzz.kernels.calls import call, callable_here, value
from tests.fuzz.kernels.constants import alike, condition, constant, literal, passed
from tests.fuzz.kernels.expressions import expression, is_triton, layout, number_for, ranges
from tests.fuzz.kernels.kinds import Aggregate, Constant, Kind, Tensor, Tuple
from tests.fuzz.kernels.module import ANY, Context

__all__ = ["Writer", "simple", "some_kind"]

Writer = Callable[[Context], list[str]]
_DTYPES = ("fp32", "i32", "fp32", "i32", "i1", "fp16", "i64", "bf16", "i8", "u32", "fp64")
_SHAPES: tuple[tuple[str, ...], ...] = (("B",), (), ("B",), ("M", "N"), ("M", "M"), ("N", "M"))


def simple(context: Context) -> list[str]:
    """Write a statement that has no others inside."""
    ways: list[tuple[int, Writer]] = [
        (5, _new),
        (5, _again),
        (3, _augmented),
        (3, _copied),
        (1, _exchange),
        (2, _tuple),
        (2, _plain),
    ]
    ways += [(2, _noted), (1, _nothing), (1, _not_taken)]
    if not context.unrolled:
        ways.append((3, _constant))
    if any(isinstance(function.result, Tuple) for function in context.module.functions):
        ways.append((4, _unpacked))
    if not context.pure:
        if memory.pointers(context):
            ways += [(5, memory.store), (1, memory.atomic)]
            ways += [(4, _seen), (2, _noted_twice)] if "p1" in context.variables else []
            ways += [(1, memory.block_pointer), (1, memory.descriptor)] if is_triton(context) else []
        if not is_triton(context):
            ways += [(2, memory.shared), (1, _late_layout)]
        if callable_here(context, None):
            ways.append((3, _procedure))
        if context.module.aggregates:
            ways += [(3, _aggregate)]
    return context.choices.weighted(ways)(context)


def some_kind(context: Context) -> Tensor:
    """Choose a type for a new variable."""
    known = [kind for _, kind in context.tensors()]
    if known and (context.pure or context.choices.chance(40)):
        return context.choices.pick(known)
    dtype, shape = context.choices.pick(_DTYPES), context.choices.pick(_SHAPES)
    return Tensor(dtype, shape if all(dimension in context.module.sizes for dimension in shape) else ())


def _define(context: Context, kind: Kind) -> str:
    name = context.module.name("v")
    context.variables[name] = kind
    return name


def _new(context: Context) -> list[str]:
    kind = some_kind(context)
    text = expression(context, kind)
    return [f"{_define(context, kind)} = {text}"]


def _again(context: Context) -> list[str]:
    names = [name for name, _ in context.tensors() if name not in context.fixed]
    if not names:
        return _new(context)
    name = context.choices.pick(names)
    kind = context.variables[name]
    assert isinstance(kind, Tensor)
    return [f"{name} = {expression(context, kind)}"]


def _augmented(context: Context) -> list[str]:
    numbers = [(n, k) for n, k in context.tensors() if n not in context.fixed and k.dtype != "i1"]
    if not numbers:
        return _new(context)
    name, kind = context.choices.pick(numbers)
    operand = number_for(context, kind.dtype) if context.choices.chance(40) else expression(context, kind, 2)
    return [f"{name} {context.module.hole(('+', '-', '*'), 'operator')}= {operand}"]


def _copied(context: Context) -> list[str]:
    """Give a variable, a new one for some, the very value of another."""
    tensors = context.tensors()
    if not tensors:
        return _new(context)
    other, kind = context.choices.pick(tensors)
    names = [name for name in context.named(kind, assignable=True) if name != other]
    return [
        f"{context.choices.pick(names) if names and context.choices.chance(70) else _define(context, kind)} = {other}"
    ]


def _exchange(context: Context) -> list[str]:
    for name, kind in context.tensors():
        others = [other for other in context.named(kind, assignable=True) if other != name]
        if others and name not in context.fixed:
            other = context.choices.pick(others)
            return [f"{name}, {other} = {other}, {name}"]
    return _again(context)


def _tuple(context: Context) -> list[str]:
    kinds = tuple(some_kind(context) for _ in range(context.choices.number(1, 3)))
    parts = [expression(context, kind, 2) for kind in kinds]
    extra = f" {passed(context, Constant('int'))}" if context.choices.chance(30) else ""
    text = f"({', '.join(parts)},{extra})"
    if context.choices.chance(30) and not extra:
        return [f"{', '.join(_define(context, kind) for kind in kinds)}{',' if len(kinds) == 1 else ''} = {text}"]
    return [f"{_define(context, Tuple(kinds + ((Tensor('i32'),) if extra else ())))} = {text}"]


def _plain(context: Context) -> list[str]:
    """Give a variable a constant, which becomes a value of run time."""
    kind, dtype = context.choices.pick([("int", "i32"), ("bool", "i1"), ("float", "fp32")])
    names = context.named(Tensor(dtype), assignable=True)
    text = constant(context, Constant(kind), 1)
    if names and context.choices.chance(50):
        return [f"{context.choices.pick(names)} = {text}"]
    return [f"{_define(context, Tensor(dtype))} = {text}"]


def _constant(context: Context) -> list[str]:
    kinds = [Constant("int"), Constant("float"), Constant("bool"), Constant("str"), Constant("dtype", ("fp32",))]
    kinds += [Constant("shape", ("M", "N"))] * ("M" in context.module.sizes) + [Constant("none")]
    kind = context.choices.pick(kinds)
    name, text = context.module.name("K"), constant(context, kind, 2)
    context.constants.append((kind, name))
    return [f"{name}: tl.constexpr = {text}"]


def _not_taken(context: Context) -> list[str]:
    """Assign a name of the module in a branch that is not taken, so that it is read from there all the same."""
    names = [text for _, text in context.module.readable if text.isidentifier()]
    if not names:
        return _nothing(context)
    name, test = context.choices.pick(names), context.choices.pick(["False", "1 > 2", "not True"])
    return [f"if {test}:", f"    {name}: tl.constexpr = {literal(context.module, Constant('int'))}"]


def _seen(context: Context) -> list[str]:
    """Store a number that tells any two constants apart."""
    kinds = [Constant(kind) for kind in ("int", "float", "bool", "str", "none", "enum")]
    kinds += [Constant("dtype", ("fp32",)), Constant("tuple", (Constant("int"), Constant("bool")))]
    text = passed(context, context.choices.pick(kinds))
    return [f"tl.store(p1, number_of({text}))"]


def _noted_twice(context: Context) -> list[str]:
    """Pass two constants that are hard to tell apart to one function."""
    one, other = alike(context)
    if context.choices.chance(50):
        one, other = other, one
    return [f"noted(p1, tl.constexpr({one}))", f"noted(p1, tl.constexpr({other}))"]


def _unpacked(context: Context) -> list[str]:
    functions = [
        f for f in context.module.functions if isinstance(f.result, Tuple) and callable_here(context, f.result)
    ]
    if not functions:
        return _new(context)
    result = context.choices.pick(functions).result
    assert isinstance(result, Tuple)
    function, _ = context.choices.pick(callable_here(context, result))
    text = call(context, function, (), 2)
    if result.fields or context.choices.chance(40):
        return [f"{_define(context, result)} = {text}"]
    names = [_define(context, kind) for kind in result.items]
    return [f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}"]


def _procedure(context: Context) -> list[str]:
    function, _ = context.choices.pick(callable_here(context, None))
    return [call(context, function, (), 2)]


def _aggregate(context: Context) -> list[str]:
    made = context.choices.pick(context.module.aggregates)
    kind = Aggregate(made.name, made.fields)
    parts = ", ".join(value(context, part, 2) for _, part in made.fields)
    names = context.named(kind, assignable=True)
    if names and context.choices.chance(40) and all(isinstance(part, Tensor) for _, part in made.fields):
        return [f"{context.choices.pick(names)} = {made.name}({parts})"]
    return [f"{_define(context, kind)} = {made.name}({parts})"]


def _noted(context: Context) -> list[str]:
    """Write an assertion, a message or a hint."""
    choices = context.choices
    ways = ["static_assert", "static_print", "pass"]
    ways += [] if context.pure else ["device_assert", "assert", "device_print", "print", "assume", "barrier", "hint"]
    made = choices.pick(ways)
    if made in ("static_assert", "static_print"):
        test = condition(context)
        return [f"tl.static_assert(({test}) or True, 'no')" if made == "static_assert" else f"tl.static_print({test})"]
    if made in ("device_assert", "assert"):
        test = expression(context, Tensor("i1", choices.pick([(), ("B",)])), 1)
        message = context.module.hole(("'wrong'", "'other'"), "message")
        return [f"tl.device_assert({test}, {message})" if made == "device_assert" else f"assert {test}, {message}"]
    if made in ("device_print", "print"):
        prefix = context.module.hole(("'x'", "'y '"), "message")
        return [
            f"{'tl.' if made == 'device_print' else ''}{made}({prefix}, {expression(context, some_kind(context), 1)})"
        ]
    if made == "assume":
        return [f"tl.assume({expression(context, Tensor('i1'), 1)})"]
    if made == "hint":
        kind = Tensor("i32", ("B",))
        hint = choices.pick(["multiple_of", "max_contiguous", "max_constancy"])
        text = f"tl.{hint}({expression(context, kind, 1)}, {choices.pick(['8', '[4]'])})"
        return [f"{_define(context, kind)} = {text}"]
    barrier = "tl.debug_barrier()" if is_triton(context) else "tl.thread_barrier()"
    return [barrier if made == "barrier" else "pass"]


def _late_layout(context: Context) -> list[str]:
    """Make a block whose layout is found later."""
    kind = Tensor("i32", ("B",))
    text = f"tl.set_auto_layout(tl.arange(0, {ranges(context, 'B')}, tl.AutoLayout()) * 2{layout(context, ('B',))})"
    return [f"{_define(context, kind)} = {text}"]


def _nothing(context: Context) -> list[str]:
    text = expression(context, some_kind(context), 1)
    return context.choices.pick([["'''Words.'''"], ["# a remark"], [f"{text}  # not used"], ["pass"]])


def any_shape(kind: Kind | None) -> bool:
    """Tell whether a type has the shape of whatever a function is called with."""
    return isinstance(kind, Tensor) and kind.shape == (ANY,)
