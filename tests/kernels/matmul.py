"""Matrix multiplication in the shapes that people write it in."""

import triton.language as tl

import triton
from fork.equivalence.cases import (
    CDNA,
    CUDA,
    DATACENTER_BLACKWELL,
    FP8,
    HIP,
    HOPPER,
    Case,
    aligned,
)


@triton.jit
def plain(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    a_row,
    b_row,
    c_row,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PRECISION: tl.constexpr = None,
):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    a_ptrs = a_ptr + rows[:, None] * a_row + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * b_row + columns[None, :]
    total = tl.zeros([M, N], tl.int32 if a_ptr.dtype.element_ty.is_int() else tl.float32)
    for start in range(0, k, K):
        a = tl.load(a_ptrs, mask=(rows[:, None] < m) & (inner[None, :] < k - start), other=0)
        b = tl.load(b_ptrs, mask=(inner[:, None] < k - start) & (columns[None, :] < n), other=0)
        total = tl.dot(a, b, total, input_precision=PRECISION, out_dtype=total.dtype)
        a_ptrs += K
        b_ptrs += K * b_row
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c_ptr + rows[:, None] * c_row + columns[None, :], total.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def double_precision(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at), out_dtype=tl.float64))


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def grouped(
    a_ptr,
    b_ptr,
    bias_ptr,
    c_ptr,
    m,
    n,
    k,
    a_row,
    b_row,
    c_row,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    program = tl.program_id(0)
    tiles_m = tl.cdiv(m, M)
    tiles_n = tl.cdiv(n, N)
    row, column = tl.swizzle2d(program // tiles_n, program % tiles_n, tiles_m, tiles_n, GROUP)
    rows = (row * M + tl.arange(0, M)) % m
    columns = (column * N + tl.arange(0, N)) % n
    inner = tl.arange(0, K)
    a_ptrs = a_ptr + (rows[:, None] * a_row + inner[None, :])
    b_ptrs = b_ptr + (inner[:, None] * b_row + columns[None, :])
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(tl.cdiv(k, K)):
        a = tl.load(a_ptrs, mask=inner[None, :] < k - step * K, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < k - step * K, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += K
        b_ptrs += K * b_row
    total += tl.load(bias_ptr + columns)[None, :]
    if ACTIVATION is not None:
        total = ACTIVATION(total)
    rows = row * M + tl.arange(0, M)
    columns = column * N + tl.arange(0, N)
    tl.store(
        c_ptr + rows[:, None] * c_row + columns[None, :],
        total.to(tl.float16),
        mask=(rows[:, None] < m) & (columns[None, :] < n),
    )


@triton.jit
def split_k(
    a_ptr, b_ptr, c_ptr, n, k, a_row, b_row, SPLIT: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.program_id(2) * K + tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K * SPLIT):
        a = tl.load(
            a_ptr + rows[:, None] * a_row + (inner + start)[None, :], mask=(inner + start < k)[None, :], other=0.0
        )
        b = tl.load(
            b_ptr + (inner + start)[:, None] * b_row + columns[None, :], mask=(inner + start < k)[:, None], other=0.0
        )
        total += tl.dot(a, b)
    place = c_ptr + rows[:, None] * n + columns[None, :]
    if SPLIT == 1:
        tl.store(place, total)
    else:
        tl.atomic_add(place, total, sem="relaxed")


@triton.jit
def tile_of(index, tiles_m, tiles_n, GROUP: tl.constexpr):
    width = GROUP * tiles_n
    first = (index // width) * GROUP
    size = min(tiles_m - first, GROUP)
    return first + (index % size), (index % width) // size


@triton.jit
def persistent(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    tiles_m = tl.cdiv(m, M)
    tiles_n = tl.cdiv(n, N)
    steps = tl.cdiv(k, K)
    for index in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        row, column = tile_of(index, tiles_m, tiles_n, GROUP)
        rows = tl.max_contiguous(tl.multiple_of((row * M + tl.arange(0, M)) % m, M), M)
        columns = tl.max_contiguous(tl.multiple_of((column * N + tl.arange(0, N)) % n, N), N)
        total = tl.zeros((M, N), dtype=tl.float32)
        for step in range(steps):
            inner = step * K + tl.arange(0, K)
            a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], mask=inner[None, :] < k, other=0.0)
            b = tl.load(b_ptr + columns[:, None] * k + inner[None, :], mask=inner[None, :] < k, other=0.0)
            total = tl.dot(a, b.T, total)
        rows = row * M + tl.arange(0, M)
        columns = column * N + tl.arange(0, N)
        tl.store(
            c_ptr + rows[:, None] * n + columns[None, :],
            total.to(tl.bfloat16),
            mask=(rows < m)[:, None] & (columns < n)[None, :],
        )


@triton.jit
def batched(a_ptr, b_ptr, c_ptr, batch_stride, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    b = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    left = tl.load(a_ptr + b * batch_stride + m[None, :, None] * K + k[None, None, :])
    right = tl.load(b_ptr + b * batch_stride + k[None, :, None] * N + n[None, None, :])
    tl.store(c_ptr + b * batch_stride + m[None, :, None] * N + n[None, None, :], tl.dot(left, right))


@triton.jit
def with_block_pointers(
    a_ptr, b_ptr, c_ptr, m, n, k, a_row, b_row, c_row, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    row = tl.program_id(0) * M
    column = tl.program_id(1) * N
    a = tl.make_block_ptr(a_ptr, (m, k), (a_row, 1), (row, 0), (M, K), (1, 0))
    b = tl.make_block_ptr(b_ptr, (k, n), (b_row, 1), (0, column), (K, N), (1, 0))
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, k, K):
        total += tl.dot(tl.load(a, boundary_check=(0, 1)), tl.load(b, boundary_check=(0, 1)))
        a = a.advance((0, K))
        b = b.advance((K, 0))
    c = tl.make_block_ptr(c_ptr, (m, n), (c_row, 1), (row, column), (M, N), (1, 0))
    tl.store(c, total.to(tl.float16), boundary_check=(0, 1))


@triton.jit
def with_host_descriptors(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M
    column = tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for start in tl.range(0, k, K, num_stages=3):
        total = tl.dot(a.load([row, start]), b.load([column, start]).T, total)
    c.store([row, column], total.to(c.dtype))


@triton.jit
def persistent_with_descriptors(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    PROGRAMS: tl.constexpr,
    SPLIT: tl.constexpr,
):
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [n, k], [k, 1], [N, K])
    c = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [M, N // 2 if SPLIT else N])
    tiles_m = tl.cdiv(m, M)
    tiles_n = tl.cdiv(n, N)
    for index in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        row, column = tile_of(index, tiles_m, tiles_n, 8)
        total = tl.zeros((M, N), tl.float32)
        for step in range(tl.cdiv(k, K)):
            total = tl.dot(a.load([row * M, step * K]), b.load([column * N, step * K]).T, total)
        if SPLIT:
            left, right = tl.split(tl.permute(tl.reshape(total, (M, 2, N // 2)), (0, 2, 1)))
            c.store([row * M, column * N], left.to(c.dtype))
            c.store([row * M, column * N + N // 2], right.to(c.dtype))
        else:
            c.store([row * M, column * N], total.to(c.dtype))


@triton.jit
def specialised(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M
    column = tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for step in tl.range(tl.cdiv(k, K), warp_specialize=True, disallow_acc_multi_buffer=True):
        total = tl.dot(a.load([row, step * K]), b.load([column, step * K]).T, total)
    c.store([row, column], total.to(c.dtype))


@triton.jit
def eight_bit(
    a_ptr,
    b_ptr,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    k,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    IMPRECISE: tl.constexpr,
):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        inner = start + tl.arange(0, K)
        a = tl.load(a_ptr + rows[:, None] * k + inner[None, :])
        b = tl.load(b_ptr + columns[None, :] * k + inner[:, None])
        a_scale = tl.load(a_scale_ptr + rows * (k // K) + start // K)
        b_scale = tl.load(b_scale_ptr + columns // 128 * (k // K) + start // K)
        total += tl.dot(a, b, max_num_imprecise_acc=IMPRECISE) * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + rows[:, None] * 4096 + columns[None, :], total.to(tl.bfloat16))


@triton.jit
def microscaled(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    c_ptr,
    k,
    A: tl.constexpr,
    B: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    a_pack: tl.constexpr = 2 if A == "e2m1" else 1
    b_pack: tl.constexpr = 2 if B == "e2m1" else 1
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    blocks = tl.arange(0, K // 32)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        a = tl.load(a_ptr + rows[:, None] * (k // a_pack) + start // a_pack + tl.arange(0, K // a_pack)[None, :])
        b = tl.load(b_ptr + (start // b_pack + tl.arange(0, K // b_pack))[:, None] * N + columns[None, :])
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (k // 32) + start // 32 + blocks[None, :])
        if b_scale_ptr is None:
            total = tl.dot_scaled(a, a_scale, A, b, None, B, total)
        else:
            b_scale = tl.load(b_scale_ptr + columns[:, None] * (k // 32) + start // 32 + blocks[None, :])
            total = tl.dot_scaled(a, a_scale, A, b, b_scale, B, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


@triton.jit
def weights_of_four_bits(x_ptr, w_ptr, scale_ptr, c_ptr, k, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.program_id(0) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        inner = start + tl.arange(0, K)
        x = tl.load(x_ptr + rows[:, None] * k + inner[None, :])
        packed = tl.load(w_ptr + (inner[:, None] // 8) * n + columns[None, :])
        levels = (packed >> ((inner[:, None] % 8) * 4)) & 0xF
        scale = tl.load(scale_ptr + (start // 128) * n + columns)
        w = ((levels - 8).to(tl.float16)) * scale[None, :]
        total = tl.dot(x, w, total)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def experts(
    x_ptr,
    w_ptr,
    c_ptr,
    order_ptr,
    expert_ptr,
    gate_ptr,
    tokens,
    n,
    k,
    expert_stride,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    TOP: tl.constexpr,
    GATED: tl.constexpr,
):
    block = tl.program_id(0)
    places = block * M + tl.arange(0, M)
    token = tl.load(order_ptr + places)
    known = token < tokens * TOP
    expert = tl.load(expert_ptr + block).to(tl.int64)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    if expert == -1:
        tl.store(c_ptr + token[:, None] * n + columns[None, :], tl.zeros((M, N), tl.bfloat16), mask=known[:, None])
        return
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        inner = start + tl.arange(0, K)
        x = tl.load(
            x_ptr + (token // TOP)[:, None] * k + inner[None, :], mask=known[:, None] & (inner < k)[None, :], other=0.0
        )
        w = tl.load(
            w_ptr + expert * expert_stride + columns[None, :] * k + inner[:, None], mask=(inner < k)[:, None], other=0.0
        )
        total += tl.dot(x, w)
    if GATED:
        total *= tl.load(gate_ptr + token, mask=known, other=0.0)[:, None]
    tl.store(c_ptr + token[:, None] * n + columns[None, :], total.to(tl.bfloat16), mask=known[:, None])


@triton.jit
def group_of_problems(
    a_table,
    b_table,
    c_table,
    sizes_ptr,
    GROUPS: tl.constexpr,
    PROGRAMS: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    index = tl.program_id(0)
    last = 0
    for problem in range(GROUPS):
        m = tl.load(sizes_ptr + problem * 3)
        n = tl.load(sizes_ptr + problem * 3 + 1)
        k = tl.load(sizes_ptr + problem * 3 + 2)
        tiles_n = tl.cdiv(n, N)
        tiles = tl.cdiv(m, M) * tiles_n
        while index >= last and index < last + tiles:
            a_ptr = tl.load(a_table + problem).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_table + problem).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_table + problem).to(tl.pointer_type(tl.float16))
            rows = (index - last) // tiles_n * M + tl.arange(0, M)
            columns = (index - last) % tiles_n * N + tl.arange(0, N)
            total = tl.zeros((M, N), tl.float32)
            for start in range(0, k, K):
                inner = start + tl.arange(0, K)
                tl.multiple_of(inner, [16])
                total += tl.dot(
                    tl.load(a_ptr + rows[:, None] * k + inner[None, :]),
                    tl.load(b_ptr + inner[:, None] * n + columns[None, :]),
                )
            tl.store(c_ptr + rows[:, None] * n + columns[None, :], total.to(tl.float16))
            index += PROGRAMS
        last = last + tiles


@triton.jit
def matrix_times_vector(a_ptr, x_ptr, y_ptr, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    total = tl.zeros([M], tl.float32)
    for start in tl.range(0, columns, N, num_stages=4):
        at = start + tl.arange(0, N)
        a = tl.load(
            a_ptr + row[:, None] * stride + at[None, :], mask=(row < rows)[:, None] & (at < columns)[None, :], other=0.0
        )
        total += tl.sum(
            a.to(tl.float32) * tl.load(x_ptr + at, mask=at < columns, other=0.0).to(tl.float32)[None, :], axis=1
        )
    tl.store(y_ptr + row, total, mask=row < rows)


def matrices(dtype, out=None, sizes=("m", "n", "k"), strides=("a_row", "b_row", "c_row")):
    pointers = {"a_ptr": f"*{dtype}", "b_ptr": f"*{dtype}", "c_ptr": f"*{out or dtype}"}
    return pointers | {name: "i32" for name in (*sizes, *strides)}


PLAIN = aligned("a_ptr", "b_ptr", "c_ptr", "m", "n", "k", "a_row", "b_row", "c_row")
SIZES = aligned("a_ptr", "b_ptr", "c_ptr", "m", "n", "k")
TILE = {"M": 64, "N": 64, "K": 32}
LARGE = {"M": 128, "N": 128, "K": 64}

CASES = [
    Case("plain", plain, matrices("fp16"), TILE | {"PRECISION": None}, PLAIN),
    Case("plain_unaligned", plain, matrices("fp16"), TILE | {"PRECISION": None}, options={"num_stages": 2}),
    Case(
        "plain_brain",
        plain,
        matrices("bf16", "fp32"),
        LARGE | {"PRECISION": None},
        PLAIN,
        {"num_warps": 8, "num_stages": 2},
    ),
    Case("plain_int8", plain, matrices("i8", "i32"), {"M": 64, "N": 64, "K": 64, "PRECISION": None}, PLAIN),
    Case("plain_tf32", plain, matrices("fp32"), TILE | {"PRECISION": "tf32"}, PLAIN, targets=(*CUDA, "hip:gfx942")),
    Case("plain_tf32x3", plain, matrices("fp32"), TILE | {"PRECISION": "tf32x3"}, PLAIN, targets=CUDA),
    Case("plain_bf16x3", plain, matrices("fp32"), TILE | {"PRECISION": "bf16x3"}, PLAIN),
    Case("plain_ieee", plain, matrices("fp32"), {"M": 32, "N": 32, "K": 16, "PRECISION": "ieee"}, PLAIN),
    Case(
        "plain_one_stage", plain, matrices("fp16"), TILE | {"PRECISION": None}, PLAIN, {"num_stages": 1, "num_warps": 2}
    ),
    Case(
        "plain_many_stages",
        plain,
        matrices("fp16"),
        TILE | {"PRECISION": None},
        PLAIN,
        {"num_stages": 5, "maxnreg": 128},
        targets=CUDA,
    ),
    Case(
        "plain_in_clusters",
        plain,
        matrices("fp16"),
        LARGE | {"PRECISION": None},
        PLAIN,
        {"num_ctas": 2},
        targets=("cuda:90",),
    ),
    Case(
        "plain_amd_small_instructions",
        plain,
        matrices("fp16"),
        TILE | {"PRECISION": None},
        PLAIN,
        {"matrix_instr_nonkdim": 16, "waves_per_eu": 2, "kpack": 1},
        targets=HIP,
    ),
    Case(
        "plain_amd_schedule",
        plain,
        matrices("fp16"),
        LARGE | {"PRECISION": None},
        PLAIN,
        {"matrix_instr_nonkdim": 32, "num_warps": 8, "schedule_hint": "attention"},
        targets=CDNA,
    ),
    Case(
        "double_precision",
        double_precision,
        {"a_ptr": "*fp64", "b_ptr": "*fp64", "c_ptr": "*fp64"},
        {"N": 32},
        targets=(*CUDA, "hip:gfx950", "hip:gfx1200"),
    ),
    Case(
        "grouped",
        grouped,
        matrices("fp16") | {"bias_ptr": "*fp32"},
        LARGE | {"GROUP": 8, "ACTIVATION": leaky},
        PLAIN,
        {"num_warps": 8},
    ),
    Case(
        "grouped_without_activation",
        grouped,
        matrices("fp16") | {"bias_ptr": "*fp32"},
        TILE | {"GROUP": 4, "ACTIVATION": None},
        PLAIN,
    ),
    Case(
        "split_k",
        split_k,
        matrices("fp16", "fp32", ("n", "k"), ("a_row", "b_row")),
        TILE | {"SPLIT": 4},
        aligned("a_ptr", "b_ptr", "c_ptr", "n", "k", "a_row", "b_row"),
    ),
    Case("split_k_once", split_k, matrices("bf16", "fp32", ("n", "k"), ("a_row", "b_row")), TILE | {"SPLIT": 1}),
    Case(
        "persistent",
        persistent,
        matrices("bf16", strides=()),
        LARGE | {"GROUP": 8, "PROGRAMS": 132},
        SIZES,
        {"num_warps": 8, "num_stages": 2},
    ),
    Case(
        "batched",
        batched,
        {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32", "batch_stride": "i32"},
        {"B": 2, "M": 32, "N": 32, "K": 32},
    ),
    Case("with_block_pointers", with_block_pointers, matrices("fp16"), TILE, PLAIN),
    Case(
        "with_host_descriptors",
        with_host_descriptors,
        {"a": "tensordesc<fp16[64, 64]>", "b": "tensordesc<fp16[64, 64]>", "c": "tensordesc<fp16[64, 64]>", "k": "i32"},
        {"M": 64, "N": 64, "K": 64},
    ),
    Case(
        "persistent_with_descriptors",
        persistent_with_descriptors,
        matrices("fp16", strides=()),
        LARGE | {"PROGRAMS": 132, "SPLIT": False},
        SIZES,
        {"num_warps": 8, "num_stages": 2},
        targets=(*HOPPER, "hip:gfx942"),
    ),
    Case(
        "persistent_in_halves",
        persistent_with_descriptors,
        matrices("fp16", strides=()),
        LARGE | {"PROGRAMS": 148, "SPLIT": True},
        SIZES,
        {"num_warps": 8, "num_stages": 2},
        targets=HOPPER,
    ),
    Case(
        "specialised",
        specialised,
        {
            "a": "tensordesc<fp16[128, 64]>",
            "b": "tensordesc<fp16[128, 64]>",
            "c": "tensordesc<fp16[128, 128]>",
            "k": "i32",
        },
        LARGE,
        aligned("k"),
        targets=DATACENTER_BLACKWELL,
    ),
    Case(
        "specialised_wide",
        specialised,
        {
            "a": "tensordesc<bf16[128, 64]>",
            "b": "tensordesc<bf16[256, 64]>",
            "c": "tensordesc<bf16[128, 256]>",
            "k": "i32",
        },
        {"M": 128, "N": 256, "K": 64},
        options={"num_warps": 8, "num_stages": 2},
        targets=DATACENTER_BLACKWELL,
    ),
    Case(
        "eight_bit",
        eight_bit,
        {
            "a_ptr": "*fp8e4nv",
            "b_ptr": "*fp8e4nv",
            "c_ptr": "*bf16",
            "a_scale_ptr": "*fp32",
            "b_scale_ptr": "*fp32",
            "k": "i32",
        },
        {"M": 64, "N": 128, "K": 128, "IMPRECISE": None},
        aligned("a_ptr", "b_ptr", "c_ptr", "k"),
        targets=(*FP8, *HIP),
    ),
    Case(
        "eight_bit_precise",
        eight_bit,
        {
            "a_ptr": "*fp8e5",
            "b_ptr": "*fp8e5",
            "c_ptr": "*bf16",
            "a_scale_ptr": "*fp32",
            "b_scale_ptr": "*fp32",
            "k": "i32",
        },
        {"M": 64, "N": 64, "K": 64, "IMPRECISE": 32},
        aligned("a_ptr", "b_ptr", "c_ptr", "k"),
        targets=("cuda:90",),
    ),
    Case(
        "microscaled_eight_bit",
        microscaled,
        {
            "a_ptr": "*fp8e4nv",
            "a_scale_ptr": "*u8",
            "b_ptr": "*fp8e5",
            "b_scale_ptr": "*u8",
            "c_ptr": "*fp32",
            "k": "i32",
        },
        {"A": "e4m3", "B": "e5m2", "M": 128, "N": 128, "K": 128},
        aligned("a_ptr", "b_ptr", "a_scale_ptr", "b_scale_ptr", "k"),
        targets=(*FP8, "hip:gfx950", "hip:gfx1200"),  # gfx942 has too little shared memory
    ),
    Case(
        "microscaled_four_bit",
        microscaled,
        {"a_ptr": "*u8", "a_scale_ptr": "*u8", "b_ptr": "*u8", "b_scale_ptr": "*u8", "c_ptr": "*fp32", "k": "i32"},
        {"A": "e2m1", "B": "e2m1", "M": 128, "N": 128, "K": 128},
        aligned("a_ptr", "b_ptr", "a_scale_ptr", "b_scale_ptr", "k"),
        targets=(*CUDA, "hip:gfx950", "hip:gfx1200"),
    ),
    Case(
        "microscaled_with_brain",
        microscaled,
        {"a_ptr": "*u8", "a_scale_ptr": "*u8", "b_ptr": "*bf16", "c_ptr": "*fp32", "k": "i32"},
        {"b_scale_ptr": None, "A": "e2m1", "B": "bf16", "M": 64, "N": 64, "K": 64},
        aligned("a_ptr", "b_ptr", "a_scale_ptr", "k"),
    ),
    Case(
        "weights_of_four_bits",
        weights_of_four_bits,
        {"x_ptr": "*fp16", "w_ptr": "*i32", "scale_ptr": "*fp16", "c_ptr": "*fp16", "k": "i32", "n": "i32"},
        {"M": 16, "N": 64, "K": 128},
        aligned("x_ptr", "w_ptr", "k", "n"),
    ),
    Case(
        "experts",
        experts,
        {
            "x_ptr": "*bf16",
            "w_ptr": "*bf16",
            "c_ptr": "*bf16",
            "order_ptr": "*i32",
            "expert_ptr": "*i32",
            "gate_ptr": "*fp32",
            "tokens": "i32",
            "n": "i32",
            "k": "i32",
            "expert_stride": "i64",
        },
        {"M": 16, "N": 64, "K": 64, "TOP": 2, "GATED": True},
        aligned("x_ptr", "w_ptr", "c_ptr", "n", "k", "expert_stride"),
    ),
    Case(
        "group_of_problems",
        group_of_problems,
        {"a_table": "*u64", "b_table": "*u64", "c_table": "*u64", "sizes_ptr": "*i32"},
        {"GROUPS": 4, "PROGRAMS": 84, "M": 64, "N": 64, "K": 32},
    ),
    Case(
        "matrix_times_vector",
        matrix_times_vector,
        {"a_ptr": "*fp16", "x_ptr": "*fp16", "y_ptr": "*fp32", "rows": "i32", "columns": "i32", "stride": "i32"},
        {"M": 16, "N": 256},
        aligned("a_ptr", "x_ptr", "stride"),
    ),
]
