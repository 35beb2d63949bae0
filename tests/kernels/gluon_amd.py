"""Gluon for AMD: buffer operations, MFMA, WMMA, copies straight into shared memory."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language import amd

from fork.equivalence.cases import CDNA, RDNA, Case, aligned


@gluon.jit
def buffer_operations(x_ptr, out_ptr, count, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [64], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    x = amd.cdna3.buffer_load(ptr=x_ptr, offsets=at, mask=at < count, other=1.0, cache=".ca")
    amd.cdna3.buffer_store(stored_value=x * x, ptr=out_ptr, offsets=at, mask=at < count)


@gluon.jit
def buffer_atomics(x_ptr, out_ptr, places_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [4], [0])
    at = gl.arange(0, BLOCK, layout=layout)
    amd.cdna3.buffer_atomic_add(out_ptr, at, gl.load(x_ptr + at), mask=at < BLOCK - 3, sem="relaxed")
    amd.cdna3.buffer_atomic_xor(places_ptr, at, at)


@gluon.jit
def product_by_mfma(
    a_ptr,
    b_ptr,
    c_ptr,
    k,
    M: gl.constexpr,
    N: gl.constexpr,
    K: gl.constexpr,
    VERSION: gl.constexpr,
    DEPTH: gl.constexpr,
):
    load: gl.constexpr = gl.BlockedLayout([1, 8], [16, 4], [4, 1], [1, 0])
    mfma: gl.constexpr = amd.AMDMFMALayout(
        version=VERSION, instr_shape=[32, 32, DEPTH], transposed=True, warps_per_cta=[2, 2]
    )
    left: gl.constexpr = gl.DotOperandLayout(0, mfma, k_width=8)
    right: gl.constexpr = gl.DotOperandLayout(1, mfma, k_width=8)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, load))
    inner_of_a = gl.arange(0, K, layout=gl.SliceLayout(0, load))
    inner_of_b = gl.arange(0, K, layout=gl.SliceLayout(1, load))
    shared: gl.constexpr = gl.SwizzledSharedLayout(8, 2, 8, order=[1, 0])
    total = gl.zeros([M, N], gl.float32, layout=mfma)
    for start in range(0, k, K):
        a = amd.cdna3.buffer_load(a_ptr, rows[:, None] * k + (start + inner_of_a)[None, :])
        b = amd.cdna3.buffer_load(b_ptr, (start + inner_of_b)[:, None] * N + columns[None, :])
        memory_a = gl.allocate_shared_memory(gl.float16, [M, K], shared, a)
        memory_b = gl.allocate_shared_memory(gl.float16, [K, N], shared, b)
        total = amd.cdna3.mfma(memory_a.load(left), memory_b.load(right), total)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, mfma))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, mfma))
    amd.cdna3.buffer_store(total.to(gl.float16), c_ptr, rows[:, None] * N + columns[None, :])


@gluon.jit
def scaled_product_by_mfma(a_ptr, b_ptr, scale_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    load: gl.constexpr = gl.BlockedLayout([1, 16], [16, 4], [4, 1], [1, 0])
    mfma: gl.constexpr = amd.AMDMFMALayout(version=4, instr_shape=[32, 32, 64], transposed=True, warps_per_cta=[2, 2])
    left: gl.constexpr = gl.DotOperandLayout(0, mfma, k_width=16)
    right: gl.constexpr = gl.DotOperandLayout(1, mfma, k_width=16)
    scales: gl.constexpr = amd.cdna4.get_mfma_scale_layout(left, [M, K // 32])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, load))
    a = gl.load(a_ptr + rows[:, None] * K + gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + gl.arange(0, K, layout=gl.SliceLayout(1, load))[:, None] * N + columns[None, :])
    scale_rows = gl.arange(0, M, layout=gl.SliceLayout(1, scales))
    scale_blocks = gl.arange(0, K // 32, layout=gl.SliceLayout(0, scales))
    scale = gl.load(scale_ptr + scale_rows[:, None] * (K // 32) + scale_blocks[None, :])
    total = gl.zeros([M, N], gl.float32, layout=mfma)
    total = amd.cdna4.mfma_scaled(
        a=gl.convert_layout(a, left),
        a_scale=scale,
        a_format="e5m2",
        b=gl.convert_layout(b, right),
        b_scale=None,
        b_format="e5m2",
        acc=total,
    )
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, mfma))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, mfma))
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


@gluon.jit
def copies_into_shared_memory(x_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0])
    at = (
        gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * N
        + gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    )
    first = gl.allocate_shared_memory(gl.float16, [M, N], shared)
    second = gl.allocate_shared_memory(gl.float16, [M, N], shared)
    amd.cdna4.async_copy.global_load_to_shared(first, x_ptr + at)
    amd.cdna4.async_copy.commit_group()
    amd.cdna4.async_copy.buffer_load_to_shared(second, x_ptr, at + M * N)
    amd.cdna4.async_copy.commit_group()
    amd.cdna4.async_copy.wait_group(1)
    value = amd.cdna4.async_copy.load_shared_relaxed(first, layout)
    amd.cdna4.async_copy.wait_group(0)
    gl.store(out_ptr + at, value + second.load(layout))


@gluon.jit
def product_by_wmma(a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    load: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    wmma: gl.constexpr = amd.AMDWMMALayout(version=2, transposed=True, warps_per_cta=[2, 2])
    left: gl.constexpr = gl.DotOperandLayout(0, wmma, k_width=8)
    right: gl.constexpr = gl.DotOperandLayout(1, wmma, k_width=8)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, load))
    a = gl.load(a_ptr + rows[:, None] * K + gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + gl.arange(0, K, layout=gl.SliceLayout(1, load))[:, None] * N + columns[None, :])
    total = gl.zeros([M, N], gl.float32, layout=wmma)
    total = amd.rdna4.wmma(gl.convert_layout(a, left), gl.convert_layout(b, right), total)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, wmma))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, wmma))
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(gl.float16))


HALVES = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16"}
TILE = {"M": 64, "N": 64, "K": 64}

CASES = [
    Case(
        "buffer_operations",
        buffer_operations,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32"},
        {"BLOCK": 1024},
        aligned("x_ptr", "out_ptr"),
        targets=CDNA,
    ),
    Case(
        "buffer_atomics",
        buffer_atomics,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "places_ptr": "*i32"},
        {"BLOCK": 256},
        targets=CDNA,
    ),
    Case(
        "product_by_mfma",
        product_by_mfma,
        HALVES | {"k": "i32"},
        TILE | {"VERSION": 3, "DEPTH": 8},
        aligned("a_ptr", "b_ptr", "c_ptr", "k"),
        targets=("hip:gfx942",),
    ),
    Case(
        "product_by_deeper_mfma",
        product_by_mfma,
        HALVES | {"k": "i32"},
        TILE | {"VERSION": 4, "DEPTH": 16},
        aligned("a_ptr", "b_ptr", "c_ptr", "k"),
        targets=("hip:gfx950",),
    ),
    Case(
        "scaled_product_by_mfma",
        scaled_product_by_mfma,
        {"a_ptr": "*fp8e5", "b_ptr": "*fp8e5", "scale_ptr": "*u8", "c_ptr": "*fp32"},
        {"M": 64, "N": 64, "K": 128},
        targets=("hip:gfx950",),
    ),
    Case(
        "copies_into_shared_memory",
        copies_into_shared_memory,
        {"x_ptr": "*fp16", "out_ptr": "*fp16"},
        {"M": 64, "N": 64},
        aligned("x_ptr", "out_ptr"),
        targets=("hip:gfx950",),
    ),
    Case(
        "product_by_wmma",
        product_by_wmma,
        HALVES,
        {"M": 64, "N": 64, "K": 32},
        aligned("a_ptr", "b_ptr", "c_ptr"),
        targets=RDNA,
    ),
]
