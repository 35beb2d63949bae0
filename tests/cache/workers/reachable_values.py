"""For everything that a kernel can read: do two programs that differ only there get their own code?

Each case is the body of a kernel, or of a function that it calls, and how the value is put where it is read.
"""

import collections
import dataclasses
import enum
import linecache
import os
import re
import tempfile
import types

import common
import triton.language as tl
from triton.experimental.gluon import language as gl

import triton

settings = types.ModuleType("settings")
settings.inner = types.ModuleType("inner")
Pair = collections.namedtuple("Pair", "x y")


class Item:
    def __init__(self, value):
        self.v, self.items = value, [value]


class WithProperty:
    def __init__(self, value):
        self._value = value

    @property
    def v(self):
        return self._value

    def __repr__(self):
        return "WithProperty"


@dataclasses.dataclass
class Record:
    v: object


@triton.jit
def eleven():
    return 11


@triton.jit
def more():
    return 22


def function(value):
    return eleven if value == 1 else more


def adder(value):
    return (lambda x: x + 1) if value == 1 else (lambda x: x + 2)


def class_with(value):
    return type("Made", (), {"N": value, "__init__": lambda self, x: setattr(self, "v", x + value)})


KERNEL = "@triton.jit\ndef kernel(p):\n    {}\n"
CONSTEXPR = "@triton.constexpr_function\ndef called({}):\n    return {}\n" + KERNEL.format("tl.store(p, called())")
CALLED = "@triton.jit\ndef called(p, {}):\n    tl.store(p, {})\n" + KERNEL.format("called(p)")
CLOSURE = (
    "def make(X):\n    @triton.constexpr_function\n    def called():\n        return {}\n    return called\n"
    "called = make(X)\n" + KERNEL.format("tl.store(p, called())")
)


def stored(expression):
    return KERNEL.format(f"tl.store(p, {expression})")


def in_settings(make=lambda value: value):
    return lambda value: setattr(settings, "L", make(value))


def in_globals(make=lambda value: value, name="X"):
    return lambda value: {name: make(value)}


# name: source, and how a value gets where the source reads it
CASES = {
    "module_number": (stored("settings.L"), in_settings()),
    "module_list": (stored("settings.L[0]"), in_settings(lambda v: [v])),
    "module_tuple": (stored("settings.L[0]"), in_settings(lambda v: (v,))),
    "module_nested_list": (stored("settings.L[0][0]"), in_settings(lambda v: [[v]])),
    "module_length": (stored("len(settings.L)"), in_settings(lambda v: [0] * v)),
    "module_constant_list": (stored("settings.L[0]"), in_settings(lambda v: tl.constexpr([v]))),
    "module_function": (stored("settings.L()"), in_settings(function)),
    "function_in_tuple": (stored("settings.L[0]()"), in_settings(lambda v: (function(v),))),
    "function_in_list": (stored("settings.L[0]()"), in_settings(lambda v: [function(v)])),
    "function_of_object": (stored("settings.L.v()"), in_settings(lambda v: Item(function(v)))),
    "object": (stored("settings.L.v"), in_settings(Item)),
    "object_with_list": (stored("settings.L.items[0]"), in_settings(Item)),
    "object_in_object": (stored("settings.L.v.v"), in_settings(lambda v: Item(Item(v)))),
    "object_in_list": (stored("settings.L[0].v"), in_settings(lambda v: [Item(v)])),
    "object_in_tuple": (stored("settings.L[0].v"), in_settings(lambda v: (Item(v),))),
    "property": (stored("settings.L.v"), in_settings(WithProperty)),
    "property_in_list": (stored("settings.L[0].v"), in_settings(lambda v: [WithProperty(v)])),
    "record": (stored("settings.L.v"), in_settings(Record)),
    "named_tuple": (stored("settings.L.x"), in_settings(lambda v: Pair(v, 0))),
    "class": (stored("settings.L.N"), in_settings(class_with)),
    "member": (stored("settings.L.A.value"), in_settings(lambda v: enum.Enum("E", {"A": v}))),
    "type": (stored("settings.L.primitive_bitwidth"), in_settings(lambda v: tl.int8 if v == 1 else tl.int32)),
    "layout": (stored("settings.L.size_per_thread[0]"), in_settings(lambda v: gl.BlockedLayout([v], [32], [4], [0]))),
    "global_layout": (stored("X.size_per_thread[0]"), in_globals(lambda v: gl.BlockedLayout([v], [32], [4], [0]))),
    "global_type": (stored("tl.full((), 300, X).to(tl.int32)"), in_globals(lambda v: tl.int8 if v == 1 else tl.int32)),
    "global_constant_list": (stored("X[0]"), in_globals(lambda v: tl.constexpr([v]))),
    "inner_module": (stored("settings.inner.L"), lambda v: setattr(settings.inner, "L", v)),
    "loop": (
        KERNEL.format("for i in tl.static_range(len(settings.L)):\n        tl.store(p + i, settings.L[i])"),
        in_settings(lambda v: [v]),
    ),
    "message": (KERNEL.format("tl.static_assert(True, f'{settings.L}')\n    tl.store(p, settings.L)"), in_settings()),
    "by_name": (stored("getattr(settings, 'L')"), in_settings()),
    "by_name_or_default": (stored("getattr(settings, 'L', 7)"), in_settings()),
    "absent_by_name": (
        stored("getattr(settings, 'M', 7)"),
        lambda v: settings.__dict__.update(M=3) if v == 1 else settings.__dict__.pop("M", None),
    ),
    "by_constant_name": (stored("getattr(settings, NAME)"), in_settings()),
    "by_name_twice": (stored("getattr(getattr(settings, 'inner'), 'L')"), lambda v: setattr(settings.inner, "L", v)),
    "function_by_name": (stored("getattr(settings, 'L')()"), in_settings(function)),
    "plain_function_by_name": (stored("getattr(settings, 'L')(1)"), in_settings(adder)),
    "presence": (
        stored("1 if hasattr(settings, 'Q') else 2"),
        lambda v: settings.__dict__.update(Q=1) if v == 1 else settings.__dict__.pop("Q", None),
    ),
    "function_named_like_builtin": (stored("isinstance(1)"), in_globals(adder, "isinstance")),
    "constexpr_dict": (CONSTEXPR.format("", "X['a']"), in_globals(lambda v: {"a": v})),
    "constexpr_list": (CONSTEXPR.format("", "X[0]"), in_globals(lambda v: [v])),
    "constexpr_number": (CONSTEXPR.format("", "X"), in_globals()),
    "constexpr_record": (CONSTEXPR.format("", "X.v"), in_globals(Record)),
    "constexpr_whole_record": (CONSTEXPR.format("", "(lambda x: x.v)(X)"), in_globals(Record)),
    "constexpr_unpacked": (CONSTEXPR.format("", "{**X}['a']"), in_globals(lambda v: {"a": v})),
    "constexpr_class": (CONSTEXPR.format("", "X(3).v"), in_globals(class_with)),
    "constexpr_module_list": (CONSTEXPR.format("", "settings.L[0]"), in_settings(lambda v: [v])),
    "constexpr_default": (CONSTEXPR.format("X=X", "X"), in_globals()),
    "constexpr_closure": (CLOSURE.format("X"), in_globals()),
    "constexpr_closure_list": (CLOSURE.format("X[0]"), in_globals(lambda v: [v])),
    "constexpr_argument": (
        "@triton.constexpr_function\ndef called(x):\n    return x.v\n" + stored("called(settings.L)"),
        in_settings(Item),
    ),
    "default": (CALLED.format("n: tl.constexpr = X", "n"), in_globals()),
    "default_of_its_name": (CALLED.format("X: tl.constexpr = X", "X"), in_globals()),
    "default_expression": (CALLED.format("X: tl.constexpr = X + 1", "X"), in_globals()),
    "default_item": (CALLED.format("n: tl.constexpr = X[0]", "n"), in_globals(lambda v: [v])),
    "default_function": (CALLED.format("X: tl.constexpr = X", "X()"), in_globals(function)),
}


def load(source, scope):
    path = os.path.join(os.path.dirname(os.environ["TRITON_CACHE_DIR"]), "kernels.py")
    with open(path, "w") as stream:
        stream.write(source)
    linecache.clearcache()
    scope = {**globals(), "NAME": tl.constexpr("L"), **(scope if isinstance(scope, dict) else {})}
    exec(compile(source, path, "exec"), scope)
    return scope["kernel"]


def stored_by(kernel):
    text = common.compile_kernel(kernel, {}).asm["ttir"]
    return re.findall(r"arith.constant (?:dense<)?(-?[\w.]+)", text)


def outcomes(source, put, shared):
    results = []
    for value in (1, 2):
        if not shared:
            triton.knobs.cache.dir = tempfile.mkdtemp()
        kernel = load(source, put(value))
        results.append(common.outcome(lambda k=kernel: stored_by(k)))
    return results


if __name__ == "__main__":
    report = {}
    for name, (source, put) in CASES.items():
        alone = outcomes(source, put, shared=False)
        triton.knobs.cache.dir = tempfile.mkdtemp()
        report[name] = {"alone": alone, "shared": outcomes(source, put, shared=True)}
    common.report(report)
