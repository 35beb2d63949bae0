"""The program's own functions: called by others, made by factories, passed as constants, methods of aggregates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tests.fuzz.kernels.blocks import block, indented
from tests.fuzz.kernels.calls import combining
from tests.fuzz.kernels.constants import condition, constant, literal, passed
from tests.fuzz.kernels.expressions import expression
from tests.fuzz.kernels.kinds import Aggregate, Constant, Kind, Tensor, Tuple
from tests.fuzz.kernels.module import ANY, AggregateClass, Context, Function, Module, Parameter

__all__ = ["make_some", "parameters_text"]

_DTYPES = ("fp32", "i32", "fp16", "i64", "fp64", "bf16")
_CONSTANTS = ("int", "float", "bool", "str", "none")
_JIT = "@triton.jit"


def make_some(module: Module) -> None:
    """Write the functions and classes of a program."""
    ways: list[tuple[int, Callable[[Module], None]]]
    ways = [
        (6, _elementwise),
        (4, _combine),
        (5, _general),
        (4, _factory),
        (2, _aggregate),
        (2, _higher),
        (1, _recursive),
        (1, _mutual),
        (2, _apart),
    ]
    for _ in range(module.choices.number(0, 5)):
        with limited(module, 25):
            module.choices.together(lambda: module.choices.weighted(ways)(module))


@contextmanager
def limited(module: Module, most: int) -> Iterator[None]:
    """Give a part of the program no more than a share of the size that is left."""
    before = module.budget
    module.budget = min(before, most)
    share = module.budget
    yield
    module.budget += before - share


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


def _constants(module: Module, most: int) -> list[Parameter]:
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


def _body(context: Context, result: Kind | None, most: int = 3) -> list[str]:
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


def _write(module: Module, function: Function, lines: list[str], decorator: str = _JIT) -> None:
    head = f"def {function.name}({parameters_text(function.parameters, module)}):"
    module.add("\n".join([decorator, head, *indented(lines), ""]))


def _elementwise(module: Module) -> None:
    """Make a function of values of any shape."""
    choices = module.choices
    dtype = choices.pick(_DTYPES)
    kinds = [Tensor(dtype, (ANY,))] + [
        Tensor(choices.pick([dtype, *_DTYPES]), (ANY,)) for _ in range(choices.number(0, 1))
    ]
    parameters = [Parameter(module.name("x"), kind) for kind in kinds] + _constants(module, 2)
    result = Tensor(choices.pick([dtype, *_DTYPES]), (ANY,))
    _finish(module, Function(module.name("f"), parameters, result, pure=True))


def _finish(module: Module, function: Function, decorator: str = _JIT) -> None:
    lines = _body(context_of(module, function.parameters, pure=function.pure), function.result)
    _write(module, function, lines, decorator)
    module.functions.append(function)


def _combine(module: Module) -> None:
    """Make a function that reductions and scans can use."""
    kind = Tensor(module.choices.pick(("fp32", "i32", "fp64", "i64")), (ANY,))
    parameters = [Parameter(module.name("x"), kind), Parameter(module.name("x"), kind)]
    _finish(module, Function(module.name("combine"), parameters, kind, pure=True))


def _general(module: Module) -> None:
    """Make a function that may do all that a kernel does."""
    choices = module.choices
    pointer = choices.pick(module.pointers)
    parameters = [Parameter(module.name("p"), Tensor(f"*{pointer}"))] if choices.chance(60) else []
    parameters += [Parameter(module.name("x"), _some_tensor(module)) for _ in range(choices.number(1, 3))]
    if choices.chance(25):
        parameters.append(Parameter(module.name("t"), Tuple((_some_tensor(module), _some_tensor(module)))))
    parameters += _constants(module, 3)
    result: Kind | None = choices.weighted([(4, _some_tensor(module)), (3, None), (3, _some_tuple(module))])
    debug = choices.pick([_JIT, _JIT, "@triton.jit()", "@triton.jit(debug=True)", "@triton.jit(do_not_specialize=[0])"])
    _finish(module, Function(module.name("g"), parameters, result), debug)


def _some_tensor(module: Module) -> Tensor:
    shape: tuple[str, ...] = module.choices.pick([("B",), (), ("M", "N")])
    return Tensor(module.choices.pick(_DTYPES), shape)


def _some_tuple(module: Module) -> Tuple:
    items = tuple(_some_tensor(module) for _ in range(module.choices.number(1, 3)))
    if module.choices.chance(25):
        name = module.name("Both")
        fields = tuple(f"part{at}" for at in range(len(items)))
        module.add(f"class {name}(NamedTuple):\n" + "".join(f"    {field}: object\n" for field in fields))
        module.named_tuples.append((name, fields))
        return Tuple(items, fields)
    return Tuple(items)


def _apart(module: Module) -> None:
    """Make a function that is not inlined."""
    choices = module.choices
    parameters = [Parameter(module.name("x"), Tensor(choices.pick(_DTYPES))) for _ in range(choices.number(1, 2))]
    parameters += _constants(module, 1)
    result: Kind = Tensor(choices.pick(_DTYPES))
    if choices.chance(30):
        result = Tuple((result, Tensor("i32")))
    _finish(module, Function(module.name("apart"), parameters, result, apart=True), "@triton.jit(noinline=True)")


def _factory(module: Module) -> None:
    """Make a function that makes functions, and some of those: all have one name."""
    choices = module.choices
    maker, name = module.name("make"), module.name("made")
    outer = [_hiding(module, p) for p in _constants(module, 2)] or [Parameter(module.name("A"), Constant("int"))]
    dtype = choices.pick(_DTYPES)
    kind = Tensor(dtype, (ANY,))
    inner = [Parameter(module.name("x"), kind) for _ in range(choices.number(1, 2))]
    given = [f for f in module.functions if combining(f) == (dtype, 1) and not f.apart]
    context = context_of(module, [*outer, *inner], pure=True)
    functions = [module.name("F")] if given and choices.chance(60) else []
    context.constants += [(Constant("function", (dtype, 1)), one) for one in functions]
    lines = _body(context, kind, 2)
    wrapped = [f"    {p.name} = tl.constexpr({p.name})" for p in outer]
    head = [f"def {maker}({', '.join([*(p.name for p in outer), *functions])}):", *wrapped]
    body = [_JIT, f"def {name}({', '.join(p.name for p in inner)}):", *indented(lines), f"return {name}"]
    module.add("\n".join([*head, *indented(body), ""]))
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


def _aggregate(module: Module) -> None:
    """Make an aggregate with methods."""
    choices = module.choices
    name = module.name("Tile")
    kinds: list[Kind] = [_some_tensor(module) for _ in range(choices.number(1, 2))]
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
            module.name("method"), [Parameter("self", kind), *_constants(module, 1)], _some_tensor(module)
        )
        body = _body(context_of(module, function.parameters, pure=False), function.result, 2)
        head = f"def {function.name}({parameters_text(function.parameters, module)}):"
        lines += ["", *indented([_JIT, head, *indented(body)])]
        methods.append(function)
    begin = ["@aggregate", f"class {name}:", module.holes.add(one, [other], "order of fields"), ""]
    begin += ["    @triton.constexpr_function", f"    def __init__(self, {', '.join(names)}):", *assigned]
    module.add("\n".join([*begin, *lines, ""]))


def _higher(module: Module) -> None:
    """Make a function that calls one that it is given."""
    dtype, count = module.choices.pick([("fp32", 1), ("i32", 1), ("fp32", 2), ("i32", 2)])
    function = Constant("function", (dtype, count))
    if not any(f.pure and not f.apart and combining(f) == (dtype, count) for f in module.functions):
        kind = Tensor(dtype, (ANY,))
        inputs = [Parameter(module.name("x"), kind) for _ in range(count)]
        _finish(module, Function(module.name("f"), inputs, kind, pure=True))
    kind = Tensor(dtype, ("B",))
    parameters = [Parameter(module.name("FN"), function), Parameter(module.name("x"), kind), *_constants(module, 1)]
    _finish(module, Function(module.name("higher"), parameters, kind))


def _recursive(module: Module) -> None:
    """Make a function that calls itself for other constants."""
    name, operator = module.name("power"), module.hole(("*", "+"), "operator")
    module.add(
        f"{_JIT}\ndef {name}(x, D: tl.constexpr = {module.hole(('2', '1', '3'), 'default')}):\n"
        f"    if D <= 0:\n        return x\n    else:\n        return x {operator} {name}(x, D - 1)\n"
    )
    kind = Tensor(module.choices.pick(("fp32", "i32")), (ANY,))
    module.functions.append(Function(name, [Parameter("x", kind)], kind, pure=True))


def _mutual(module: Module) -> None:
    """Make two functions that call each other."""
    one, other = module.name("ping"), module.name("pong")
    first, second = (constant(Context(module), Constant("int"), 0) for _ in range(2))
    module.add(
        f"{_JIT}\ndef {one}(x, D: tl.constexpr = 3):\n    if D > 0:\n        return {other}(x * {first}, D - 1)\n    else:\n        return x\n"
    )
    module.add(
        f"{_JIT}\ndef {other}(x, D: tl.constexpr = 2):\n    if D > 0:\n        return {one}(x + {second}, D - 1)\n    else:\n        return x - {second}\n"
    )
    kind = Tensor(module.choices.pick(("fp32", "i32")), (ANY,))
    for name in (one, other):
        module.functions.append(Function(name, [Parameter("x", kind)], kind, pure=True))
