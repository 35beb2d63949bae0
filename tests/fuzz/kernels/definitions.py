"""What every function of a program is made of: parameters, a body, a result."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.kernels.blocks import block, indented
from tests.fuzz.kernels.constants import condition, literal, passed
from tests.fuzz.kernels.expressions import expression
from tests.fuzz.kernels.kinds import Constant, Kind, Tensor, Tuple
from tests.fuzz.kernels.module import Context, Function, Module, Parameter

__all__ = ["DTYPES", "JIT", "body", "constants", "context_of", "finish", "parameters_text", "some_tensor"]

#: The data types that parameters and results have.
DTYPES = ("fp32", "i32", "fp16", "i64", "fp64", "bf16")
#: What marks a function.
JIT = "@triton.jit"
_CONSTANTS = ("int", "float", "bool", "str", "none")


def parameters_text(parameters: Sequence[Parameter], module: Module) -> str:
    """Write parameters as a definition does; constants are mostly marked as such."""
    parts = []
    for parameter in parameters:
        kind = parameter.kind
        marked = isinstance(kind, Constant) and (_must_be_marked(parameter) or not module.choices.chance(15))
        default = f" = {parameter.default}" if parameter.default is not None else ""
        parts.append(f"{parameter.name}{': tl.constexpr' if marked else ''}{default}")
    return ", ".join(parts)


def _must_be_marked(parameter: Parameter) -> bool:
    kind = parameter.kind.kind if isinstance(parameter.kind, Constant) else ""
    return kind == "function" or (parameter.default is not None and kind in ("str", "tuple", "shape"))


def constants(module: Module, most: int) -> list[Parameter]:
    """Make parameters for constants, those with defaults last."""
    choices = module.choices
    found: list[Parameter] = []
    for _ in range(choices.number(0, most)):
        kind = _constant_kind(module)
        default = None
        if choices.chance(50) or (found and found[-1].default is not None):
            default = _default(module, kind)
            if kind.kind in ("str", "tuple", "shape"):  # a default of these kinds is taken only if it is wrapped
                default = f"tl.constexpr({default})"
        found.append(Parameter(module.name("A"), kind, default))
    return found


def _default(module: Module, kind: Constant) -> str:
    """Write the default of a parameter, which Python reads where the function is defined."""
    way = module.choices.weighted([(4, "literal"), (4, "held"), (2, "listed")])
    if way == "held" and "getattr" not in (held := passed(Context(module), kind, 0)):
        return held  # for Python, a constant has no attributes
    text = literal(module, kind, "value of a default" if way == "listed" else "default")
    if way != "listed":
        return text
    name = module.name("LIST")
    module.add(f"{name} = [{text}]")
    return f"{name}[0]"


def _constant_kind(module: Module) -> Constant:
    if module.choices.chance(70):
        return Constant(module.choices.pick(_CONSTANTS))
    return module.choices.pick(
        [
            Constant("shape", ("B",)),
            Constant("tuple", (Constant("int"), Constant("bool"))),
            Constant("dtype", ("fp32",)),
        ]
    )


def context_of(module: Module, parameters: Sequence[Parameter], *, pure: bool) -> Context:
    """Give what is known at the start of a function."""
    context = Context(module, pure=pure)
    for parameter in parameters:
        if isinstance(parameter.kind, Constant):
            context.constants.append((parameter.kind, parameter.name))
        else:
            context.variables[parameter.name] = parameter.kind
    return context


def body(context: Context, result: Kind | None, most: int = 3) -> list[str]:
    """Write the statements of a function, which may return before its end."""
    lines = block(context, most) if context.choices.chance(70) else []
    if context.choices.chance(20) and not context.pure:
        lines = ["'''Say what it does.'''", *lines]
    if result is None:
        if context.choices.chance(15):
            lines += [f"if {condition(context)}:", "    return"]
            lines += block(context, 1)
        return lines or ["pass"]
    early = context.choices.number(0, 9)
    if early == 9:
        lines += [f"if {condition(context)}:", f"    return {_result(context, result)}"]
    if early == 8 and not context.pure and not context.unrolled:
        test = expression(context, Tensor("i1"), 1)
        one, other = _result(context, result), _result(context, result)
        return [*lines, f"if {test}:", f"    return {one}", "else:", f"    return {other}"]
    return [*lines, f"return {_result(context, result)}"]


def _result(context: Context, result: Kind) -> str:
    if isinstance(result, Tuple):
        parts = ", ".join(_result(context, item) for item in result.items)
        named = next((name for name, fields in context.module.named_tuples if fields == result.fields), None)
        return f"{named}({parts})" if named else f"({parts},)" if context.choices.chance(50) else f"{parts},"
    assert isinstance(result, Tensor)
    return expression(context, result, 3)


def _write(module: Module, function: Function, lines: list[str], decorator: str = JIT) -> None:
    head = f"def {function.name}({parameters_text(function.parameters, module)}):"
    module.add("\n".join([decorator, head, *indented(lines), ""]))


def finish(module: Module, function: Function, decorator: str = JIT) -> None:
    lines = body(context_of(module, function.parameters, pure=function.pure), function.result)
    _write(module, function, lines, decorator)
    module.functions.append(function)


def some_tensor(module: Module) -> Tensor:
    shape: tuple[str, ...] = module.choices.pick([("B",), (), ("M", "N")])
    return Tensor(module.choices.pick(DTYPES), shape)
