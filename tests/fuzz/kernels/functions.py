"""The program's own functions: called by others, passed as constants, not inlined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.fuzz.kernels.calls import combining
from tests.fuzz.kernels.definitions import DTYPES, JIT, constants, finish, some_tensor
from tests.fuzz.kernels.factories import aggregate, factory, mutual, recursive
from tests.fuzz.kernels.kinds import Constant, Kind, Tensor, Tuple
from tests.fuzz.kernels.module import ANY, Function, Module, Parameter

__all__ = ["make_some"]


def make_some(module: Module) -> None:
    """Write the functions and classes of a program."""
    ways: list[tuple[int, Callable[[Module], None]]]
    ways = [
        (6, _elementwise),
        (4, _combine),
        (5, _general),
        (4, factory),
        (2, aggregate),
        (2, _higher),
        (1, recursive),
        (1, mutual),
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


def _elementwise(module: Module) -> None:
    """Make a function of values of any shape."""
    choices = module.choices
    dtype = choices.pick(DTYPES)
    kinds = [Tensor(dtype, (ANY,))] + [
        Tensor(choices.pick([dtype, *DTYPES]), (ANY,)) for _ in range(choices.number(0, 1))
    ]
    parameters = [Parameter(module.name("x"), kind) for kind in kinds] + constants(module, 2)
    result = Tensor(choices.pick([dtype, *DTYPES]), (ANY,))
    finish(module, Function(module.name("f"), parameters, result, pure=True))


def _combine(module: Module) -> None:
    """Make a function that reductions and scans can use."""
    kind = Tensor(module.choices.pick(("fp32", "i32", "fp64", "i64")), (ANY,))
    parameters = [Parameter(module.name("x"), kind), Parameter(module.name("x"), kind)]
    finish(module, Function(module.name("combine"), parameters, kind, pure=True))


def _general(module: Module) -> None:
    """Make a function that may do all that a kernel does."""
    choices = module.choices
    pointer = choices.pick(module.pointers)
    parameters = [Parameter(module.name("p"), Tensor(f"*{pointer}"))] if choices.chance(60) else []
    parameters += [Parameter(module.name("x"), some_tensor(module)) for _ in range(choices.number(1, 3))]
    if choices.chance(25):
        parameters.append(Parameter(module.name("t"), Tuple((some_tensor(module), some_tensor(module)))))
    parameters += constants(module, 3)
    result: Kind | None = choices.weighted([(4, some_tensor(module)), (3, None), (3, _some_tuple(module))])
    debug = choices.pick([JIT, JIT, "@triton.jit()", "@triton.jit(debug=True)", "@triton.jit(do_not_specialize=[0])"])
    finish(module, Function(module.name("g"), parameters, result), debug)


def _some_tuple(module: Module) -> Tuple:
    items = tuple(some_tensor(module) for _ in range(module.choices.number(1, 3)))
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
    parameters = [Parameter(module.name("x"), Tensor(choices.pick(DTYPES))) for _ in range(choices.number(1, 2))]
    parameters += constants(module, 1)
    result: Kind = Tensor(choices.pick(DTYPES))
    if choices.chance(30):
        result = Tuple((result, Tensor("i32")))
    finish(module, Function(module.name("apart"), parameters, result, apart=True), "@triton.jit(noinline=True)")


def _higher(module: Module) -> None:
    """Make a function that calls one that it is given."""
    dtype, count = module.choices.pick([("fp32", 1), ("i32", 1), ("fp32", 2), ("i32", 2)])
    function = Constant("function", (dtype, count))
    if not any(f.pure and not f.apart and combining(f) == (dtype, count) for f in module.functions):
        kind = Tensor(dtype, (ANY,))
        inputs = [Parameter(module.name("x"), kind) for _ in range(count)]
        finish(module, Function(module.name("f"), inputs, kind, pure=True))
    kind = Tensor(dtype, ("B",))
    parameters = [Parameter(module.name("FN"), function), Parameter(module.name("x"), kind), *constants(module, 1)]
    finish(module, Function(module.name("higher"), parameters, kind))
