"""Count how often functions of Triton's own run that the fork answers in another way: ``ways.py`` prints name -> calls."""

import collections
import inspect
import json
import sys

import triton.compiler.code_generator as code_generator
from compiling import generate, load, text_of
from triton.language import core, semantic

KERNEL = """
from triton.language.core import _aggregate as aggregate


@aggregate
class Plan:
    size: tl.constexpr
    scale: tl.constexpr

    @triton.constexpr_function
    def __init__(self, size, scale):
        self.size = tl.constexpr(size)
        self.scale = tl.constexpr(scale)


@aggregate
class Tile:
    values: tl.tensor
    plan: Plan

    @triton.constexpr_function
    def __init__(self, values, plan):
        self.values = values
        self.plan = plan

    @triton.jit
    def scaled(self, by):
        return Tile(self.values * by + self.values, self.plan)


@triton.jit
def kernel(p, n, SIZE: tl.constexpr):
    plan = Plan(SIZE, 3)
    at = tl.arange(0, plan.size)
    tile = Tile(tl.load(p + at), plan).scaled(n)
    if n > 2:
        tile = tile.scaled(plan.scale)
    tl.store(p + at, tile.values, mask=(at < n) & (at > 1))
"""
GENERATOR = code_generator.CodeGenerator
WATCHED = {
    "TRITON_FORK_PLAIN_VALUES": [
        code_generator.find_paths_if,
        core.block_type.__init__,
        semantic.TritonSemantic.binary_op_type_checking_impl,
        semantic.TritonSemantic.broadcast_impl_value,
        semantic.TritonSemantic.cast,
        semantic.TritonSemantic._bool_like,
        GENERATOR._name_loc_prefix,
    ],
    "TRITON_FORK_VALUES": [
        core._aggregate_type._unflatten_ir,
        code_generator._clone_triton_value,
    ],
    "TRITON_FORK_CALLS": [
        core.constexpr_type.mangle,
        core._aggregate_type.mangle,
        code_generator.ASTFunction.deserialize,
        code_generator.ASTFunction.serialize,
    ],
}


def main():
    kernel = load("ways", KERNEL).kernel
    signature, constants = {"p": "*fp32", "n": "i32"}, {"SIZE": 16}
    generate(kernel, signature, constants)
    names = {
        inspect.unwrap(function).__code__: f"{switch} {function.__qualname__}"
        for switch, functions in WATCHED.items()
        for function in functions
    }
    counter = collections.Counter(dict.fromkeys(names.values(), 0))

    def watch(frame, event, _):
        if event == "call" and frame.f_code in names:
            counter[names[frame.f_code]] += 1

    sys.setprofile(watch)
    ir = text_of(kernel, signature, constants)
    sys.setprofile(None)
    sys.stdout.write(json.dumps({"calls": counter, "ir": ir}))


if __name__ == "__main__":
    main()
