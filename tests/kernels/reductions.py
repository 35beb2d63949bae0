"""Reductions over every axis and operator, and the normalisations that are made of them."""

import triton.language as tl

import triton
from fork.equivalence.cases import Case, aligned


@triton.jit
def reduce_cube(
    x_ptr,
    out_ptr,
    AXIS: tl.constexpr,
    OPERATOR: tl.constexpr,
    KEEP: tl.constexpr,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + (a * B + b) * C + c)
    if OPERATOR == "sum":
        result = tl.sum(x, axis=AXIS, keep_dims=KEEP)
    elif OPERATOR == "max":
        result = tl.max(x, axis=AXIS, keep_dims=KEEP)
    elif OPERATOR == "min":
        result = tl.min(x, axis=AXIS, keep_dims=KEEP)
    elif OPERATOR == "argmax":
        result = tl.argmax(x, axis=AXIS, keep_dims=KEEP)
    elif OPERATOR == "argmin":
        result = tl.argmin(x, axis=AXIS, tie_break_left=False, keep_dims=KEEP)
    elif OPERATOR == "xor":
        result = tl.xor_sum(x, axis=AXIS, keep_dims=KEEP)
    else:
        result = tl.reduce_or(x, axis=AXIS, keep_dims=KEEP)
    if AXIS is None:
        if KEEP:
            tl.store(out_ptr + a + b + c, tl.broadcast_to(result, [A, B, C]))
        else:
            tl.store(out_ptr, result)
    elif KEEP:
        tl.store(out_ptr + (a * B + b) * C + c, x + result)
    elif AXIS == 0:
        tl.store(out_ptr + tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :], result)
    elif AXIS == 1:
        tl.store(out_ptr + tl.arange(0, A)[:, None] * C + tl.arange(0, C)[None, :], result)
    else:
        tl.store(out_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], result)


@triton.jit
def extreme_and_its_place(x_ptr, value_ptr, index_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    high, high_at = tl.max(x, axis=1, return_indices=True)
    low, low_at = tl.min(x, axis=1, return_indices=True, return_indices_tie_break_left=False)
    tl.store(value_ptr + tl.arange(0, M), high - low)
    tl.store(index_ptr + tl.arange(0, M), high_at * N + low_at)


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def merge_moments(mean_a, square_a, count_a, mean_b, square_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    share = tl.where(count == 0, 0.0, count_b / count)
    return mean_a + delta * share, square_a + square_b + delta * delta * count_a * share, count


@triton.jit
def product_of_rows(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out_ptr + tl.arange(0, M), tl.reduce(x, 1, product))


@triton.jit
def moments(x_ptr, mean_ptr, variance_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N)).to(tl.float32)
    mean, square, count = tl.reduce((x, tl.zeros_like(x), tl.full([N], 1.0, tl.float32)), 0, merge_moments)
    tl.store(mean_ptr, mean)
    tl.store(variance_ptr, square / count)


@triton.jit
def sum_in_other_types(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.sum(x, axis=0))
    tl.store(out_ptr + 1, tl.sum(x, axis=0, dtype=tl.int64))
    tl.store(out_ptr + 2, tl.sum((x > 0), axis=0))


@triton.jit
def softmax_rows(x_ptr, out_ptr, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * x_stride + at, mask=inside, other=float("-inf")).to(tl.float32)
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def softmax_of_library(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.softmax(x, dim=1, keep_dims=True) + tl.softmax(x, ieee_rounding=True))


@triton.jit
def softmax_online(x_ptr, out_ptr, rows, columns, stride, BLOCK: tl.constexpr):
    first = tl.program_id(0)
    for row in tl.range(first, rows, tl.num_programs(0), num_stages=2):
        highest = -float("inf")
        total = 0.0
        for start in range(0, columns, BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=-float("inf"))
            higher = tl.maximum(highest, tl.max(x, 0))
            total = total * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher), 0)
            highest = higher
        for start in range(0, columns, BLOCK):
            at = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=-float("inf"))
            tl.store(out_ptr + row * stride + at, tl.exp(x - highest) / total, mask=at < columns)


@triton.jit
def layer_norm(x_ptr, out_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    out_ptr += row * stride
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x_ptr + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < columns, other=0.0).to(tl.float32)
        x = tl.where(at < columns, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        weight = tl.load(weight_ptr + at, mask=inside)
        bias = tl.load(bias_ptr + at, mask=inside)
        x = tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(out_ptr + at, (x - mean) * rstd * weight + bias, mask=inside)


@triton.jit
def layer_norm_backward(
    grad_ptr,
    x_ptr,
    weight_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dw_ptr,
    db_ptr,
    lock_ptr,
    stride,
    columns,
    GROUP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * stride + at, mask=inside, other=0).to(tl.float32)
    grad = tl.load(grad_ptr + row * stride + at, mask=inside, other=0).to(tl.float32)
    weight = tl.load(weight_ptr + at, mask=inside).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(inside, (x - mean) * rstd, 0.0)
    scaled = tl.where(inside, weight * grad, 0.0)
    along = tl.sum(normal * scaled, axis=0) / columns
    level = tl.sum(scaled, axis=0) / columns
    tl.store(dx_ptr + row * stride + at, (scaled - (normal * along + level)) * rstd, mask=inside)
    lock = lock_ptr + row % GROUP
    count_ptr = lock + GROUP
    dw_ptr += (row % GROUP) * columns + at
    db_ptr += (row % GROUP) * columns + at
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    partial_w = grad * normal
    partial_b = grad
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        partial_w += tl.load(dw_ptr, mask=inside)
        partial_b += tl.load(db_ptr, mask=inside)
    tl.store(dw_ptr, partial_w, mask=inside)
    tl.store(db_ptr, partial_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def rms_norm_with_residual(x_ptr, residual_ptr, weight_ptr, out_ptr, stride, epsilon, N: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, N)
    x = tl.load(x_ptr + row * stride + at).to(tl.float32) + tl.load(residual_ptr + row * stride + at).to(tl.float32)
    tl.store(residual_ptr + row * stride + at, x.to(residual_ptr.dtype.element_ty))
    scale = tl.rsqrt(tl.sum(x * x) / N + epsilon)
    tl.store(out_ptr + row * stride + at, (x * scale * tl.load(weight_ptr + at)).to(out_ptr.dtype.element_ty))


@triton.jit
def cross_entropy(logits_ptr, target_ptr, loss_ptr, stride, classes, ignored, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(target_ptr + row)
    logits_ptr += row * stride
    if label == ignored:
        tl.store(loss_ptr + row, 0.0)
        return
    highest = float("-inf")
    total = 0.0
    smooth = 0.0
    for start in range(0, classes, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + at, mask=at < classes, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher))
        smooth += tl.sum(tl.where(at < classes, -smoothing * x, 0.0))
        highest = higher
    loss = highest + tl.log(total) - tl.load(logits_ptr + label).to(tl.float32)
    tl.store(loss_ptr + row, loss + smooth)


def cube(name, axis, operator, keep=False, dtype="fp32", out=None):
    shape = {"A": 4, "B": 16, "C": 32}
    signature = {"x_ptr": f"*{dtype}", "out_ptr": f"*{out or dtype}"}
    return Case(name, reduce_cube, signature, {"AXIS": axis, "OPERATOR": operator, "KEEP": keep, **shape})


CASES = [
    *[cube(f"sum_axis_{axis}", axis, "sum") for axis in (0, 1, 2, None)],
    *[cube(f"max_axis_{axis}", axis, "max", dtype="fp16") for axis in (0, 1, 2, None)],
    *[cube(f"min_axis_{axis}", axis, "min", dtype="i32") for axis in (0, 1, 2, None)],
    *[cube(f"argmax_axis_{axis}", axis, "argmax", out="i32") for axis in (0, 1, 2)],
    *[cube(f"argmin_axis_{axis}", axis, "argmin", dtype="i16", out="i32") for axis in (0, 1, 2)],
    *[cube(f"xor_axis_{axis}", axis, "xor", dtype="i32") for axis in (0, 1, 2)],
    *[cube(f"or_axis_{axis}", axis, "or", dtype="i32") for axis in (0, 1, 2)],
    cube("sum_keeps_dimensions", 1, "sum", True),
    cube("max_keeps_all_dimensions", None, "max", True, "bf16"),
    Case(
        "extreme_and_its_place",
        extreme_and_its_place,
        {"x_ptr": "*fp32", "value_ptr": "*fp32", "index_ptr": "*i32"},
        {"M": 16, "N": 128},
    ),
    Case("product_of_rows", product_of_rows, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"M": 16, "N": 64}),
    Case("moments", moments, {"x_ptr": "*fp16", "mean_ptr": "*fp32", "variance_ptr": "*fp32"}, {"N": 1024}),
    Case("sum_in_other_types", sum_in_other_types, {"x_ptr": "*i8", "out_ptr": "*i64"}, {"N": 256}),
    Case(
        "softmax_rows",
        softmax_rows,
        {"x_ptr": "*fp16", "out_ptr": "*fp16", "columns": "i32", "x_stride": "i32", "out_stride": "i32"},
        {"BLOCK": 2048},
        aligned("x_ptr", "out_ptr", "x_stride", "out_stride"),
        {"num_warps": 8},
    ),
    Case("softmax_of_library", softmax_of_library, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"M": 16, "N": 64}),
    Case(
        "softmax_online",
        softmax_online,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "columns": "i32", "stride": "i32"},
        {"BLOCK": 512},
        aligned("x_ptr", "out_ptr", "stride"),
    ),
    Case(
        "layer_norm",
        layer_norm,
        {
            "x_ptr": "*fp16",
            "out_ptr": "*fp16",
            "weight_ptr": "*fp16",
            "bias_ptr": "*fp16",
            "mean_ptr": "*fp32",
            "rstd_ptr": "*fp32",
            "stride": "i32",
            "columns": "i32",
            "epsilon": "fp32",
        },
        {"BLOCK": 512},
        aligned("x_ptr", "out_ptr", "weight_ptr", "bias_ptr", "stride", "columns"),
    ),
    Case(
        "layer_norm_backward",
        layer_norm_backward,
        {
            "grad_ptr": "*fp16",
            "x_ptr": "*fp16",
            "weight_ptr": "*fp16",
            "mean_ptr": "*fp32",
            "rstd_ptr": "*fp32",
            "dx_ptr": "*fp16",
            "dw_ptr": "*fp32",
            "db_ptr": "*fp32",
            "lock_ptr": "*i32",
            "stride": "i32",
            "columns": "i32",
        },
        {"GROUP": 64, "BLOCK": 1024},
        aligned("grad_ptr", "x_ptr", "weight_ptr", "dx_ptr", "stride"),
    ),
    Case(
        "rms_norm_with_residual",
        rms_norm_with_residual,
        {
            "x_ptr": "*bf16",
            "residual_ptr": "*bf16",
            "weight_ptr": "*bf16",
            "out_ptr": "*bf16",
            "stride": "i32",
            "epsilon": "fp32",
        },
        {"N": 4096},
        aligned("x_ptr", "residual_ptr", "weight_ptr", "out_ptr", "stride"),
        {"num_warps": 16},
    ),
    Case(
        "cross_entropy",
        cross_entropy,
        {
            "logits_ptr": "*bf16",
            "target_ptr": "*i64",
            "loss_ptr": "*fp32",
            "stride": "i32",
            "classes": "i32",
            "smoothing": "fp32",
        },
        {"ignored": -100, "BLOCK": 2048},
        aligned("logits_ptr", "stride"),
        {"num_warps": 8},
    ),
]
