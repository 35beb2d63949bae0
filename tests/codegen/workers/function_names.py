"""Call different functions, or one with different constants, that have one name in the base: prints case -> values stored."""

import json
import re

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton


def returning(value):
    value = tl.constexpr(value)

    @triton.jit
    def function():
        return value

    return function


one, another_one, two = returning(1), returning(1), returning(2)


@triton.jit
def call(F: tl.constexpr):
    return F()


@triton.jit
def call_item(functions):
    return functions[0]()


class Setting:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "Setting"


@triton.constexpr_function
def value_of(setting):
    return setting.value


@triton.jit
def value_in(S: tl.constexpr):
    return value_of(S)


@triton.constexpr_function
def is_text(value):
    return isinstance(value, str)


@tl.core._aggregate
class Mode:
    kind: tl.constexpr

    @triton.constexpr_function
    def __init__(self, kind):
        self.kind = tl.constexpr(kind)

    @triton.jit
    def number(self):
        if is_text(self.kind):
            return 2
        else:
            return 1


@triton.jit(noinline=True)
def store(p, S: tl.constexpr):
    tl.store(p, value_of(S))


FIRST, SECOND = tl.constexpr(Setting(1)), tl.constexpr(Setting(2))


@triton.jit
def functions(p):
    tl.store(p, one())
    tl.store(p, two())
    tl.store(p, one())


@triton.jit
def functions_as_constants(p):
    tl.store(p, call(one))
    tl.store(p, call(two))
    tl.store(p, call(one))


@triton.jit
def functions_in_tuples(p):
    tl.store(p, call_item((one,)))
    tl.store(p, call_item((two,)))
    tl.store(p, call_item((one,)))


@triton.jit
def objects(p):
    tl.store(p, value_in(FIRST))
    tl.store(p, value_in(SECOND))
    tl.store(p, value_in(FIRST))


@triton.jit
def fields(p):
    tl.store(p, Mode(1).number())
    tl.store(p, Mode("1").number())
    tl.store(p, Mode(1).number())


@triton.jit
def same_functions(p):
    tl.store(p, one())
    tl.store(p, another_one())


@triton.jit
def not_inlined(p):
    store(p, FIRST)
    store(p, SECOND)
    store(p, FIRST)


def compiled(kernel):
    return triton.compile(ASTSource(kernel, {"p": "*i32"}, {}, {}), target=GPUTarget("cuda", 90, 32)).asm


def stored(kernel):
    return [int(value) for value in re.findall(r"tt\.store %\w+, %c(\d+)_i32", compiled(kernel)["ttir"])]


def main():
    kernels = (functions, functions_as_constants, functions_in_tuples, objects, fields, same_functions)
    answer = {kernel.fn.__name__: stored(kernel) for kernel in kernels}
    called = re.findall(r"call\.uni ([\w$]+)", compiled(not_inlined)["ptx"])
    answer["not_inlined"] = [called.index(name) + 1 for name in called]
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
