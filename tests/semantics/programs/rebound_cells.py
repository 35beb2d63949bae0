"""Binds variables anew that kernels read from functions around them, and prints which value each launch stores.

Argument: nothing, or `disk` and a number: the variable is bound to that number after the first launch, and another kind of
argument follows.
"""
# mypy: ignore-errors

import importlib
import json
import re
import sys
import types

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor
from triton import knobs

ELEVEN, TWELVE = tl.constexpr(11), tl.constexpr(12)


def stored(kernel, dtype="int32"):
    """Launch a kernel, and say what the code of the launched one stores."""
    launched = kernel[(1,)](tensor(4096, dtype))
    return number_in(launched)


def number_in(kernel):
    (number,) = set(re.findall(r"arith\.constant ([\d.e+]+) :", kernel.asm["ttir"])) - {"0"}
    return float(number)


def own():
    value = ELEVEN

    @triton.jit
    def kernel(p):
        tl.store(p, value)

    def bind(new):
        nonlocal value
        value = new

    return kernel, bind, ELEVEN, TWELVE


def called():
    value = ELEVEN

    @triton.jit
    def inner():
        return value

    @triton.jit
    def middle():
        return inner()

    @triton.jit
    def kernel(p):
        tl.store(p, middle())

    def bind(new):
        nonlocal value
        value = new

    return kernel, bind, ELEVEN, TWELVE


def constexpr_function():
    value = 11

    @triton.constexpr_function
    def inner():
        return value

    @triton.jit
    def kernel(p):
        tl.store(p, inner())

    def bind(new):
        nonlocal value
        value = new

    return kernel, bind, 11, 12


def function():
    @triton.jit
    def eleven():
        return 11

    @triton.jit
    def twelve():
        return 12

    inner = eleven

    @triton.jit
    def kernel(p):
        tl.store(p, inner())

    def bind(new):
        nonlocal inner
        inner = new

    return kernel, bind, eleven, twelve


def module():
    first, second = types.ModuleType("first"), types.ModuleType("second")
    first.value, second.value = ELEVEN, TWELVE
    settings = first

    @triton.jit
    def kernel(p):
        tl.store(p, settings.value)

    def bind(new):
        nonlocal settings
        settings = new

    return kernel, bind, first, second


def recursive():
    value = ELEVEN

    @triton.jit
    def inner(count: tl.constexpr):
        if count == 0:
            return value
        else:  # noqa: RET505 - without it the call is compiled whatever the count is
            return outer(count)

    @triton.jit
    def outer(count: tl.constexpr):
        return inner(count - 1)

    @triton.jit
    def kernel(p):
        tl.store(p, outer(2))

    def bind(new):
        nonlocal value
        value = new

    return kernel, bind, ELEVEN, TWELVE


def argument():
    value = ELEVEN

    @triton.jit
    def inner():
        return value

    @triton.jit
    def kernel(p, function: tl.constexpr):
        tl.store(p, function())

    class Given:
        def __getitem__(self, grid):
            return lambda p: kernel[grid](p, inner)

    places = {inner: "found"}

    def bind(new):
        nonlocal value
        value = new
        assert places[inner] == "found"

    return Given(), bind, ELEVEN, TWELVE


def nothing():
    limit = ELEVEN

    @triton.jit
    def kernel(p):
        if limit is None:
            tl.store(p, 12)
        else:
            tl.store(p, 11)

    def bind(new):
        nonlocal limit
        limit = new

    return kernel, bind, ELEVEN, None


def builtin_name():
    """A variable that has the name of a function which kernels may call: they may read it whatever it is."""
    max = 11  # noqa: A001

    @triton.jit
    def kernel(p):
        tl.store(p, max)

    def bind(new):
        nonlocal max
        max = new  # noqa: A001

    return kernel, bind, 11, 12


def rebound(make):
    """Launch with one value, the other, and the first again, three times each: once is enough to learn a launch."""
    kernel, bind, first, second = make()
    numbers = []
    for value in (first, second, first):
        bind(value)
        numbers.append([stored(kernel) for _ in range(3)])
    return numbers


def by_a_hook():
    """A hook binds the variable while the kernel is compiled; what is launched later is what was asked for."""
    kernel, bind, first, second = own()
    numbers = [stored(kernel)]
    knobs.runtime.jit_cache_hook = lambda **_: bind(second)
    numbers.append(stored(kernel, "int16"))
    knobs.runtime.jit_cache_hook = None
    for value in (first, second, first):
        bind(value)
        numbers += [stored(kernel, dtype) for dtype in ("int32", "int16")]
    return numbers


def while_generated():
    """The function that names the kernel binds the variable before the key is made."""
    value = ELEVEN

    def name(_):
        nonlocal value
        value = TWELVE
        return "named"

    @triton.jit
    def inner():
        return value

    @triton.jit(repr=name)
    def kernel(p):
        tl.store(p, inner())

    return [stored(kernel), stored(kernel)]


def of_one_source():
    """A source is compiled again after the variable was bound."""
    kernel, bind, first, second = own()
    source = ASTSource(kernel, {"p": "*i64"})
    numbers = []
    for value in (first, second, first):
        bind(value)
        numbers.append(number_in(triton.compile(source, target=GPUTarget("cuda", 90, 32))))
    return numbers


def without_meaning():
    """Values that no kernel can read leave everything as it is; so do equal ones, and deleting the variable."""
    value = ELEVEN

    @triton.jit
    def kernel(p):
        tl.store(p, value)

    numbers = [stored(kernel), stored(kernel)]
    value = tl.constexpr(11)
    numbers += [stored(kernel), stored(kernel)]
    value = "a name that is used again"
    numbers += [stored(kernel), stored(kernel)]
    del value
    numbers += [stored(kernel), stored(kernel)]
    value = ELEVEN
    return [*numbers, stored(kernel), stored(kernel)]


def counted(call):
    """Say how many kernels a call compiled or took from the disk, and how many launches after the first one looked at cells."""
    found, long = [], []
    knobs.compilation.listener = lambda **_: found.append(1)
    try:
        cells = importlib.import_module("triton.fork.cache_key.rebound_cells")
    except ImportError:
        call()
    else:
        renew, cells.renew = cells.renew, lambda function: long.append(renew(function))
        call()
        cells.renew = renew
    knobs.compilation.listener = None
    return [len(found), len(long)]


def disk(number):
    kernel, bind, *_ = own()
    numbers = [stored(kernel)]
    bind(tl.constexpr(number))
    return [*numbers, stored(kernel, "int16")]


def main():
    install()
    if "disk" in sys.argv:
        answer = disk(int(sys.argv[2]))
    else:
        makers = (own, called, constexpr_function, function, module, recursive, argument, nothing, builtin_name)
        answer = {make.__name__: rebound(make) for make in makers}
        answer |= {
            "by a hook": by_a_hook(),
            "of one source": of_one_source(),
            "while generated": while_generated(),
            "without meaning": without_meaning(),
        }
        answer |= {"rebound counts": counted(lambda: rebound(own)), "meaningless counts": counted(without_meaning)}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
