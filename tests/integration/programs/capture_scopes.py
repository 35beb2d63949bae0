"""Prints what get_capture_scope() shows of closures of several kinds, and whether a write to it reaches the module."""

import json

import triton.language as tl

import triton

LIMIT = tl.constexpr(7)
SHADOWED = "module"


@triton.jit
def plain(pointer):
    tl.store(pointer, LIMIT)


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
for kernel in kernels.values():
    try:
        kernel.get_capture_scope()["written"] = 1
    except TypeError:
        pass
print(json.dumps({"scopes": scopes, "empty cell": empty, "write reaches module": "written" in globals()}))
