"""Calls of the program's own functions."""

from __future__ import annotations

from tests.fuzz.kernels.constants import passed
from tests.fuzz.kernels.expressions import arranged, expression, sized, way
from tests.fuzz.kernels.kinds import Aggregate, Constant, Kind, Tensor, Tuple
from tests.fuzz.kernels.module import ANY, Context, Function

__all__ = ["call", "callable_here", "combining", "value"]


def callable_here(context: Context, result: Kind | None) -> list[tuple[Function, tuple[str, ...]]]:
    """Find functions that give a value of a type, and the shape that they are called with for it."""
    found: list[tuple[Function, tuple[str, ...]]] = []
    for function in context.module.functions:
        if (context.pure and not function.pure) or not _has_arguments(context, function):
            continue
        given = function.result
        if given == result:
            found.append((function, (ANY,)))
        elif isinstance(result, Tensor) and given == Tensor(result.dtype, (ANY,)):
            found.append((function, result.shape))
    return found


def _has_arguments(context: Context, function: Function) -> bool:
    """Tell whether there is something to pass: pointers and functions cannot be made."""
    for parameter in function.parameters:
        kind = parameter.kind
        if isinstance(kind, Tensor) and kind.dtype.startswith("*") and not context.named(Tensor(kind.dtype)):
            return False
        if isinstance(kind, Tensor) and kind.shape not in ((), (ANY,)) and not sized(context, kind):
            return False
        if isinstance(kind, Aggregate) and not context.named(kind):
            return False
    return True


def call(context: Context, function: Function, shape: tuple[str, ...], depth: int, skip: int = 0) -> str:
    """Write a call of a function.

    :param shape: The shape of what the function takes in any shape.
    :param skip: How many of the parameters are given in another way.
    """
    parts: list[str] = []
    by_name = False
    for parameter in function.parameters[skip:]:
        if parameter.default is not None and context.choices.chance(50):
            by_name = True
            continue
        text = value(context, parameter.kind, depth, shape)
        by_name = by_name or context.choices.chance(15)
        parts.append(f"{parameter.name}={text}" if by_name else text)
    name = function.name
    if len(parts) > 1 and not by_name and context.choices.chance(5):
        return f"{name}(*({', '.join(parts)}))"
    return f"{name}({', '.join(parts)})"


def value(context: Context, kind: Kind, depth: int, shape: tuple[str, ...] = (ANY,)) -> str:
    """Write a value of any type.

    :param shape: What stands for any shape.
    """
    if isinstance(kind, Constant):
        if kind.kind == "function":
            return context.choices.pick([function.name for function in fitting(context, kind)])
        return passed(context, kind)
    if isinstance(kind, Tuple):
        names = context.named(kind)
        if names and context.choices.chance(70):
            return context.choices.pick(names)
        return f"({', '.join(value(context, item, depth, shape) for item in kind.items)},)"
    if isinstance(kind, Aggregate):
        return context.choices.pick(context.named(kind))
    return expression(context, Tensor(kind.dtype, shape) if kind.shape == (ANY,) else kind, depth)


def fitting(context: Context, kind: Constant) -> list[Function]:
    """Find the functions that a parameter for functions takes: from one value of a type to another, in any shape."""
    dtype, count = kind.detail
    return [f for f in context.module.functions if f.pure and not f.apart and combining(f) == (dtype, count)]


def combining(function: Function) -> tuple[str, int] | None:
    """Give the type and number of what a function takes, where it gives the same type and needs nothing else."""
    needed = [parameter.kind for parameter in function.parameters if parameter.default is None]
    result = function.result
    if isinstance(result, Tensor) and result.shape == (ANY,) and needed and all(kind == result for kind in needed):
        return result.dtype, len(needed)
    return None


@way(10, lambda c, t: bool(callable_here(c, t)))
def _called(context: Context, tensor: Tensor, depth: int) -> str:
    function, shape = context.choices.pick(callable_here(context, tensor))
    return call(context, function, tensor.shape if shape == (ANY,) else shape, depth)


@way(4, lambda c, t: bool(_methods(c, t)))
def _method(context: Context, tensor: Tensor, depth: int) -> str:
    name, function = context.choices.pick(_methods(context, tensor))
    return f"{name}.{call(context, function, (), depth, skip=1)}"


def _methods(context: Context, result: Kind) -> list[tuple[str, Function]]:
    """Find methods of variables that give a value of a type."""
    classes = {made.name: made for made in context.module.aggregates}
    return [
        (name, method)
        for name, kind in context.variables.items()
        if isinstance(kind, Aggregate) and not context.pure
        for method in classes[kind.name].methods
        if method.result == result and _has_arguments(context, Function(method.name, method.parameters[1:], result))
    ]


def _parts(context: Context, wanted: Kind) -> list[str]:
    """Find items of tuples and fields of aggregates that have a type."""
    found: list[str] = []
    for name, kind in context.variables.items():
        if isinstance(kind, Tuple):
            found += [f"{name}[{at}]" for at, item in enumerate(kind.items) if item == wanted]
            found += [f"{name}.{field}" for field, item in zip(kind.fields, kind.items, strict=False) if item == wanted]
        elif isinstance(kind, Aggregate):
            found += [f"{name}.{field}" for field, item in kind.fields if item == wanted]
    return found


@way(8, lambda c, t: bool(_parts(c, t)))
def _part(context: Context, tensor: Tensor, depth: int) -> str:
    return context.choices.pick(_parts(context, tensor))


def _combiners(context: Context, dtype: str) -> list[str]:
    functions = [f.name for f in context.module.functions if combining(f) == (dtype, 2) and f.pure and not f.apart]
    return functions + [t for k, t in context.constants if k == Constant("function", (dtype, 2))]


@way(5, lambda c, t: not c.pure and sized(c, t) and bool(_combiners(c, t.dtype)))
def _combined(context: Context, tensor: Tensor, depth: int) -> str:
    combine = context.choices.pick(_combiners(context, tensor.dtype))
    if tensor.shape and context.choices.chance(50):
        reverse = context.choices.pick(["", ", reverse=True"])
        return f"tl.associative_scan({expression(context, tensor, depth)}, 0, {combine}{reverse})"
    wider = Tensor(tensor.dtype, (*tensor.shape, "B")) if len(tensor.shape) < 2 else tensor
    if wider == tensor:
        return f"tl.associative_scan({expression(context, tensor, depth)}, 1, {combine})"
    inner, axis = expression(context, wider, depth), len(tensor.shape)
    text = context.choices.pick([f"tl.reduce({inner}, {axis}, {combine})", f"({inner}).reduce({axis}, {combine})"])
    return arranged(context, text, tensor.shape)


@way(5, lambda c, t: any(k.kind == "function" and k.detail[0] == t.dtype for k, _ in c.constants))
def _given(context: Context, tensor: Tensor, depth: int) -> str:
    options = [(k, text) for k, text in context.constants if k.kind == "function" and k.detail[0] == tensor.dtype]
    kind, text = context.choices.pick(options)
    count = kind.detail[1]
    assert isinstance(count, int)
    return f"{text}({', '.join(expression(context, tensor, depth) for _ in range(count))})"
