"""Functions and classes of other kinds: made by factories, calling themselves and each other, aggregates with methods."""

from __future__ import annotations

from tests.fuzz.kernels.blocks import indented
from tests.fuzz.kernels.calls import combining
from tests.fuzz.kernels.constants import constant, literal
from tests.fuzz.kernels.definitions import DTYPES, JIT, body, constants, context_of, parameters_text, some_tensor
from tests.fuzz.kernels.kinds import Aggregate, Constant, Kind, Tensor
from tests.fuzz.kernels.module import ANY, AggregateClass, Context, Function, Module, Parameter

__all__ = ["aggregate", "factory", "mutual", "recursive"]


def factory(module: Module) -> None:
    """Make a function that makes functions, and some of those: all have one name."""
    choices = module.choices
    maker, name = module.name("make"), module.name("made")
    outer = [_hiding(module, p) for p in constants(module, 2)] or [Parameter(module.name("A"), Constant("int"))]
    dtype = choices.pick(DTYPES)
    kind = Tensor(dtype, (ANY,))
    inner = [Parameter(module.name("x"), kind) for _ in range(choices.number(1, 2))]
    given = [f for f in module.functions if combining(f) == (dtype, 1) and not f.apart]
    context = context_of(module, [*outer, *inner], pure=True)
    functions = [module.name("F")] if given and choices.chance(60) else []
    context.constants += [(Constant("function", (dtype, 1)), one) for one in functions]
    lines = body(context, kind, 2)
    wrapped = [f"    {p.name} = tl.constexpr({p.name})" for p in outer]
    head = [f"def {maker}({', '.join([*(p.name for p in outer), *functions])}):", *wrapped]
    made = [JIT, f"def {name}({', '.join(p.name for p in inner)}):", *indented(lines), f"return {name}"]
    module.add("\n".join([*head, *indented(made), ""]))
    for _ in range(choices.number(1, 3)):
        product = module.name("product")
        values = [literal(module, p.kind, "value of a closure") for p in outer if isinstance(p.kind, Constant)]
        values += [choices.pick(given).name for _ in functions]
        module.add(f"{product} = {maker}({', '.join(values)})")
        module.functions.append(Function(product, inner, kind, pure=True))


def _hiding(module: Module, parameter: Parameter) -> Parameter:
    """Give a parameter around a function, for some the name of a constant of the module that it hides."""
    names = [text for kind, text in module.readable if kind == parameter.kind and text.isidentifier()]
    if names and module.choices.chance(40):
        return Parameter(module.choices.pick(names), parameter.kind)
    return parameter


def aggregate(module: Module) -> None:
    """Make an aggregate with methods."""
    choices = module.choices
    name = module.name("Tile")
    kinds: list[Kind] = [some_tensor(module) for _ in range(choices.number(1, 2))]
    kinds += [Constant(choices.pick(("int", "float", "str")))] if choices.chance(60) else []
    kinds += [Constant("layout", ("M", "N"))] if module.gluon and choices.chance(60) else []
    fields = tuple((f"field{at}", kind) for at, kind in enumerate(kinds))
    shown = [f"    {field}: {'tl.constexpr' if isinstance(kind, Constant) else 'tl.tensor'}" for field, kind in fields]
    one, other = "\n".join(shown), "\n".join(shown[::-1])
    names = [field for field, _ in fields]
    assigned = [f"        self.{f} = {f'tl.constexpr({f})' if isinstance(k, Constant) else f}" for f, k in fields]
    kind = Aggregate(name, fields)
    methods: list[Function] = []
    lines: list[str] = []
    module.aggregates.append(AggregateClass(name, fields, methods))  # its methods may make others of it
    for _ in range(choices.number(0, 2)):
        function = Function(
            module.name("method"), [Parameter("self", kind), *constants(module, 1)], some_tensor(module)
        )
        lines_of_it = body(context_of(module, function.parameters, pure=False), function.result, 2)
        head = f"def {function.name}({parameters_text(function.parameters, module)}):"
        lines += ["", *indented([JIT, head, *indented(lines_of_it)])]
        methods.append(function)
    begin = ["@aggregate", f"class {name}:", module.holes.add(one, [other], "order of fields"), ""]
    begin += ["    @triton.constexpr_function", f"    def __init__(self, {', '.join(names)}):", *assigned]
    module.add("\n".join([*begin, *lines, ""]))


def recursive(module: Module) -> None:
    """Make a function that calls itself for other constants."""
    name, operator = module.name("power"), module.hole(("*", "+"), "operator")
    module.add(
        f"{JIT}\ndef {name}(x, D: tl.constexpr = {module.hole(('2', '1', '3'), 'default')}):\n"
        f"    if D <= 0:\n        return x\n    else:\n        return x {operator} {name}(x, D - 1)\n"
    )
    kind = Tensor(module.choices.pick(("fp32", "i32")), (ANY,))
    module.functions.append(Function(name, [Parameter("x", kind)], kind, pure=True))


def mutual(module: Module) -> None:
    """Make two functions that call each other."""
    one, other = module.name("ping"), module.name("pong")
    first, second = (constant(Context(module), Constant("int"), 0) for _ in range(2))
    module.add(
        f"{JIT}\ndef {one}(x, D: tl.constexpr = 3):\n    if D > 0:\n        return {other}(x * {first}, D - 1)\n    else:\n        return x\n"
    )
    module.add(
        f"{JIT}\ndef {other}(x, D: tl.constexpr = 2):\n    if D > 0:\n        return {one}(x + {second}, D - 1)\n    else:\n        return x - {second}\n"
    )
    kind = Tensor(module.choices.pick(("fp32", "i32")), (ANY,))
    for name in (one, other):
        module.functions.append(Function(name, [Parameter("x", kind)], kind, pure=True))
