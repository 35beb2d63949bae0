"""Scans, sorts and rearrangements: operations in which elements meet."""

import triton.language as tl

import triton
from fork.equivalence.cases import Case


@triton.jit
def running_sums(x_ptr, out_ptr, AXIS: tl.constexpr, REVERSE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.cumsum(x, axis=AXIS, reverse=REVERSE))


@triton.jit
def running_products(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.cumprod(x, axis=0) + tl.cumsum(x, axis=0, dtype=tl.float64).to(tl.float32))


@triton.jit
def chain(gain_a, value_a, gain_b, value_b):
    return gain_a * gain_b, value_a * gain_b + value_b


@triton.jit
def later_of(value_a, place_a, value_b, place_b):
    take = value_b >= value_a
    return tl.where(take, value_b, value_a), tl.where(take, place_b, place_a)


@triton.jit
def linear_recurrence(gain_ptr, value_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    gain = tl.load(gain_ptr + at)
    value = tl.load(value_ptr + at)
    _, state = tl.associative_scan((gain, value), 1, chain)
    _, back = tl.associative_scan((gain, value), 0, chain, reverse=True)
    tl.store(out_ptr + at, state + back)


@triton.jit
def running_maximum_and_place(x_ptr, value_ptr, place_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    value, place = tl.associative_scan((tl.load(x_ptr + at), at), 0, later_of)
    tl.store(value_ptr + at, value)
    tl.store(place_ptr + at, place)


@triton.jit
def selective_scan(x_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, out_ptr, length, STATES: tl.constexpr, CHUNK: tl.constexpr):
    channel = tl.program_id(0)
    states = tl.arange(0, STATES)
    decay = tl.load(a_ptr + channel * STATES + states)
    carried = tl.zeros([STATES], tl.float32)
    for start in range(0, length, CHUNK):
        steps = start + tl.arange(0, CHUNK)
        inside = steps < length
        delta = tl.load(delta_ptr + channel * length + steps, mask=inside, other=0.0)
        x = tl.load(x_ptr + channel * length + steps, mask=inside, other=0.0)
        b = tl.load(b_ptr + steps[:, None] * STATES + states[None, :], mask=inside[:, None], other=0.0)
        c = tl.load(c_ptr + steps[:, None] * STATES + states[None, :], mask=inside[:, None], other=0.0)
        gain, state = tl.associative_scan((tl.exp(delta[:, None] * decay[None, :]), (delta * x)[:, None] * b), 0, chain)
        state += gain * carried[None, :]
        tl.store(out_ptr + channel * length + steps, tl.sum(state * c, 1), mask=inside)
        last = (tl.arange(0, CHUNK) == CHUNK - 1)[:, None]
        carried = tl.sum(tl.where(last, state, 0.0), 0)


@triton.jit
def sort_rows(x_ptr, out_ptr, DESCENDING: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at), dim=1, descending=DESCENDING))


@triton.jit
def largest_of_rows(x_ptr, out_ptr, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], tl.topk(x, K))


@triton.jit
def merge_sorted(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out_ptr + at, tl.bitonic_merge(tl.load(x_ptr + at), descending=True) + tl.flip(tl.load(x_ptr + at), dim=0))


@triton.jit
def count_values(x_ptr, out_ptr, limit, BINS: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at, mask=at < limit, other=0)
    counts = tl.histogram(x, BINS) + tl.histogram(x, BINS, mask=at < limit)
    tl.store(out_ptr + tl.arange(0, BINS), counts)


@triton.jit
def gather_along(x_ptr, index_ptr, out_ptr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.gather(tl.load(x_ptr + at), tl.load(index_ptr + at), axis=AXIS))


@triton.jit
def join_split_permute(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    pair = tl.join(x, y)
    swapped = tl.permute(pair, (1, 0))
    left, right = tl.split(tl.trans(swapped))
    tl.store(out_ptr + at, left - right)
    tl.store(out_ptr + tl.arange(0, 2 * N), tl.interleave(x, y))
    tl.store(out_ptr + tl.arange(0, 2 * N), tl.cat(x, y, can_reorder=True))


@triton.jit
def rotary_embedding(x_ptr, cos_ptr, sin_ptr, stride, HEADS: tl.constexpr, HALF: tl.constexpr):
    token = tl.program_id(0)
    heads = tl.arange(0, HEADS)[:, None]
    at = tl.arange(0, 2 * HALF)[None, :]
    x = tl.load(x_ptr + token * stride + heads * 2 * HALF + at)
    even, odd = tl.split(tl.reshape(x, [HEADS, HALF, 2]))
    cos = tl.load(cos_ptr + token * HALF + tl.arange(0, HALF))[None, :]
    sin = tl.load(sin_ptr + token * HALF + tl.arange(0, HALF))[None, :]
    turned = tl.interleave(even * cos - odd * sin, odd * cos + even * sin)
    tl.store(x_ptr + token * stride + heads * 2 * HALF + at, turned.to(x.dtype))


CASES = [
    Case(
        "running_sums",
        running_sums,
        {"x_ptr": "*fp32", "out_ptr": "*fp32"},
        {"AXIS": 0, "REVERSE": False, "M": 16, "N": 64},
    ),
    Case(
        "running_sums_reversed",
        running_sums,
        {"x_ptr": "*i32", "out_ptr": "*i32"},
        {"AXIS": 1, "REVERSE": True, "M": 16, "N": 64},
    ),
    Case("running_products", running_products, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 512}),
    Case(
        "linear_recurrence",
        linear_recurrence,
        {"gain_ptr": "*fp32", "value_ptr": "*fp32", "out_ptr": "*fp32"},
        {"M": 16, "N": 128},
    ),
    Case(
        "running_maximum_and_place",
        running_maximum_and_place,
        {"x_ptr": "*fp32", "value_ptr": "*fp32", "place_ptr": "*i32"},
        {"N": 256},
    ),
    Case(
        "selective_scan",
        selective_scan,
        {
            "x_ptr": "*fp32",
            "delta_ptr": "*fp32",
            "a_ptr": "*fp32",
            "b_ptr": "*fp32",
            "c_ptr": "*fp32",
            "out_ptr": "*fp32",
            "length": "i32",
        },
        {"STATES": 16, "CHUNK": 64},
    ),
    Case("sort_rows", sort_rows, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"DESCENDING": False, "M": 4, "N": 64}),
    Case(
        "sort_rows_descending", sort_rows, {"x_ptr": "*i16", "out_ptr": "*i16"}, {"DESCENDING": True, "M": 1, "N": 256}
    ),
    Case("largest_of_rows", largest_of_rows, {"x_ptr": "*fp16", "out_ptr": "*fp16"}, {"K": 8, "M": 4, "N": 64}),
    Case("merge_sorted", merge_sorted, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 64}),
    Case("count_values", count_values, {"x_ptr": "*i32", "out_ptr": "*i32", "limit": "i32"}, {"BINS": 64, "N": 512}),
    Case(
        "gather_rows",
        gather_along,
        {"x_ptr": "*fp32", "index_ptr": "*i32", "out_ptr": "*fp32"},
        {"AXIS": 0, "M": 16, "N": 32},
    ),
    Case(
        "gather_columns",
        gather_along,
        {"x_ptr": "*fp16", "index_ptr": "*i16", "out_ptr": "*fp16"},
        {"AXIS": 1, "M": 16, "N": 64},
    ),
    Case(
        "join_split_permute", join_split_permute, {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 128}
    ),
    Case(
        "rotary_embedding",
        rotary_embedding,
        {"x_ptr": "*bf16", "cos_ptr": "*fp32", "sin_ptr": "*fp32", "stride": "i32"},
        {"HEADS": 8, "HALF": 64},
    ),
]
