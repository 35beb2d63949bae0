"""Loops and branches, and the blocks inside them."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.kernels.constants import condition, constant
from tests.fuzz.kernels.expressions import expression, is_triton
from tests.fuzz.kernels.kinds import Constant, Tensor, Tuple
from tests.fuzz.kernels.module import Context
from tests.fuzz.kernels.operations import comparison
from tests.fuzz.kernels.statements import simple, some_kind

__all__ = ["block", "indented"]


def block(context: Context, most: int) -> list[str]:
    """Write some statements, at least one line."""
    lines: list[str] = []
    for _ in range(context.choices.number(1, most)):
        lines += context.choices.together(lambda: _statement(context))
    return lines if any(not line.startswith("#") for line in lines) else [*lines, "pass"]


def indented(lines: list[str]) -> list[str]:
    """Move lines to the right."""
    return [f"    {line}" for line in lines]


def _statement(context: Context) -> list[str]:
    if context.depth > 3 or not context.spend():
        return simple(context)
    ways: list[tuple[int, Callable[[Context], list[str]]]] = [(14, simple), (2, _if_constant), (2, _static_for)]
    if not context.pure:
        ways += [(3, _for), (1, _while), (3, _if), (1, _defined_in_both)]
    return context.choices.weighted(ways)(context)


def _for(context: Context) -> list[str]:
    choices = context.choices
    end = expression(context, Tensor("i32"), 1) if choices.chance(60) else constant(context, Constant("int"), 1)
    start, step = constant(context, Constant("int"), 0), context.module.hole(("1", "2", "4"), "step", ("-1", "3"))
    bounds = choices.pick([end, f"{start}, {end}", f"0, {end}, {step}"])
    options = choices.pick(
        [
            "",
            f", num_stages={context.module.hole(('2', '3'), 'option of a loop')}",
            ", flatten=True",
            ", loop_unroll_factor=2",
        ]
    )
    head = f"range({bounds})" if choices.chance(60) or not is_triton(context) else f"tl.range({bounds}{options})"
    return _loop(context, head, Tensor("i32"))


def _static_for(context: Context) -> list[str]:
    items = Constant("tuple", (Constant("int"), Constant("float")))
    count = context.module.hole(("2", "1", "3"), "length of a static loop", ("0",))
    head = context.choices.pick([count, f"0, {count}", f"len({constant(context, items, 0)})"])
    return _loop(context, f"tl.static_range({head})", None)


def _loop(context: Context, head: str, variable: Tensor | None) -> list[str]:
    name, again = context.module.name("i"), context.named(Tensor("i32"), assignable=True)
    if variable is not None and again and context.choices.chance(15):
        name = context.choices.pick(again)  # a loop's variable may be one that was there before
    inner = context.inner(loops=context.loops + 1, unrolled=context.unrolled or variable is None)
    if variable is None:
        inner.constants.append((Constant("int"), name))
    else:
        inner.variables[name] = variable
        if not context.choices.chance(15):
            inner.fixed.add(name)
    return [f"for {name} in {head}:", *indented(block(inner, 3))]


def _while(context: Context) -> list[str]:
    counter = context.module.name("w")
    inner = context.inner(loops=context.loops + 1)
    inner.variables[counter] = Tensor("i32")
    inner.fixed.add(counter)
    end = expression(context, Tensor("i32"), 1)
    also = f" and {comparison(context, (), 1)}" if context.choices.chance(20) else ""
    body = [*block(inner, 2), f"{counter} += 1"]
    return [f"{counter} = {context.choices.pick(['0', '1'])}", f"while ({counter} < {end}){also}:", *indented(body)]


def _if(context: Context) -> list[str]:
    lines = [f"if {comparison(context, (), 1)}:", *indented(block(context.inner(), 2))]
    if context.choices.chance(20):
        lines += [f"elif {comparison(context, (), 1)}:", *indented(block(context.inner(), 1))]
    if context.choices.chance(40):
        lines += ["else:", *indented(block(context.inner(), 2))]
    return lines


def _if_constant(context: Context) -> list[str]:
    lines = [f"if {condition(context)}:", *indented(block(context.inner(), 2))]
    if context.choices.chance(50):
        lines += [
            context.choices.pick(["else:", f"elif {condition(context, 0)}:"]),
            *indented(block(context.inner(), 2)),
        ]
    return lines


def _defined_in_both(context: Context) -> list[str]:
    """Define a variable in both branches, or a tuple."""
    kind = some_kind(context)
    name = context.module.name("v")
    one, other = (expression(context, kind, 2) for _ in range(2))
    test = comparison(context, (), 1)
    if context.choices.chance(20):
        one, other, context.variables[name] = f"({one}, 1)", f"({other}, 2)", Tuple((kind, Tensor("i32")))
    else:
        context.variables[name] = kind
    return [f"if {test}:", f"    {name} = {one}", "else:", f"    {name} = {other}"]
