"""Prints the keys of functions of many kinds, of sources with constants of many kinds, and of the installation."""

import types

import common
import triton.language as tl
from triton.compiler import ASTSource
from triton.runtime.cache import triton_key

import triton

settings = types.ModuleType("settings")
settings.NUMBER, settings.CONSTANT = 7, tl.constexpr(8)
CONSTANT, PLAIN, HIDDEN = tl.constexpr(3), 4, tl.constexpr(5)


@triton.jit
def reads(p):
    tl.store(p, CONSTANT + settings.NUMBER)


@triton.jit
def has_default(p, size: tl.constexpr = PLAIN):
    tl.store(p, size + settings.CONSTANT)


@triton.jit
def calls(p):
    has_default(p)
    reads(p)


@triton.jit
def hides(p):
    for HIDDEN in range(3):
        tl.store(p, HIDDEN)
    len(p)
    getattr(settings, "NUMBER")  # noqa: B009 (a kernel may say it so)


@triton.jit
def ping(p):
    pong(p)
    ping(p)


@triton.jit
def pong(p):
    ping(p)


@triton.jit
def keywords(p, *rest, CONSTANT, **more):
    tl.store(p, CONSTANT)


@triton.constexpr_function
def in_python(x):
    return x + PLAIN


def closed(CONSTANT, nothing=None):
    @triton.jit
    def kernel(p):
        tl.store(p, CONSTANT)
        in_python(nothing)

    return kernel


functions = [reads, has_default, calls, hides, ping, pong, keywords, in_python, closed(1), closed(tl.constexpr(9))]
constants = [
    1,
    1.5,
    "word",
    "two words",
    (1, 2),
    tl.float32,
    reads,
    (reads, calls),
    [1, "1"],
    True,
    None,
    tl.constexpr(2),
]
common.report(
    {
        "keys": [function.cache_key for function in functions],
        "sources": [
            ASTSource(common.kernel, {"p": "*i32", "N": "constexpr"}, {"N": value}).hash() for value in constants
        ],
        "installation": triton_key(),
    }
)
