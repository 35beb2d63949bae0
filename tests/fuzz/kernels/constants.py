"""Constants of all kinds, and the places that hold them."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.kernels.kinds import Constant, spelled
from tests.fuzz.kernels.module import Context, Module

__all__ = ["alike", "condition", "constant", "literal", "passed", "shape"]

_INTEGERS = ("1", "2", "3", "0", "5", "-1")
_FLOATS = ("0.5", "1.0", "2.0", "0.0", "-0.0", "1e-3", "-1.5")
_WORDS = ("'relu'", "'tanh'", "''", "'a-b'", "'1'", "'None'")
#: What a constant may be exchanged for besides others of its kind: what Python takes for equal, or prints alike.
_WIDER = {
    "int": ("True", "1.0", "None", "'1'", "7", "(1,)"),
    "float": ("1", "True", "0", "None"),
    "bool": ("1", "0", "None"),
    "str": ("None", "1", "True"),
    "none": ("0", "'None'", "False"),
    "dtype": ("tl.float32", "tl.int32", "tl.float16", "'fp32'"),
}
_TEXTS = {"int": _INTEGERS, "float": _FLOATS, "bool": ("True", "False"), "str": _WORDS, "none": ("None",)}
_OPERATORS = {"int": ("+", "-", "*", "|", "&", "^"), "float": ("+", "-", "*")}
_ITEMS = ("int", "float", "bool", "str", "none")


def literal(module: Module, wanted: Constant, place: str = "literal") -> str:
    """Write a constant out."""
    kind, detail = wanted.kind, wanted.detail
    if kind == "enum":
        return _enumeration(module)
    if kind == "layout":
        return _layout(module, tuple(map(str, detail)))
    if kind == "size":
        return str(module.sizes[str(detail[0])])
    if kind == "shape":
        sizes = [str(module.sizes[str(dimension)]) for dimension in detail]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    if kind == "dtype":
        return module.holes.add(spelled(str(detail[0])), _WIDER["dtype"], place)
    if kind == "tuple":
        items = [literal(module, item, place) for item in detail if isinstance(item, Constant)]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    text = module.choices.pick(_TEXTS[kind])
    alike = (text.strip("'"),) if text in ("'1'", "'None'") else (f"'{text}'",) if kind != "str" else ()  # prints alike
    return module.holes.add(text, [*alike, *_TEXTS[kind], *_WIDER[kind]], place)


def _layout(module: Module, dimensions: tuple[str, ...]) -> str:
    """Write the layout that blocks of a shape have in this program."""
    if dimensions in (("M",), ("N",)):
        return f"tl.SliceLayout({int(dimensions == ('M',))}, {_layout(module, ('M', 'N'))})"
    if dimensions not in module.layouts:
        one = ("tl.BlockedLayout([1], [32], [4], [0])", "tl.BlockedLayout([2], [32], [4], [0])")
        two = [f"tl.BlockedLayout([1, {n}], [8, 4], [4, 1], [{o}])" for n in (1, 2) for o in ("1, 0", "0, 1")]
        module.layouts[dimensions] = module.hole(one if len(dimensions) == 1 else two, "layout")
    return module.layouts[dimensions]


def constant(context: Context, wanted: Constant, depth: int = 2) -> str:
    """Write an expression for a constant.

    :param context: Where it stands.
    :param wanted: What it must be.
    :param depth: How deep it may be nested.
    """
    choices = context.choices
    names = [text for kind, text in [*context.constants, *context.module.readable] if kind == wanted]
    operators = _OPERATORS.get(wanted.kind, ())
    ways: list[tuple[int, str]] = [(4, "literal")]
    ways += [(5, "name")] if names else []
    ways += [(3, "held")]
    ways += [(2, "operation")] if depth > 0 and operators else []
    ways += [(1, "chosen")] if depth > 0 and wanted.kind != "size" else []
    ways += [(2, "number")] if wanted.kind == "int" and depth > 0 else []
    way = choices.weighted(ways)
    if way == "literal":
        return literal(context.module, wanted)
    if way == "name":
        return choices.pick(names)
    if way == "held":
        return _held(context.module, wanted)
    if way == "number":
        return _number(context, depth)
    one, other = (constant(context, wanted, depth - 1) for _ in range(2))
    if way == "operation":
        operator = context.module.hole(operators, "operator between constants")
        return f"({one} {operator} {other})"
    return f"({one} if {condition(context, depth - 1)} else {other})"


def alike(context: Context) -> tuple[str, str]:
    """Write two constants that are equal, or print alike, but are not the same."""
    return context.choices.pick(
        (
            ("1", "'1'"),
            ("True", "'True'"),
            ("None", "'None'"),
            ("0.0", "-0.0"),
            ("1", "True"),
            ("1", "1.0"),
            ("(1, 2)", "(True, 2)"),
            ("tl.float32", "'fp32'"),
            ("2.0", "'2.0'"),
        )
    )


def passed(context: Context, wanted: Constant, depth: int = 1) -> str:
    """Write a constant where only wrapped ones are taken: as an argument, or as an item of a tuple."""
    text = constant(context, wanted, depth)
    bare = any(raw in text for raw in context.module.raw)
    return f"tl.constexpr({text})" if bare else text


def shape(context: Context, dimensions: tuple[str, ...]) -> str:
    """Write a shape: a constant of one, or a sequence of sizes."""
    if context.choices.chance(40):
        return passed(context, Constant("shape", dimensions))
    sizes = [passed(context, Constant("size", (dimension,)), 0) for dimension in dimensions]
    return f"[{', '.join(sizes)}]"


def condition(context: Context, depth: int = 1) -> str:
    """Write a condition that is decided while compiling."""
    choices = context.choices
    way = choices.weighted(
        [(4, "bool"), (3, "compare"), (2, "word"), (1, "none"), (1, "type"), (2, "logic"), (1, "enum")]
    )
    if way == "compare":
        operator = context.module.hole(("==", "<", ">=", "!="), "comparison of constants")
        return f"{constant(context, Constant('int'), depth)} {operator} {constant(context, Constant('int'), 0)}"
    if way == "word":
        return f"{constant(context, Constant('str'), 0)} == {constant(context, Constant('str'), 0)}"
    if way == "none":
        return f"{constant(context, Constant(choices.pick(_ITEMS)), 0)} is {choices.pick(['', 'not '])}None"
    if way == "type" and context.tensors():
        name, tensor = choices.pick(context.tensors())
        test = choices.pick(
            [f"{name}.dtype == {spelled(tensor.dtype)}", f"isinstance({name}, tl.tensor)", f"{name}.dtype.is_int()"]
        )
        return f"({test})"
    if way == "logic" and depth > 0:
        one, other = condition(context, depth - 1), condition(context, depth - 1)
        return choices.pick([f"not ({one})", f"({one}) and ({other})", f"({one}) or ({other})"])
    if way == "enum":
        return f"{constant(context, Constant('enum'), 0)} == {constant(context, Constant('enum'), 0)}"
    return constant(context, Constant("bool"), depth)


def _number(context: Context, depth: int) -> str:
    """Write an integer that follows from something else."""
    choices = context.choices
    if choices.chance(50):  # what tells any two constants apart
        return f"number_of({passed(context, Constant(choices.pick((*_ITEMS, 'enum'))), 0)})"
    items = Constant("tuple", tuple(Constant(choices.pick(_ITEMS[:3])) for _ in range(choices.number(1, 3))))
    one = constant(context, Constant("int"), depth - 1)
    other = constant(context, Constant("int"), depth - 1)
    return choices.pick([f"len({constant(context, items, 0)})", f"min({one}, {other})", f"max({one}, {other})"])


def _held(module: Module, wanted: Constant) -> str:
    """Make something in the module that holds a constant, and give what reads it."""
    if wanted.kind == "enum":
        return literal(module, wanted)
    ways = [(5, _in_name), (3, _in_settings), (2, _in_tuple), (1, _in_result), (1, _in_list)]
    if wanted.kind not in ("tuple", "shape"):  # these the language takes from no function of Python's
        ways += [(1, _in_named_tuple), (1, _in_object)]
    if wanted.kind == "int":
        ways.append((1, _in_enumeration))
    way: Callable[[Module, Constant], str] = module.choices.weighted(ways)
    text = way(module, wanted)
    module.readable.append((wanted, text))
    return text


def _value(module: Module, wanted: Constant, place: str) -> str:
    return literal(module, wanted, place)


def _in_name(module: Module, wanted: Constant) -> str:
    name, value = module.name("C"), _value(module, wanted, "constant in a name")
    plain = wanted.kind == "dtype" and module.choices.chance(50)
    module.add(f"{name} = {value}" if plain else f"{name} = tl.constexpr({value})")
    return name


def _in_settings(module: Module, wanted: Constant) -> str:
    name, value = module.name("S"), _value(module, wanted, "constant in a module")
    wrapped = module.choices.chance(40)
    module.add(f"settings.{name} = {f'tl.constexpr({value})' if wrapped else value}")
    if wanted.kind not in ("tuple", "shape") and module.choices.chance(15):
        return f"getattr(settings, '{name}')"
    return f"settings.{name}" if wrapped else _raw(module, f"settings.{name}")


def _in_list(module: Module, wanted: Constant) -> str:
    name, value = module.name("L"), _value(module, wanted, "item of a list in a module")
    module.add(f"settings.{name} = [tl.constexpr({value}), 1]")
    return f"settings.{name}[0]"


def _raw(module: Module, text: str) -> str:
    """Note that a text reads a value as Python has it, which the language does not take everywhere."""
    module.raw.add(text)
    return text


def _holder(module: Module, made: str, attribute: str) -> str:
    """Keep an object in the module, and give what reads an attribute of it."""
    name = module.name("O")
    if module.choices.chance(50):
        module.add(f"settings.{name} = {made}")
        return _raw(module, f"settings.{name}.{attribute}")
    module.add(f"{name} = tl.constexpr({made})")
    return f"getattr({name}, '{attribute}')"


def _in_tuple(module: Module, wanted: Constant) -> str:
    name, value = module.name("T"), _value(module, wanted, "constant in a tuple")
    nested = wanted.kind in (*_ITEMS[:3], "size") and module.choices.chance(
        30
    )  # of others, the language makes no tuple
    other = literal(module, Constant(module.choices.pick(_ITEMS[:3] if nested else _ITEMS)), "constant beside")
    if nested:
        module.add(f"{name} = tl.constexpr(({other}, ({value}, {other})))")
        return _raw(module, f"{name}[1][0]")
    module.add(f"{name} = tl.constexpr(({value}, {other}))")
    return _raw(module, f"{name}[0]")


def _in_named_tuple(module: Module, wanted: Constant) -> str:
    kind, value = module.name("Pair"), _value(module, wanted, "constant in a named tuple")
    module.add(f"class {kind}(NamedTuple):\n    first: object\n    second: object = 1\n")
    return _holder(module, f"{kind}(1, {value})", "second")


def _in_object(module: Module, wanted: Constant) -> str:
    kind, value = module.name("Config"), _value(module, wanted, "attribute of a constant")
    frozen = module.choices.pick(["", "(frozen=True)"])
    method = f"    def chosen(self):\n        return {value}\n" if module.choices.chance(30) else ""
    module.add(f"@dataclasses.dataclass{frozen}\nclass {kind}:\n    rows: object = 1\n{method}")
    if method:
        name = module.name("O")
        module.add(f"{name} = tl.constexpr({kind}())")
        return f"getattr({name}, 'chosen')()"
    return _holder(module, f"{kind}({value})", "rows")


def _in_result(module: Module, wanted: Constant) -> str:
    name, value = module.name("cf"), _value(module, wanted, "body of a constant function")
    module.add(f"@triton.constexpr_function\ndef {name}(a=0):\n    return {value}\n")
    return f"{name}({module.choices.pick(['', '1'])})"


def _in_enumeration(module: Module, wanted: Constant) -> str:
    kind, name, value = module.name("Level"), module.name("E"), module.hole(_INTEGERS[:4], "member of an enumeration")
    module.add(f"class {kind}(enum.IntEnum):\n    LOW = {value}\n    HIGH = 9\n")
    module.add(f"{name} = tl.constexpr({kind}.LOW)")
    return name


def _enumeration(module: Module) -> str:
    kind, name = module.name("Mode"), module.name("E")
    value = module.hole(("1", "'fast'", "2"), "member of an enumeration", ("True", "'1'"))
    module.add(f"class {kind}(enum.Enum):\n    FAST = {value}\n    SLOW = 3\n")
    module.add(f"{name} = tl.constexpr({kind}.{module.hole(('FAST', 'SLOW'), 'enumeration')})")
    module.readable.append((Constant("enum"), name))
    return name
