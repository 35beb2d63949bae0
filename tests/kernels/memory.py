"""Atomics, random numbers, tables of pointers: how kernels reach memory in irregular ways."""

import triton.language as tl

import triton
from fork.equivalence.cases import CUDA, Case


@triton.jit
def atomics_on_integers(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    old = tl.atomic_add(out_ptr + at, x, mask=inside)
    old += tl.atomic_max(out_ptr + BLOCK + at, x, mask=inside)
    old += tl.atomic_min(out_ptr + 2 * BLOCK + at, x, mask=inside)
    old ^= tl.atomic_and(out_ptr + 3 * BLOCK + at, x)
    old ^= tl.atomic_or(out_ptr + 4 * BLOCK + at, x)
    old ^= tl.atomic_xor(out_ptr + 5 * BLOCK + at, x)
    old += tl.atomic_xchg(out_ptr + 6 * BLOCK + at, x, mask=inside)
    old += tl.atomic_cas(out_ptr + 7 * BLOCK + at, x, old)
    tl.store(x_ptr + at, old, mask=inside)


@triton.jit
def bitwise_atomics(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    old = tl.atomic_and(out_ptr + at, x) ^ tl.atomic_or(out_ptr + BLOCK + at, x) ^ tl.atomic_xor(out_ptr + at, x)
    tl.store(x_ptr + at, old)


@triton.jit
def atomics_on_floats(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.atomic_add(out_ptr + at, x, sem="relaxed")
    tl.atomic_max(out_ptr + at, x, sem="acquire")
    tl.atomic_min(out_ptr + at, x, sem="release", scope="cta")
    tl.atomic_add(out_ptr, tl.sum(x), sem="acq_rel", scope="sys")


@triton.jit
def atomic_add_of_narrow_floats(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + at, tl.load(x_ptr + at))


@triton.jit
def wait_for_turn(turn_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    me = tl.program_id(0)
    while tl.atomic_cas(turn_ptr, me, me, sem="acquire") != me:
        pass
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(out_ptr + at) + tl.load(x_ptr + me * BLOCK + at))
    tl.debug_barrier()
    tl.atomic_xchg(turn_ptr, me + 1, sem="release")


@triton.jit
def dropout(x_ptr, out_ptr, count, probability, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    keep = tl.rand(seed, at) > probability
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.where(keep, x / (1 - probability), 0.0), mask=inside)


@triton.jit
def random_numbers(out_ptr, seed, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b, c, d = tl.randn4x(seed, at)
    tl.store(out_ptr + at, a + b + c + d + tl.randn(seed, at, n_rounds=6))
    i, j, k, n = tl.randint4x(seed, at)
    u, v, w, x = tl.rand4x(seed, at)
    mixed = tl.uint_to_uniform_float(i ^ j ^ k ^ n ^ tl.randint(seed, at))
    tl.store(out_ptr + BLOCK + at, mixed + u + v + w + x)


@triton.jit
def random_bits(out_ptr, seed, low, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    zero = at * 0
    a, b, c, d = tl.philox(seed, at + low, zero, zero, zero)
    tl.store(out_ptr + at, a ^ b ^ c ^ d)


@triton.jit
def sum_through_pointers(table_ptr, lengths_ptr, out_ptr, ARRAYS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for index in range(ARRAYS):
        pointer = tl.load(table_ptr + index).to(tl.pointer_type(tl.float32))
        total += tl.load(pointer + at, mask=at < tl.load(lengths_ptr + index), other=0.0)
    tl.store(out_ptr + at, total)


@triton.jit
def embedding(index_ptr, table_ptr, out_ptr, rows, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    places = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    index = tl.load(index_ptr + places, mask=places < rows, other=0)
    columns = tl.arange(0, COLUMNS)[None, :]
    known = (index >= 0)[:, None] & (places < rows)[:, None]
    values = tl.load(table_ptr + index[:, None] * stride + columns, mask=known, other=0.0)
    tl.store(out_ptr + places[:, None] * COLUMNS + columns, values, mask=(places < rows)[:, None])


@triton.jit
def scatter_add(index_ptr, x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    target = tl.load(index_ptr + at, mask=inside, other=-1)
    tl.atomic_add(out_ptr + target, tl.load(x_ptr + at, mask=inside), mask=inside & (target >= 0))


@triton.jit
def block_pointers(x_ptr, out_ptr, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (rows, columns), (stride, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    target = tl.make_block_ptr(out_ptr, (columns, rows), (1, columns), (0, tl.program_id(0) * M), (N, M), (0, 1))
    for _ in range(0, columns, N):
        tile = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, tl.trans(tile) * 2, boundary_check=(1,))
        source = tl.advance(source, (0, N))
        target = tl.advance(target, (N, 0))


@triton.jit
def quantise_rows(x_ptr, out_ptr, scale_ptr, stride, LIMIT: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, N)
    x = tl.load(x_ptr + row * stride + at).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-12) / LIMIT
    tl.store(scale_ptr + row, scale)
    scaled = tl.clamp(x / scale, -LIMIT, LIMIT)
    tl.store(out_ptr + row * N + at, (scaled + tl.where(scaled < 0, -0.5, 0.5)).to(tl.int8))


# On CDNA, atomics become buffer operations, and of these LLVM has no maximum.
NO_BUFFER_MAXIMUM = (*CUDA, "hip:gfx1200")

CASES = [
    Case(
        "atomics_on_integers",
        atomics_on_integers,
        {"x_ptr": "*i32", "out_ptr": "*i32", "count": "i32"},
        {"BLOCK": 128},
        targets=NO_BUFFER_MAXIMUM,
    ),
    Case(
        "atomics_on_unsigned",
        atomics_on_integers,
        {"x_ptr": "*u32", "out_ptr": "*u32", "count": "i32"},
        {"BLOCK": 128},
        targets=NO_BUFFER_MAXIMUM,
    ),
    Case(
        "atomics_on_long",
        atomics_on_integers,
        {"x_ptr": "*i64", "out_ptr": "*i64", "count": "i32"},
        {"BLOCK": 64},
        targets=NO_BUFFER_MAXIMUM,
    ),
    Case("bitwise_atomics", bitwise_atomics, {"x_ptr": "*i32", "out_ptr": "*i32"}, {"BLOCK": 128}),
    Case("atomics_on_floats", atomics_on_floats, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"BLOCK": 128}),
    Case("atomic_add_of_halves", atomic_add_of_narrow_floats, {"x_ptr": "*fp16", "out_ptr": "*fp16"}, {"BLOCK": 256}),
    Case("atomic_add_of_doubles", atomic_add_of_narrow_floats, {"x_ptr": "*fp64", "out_ptr": "*fp64"}, {"BLOCK": 256}),
    Case("wait_for_turn", wait_for_turn, {"turn_ptr": "*i32", "x_ptr": "*fp32", "out_ptr": "*fp32"}, {"BLOCK": 256}),
    Case(
        "dropout",
        dropout,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32", "probability": "fp32", "seed": "i32"},
        {"BLOCK": 1024},
    ),
    Case("random_numbers", random_numbers, {"out_ptr": "*fp32", "seed": "i64"}, {"BLOCK": 128}),
    Case("random_bits", random_bits, {"out_ptr": "*i32", "seed": "i64", "low": "i32"}, {"BLOCK": 128}),
    Case(
        "sum_through_pointers",
        sum_through_pointers,
        {"table_ptr": "*u64", "lengths_ptr": "*i32", "out_ptr": "*fp32"},
        {"ARRAYS": 5, "BLOCK": 256},
    ),
    Case(
        "embedding",
        embedding,
        {"index_ptr": "*i64", "table_ptr": "*bf16", "out_ptr": "*bf16", "rows": "i32", "stride": "i64"},
        {"ROWS": 16, "COLUMNS": 128},
    ),
    Case(
        "scatter_add",
        scatter_add,
        {"index_ptr": "*i64", "x_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32"},
        {"BLOCK": 256},
    ),
    Case(
        "block_pointers",
        block_pointers,
        {"x_ptr": "*fp16", "out_ptr": "*fp16", "rows": "i32", "columns": "i32", "stride": "i32"},
        {"M": 32, "N": 64},
    ),
    Case(
        "quantise_rows",
        quantise_rows,
        {"x_ptr": "*bf16", "out_ptr": "*i8", "scale_ptr": "*fp32", "stride": "i32"},
        {"LIMIT": 127.0, "N": 2048},
    ),
]
