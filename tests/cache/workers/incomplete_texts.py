"""Print the keys of a kernel with constants that a description cannot say all of; the base tells them apart by their text."""

import functools
import json
import types

import triton.language as tl
from triton.compiler import ASTSource

import triton


class Config:
    def __init__(self, scale):
        self.scale = scale


class Shown(Config):
    def __eq__(self, other):
        return isinstance(other, Shown)

    def __hash__(self):
        return 1

    def __repr__(self):
        return f"Shown({self.scale})"


def made_by(holder):
    return lambda: holder.scale


def with_attribute(scale):
    def function():
        return 1

    function.scale = scale
    return function


@triton.jit
def kernel(x, F: tl.constexpr):
    tl.store(x, F())


MAKERS = {
    "closure over an object": lambda scale: made_by(Config(scale)),
    "closure over a namespace": lambda scale: made_by(types.SimpleNamespace(scale=scale)),
    "partial of such a function": lambda scale: functools.partial(made_by(Config(scale))),
    "attribute of a function": with_attribute,
    "what equality does not read": Shown,
}


def key_with(constant):
    return ASTSource(kernel, {"x": "*i32", "F": "constexpr"}, {"F": constant}).hash()


held = {name: [make(3), make(5)] for name, make in MAKERS.items()}
print(json.dumps({name: [key_with(value) for value in pair] for name, pair in held.items()}))
