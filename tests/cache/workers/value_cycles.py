"""Asks for the keys of functions that reach each other through values, in an order given on the command line.

Prints the key of each function as JSON. Arguments: a number that one of the functions holds, then the order.
"""

import sys
import types

import common
import triton.language as tl

import triton

number, order = int(sys.argv[1]), [int(part) for part in sys.argv[2:]]
settings = types.ModuleType("settings")
DEEP = tl.constexpr(number)


@triton.jit
def named(p):
    in_tuple(p)
    tl.store(p, DEEP)


@triton.jit
def in_tuple(p):
    settings.pair[1](p)


@triton.jit
def in_dict(p):
    settings.table["x"][0](p)
    in_list(p)


@triton.jit
def in_list(p):
    settings.functions[0](p)


@triton.jit
def by_name(p):
    getattr(settings, "first")(p)  # noqa: B009 (a kernel may say it so)


@triton.jit
def of_object(p):
    settings.holder.function(p)


@triton.jit
def in_default(p, function: tl.constexpr = by_name):
    function(p)
    in_tuple(p)


@triton.jit
def outside(p):
    tl.store(p, 1)


settings.pair = (outside, in_dict)
settings.table = {"x": (by_name, outside)}
settings.functions = [of_object]
settings.first = in_default
settings.holder = types.SimpleNamespace(function=named)
settings.more = {in_list, in_tuple}


@triton.jit
def caller(p):
    outside(p)
    len(settings.more)
    by_name(p)


functions = [named, in_tuple, in_dict, in_list, by_name, of_object, in_default, outside, caller]
for place in order:
    functions[place].cache_key
common.report([function.cache_key for function in functions])
