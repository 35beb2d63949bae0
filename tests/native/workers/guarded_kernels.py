"""Kernels whose launches are guarded; loaded afresh for every sequence of events."""
# mypy: ignore-errors

import triton.language as tl

import triton

SCALE = tl.constexpr(2)
FACTOR = tl.constexpr(3)


@triton.jit
def plain(pointer, count):
    tl.store(pointer, count)


@triton.jit
def mixed(left, right, count, scale, flag, BLOCK: tl.constexpr = 64, extra=7):  # noqa: N803
    tl.store(left, (count + scale + flag + extra).to(tl.float32))


@triton.jit(do_not_specialize=["count"])
def uses_global(pointer, count):
    tl.store(pointer, count + SCALE)


@triton.jit
def scaled(number):
    return number * FACTOR


@triton.jit
def uses_helper(pointer, count):
    tl.store(pointer, scaled(count))


@triton.jit(launch_metadata=lambda grid, metadata, arguments: {"extent": grid[0], "names": sorted(arguments)})
def described(pointer, count: tl.int8):
    tl.store(pointer, count)


@triton.autotune([triton.Config({"BLOCK": size}) for size in (32, 128)], key=["count"])
@triton.jit
def tuned(pointer, count, BLOCK: tl.constexpr):  # noqa: N803
    tl.store(pointer, count + BLOCK)


@triton.heuristics({"BLOCK": lambda arguments: 64 if arguments["count"] % 2 else 32})
@triton.jit
def heuristic(pointer, count, BLOCK: tl.constexpr):  # noqa: N803
    tl.store(pointer, count + BLOCK)
