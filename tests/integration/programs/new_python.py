"""Meets what Python 3.14 does, on any Python, and reports how Triton takes it."""
# mypy: ignore-errors

import ast
import json

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.core import _aggregate as aggregate

import triton

fields = []


class AnnAssign(ast.AnnAssign):
    """Remembers which fields it was made with; code generation goes by the name of the class."""

    def __init__(self, *positional, **named):
        fields.append(sorted(named))
        super().__init__(*positional, **named)


class Pair:
    left: tl.tensor
    right: tl.tensor

    @triton.constexpr_function
    def __init__(self, left, right):
        self.left, self.right = left, right

    @triton.jit
    def total(self):
        return self.left + self.right


# Python 3.14 puts such functions into the class by itself.
for name in ("__annotate__", "__annotate_func__"):
    if not hasattr(Pair, name):

        def annotations(format_, /):
            return {"left": tl.tensor, "right": tl.tensor}

        setattr(Pair, name, annotations)
Pair = aggregate(Pair)


@triton.jit
def with_aggregate(pointer):
    tl.store(pointer, Pair(tl.load(pointer), tl.load(pointer + 1)).total())


@triton.jit
def callee(value, factor: tl.constexpr = 3):
    return value * factor


@triton.jit
def with_default(pointer):
    tl.store(pointer, callee(tl.load(pointer)))


def outcome(kernel):
    try:
        compiled = triton.compile(ASTSource(kernel, {"pointer": "*i32"}), target=GPUTarget("cuda", 90, 32))
    except Exception as error:
        return str(error).partition(":")[0]
    return "compiled" if "st.global" in compiled.asm["ptx"] else compiled.asm["ptx"]


ast.AnnAssign = AnnAssign
print(json.dumps({"aggregate": outcome(with_aggregate), "default": outcome(with_default), "fields": fields}))
