"""Calls from compiled code what the host may call of Triton, and prints what Dynamo made of it; see test_torch.py.

Every function of the language's modules that is no builtin of kernels, every operator of constants and every method of types is
called with sizes of tensors, static and dynamic; most calls have no meaning, but what comes out is the same in base and fork.
"""
# mypy: ignore-errors

import inspect
import json
import logging
import sys
import types
import warnings

import torch
import torch._dynamo
import triton.language as tl
from torch._dynamo.utils import counters

import triton
from tests.fake_driver.nvidia import install

SIZES = (2, 5, 300)
#: What only decorates functions and classes when a module is imported.
DECORATORS = ("_add_", "_aggregate", "_tensor_member_fn")
MODULES = (
    "",
    ".language",
    ".language.core",
    ".language.standard",
    ".language.math",
    ".language.random",
    ".language.target_info",
)
VALUES = {
    "constant": tl.constexpr(6),
    "float32": tl.float32,
    "int1": tl.int1,
    "pointer": tl.pointer_type(tl.int8),
    "block": tl.block_type(tl.float16, [4, 8]),
    "tuple": tl.tuple([1, tl.constexpr(2)]),
    "tuple type": tl.tuple_type([tl.int32, tl.float32], ["a", "b"]),
    "config": triton.Config({"BLOCK": 64}, num_warps=2),
}
OPERATORS = ["+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "**", ">>", "<<"]


@triton.constexpr_function
def twice(n, plus=0):
    return 2 * n + plus


@triton.constexpr_function
def nested(n):
    return twice(triton.cdiv(n, 2), plus=triton.next_power_of_2(n))


class Holder:
    @triton.constexpr_function
    def method(self, n):
        return n + 3


@triton.jit
def add_one(p, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(p + at, tl.load(p + at, mask=at < n) + 1, mask=at < n)


holder = Holder()
BLOCK = 64


def launch_with_function(x):
    add_one[lambda meta: (triton.cdiv(x.shape[0], meta["BLOCK"]),)](x, x.shape[0], BLOCK=128)
    return x.shape[0]


def launch_with_tuple(x):
    add_one[(triton.cdiv(x.shape[0], BLOCK), 1)](x, x.shape[0], BLOCK=triton.next_power_of_2(BLOCK + 1))
    return triton.cdiv(x.shape[0], BLOCK)


WRITTEN = {
    "cdiv": lambda x: triton.cdiv(x.shape[0], 128),
    "cdiv of tl": lambda x: tl.cdiv(x.shape[0], 128),
    "power": lambda x: triton.next_power_of_2(x.shape[0]),
    "in a tuple": lambda x: (triton.cdiv(x.shape[0], 4), triton.next_power_of_2(x.shape[0]), 1)[0],
    "in a comprehension": lambda x: sum(triton.cdiv(x.shape[0], k) for k in (1, 2, 3)),
    "in a branch": lambda x: triton.cdiv(x.shape[0], 4) if triton.next_power_of_2(x.shape[0]) > 4 else 0,
    "of the user": lambda x: twice(x.shape[0]),
    "of the user, by name": lambda x: twice(n=x.shape[0], plus=tl.constexpr(1)),
    "nested": lambda x: nested(x.shape[0]),
    "method": lambda x: holder.method(x.shape[0]),
    "of a constant": lambda x: triton.cdiv(VALUES["constant"], 4) + x.shape[0],
    "constant made": lambda x: (tl.constexpr(x.shape[0]) + VALUES["constant"]).value,
    "type made": lambda x: tl.dtype("fp16").primitive_bitwidth + x.shape[0],
    "pointer made": lambda x: tl.pointer_type(tl.float32).name + str(x.shape[0] > 1),
    "block made": lambda x: tl.block_type(tl.float32, [16, 4]).numel + x.shape[0],
    "tuple made": lambda x: len(tl.tuple([x.shape[0], 2, 3])),
    "config made": lambda x: triton.Config({"BLOCK": 3}, num_warps=8).num_warps + x.shape[0],
    "launch with a function": launch_with_function,
    "launch with a tuple": launch_with_tuple,
}


def arguments(function, value):
    """Give arguments for the parameters that need some: sizes of a tensor, or a constant or type where a value is given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.name in ("_semantic", "_generator", "builder", "handles") for parameter in parameters):
        return None
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [value] * len(needed)


def calling(function, values):
    return lambda x: function(*[x.shape[0] if value is None else value for value in values])


def functions():
    """Find the functions that the host may call, by name."""
    found = {}
    for suffix in MODULES:
        module = sys.modules[f"triton{suffix}"]
        for name, value in sorted(vars(module).items()):
            code = getattr(getattr(value, "fn", value), "__code__", None)
            is_one = isinstance(value, (types.FunctionType, triton.runtime.jit.ConstexprFunction)) and code is not None
            own = is_one and str(value.__module__).startswith("triton") and "/triton/fork/" not in code.co_filename
            if own and not name.startswith(DECORATORS) and not getattr(value, "__triton_builtin__", False):
                found.setdefault(f"{value.__module__}.{value.__qualname__}", value)
    return found


def cases():
    answer = {f"written: {name}": function for name, function in WRITTEN.items()}
    for name, function in functions().items():
        if (plain := arguments(getattr(function, "fn", function), None)) is not None:
            answer[f"{name} of sizes"] = calling(function, plain)
            answer[f"{name} of a constant"] = calling(function, [VALUES["constant"]] * len(plain))
    for sign in OPERATORS:
        namespace = {"constant": VALUES["constant"], "float32": tl.float32}
        answer[f"constant {sign} size"] = eval(f"lambda x: (constant {sign} x.shape[0]).value", namespace)
        answer[f"size {sign} constant"] = eval(f"lambda x: (x.shape[0] {sign} constant).value", namespace)
    for kind, value in VALUES.items():
        for name in dir(type(value)):
            member = getattr(type(value), name)
            values = arguments(member, None) if isinstance(member, types.FunctionType) else None
            # Hashes hold identities.
            if values is not None and name not in ("__init__", "__getattr__", "__hash__"):
                answer[f"{kind}.{name}"] = calling(member, [value, *values[1:]])
        answer[f"{kind} equals"] = calling(lambda a, b, c: bool(a == b) + c, [value, value, None])
    return answer


def text_of(value):
    return f"{type(value).__name__} {value!r}".partition(" at 0x")[0]


def outcome(function, dynamic):
    """Give what compiled code returns for each size, and how many graphs that took; or the error."""
    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(lambda x: (x + 1, function(x)), backend="eager", fullgraph=True, dynamic=dynamic)
    try:
        results = [text_of(compiled(torch.zeros(size))[1]) for size in SIZES]
    except Exception as error:
        message = str(error).strip().partition("\n\n")[0].partition("from user code")[0]
        return ["error", type(error).__name__, message]
    return [*results, counters["stats"]["unique_graphs"]]


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    install()
    # Torch looks for a device, and takes no kernel for one where it finds none.
    torch.utils._triton.has_triton = lambda: True
    answer = {}
    for name, function in cases().items():
        # What nobody writes is tried once, as torch does by default: static for the first size, dynamic for others.
        for dynamic in (None, False, True) if name.startswith("written") else (None,):
            answer[f"{name}, {dynamic}"] = outcome(function, dynamic)
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
