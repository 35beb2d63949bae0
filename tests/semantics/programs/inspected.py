"""Inspects kernels of the user in every way and state, and prints what is seen; see test_inspection.py."""
# mypy: ignore-errors

import copy
import functools
import inspect
import json
import pickle
import sys
import typing

import triton.language as tl
from triton.runtime.jit import JITFunction, KernelInterface

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor

DEFERRED = ("arg_names", "params", "signature", "constexprs", "raw_src", "_src", "starting_line_number")
#: Of a compiled kernel's or the driver's, made anew in each process.
WITHOUT_VALUE = frozenset({"device_caches", "_hash_lock", "hash"})


@triton.jit
def called(x, by: tl.constexpr = 2):
    return x * by


@triton.jit
def kernel(p, n: int, BLOCK: tl.constexpr = 8):
    """Documented."""
    tl.store(p, called(n) + BLOCK)


@triton.constexpr_function
def constant(n: int, m=3):
    return n + m


@triton.heuristics({"BLOCK": lambda arguments: 8})
@triton.jit
def guided(p, n, BLOCK: tl.constexpr):
    tl.store(p, n + BLOCK)


@triton.autotune([triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 8})], key=["n"])
@triton.jit
def tuned(p, n, BLOCK: tl.constexpr):
    tl.store(p, n + BLOCK)


def text(value):
    return repr(value).partition(" at 0x")[0].partition(" object at")[0]


def error_of(way, *arguments):
    """Give what a function gives, or the name of its error."""
    try:
        return way(*arguments)
    except Exception as error:
        return type(error).__name__


def seen(function):
    """Look at an object in every way that leaves it as it is."""
    wrapped = functools.wraps(function)(lambda: None)
    return {
        "vars": list(vars(function)),
        "values": {name: text(value) for name, value in vars(function).items() if name not in WITHOUT_VALUE},
        "dir": dir(function),
        "static": [text(error_of(inspect.getattr_static, function, name)) for name in DEFERRED],
        "members": [name for name, _ in inspect.getmembers(function)],
        "wraps": sorted(vars(wrapped)),
        "signature": str(error_of(inspect.signature, function)),
        "signature of the wrapper": str(error_of(inspect.signature, wrapped)),
        "hints": text(error_of(typing.get_type_hints, function)),
        "source": error_of(inspect.getsource, function),
        "unwrapped": text(inspect.unwrap(wrapped)),
        "doc": inspect.getdoc(function),
        "class": [kind.__qualname__ for kind in type(function).__mro__],
        "own of the class": sorted({name for kind in type(function).__mro__[:-1] for name in vars(kind)}),
        "callable": [callable(function), inspect.isfunction(function), inspect.isroutine(function)],
        "pickle": error_of(lambda: len(pickle.dumps(function)) > 0),
        "copy": list(vars(copy.copy(function))),
        "deepcopy": error_of(lambda: list(vars(copy.deepcopy(function)))),
        "no such": [hasattr(function, "no_such"), error_of(getattr, function, "no_such")],
    }


def fresh(name="fresh"):
    """Decorate a function that nobody has looked at."""

    def function(p, n, BLOCK: tl.constexpr = 4):
        tl.store(p, n + BLOCK)

    return triton.jit(function), function


def assigned_before_use():
    answer = {}
    for name, value in (("arg_names", ["a"]), ("signature", "s"), ("raw_src", ["r"]), ("starting_line_number", 7)):
        made, _ = fresh()
        setattr(made, name, value)
        [getattr(made, other) for other in DEFERRED if other != name]
        answer[name] = getattr(made, name) == value
        error_of(delattr, made, name)
        answer[f"{name} deleted"] = [hasattr(made, name), name in vars(made)]
        made, _ = fresh()
        error_of(delattr, made, name)
        answer[f"{name} deleted first"] = [hasattr(made, name), error_of(delattr, made, name)]
    return answer


def changed_function():
    """Change a function between its decoration and its first use."""
    made, function = fresh()
    function.__defaults__ = (16,)
    function.__annotations__["n"] = "tl.constexpr"
    function.__annotations__.pop("BLOCK")
    defaults = [str(made.signature), made.constexprs, made.arg_names]
    made, function = fresh()
    function.__code__ = (lambda q, m, SIZE=4: None).__code__
    code = [str(made.signature), made.arg_names, made.src]
    made, function = fresh()
    function.__signature__ = inspect.signature(lambda other: None)
    function.__wrapped__ = fresh
    return {"defaults": defaults, "code": code, "signature": [str(made.signature), made.src]}


class WithGetattr(JITFunction):
    def __getattr__(self, name):
        raise AttributeError(f"mine: {name}")


class WithState(JITFunction):
    def __getattribute__(self, name):
        return super().__getattribute__(name)

    def __init__(self, fn, **arguments):
        self.early = sorted(vars(self))
        super().__init__(fn, **arguments)
        self.late = list(vars(self))


class Interface(KernelInterface):
    def __init__(self, inner):
        self.fn = inner
        self.arg_names = inner.arg_names

    def run(self, *arguments, grid, warmup, **keywords):
        return self.fn.run(*arguments, grid=grid, warmup=warmup, **keywords)


def subclasses(library):
    answer = {}
    for kind in (WithGetattr, WithState):
        made = kind(fresh()[1])
        made[(1,)](tensor(4096, "int32"), 3)
        answer[kind.__name__] = [len(library.launches()), getattr(made, "early", None), getattr(made, "late", None)]
        answer[f"{kind.__name__} misses"] = error_of(getattr, made, "nothing")
    Interface(fresh()[0])[(1,)](tensor(4096, "int32"), 3)
    answer["interface"] = len(library.launches())
    again = triton.runtime.Autotuner(fresh()[0], ["p", "n", "BLOCK"], [triton.Config({"BLOCK": 4})], ["n"], None, None)
    again[(1,)](tensor(4096, "int32"), 3)
    answer["autotuner"] = [len(library.launches()), list(vars(again))]
    return answer


def main():
    library = install().library
    everything = {
        "kernel": kernel,
        "called": called,
        "constant": constant,
        "guided": guided,
        "tuned": tuned,
        "own": tl.sum,
    }
    answer = {f"{name}, fresh": seen(function) for name, function in everything.items()}
    answer |= {"assigned": assigned_before_use(), "changed": changed_function(), "subclasses": subclasses(library)}
    answer["kernel, with a key"] = [kernel.cache_key, seen(kernel)][1]
    for function in (kernel, guided, tuned):
        arguments = (8,) if function is kernel else ()
        function[(1,)](tensor(4096, "int32"), 3, *arguments)
    answer |= {f"{name}, launched": seen(function) for name, function in everything.items()}
    compiled = next(iter(kernel.device_caches[0][0].values()))
    answer["compiled"] = [list(vars(compiled)), dir(compiled), list(vars(compiled.src)), dir(compiled.src)]
    answer |= {f"value {name}": values_seen(value) for name, value in VALUES.items()}
    json.dump(answer, sys.stdout)


VALUES = {
    "constant": tl.constexpr(3),
    "type": tl.float32,
    "block": tl.block_type(tl.float16, [4, 8]),
    "pointer": tl.pointer_type(tl.int8),
    "tuple": tl.tuple([1, tl.constexpr(2)]),
    "tuple type": tl.tuple_type([tl.int32], ["a"]),
}


def values_seen(value):
    """Look at a value that the host made, and through a pickle."""
    again = error_of(lambda: vars(pickle.loads(pickle.dumps(value))).keys())
    copied = error_of(lambda: vars(copy.copy(value)).keys())
    return [{name: text(held) for name, held in vars(value).items()}, text(again), text(copied)]


if __name__ == "__main__":
    main()
