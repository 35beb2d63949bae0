"""Tensor descriptors, made on the host or on the device."""

import triton.language as tl

import triton
from fork.equivalence.cases import DATACENTER_BLACKWELL, HIP, Case, aligned


@triton.jit
def copy_by_host_descriptors(source, target, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M
    column = tl.program_id(1) * N
    tile = source.load([row, column])
    target.store([row, column], tile + 1)


@triton.jit
def copy_by_device_descriptors(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[M, N])
    target = tl.make_tensor_descriptor(out_ptr, shape=[columns, rows], strides=[rows, 1], block_shape=[N, M])
    row = tl.program_id(0) * M
    for column in tl.range(0, columns, N, num_stages=2):
        target.store([column, row], source.load([row, column]).T)


@triton.jit
def pad_with_nan(x_ptr, out_ptr, a, b, c, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [a, b, c], [b * c, c, 1], [1, 4, N], padding_option="nan")
    target = tl.make_tensor_descriptor(out_ptr, [a, b, c], [b * c, c, 1], [1, 4, N])
    tile = tl.load_tensor_descriptor(source, [tl.program_id(0), 0, 0])
    tl.store_tensor_descriptor(target, [tl.program_id(0), 0, 0], tile)


@triton.jit
def reduce_into_descriptor(x, out, M: tl.constexpr, N: tl.constexpr):
    tile = x.load([tl.program_id(0) * M, 0])
    out.atomic_add([0, 0], tile)
    out.atomic_max([M, 0], tile)
    out.atomic_min([2 * M, 0], tile)


@triton.jit
def gather_rows_of_descriptor(x, index_ptr, out, M: tl.constexpr, N: tl.constexpr):
    rows = tl.load(index_ptr + tl.arange(0, M))
    out.scatter(x.gather(rows, tl.program_id(0) * N), rows, 0)


@triton.jit
def descriptor_facts(x, out_ptr, M: tl.constexpr, N: tl.constexpr):
    tl.static_assert(x.block_shape[0] == M and x.dtype == tl.float16)
    total = tl.zeros([M, N], tl.float32)
    for i in range(0, x.shape[0].to(tl.int32), M):
        total += x.load([i, 0]).to(tl.float32) * x.strides[0]
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], total)


@triton.jit
def choose_descriptor(a, b, out_ptr, which, M: tl.constexpr, N: tl.constexpr):
    tile = tl.zeros([M, N], tl.float16)
    descriptors = (a, b)
    for i in tl.static_range(2):
        if which == i:
            tile += descriptors[i].load([0, 0])
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tile)


TILE = {"M": 32, "N": 64}

CASES = [
    Case(
        "copy_by_host_descriptors",
        copy_by_host_descriptors,
        {"source": "tensordesc<fp16[32, 64]>", "target": "tensordesc<fp16[32, 64]>"},
        TILE,
    ),
    Case(
        "copy_by_host_descriptors_of_bytes",
        copy_by_host_descriptors,
        {"source": "tensordesc<u8[32, 64]>", "target": "tensordesc<u8[32, 64]>"},
        TILE,
    ),
    Case(
        "copy_by_device_descriptors",
        copy_by_device_descriptors,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "columns": "i32"},
        {"M": 32, "N": 32},
        aligned("x_ptr", "out_ptr", "columns", "rows"),
    ),
    Case(
        "pad_with_nan",
        pad_with_nan,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "a": "i32", "b": "i32", "c": "i32"},
        {"N": 64},
        aligned("x_ptr", "out_ptr", "c"),
    ),
    Case(
        "reduce_into_descriptor",
        reduce_into_descriptor,
        {"x": "tensordesc<i32[32, 64]>", "out": "tensordesc<i32[32, 64]>"},
        TILE,
    ),
    Case(
        "gather_rows_of_descriptor",
        gather_rows_of_descriptor,
        {"x": "tensordesc<fp16[1, 64]>", "index_ptr": "*i32", "out": "tensordesc<fp16[1, 64]>"},
        TILE,
        targets=("cuda:80", "cuda:89", *DATACENTER_BLACKWELL, *HIP),  # elsewhere ptxas knows no gather4 or scatter4
    ),
    Case("descriptor_facts", descriptor_facts, {"x": "tensordesc<fp16[32, 64]>", "out_ptr": "*fp32"}, TILE),
    Case(
        "choose_descriptor",
        choose_descriptor,
        {"a": "tensordesc<fp16[32, 64]>", "b": "tensordesc<fp16[32, 64]>", "out_ptr": "*fp16", "which": "i32"},
        TILE,
    ),
]
