"""Runs kernels in interpreter mode on numpy memory and prints how far each result is from what numpy computes.

Needs TRITON_INTERPRET=1 in the environment, as the decorator looks at it.
"""
# mypy: ignore-errors

import json
import sys

import numpy as np
import triton.language as tl

import triton


class Storage:
    """Memory behind a tensor, as torch has it."""

    def __init__(self, array):
        self.array = array

    def data_ptr(self):
        return self.array.ctypes.data

    def cpu(self):
        return self

    def copy_(self, other):
        np.copyto(self.array, other.array)


class Tensor:
    """A numpy array with the methods of a torch tensor that the interpreter calls."""

    def __init__(self, array):
        self.array = array

    @property
    def dtype(self):
        return f"torch.{self.array.dtype.name}"

    def data_ptr(self):
        return self.array.ctypes.data

    def untyped_storage(self):
        return Storage(self.array)

    def new_empty(self, size, device):
        return Tensor(np.empty(size, self.array.dtype))

    def set_(self, storage, offset, size, stride):
        self.array = storage.array

    def storage_offset(self):
        return 0

    def size(self):
        return self.array.shape

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)


@triton.jit
def add(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, out, columns, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def multiply(a, b, out, size: tl.constexpr, block: tl.constexpr):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    total = tl.zeros([block, block], tl.float32)
    for start in range(0, size, block):
        inner = start + tl.arange(0, block)
        left = tl.load(a + rows[:, None] * size + inner[None, :])
        total += tl.dot(left, tl.load(b + inner[:, None] * size + columns[None, :]))
    tl.store(out + rows[:, None] * size + columns[None, :], total)


@triton.jit
def reductions(x, out, rows: tl.constexpr, columns: tl.constexpr):
    row, column = tl.arange(0, rows), tl.arange(0, columns)
    values = tl.load(x + row[:, None] * columns + column[None, :])
    tl.store(out + row, tl.sum(values, axis=1))
    tl.store(out + rows + row, tl.max(values, axis=1))
    tl.store(out + 2 * rows + row, tl.min(values, axis=1))
    tl.store(out + 3 * rows + row, tl.argmax(values, axis=1).to(tl.float32))


@triton.jit
def running_sum(x, out, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


@triton.jit
def choose(x, out, limit, block: tl.constexpr):
    at = tl.arange(0, block)
    values = tl.load(x + at)
    tl.store(out + at, tl.where(values > limit, values * 2, -values))


@triton.jit
def count_up(counter, steps):
    tl.atomic_add(counter, steps + tl.program_id(0))


@triton.jit
def halve(x, out, n):
    value = tl.load(x)
    steps = 0
    while value > n:
        value = value // 2
        steps += 1
    tl.store(out, steps)


@triton.jit
def transpose(x, out, size: tl.constexpr):
    at = tl.arange(0, size)
    tl.store(out + at[:, None] * size + at[None, :], tl.trans(tl.load(x + at[:, None] * size + at[None, :])))


@triton.jit
def swap(a, b):
    return b, a


@triton.jit
def polynomial(x, out, block: tl.constexpr, degree: tl.constexpr):
    at = tl.arange(0, block)
    values, result = swap(tl.zeros([block], tl.float32), tl.load(x + at))
    for _ in tl.static_range(degree):
        result = result * values + 1
    tl.store(out + at, result)


@triton.jit
def bits(x, out, block: tl.constexpr):
    at = tl.arange(0, block)
    values = tl.load(x + at)
    tl.store(out + at, ((values << 3) ^ (values >> 1)) & 0xFF)


def memory(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def numbers(*shape, dtype=np.int32):
    return np.random.default_rng(1).integers(0, 100, shape, dtype)


def run(kernel, grid, out, *inputs, **constants):
    kernel[grid](*[Tensor(x) if isinstance(x, np.ndarray) else x for x in inputs], **constants)
    return out


def stable(x):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def row_reductions(x):
    return np.stack([x.sum(1), x.max(1), x.min(1), x.argmax(1).astype(np.float32)])


def results():
    """What each kernel wrote and what numpy says it should have."""
    x, y, out = memory(100), memory(100, seed=2), np.zeros(100, np.float32)
    yield "add", run(add, (4,), out, x, y, out, 100, block=32), x + y
    x, out = memory(5, 20), np.zeros((5, 20), np.float32)
    yield "softmax", run(softmax, (5,), out, x, out, 20, block=32), stable(x)
    a, b, out = memory(32, 32), memory(32, 32, seed=3), np.zeros((32, 32), np.float32)
    yield "multiply", run(multiply, (2, 2), out, a, b, out, size=32, block=16), a @ b
    x, out = memory(8, 16), np.zeros((4, 8), np.float32)
    yield "reductions", run(reductions, (1,), out, x, out, rows=8, columns=16), row_reductions(x)
    x, out = numbers(64), np.zeros(64, np.int32)
    yield "running sum", run(running_sum, (1,), out, x, out, block=64), np.cumsum(x)
    yield "choose", run(choose, (1,), out, x, out, 50, block=64), np.where(x > 50, x * 2, -x)
    counter = np.zeros(1, np.int32)
    yield "atomic", run(count_up, (2, 3), counter, counter, 5), np.array([2 * 3 * 5 + 3])
    x, out = np.array([1000], np.int32), np.zeros(1, np.int32)
    yield "while", run(halve, (1,), out, x, out, 10), np.array([7])
    x, out = memory(16, 16), np.zeros((16, 16), np.float32)
    yield "transpose", run(transpose, (1,), out, x, out, size=16), x.T
    x, out = memory(16), np.zeros(16, np.float32)
    yield "polynomial", run(polynomial, (1,), out, x, out, block=16, degree=3), x**2 + x + 1
    x, out = numbers(32, dtype=np.int64), np.zeros(32, np.int64)
    yield "bits", run(bits, (1,), out, x, out, block=32), ((x << 3) ^ (x >> 1)) & 0xFF


def main():
    answer = {}
    for name, found, expected in results():
        difference = np.abs(found.astype(np.float64) - expected).max()
        answer[name] = {"difference": float(difference), "bytes": found.tobytes().hex(), "written": bool(found.any())}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
