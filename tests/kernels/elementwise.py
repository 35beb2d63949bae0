"""One element in, one element out: arithmetic, casts, comparisons, mathematics, masks."""

import triton.language as tl

import triton
from fork.equivalence.cases import FP8, Case, aligned


@triton.jit
def add_vectors(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside), mask=inside)


@triton.jit
def floating_arithmetic(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    total = x * y - (x + 2.5) / (y + 1.0)
    total += 3 - x
    total *= 0.5
    total = -total % 7.0
    tl.store(out_ptr + at, total)


@triton.jit
def integer_arithmetic(x_ptr, y_ptr, out_ptr, shift, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    value = (x // (y + 1)) + (x % (y + 1)) * 3
    value = (value << 2) | (x >> shift)
    value ^= ~y & 0xFF
    value -= -x
    tl.store(out_ptr + at, value)


@triton.jit
def unsigned_arithmetic(x_ptr, y_ptr, out_ptr, high_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    tl.store(out_ptr + at, x // (y | 1) + x % (y | 1) + (x >> 3))
    tl.store(high_ptr + at, tl.umulhi(x, y))


@triton.jit
def comparisons(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    count = (x < y).to(tl.int32) + (x <= y) + (x > y) + (x >= 0) + (x == y) + (x != 1)
    count = tl.where((x < y) & (x > 0) | ~(y == 2), count, -count)
    tl.store(out_ptr + at, count)


@triton.jit
def cast_through_all_types(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    total = x.to(tl.float64)
    for dtype in tl.static_range(0, 1):
        total += dtype
    total += x.to(tl.float16)
    total += x.to(tl.bfloat16)
    total += x.to(tl.int8).to(tl.float32)
    total += x.to(tl.int16).to(tl.float32)
    total += x.to(tl.int32).to(tl.float64)
    total += x.to(tl.int64).to(tl.float64)
    total += x.to(tl.uint8).to(tl.float32)
    total += x.to(tl.uint32).to(tl.float64)
    total += x.to(tl.uint64).to(tl.float64)
    total += (x != 0).to(tl.float32)
    tl.store(out_ptr + at, total)


@triton.jit
def narrow_with_rounding(x_ptr, near_ptr, down_ptr, bits_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(near_ptr + at, x.to(tl.float16, fp_downcast_rounding="rtne"))
    tl.store(down_ptr + at, x.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(bits_ptr + at, x.to(tl.int32, bitcast=True))


@triton.jit
def eight_bit_floats(x_ptr, out_ptr, fine_ptr, coarse_ptr, FINE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    fine = x.to(FINE)
    coarse = x.to(tl.float8e5)
    tl.store(fine_ptr + at, fine)
    tl.store(coarse_ptr + at, coarse)
    tl.store(out_ptr + at, fine.to(tl.float32) + coarse.to(tl.float16))


@triton.jit
def mathematics(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    total = tl.exp(x) + tl.exp2(x) + tl.log(x) + tl.log2(x)
    total += tl.sin(x) * tl.cos(x) + tl.sqrt(tl.abs(x)) + tl.rsqrt(x)
    total += tl.floor(x) - tl.ceil(x) + tl.erf(x) + tl.sigmoid(x)
    total += tl.fma(x, x, total) + tl.fdiv(x, total) + tl.div_rn(x, total) + tl.sqrt_rn(x)
    tl.store(out_ptr + at, total)


@triton.jit
def extrema(x_ptr, y_ptr, out_ptr, low, high, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    value = tl.maximum(x, y) + tl.minimum(x, y)
    value += tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    value += tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
    value += tl.clamp(x, low, high)
    value += tl.clamp(y, low, high, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out_ptr + at, value)


@triton.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def swiglu_with_bias(gate_ptr, up_ptr, bias_ptr, out_ptr, rows, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (at < columns) & (row < rows)
    gate = tl.load(gate_ptr + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + at, mask=at < columns, other=1.0)
    result = gate * tl.sigmoid(gate) * (up + bias) + gelu(up)
    tl.store(out_ptr + row * stride + at, result.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def copy_matrix(x_ptr, out_ptr, rows, columns, x_row, x_column, out_row, out_column, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    column = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    inside = (row < rows) & (column < columns)
    tile = tl.load(x_ptr + row * x_row + column * x_column, mask=inside, other=-1)
    tl.store(out_ptr + row * out_row + column * out_column, tile, mask=inside)


@triton.jit
def copy_beyond_four_gigabytes(x_ptr, out_ptr, stride, count, BLOCK: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    at = block * stride + tl.arange(0, BLOCK).to(tl.int64)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside, other=float("-inf")), mask=inside)


@triton.jit
def cache_hints(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, cache_modifier=".cg")
    y = tl.load(y_ptr + at, eviction_policy="evict_last")
    z = tl.load(y_ptr + at + BLOCK, volatile=True)
    tl.store(out_ptr + at, x + y + z, eviction_policy="evict_first")
    tl.store(out_ptr + BLOCK + at, x - y, cache_modifier=".cs")


@triton.jit
def hints_on_values(x_ptr, out_ptr, stride, count, BLOCK: tl.constexpr):
    tl.assume(stride > 0)
    tl.assume(count % 64 == 0)
    start = tl.multiple_of(tl.program_id(0) * stride, 32)
    at = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), BLOCK), BLOCK)
    inside = tl.max_constancy(at < count, 16)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) * 2, mask=inside)


@triton.jit
def broadcast_and_reshape(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M))
    y = tl.load(y_ptr + tl.arange(0, N))
    table = tl.expand_dims(x, 1) + y[None, :]
    table, ones = tl.broadcast(table, tl.full([1, N], 1, tl.float32))
    table = tl.reshape(table * ones, [N, M])
    table = tl.trans(table) + tl.broadcast_to(x[:, None], [M, N])
    flat = tl.ravel(table) + tl.view(table, [M * N])
    tl.store(out_ptr + tl.arange(0, M * N), flat)


@triton.jit
def scalars_only(x_ptr, out_ptr, a, b, flag):
    value = tl.load(x_ptr) * a + b
    if flag:
        value = value * 2
    tl.store(out_ptr, value)
    tl.store(out_ptr + 1, tl.program_id(0) + tl.program_id(1) * tl.num_programs(0) + tl.num_programs(2))


@triton.jit
def logical_operators(x_ptr, out_ptr, a, b, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    keep = not (a > 3 and b < 5) or a == b
    value = x if keep else -x
    tl.store(out_ptr + at, value + (1 if BLOCK > 64 and not BLOCK == 256 else 2))


def unary(dtype):
    return {"x_ptr": f"*{dtype}", "out_ptr": f"*{dtype}"}


def binary(dtype, out=None):
    return {"x_ptr": f"*{dtype}", "y_ptr": f"*{dtype}", "out_ptr": f"*{out or dtype}"}


CASES = [
    Case(
        "add_vectors",
        add_vectors,
        binary("fp32") | {"count": "i32"},
        {"BLOCK": 1024},
        aligned("x_ptr", "y_ptr", "out_ptr", "count"),
    ),
    Case(
        "add_vectors_half",
        add_vectors,
        binary("fp16") | {"count": "i64"},
        {"BLOCK": 256},
        aligned("x_ptr", "y_ptr"),
        {"num_warps": 2},
    ),
    Case("add_vectors_boolean", add_vectors, binary("i8") | {"count": "i32"}, {"BLOCK": 128}, {}, {"num_warps": 1}),
    Case(
        "add_vectors_read_only",
        add_vectors,
        {"x_ptr": "*kfp32", "y_ptr": "*kfp32", "out_ptr": "*fp32", "count": "i32"},
        {"BLOCK": 64},
    ),
    Case("floating_arithmetic", floating_arithmetic, binary("fp32"), {"BLOCK": 512}, aligned("x_ptr")),
    Case("floating_arithmetic_double", floating_arithmetic, binary("fp64"), {"BLOCK": 256}),
    Case(
        "floating_arithmetic_brain",
        floating_arithmetic,
        binary("bf16"),
        {"BLOCK": 256},
        aligned("x_ptr", "y_ptr", "out_ptr"),
    ),
    Case(
        "floating_arithmetic_unfused",
        floating_arithmetic,
        binary("fp32"),
        {"BLOCK": 128},
        {},
        {"enable_fp_fusion": False},
    ),
    Case("integer_arithmetic", integer_arithmetic, binary("i32") | {"shift": "i32"}, {"BLOCK": 128}),
    Case("integer_arithmetic_narrow", integer_arithmetic, binary("i16") | {"shift": "i32"}, {"BLOCK": 128}),
    Case("unsigned_arithmetic", unsigned_arithmetic, binary("u32") | {"high_ptr": "*u32"}, {"BLOCK": 128}),
    Case("unsigned_arithmetic_long", unsigned_arithmetic, binary("u64") | {"high_ptr": "*u64"}, {"BLOCK": 128}),
    Case("comparisons", comparisons, binary("fp32", "i32"), {"BLOCK": 128}),
    Case("comparisons_unsigned", comparisons, binary("u8", "i32"), {"BLOCK": 128}),
    Case("cast_through_all_types", cast_through_all_types, {"x_ptr": "*fp32", "out_ptr": "*fp64"}, {"BLOCK": 128}),
    Case(
        "narrow_with_rounding",
        narrow_with_rounding,
        {"x_ptr": "*fp32", "near_ptr": "*fp16", "down_ptr": "*fp16", "bits_ptr": "*i32"},
        {"BLOCK": 128},
    ),
    Case(
        "eight_bit_floats",
        eight_bit_floats,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "fine_ptr": "*fp8e4nv", "coarse_ptr": "*fp8e5"},
        {"FINE": tl.float8e4nv, "BLOCK": 512},
        targets=(*FP8, "hip:gfx942", "hip:gfx950", "hip:gfx1200"),
    ),
    Case(
        "eight_bit_floats_with_old_bias",
        eight_bit_floats,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "fine_ptr": "*fp8e4b15", "coarse_ptr": "*fp8e5"},
        {"FINE": tl.float8e4b15, "BLOCK": 512},
        targets=FP8,
    ),
    Case("mathematics", mathematics, unary("fp32"), {"BLOCK": 128}),
    Case("extrema", extrema, binary("fp32") | {"low": "fp32", "high": "fp32"}, {"BLOCK": 128}),
    Case("extrema_half", extrema, binary("fp16") | {"low": "fp32", "high": "fp32"}, {"BLOCK": 128}),
    Case(
        "swiglu_with_bias",
        swiglu_with_bias,
        {
            "gate_ptr": "*bf16",
            "up_ptr": "*bf16",
            "bias_ptr": "*fp32",
            "out_ptr": "*bf16",
            "rows": "i32",
            "columns": "i32",
            "stride": "i32",
        },
        {"BLOCK": 1024},
        aligned("gate_ptr", "up_ptr", "bias_ptr", "out_ptr", "stride"),
        {"num_warps": 8},
    ),
    Case(
        "copy_matrix",
        copy_matrix,
        {"x_ptr": "*i32", "out_ptr": "*i32", "rows": "i32", "columns": "i32", "x_row": "i32", "out_row": "i32"},
        {"x_column": 1, "out_column": 1, "M": 32, "N": 64},
        aligned("x_ptr", "out_ptr", "x_row", "out_row"),
    ),
    Case(
        "copy_matrix_transposed",
        copy_matrix,
        {"x_ptr": "*fp16", "out_ptr": "*fp16", "rows": "i32", "columns": "i32", "x_column": "i32", "out_row": "i32"},
        {"x_row": 1, "out_column": 1, "M": 64, "N": 64},
        aligned("x_ptr", "out_ptr", "x_column", "out_row"),
    ),
    Case(
        "copy_beyond_four_gigabytes",
        copy_beyond_four_gigabytes,
        unary("fp32") | {"stride": "i64", "count": "i64"},
        {"BLOCK": 1024},
        aligned("x_ptr", "out_ptr", "stride"),
    ),
    Case("cache_hints", cache_hints, binary("fp32"), {"BLOCK": 512}, aligned("x_ptr", "y_ptr", "out_ptr")),
    Case("hints_on_values", hints_on_values, unary("fp32") | {"stride": "i32", "count": "i32"}, {"BLOCK": 128}),
    Case("broadcast_and_reshape", broadcast_and_reshape, binary("fp32"), {"M": 16, "N": 32}),
    Case("scalars_only", scalars_only, unary("fp32") | {"a": "fp32", "b": "i32", "flag": "i1"}),
    Case("logical_operators", logical_operators, unary("fp32") | {"a": "i32", "b": "i32"}, {"BLOCK": 128}),
]
