"""Whole programs: a module, its kernel, and how to compile that."""

from __future__ import annotations

from tests.fuzz.kernels import library, operations  # noqa: F401  they register ways to write expressions
from tests.fuzz.kernels.blocks import block, indented
from tests.fuzz.kernels.choices import Choices
from tests.fuzz.kernels.constants import literal
from tests.fuzz.kernels.definitions import context_of, parameters_text
from tests.fuzz.kernels.functions import make_some
from tests.fuzz.kernels.kinds import Constant, Kind, Tensor, Tuple
from tests.fuzz.kernels.memory import store
from tests.fuzz.kernels.mistakes import spoil
from tests.fuzz.kernels.module import Context, Module, Parameter
from tests.fuzz.kernels.program import Program

__all__ = ["GENERATORS", "gluon_program", "triton_program"]

_POINTERS = ("fp32", "i32", "fp16", "bf16", "i64", "i8", "fp64", "u32")
_TARGETS = ("cuda:90", "cuda:90", "cuda:100", "hip:gfx942")


#: In how many of a hundred programs something wrong is put.
_WRONG = 4


def triton_program(choices: Choices) -> Program:
    """Write a program in the Triton language.

    :param choices: The decisions.
    """
    return _program(Module(choices))


def gluon_program(choices: Choices) -> Program:
    """Write a program in Gluon.

    :param choices: The decisions.
    """
    return _program(Module(choices, gluon=True))


def _program(module: Module) -> Program:
    choices = module.choices
    module.sizes = {"B": choices.pick((8, 16, 32, 1)), "M": choices.pick((16, 32)), "N": choices.pick((16, 32))}
    module.budget = choices.pick((40, 60, 100, 200))
    module.pointers = sorted({"fp32", "i32", *choices.some(_POINTERS, 2)})
    make_some(module)
    if choices.chance(30):
        _bundle(module)
    parameters = _parameters(module)
    context = context_of(module, parameters, pure=False)
    lines = block(context, 6)
    lines += _ending(module, context)
    if choices.chance(_WRONG):
        lines = spoil(context, lines)
    decorator = choices.pick(
        ["@triton.jit"] * 6 + ["@triton.jit(do_not_specialize=['n'])", "@triton.jit(repr=lambda _: 'renamed')"]
    )
    unused = module.hole(("1", "2", "'a'", "1.0", "True"), "unused")
    module.add(f"UNUSED = tl.constexpr({unused})\nsettings.UNUSED = {unused}")
    head = f"def kernel({parameters_text(parameters, module)}):"
    module.add("\n".join([decorator, head, *indented(lines), ""]))
    module.add(_requests(module, parameters))
    first = [function.name for function in choices.some(module.functions, 2)] if module.functions else []
    return Program("\n".join(module.lines), module.holes.found, [name for name in first if name.isidentifier()])


def _bundle(module: Module) -> None:
    """Have some functions called by other names: as attributes of a module, or as items of a tuple."""
    for at, function in enumerate(list(module.functions)):
        if function.name.isidentifier() and module.choices.chance(40):
            module.add(f"settings.{function.name} = {function.name}")
            module.functions[at] = type(function)(
                f"settings.{function.name}", function.parameters, function.result, function.pure, function.apart
            )


def _parameters(module: Module) -> list[Parameter]:
    """Make the parameters of the kernel."""
    choices = module.choices
    found = [Parameter(f"p{at}", Tensor(f"*{dtype}")) for at, dtype in enumerate(module.pointers)]
    found += [Parameter("n", Tensor("i32")), Parameter("s", Tensor(choices.pick(("fp32", "i64", "fp16", "u32"))))]
    if choices.chance(20):
        found.append(Parameter("pair", Tuple((Tensor("i32"), Tensor("fp32")))))
    kinds: list[Constant] = [
        Constant(choices.pick(("int", "float", "bool", "str", "none"))) for _ in range(choices.number(0, 3))
    ]
    kinds += [Constant("size", ("B",))] if choices.chance(40) else []
    kinds += [Constant("shape", ("M", "N"))] if choices.chance(15) else []
    kinds += [Constant("dtype", (choices.pick(("fp32", "fp16", "i32")),))] if choices.chance(20) else []
    kinds += [Constant("layout", ("B",))] if module.gluon and choices.chance(40) else []
    return found + [Parameter(module.name("K"), kind) for kind in kinds]


def _ending(module: Module, context: Context) -> list[str]:
    """Store some variables at the end, so that few programs do nothing."""
    return [line for _ in range(module.choices.number(1, 2)) for line in store(context)]


def _requests(module: Module, parameters: list[Parameter]) -> str:
    """Write how the kernel is compiled: once, or twice with other constants."""
    choices = module.choices
    requests = []
    for number in range(choices.weighted([(7, 1), (3, 2)])):
        signature, constants = {}, []
        for parameter in parameters:
            signature[parameter.name] = _signature(parameter.kind)
            if isinstance(parameter.kind, Constant):
                constants.append(f"{parameter.name!r}: {literal(module, parameter.kind, 'constant of a launch')}")
        attributes = "{(0,): [['tt.divisibility', 16]]}" if choices.chance(30) else "{}"
        special = ["{'debug': True}", "{'sanitize_overflow': False}", "{'num_warps': 8}"]
        options = choices.pick(["{}"] * 6 + special[: 3 - module.gluon])  # layouts are for four warps
        target = choices.pick(_TARGETS) if number == 0 and not module.gluon else "cuda:90"
        requests.append(
            f"dict(kernel=kernel, signature={signature!r}, constants={{{', '.join(constants)}}}, "
            f"attributes={attributes}, options={options}, target={target!r})"
        )
    return "REQUESTS = [\n" + "".join(f"    {request},\n" for request in requests) + "]\n"


def _signature(kind: Kind) -> object:
    if isinstance(kind, Tensor):
        return kind.dtype
    if isinstance(kind, Tuple):
        return tuple(_signature(item) for item in kind.items)
    return "constexpr"


#: What writes programs, by language.
GENERATORS = {"triton": triton_program, "gluon": gluon_program}
