"""Prints what get_capture_scope() shows of closures of several kinds, and whether compiling leaves the module as it is."""

import json

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental import gluon
from triton.experimental.gluon import language as ttgl
from triton.experimental.gluon._runtime import GluonASTSource

import triton

LIMIT = tl.constexpr(7)
SHADOWED = "module"


@triton.jit
def plain(pointer):
    tl.store(pointer, LIMIT)


@gluon.jit
def gluon_plain(pointer):
    ttgl.store(pointer, LIMIT)


def one(first):
    @triton.jit
    def kernel(pointer):
        tl.store(pointer, first)

    return kernel


def several(first, SHADOWED):
    @triton.jit
    def kernel(pointer):
        tl.store(pointer, first + SHADOWED)

    return kernel


def nested(first):
    def middle(second):
        @triton.jit
        def kernel(pointer):
            tl.store(pointer, first + second)

        return kernel

    return middle


def recursive():
    @triton.jit
    def kernel(pointer):
        kernel(pointer)

    return kernel


def unbound():
    @triton.jit
    def kernel(pointer):
        tl.store(pointer, later)

    if LIMIT is None:
        later = 1
    return kernel


def show(kernel):
    scope = kernel.get_capture_scope()
    return {
        name: repr(type(value)) + (str(value) if isinstance(value, (int, str)) else "")
        for name, value in sorted(scope.items())
    }


kernels = {"plain": plain, "one": one(1), "several": several(1, 2), "nested": nested(1)(2), "recursive": recursive()}
scopes = {name: show(kernel) for name, kernel in kernels.items()}
for name in ("plain", "one"):
    assert ({"extra": 1} | kernels[name].get_capture_scope())["LIMIT"] is LIMIT
try:
    unbound().get_capture_scope()
    empty = "no error"
except Exception as error:
    empty = f"{type(error).__name__}: {error}"
own = sorted(name for name, kernel in kernels.items() if kernel.get_capture_scope() is globals())


def changed_by_compiling():
    before = dict(globals())
    for source, kernel in [(ASTSource, plain), (ASTSource, one(LIMIT)), (GluonASTSource, gluon_plain)]:
        triton.compile(source(kernel, {"pointer": "*i32"}), target=GPUTarget("cuda", 90, 32))
    after = globals()
    return sorted(before.keys() ^ after.keys()) + [name for name in before if after.get(name) is not before[name]]


print(json.dumps({"scopes": scopes, "empty cell": empty, "module's own": own, "changed": changed_by_compiling()}))
