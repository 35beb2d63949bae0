"""Ten kernels of common kinds, and how each is launched."""

from __future__ import annotations

from typing import Any

import triton.language as tl

import triton

# ruff: noqa: N803
# mypy: ignore-errors

__all__ = ["launches"]


@triton.jit
def add(left, right, result, count, BLOCK: tl.constexpr):
    """Add two vectors."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(result + at, tl.load(left + at, mask=inside) + tl.load(right + at, mask=inside), mask=inside)


@triton.jit
def softmax(source, result, stride, columns, BLOCK: tl.constexpr):
    """Take the softmax of a row."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(source + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    weights = tl.exp(values - tl.max(values, 0))
    tl.store(result + row * stride + at, weights / tl.sum(weights, 0), mask=at < columns)


@triton.jit
def normalise(source, result, weight, bias, stride, columns, epsilon, BLOCK: tl.constexpr):
    """Normalise a row."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(source + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / columns + epsilon)
    scaled = centred * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(result + row * stride + at, scaled, mask=inside)


@triton.jit
def multiply(a, b, c, M, N, K, stride_a, stride_b, stride_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Multiply two matrices, one tile a program."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_at = a + rows[:, None] * stride_a + inner[None, :]
    b_at = b + inner[:, None] * stride_b + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(tl.cdiv(K, BK)):
        left = inner < K - step * BK
        total = tl.dot(
            tl.load(a_at, mask=left[None, :], other=0.0), tl.load(b_at, mask=left[:, None], other=0.0), total
        )
        a_at += BK
        b_at += BK * stride_b
    c_at = c + rows[:, None] * stride_c + columns[None, :]
    tl.store(c_at, total.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def gelu(source, result, count, BLOCK: tl.constexpr):
    """GELU by its approximation with tanh."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(source + at, mask=at < count)
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    tanh = 1.0 - 2.0 / (tl.exp(2.0 * inner) + 1.0)
    tl.store(result + at, 0.5 * x * (1.0 + tanh), mask=at < count)


@triton.jit
def drop(source, result, count, probability, seed, BLOCK: tl.constexpr):
    """Dropout by a counted random number."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > probability
    x = tl.load(source + at, mask=at < count)
    tl.store(result + at, tl.where(kept, x / (1.0 - probability), 0.0), mask=at < count)


@triton.jit
def turn(source, result, rows, columns, BLOCK: tl.constexpr):
    """Transpose a matrix tile by tile."""
    down = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    across = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (down[:, None] < rows) & (across[None, :] < columns)
    tile = tl.load(source + down[:, None] * columns + across[None, :], mask=inside)
    tl.store(result + across[:, None] * rows + down[None, :], tl.trans(tile), mask=tl.trans(inside))


@triton.jit
def accumulate(source, result, columns, BLOCK: tl.constexpr):
    """Sum a row up."""
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    values = tl.load(source + row + at, mask=at < columns, other=0.0)
    tl.store(result + row + at, tl.cumsum(values, 0), mask=at < columns)


@triton.jit
def collect(table, indices, result, width, BLOCK: tl.constexpr):
    """Look a row of a table up."""
    row = tl.load(indices + tl.program_id(0))
    at = tl.arange(0, BLOCK)
    values = tl.load(table + row * width + at, mask=at < width)
    tl.store(result + tl.program_id(0) * width + at, values, mask=at < width)


@triton.jit
def step_adam(weights, gradients, first, second, count, rate, beta1, beta2, epsilon, BLOCK: tl.constexpr):
    """Advance weights by a step of Adam."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    gradient = tl.load(gradients + at, mask=inside)
    mean = beta1 * tl.load(first + at, mask=inside) + (1.0 - beta1) * gradient
    power = beta2 * tl.load(second + at, mask=inside) + (1.0 - beta2) * gradient * gradient
    weight = tl.load(weights + at, mask=inside) - rate * mean / (tl.sqrt(power) + epsilon)
    tl.store(first + at, mean, mask=inside)
    tl.store(second + at, power, mask=inside)
    tl.store(weights + at, weight, mask=inside)


def launches(tensor: Any) -> list[tuple[Any, tuple[Any, ...], dict[str, int]]]:
    """Give kernel, arguments and constants of ten launches.

    :param tensor: Makes a tensor-like object of an address and the name of an element type.
    """
    a, b, c, d = (tensor(4096 * n) for n in range(1, 5))
    half, indices = tensor(65536, "float16"), tensor(131072, "int32")
    block = {"BLOCK": 1024}
    tiles = {"BM": 64, "BN": 64, "BK": 32}
    return [
        (add, (a, b, c, 4096), block),
        (softmax, (a, b, 1000, 1000), block),
        (normalise, (a, b, c, d, 1024, 1000, 1e-5), block),
        (multiply, (half, half, half, 512, 512, 512, 512, 512, 512), tiles),
        (gelu, (a, b, 4096), block),
        (drop, (a, b, 4096, 0.1, 7), block),
        (turn, (a, b, 512, 512), {"BLOCK": 32}),
        (accumulate, (a, b, 1000), block),
        (collect, (a, indices, b, 1000), block),
        (step_adam, (a, b, c, d, 4096, 0.001, 0.9, 0.999, 1e-8), block),
    ]
