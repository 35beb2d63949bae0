"""Convolutions and pooling."""

import triton.language as tl

import triton
from fork.equivalence.cases import Case, aligned


@triton.jit
def causal_depthwise(
    x_ptr,
    weight_ptr,
    bias_ptr,
    out_ptr,
    channels,
    length,
    WIDTH: tl.constexpr,
    ACTIVATE: tl.constexpr,
    C: tl.constexpr,
    T: tl.constexpr,
):
    channel = tl.program_id(0) * C + tl.arange(0, C)
    time = tl.program_id(1) * T + tl.arange(0, T)
    known = (channel < channels)[:, None]
    total = tl.zeros((C, T), tl.float32)
    for tap in tl.static_range(WIDTH):
        back = time - (WIDTH - 1 - tap)
        weight = tl.load(weight_ptr + channel * WIDTH + tap, mask=channel < channels, other=0.0)
        x = tl.load(
            x_ptr + channel[:, None] * length + back[None, :],
            mask=known & (back >= 0)[None, :] & (back < length)[None, :],
            other=0.0,
        )
        total += x * weight[:, None]
    if bias_ptr is not None:
        total += tl.load(bias_ptr + channel, mask=channel < channels, other=0.0)[:, None]
    if ACTIVATE:
        total = total * tl.sigmoid(total)
    tl.store(out_ptr + channel[:, None] * length + time[None, :], total, mask=known & (time < length)[None, :])


@triton.jit
def as_matrix_product(
    x_ptr,
    weight_ptr,
    out_ptr,
    batch,
    height,
    width,
    c_in,
    c_out,
    out_height,
    out_width,
    R: tl.constexpr,
    S: tl.constexpr,
    STRIDE: tl.constexpr,
    PADDING: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    place = tl.program_id(0) * M + tl.arange(0, M)
    image = place // (out_height * out_width)
    rest = place % (out_height * out_width)
    top = rest // out_width * STRIDE - PADDING
    left = rest % out_width * STRIDE - PADDING
    filters = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for r in range(R):
        for s in range(S):
            y = top + r
            x = left + s
            inside = (image < batch) & (y >= 0) & (y < height) & (x >= 0) & (x < width)
            for start in range(0, c_in, K):
                channel = start + tl.arange(0, K)
                pixels = tl.load(
                    x_ptr + ((image * height + y) * width + x)[:, None] * c_in + channel[None, :],
                    mask=inside[:, None] & (channel < c_in)[None, :],
                    other=0.0,
                )
                weight = tl.load(
                    weight_ptr + ((filters[None, :] * R + r) * S + s) * c_in + channel[:, None],
                    mask=(filters < c_out)[None, :] & (channel < c_in)[:, None],
                    other=0.0,
                )
                total = tl.dot(pixels, weight, total)
    tl.store(
        out_ptr + place[:, None] * c_out + filters[None, :],
        total.to(tl.float16),
        mask=(image < batch)[:, None] & (filters < c_out)[None, :],
    )


@triton.jit
def pool(x_ptr, out_ptr, height, width, out_width, SIZE: tl.constexpr, MAXIMUM: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    best = tl.full([BLOCK], float("-inf") if MAXIMUM else 0.0, tl.float32)
    for i in tl.static_range(SIZE):
        for j in tl.static_range(SIZE):
            y = row * SIZE + i
            x = column * SIZE + j
            value = tl.load(
                x_ptr + y * width + x, mask=(x < width) & (y < height), other=float("-inf") if MAXIMUM else 0.0
            )
            if MAXIMUM:
                best = tl.maximum(best, value)
            else:
                best += value / (SIZE * SIZE)
    tl.store(out_ptr + row * out_width + column, best, mask=column < out_width)


CASES = [
    Case(
        "causal_depthwise",
        causal_depthwise,
        {
            "x_ptr": "*fp32",
            "weight_ptr": "*fp32",
            "bias_ptr": "*fp32",
            "out_ptr": "*fp32",
            "channels": "i32",
            "length": "i32",
        },
        {"WIDTH": 4, "ACTIVATE": True, "C": 8, "T": 64},
    ),
    Case(
        "causal_depthwise_without_bias",
        causal_depthwise,
        {"x_ptr": "*bf16", "weight_ptr": "*bf16", "out_ptr": "*bf16", "channels": "i32", "length": "i32"},
        {"bias_ptr": None, "WIDTH": 3, "ACTIVATE": False, "C": 8, "T": 64},
    ),
    Case(
        "as_matrix_product",
        as_matrix_product,
        {"x_ptr": "*fp16", "weight_ptr": "*fp16", "out_ptr": "*fp16"}
        | {name: "i32" for name in ("batch", "height", "width", "c_in", "c_out", "out_height", "out_width")},
        {"R": 3, "S": 3, "STRIDE": 2, "PADDING": 1, "M": 64, "N": 64, "K": 32},
        aligned("x_ptr", "weight_ptr", "out_ptr", "c_in", "c_out"),
    ),
    Case(
        "pool_maximum",
        pool,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "height": "i32", "width": "i32", "out_width": "i32"},
        {"SIZE": 2, "MAXIMUM": True, "BLOCK": 128},
    ),
    Case(
        "pool_mean",
        pool,
        {"x_ptr": "*fp16", "out_ptr": "*fp16", "height": "i32", "width": "i32", "out_width": "i32"},
        {"SIZE": 3, "MAXIMUM": False, "BLOCK": 128},
    ),
]
