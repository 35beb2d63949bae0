"""Kernels of the sequences; loaded afresh for each of them, always under the same name, which is part of the kernels' keys.

The name of a kernel in its binary says for which types and constants it was generated, so that a launch record says which was launched.
"""
# mypy: ignore-errors

import triton.language as tl
from triton.runtime.jit import JITFunction

import triton

SCALE = tl.constexpr(2)
FACTOR = tl.constexpr(3)


def named(prefix):
    """Make a function that names a kernel by what it was generated for."""

    def name(proxy):
        texts = [f"{key}_{value}" for key, value in proxy.signature.items()]
        texts += [f"{key}_{type(value).__name__}_{value}" for key, value in proxy.constants.items()]
        return prefix + "".join(letter if letter.isalnum() else "_" for letter in "__".join(texts))

    return name


@triton.jit(repr=named("plain"))
def plain(pointer, count):
    tl.store(pointer, count)


@triton.jit(repr=named("mixed"))
def mixed(pointer, count, scale, flag, BLOCK: tl.constexpr = 64, extra=7):  # noqa: N803
    tl.store(pointer, (count + scale + flag + extra).to(tl.float32))


@triton.jit(repr=named("constant"))
def constant(pointer, count, C: tl.constexpr):  # noqa: N803
    tl.store(pointer, count)


@triton.jit(do_not_specialize=["count"], do_not_specialize_on_alignment=["pointer"], repr=named("uses_global"))
def uses_global(pointer, count):
    tl.store(pointer, count + SCALE)


@triton.jit
def scaled(number):
    return number * FACTOR


@triton.jit(repr=named("uses_helper"))
def uses_helper(pointer, count):
    tl.store(pointer, scaled(count))


@triton.jit(
    launch_metadata=lambda grid, metadata, arguments: {"extent": grid[0], "names": sorted(arguments)},
    repr=named("described"),
)
def described(pointer, count: tl.int8):
    tl.store(pointer, count)


@triton.jit(repr=named("scratch"))
def scratch(pointer, count):
    # A descriptor made by the kernel lies in scratch memory, which the allocator is asked for.
    made = tl.make_tensor_descriptor(pointer, [64, 64], [64, 1], [16, 32])
    made.store([0, 0], tl.zeros([16, 32], tl.float32).to(pointer.dtype.element_ty))


@triton.jit(repr=named("nested"))
def nested(pointers, count):
    tl.store(pointers[0], count)


@triton.jit(repr=named("descriptor"))
def descriptor(described, count):
    described.store([0, 0], described.load([0, 0]) + count)


@triton.autotune([triton.Config({"BLOCK": size}) for size in (32, 128)], key=["count"])
@triton.jit(repr=named("tuned"))
def tuned(pointer, count, BLOCK: tl.constexpr):  # noqa: N803
    tl.store(pointer, count + BLOCK)


@triton.heuristics({"BLOCK": lambda arguments: 64 if arguments["count"] % 2 else 32})
@triton.jit(repr=named("heuristic"))
def heuristic(pointer, count, BLOCK: tl.constexpr):  # noqa: N803
    tl.store(pointer, count + BLOCK)


class OwnFunction(JITFunction):
    """A function of another class, as other software makes them."""


def own_function(pointer, count):
    tl.store(pointer, count)


own = OwnFunction(own_function, repr=named("own"))
