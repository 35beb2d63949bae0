"""Attention, forward and backward, and convolution: kernels of the size that training runs on."""

import triton.language as tl

import triton
from fork.equivalence.cases import DATACENTER_BLACKWELL, Case, aligned


@triton.jit
def scores_and_values(
    total,
    weights,
    highest,
    q,
    k_block,
    v_block,
    rows,
    scale,
    low,
    high,
    context,
    D: tl.constexpr,
    N: tl.constexpr,
    MASKED: tl.constexpr,
    BIAS: tl.constexpr,
):
    k_block = tl.advance(k_block, (0, low))
    v_block = tl.advance(v_block, (low, 0))
    for start in range(low, high, N):
        start = tl.multiple_of(start, N)
        columns = start + tl.arange(0, N)
        scores = tl.dot(q, tl.load(k_block)) * scale
        if BIAS is not None:
            scores += BIAS(rows[:, None], columns[None, :])
        if MASKED:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -1.0e6)
        higher = tl.maximum(highest, tl.max(scores, 1))
        powers = tl.math.exp2(scores - higher[:, None])
        shrink = tl.math.exp2(highest - higher)
        weights = weights * shrink + tl.sum(powers, 1)
        total = total * shrink[:, None]
        total = tl.dot(powers.to(q.dtype), tl.load(v_block), total)
        highest = higher
        k_block = tl.advance(k_block, (0, N))
        v_block = tl.advance(v_block, (N, 0))
    return total, weights, highest


@triton.jit
def linear_bias(row, column):
    return (column - row).to(tl.float32) * 0.0625


@triton.jit
def forward(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    log_ptr,
    scale,
    stride_z,
    stride_h,
    stride_n,
    heads,
    context,
    D: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    CAUSAL: tl.constexpr,
    BIAS: tl.constexpr,
):
    tile = tl.program_id(0)
    head = tl.program_id(1)
    offset = (head // heads).to(tl.int64) * stride_z + (head % heads).to(tl.int64) * stride_h
    q_block = tl.make_block_ptr(q_ptr + offset, (context, D), (stride_n, 1), (tile * M, 0), (M, D), (1, 0))
    k_block = tl.make_block_ptr(k_ptr + offset, (D, context), (1, stride_n), (0, 0), (D, N), (0, 1))
    v_block = tl.make_block_ptr(v_ptr + offset, (context, D), (stride_n, 1), (0, 0), (N, D), (1, 0))
    out_block = tl.make_block_ptr(out_ptr + offset, (context, D), (stride_n, 1), (tile * M, 0), (M, D), (1, 0))
    rows = tile * M + tl.arange(0, M)
    highest = tl.zeros([M], tl.float32) - float("inf")
    weights = tl.zeros([M], tl.float32) + 1.0
    total = tl.zeros([M, D], tl.float32)
    scale *= 1.4426950408889634
    q = tl.load(q_block)
    if CAUSAL:
        total, weights, highest = scores_and_values(
            total, weights, highest, q, k_block, v_block, rows, scale, 0, tile * M, context, D, N, False, BIAS
        )
        total, weights, highest = scores_and_values(
            total,
            weights,
            highest,
            q,
            k_block,
            v_block,
            rows,
            scale,
            tile * M,
            (tile + 1) * M,
            context,
            D,
            N,
            True,
            BIAS,
        )
    else:
        total, weights, highest = scores_and_values(
            total, weights, highest, q, k_block, v_block, rows, scale, 0, context, context, D, N, False, BIAS
        )
    tl.store(log_ptr + head * context + rows, highest + tl.math.log2(weights))
    tl.store(out_block, (total / weights[:, None]).to(out_ptr.type.element_ty))


@triton.jit
def forward_with_descriptors(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    scale,
    total_rows,
    context,
    D: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    STAGES: tl.constexpr,
    SPECIALISE: tl.constexpr,
):
    q = tl.make_tensor_descriptor(q_ptr, [total_rows, D], [D, 1], [M, D])
    k = tl.make_tensor_descriptor(k_ptr, [total_rows, D], [D, 1], [N, D])
    v = tl.make_tensor_descriptor(v_ptr, [total_rows, D], [D, 1], [N, D])
    out = tl.make_tensor_descriptor(out_ptr, [total_rows, D], [D, 1], [M, D])
    first = tl.program_id(1) * context
    place = first + tl.program_id(0) * M
    highest = tl.full([M], float("-inf"), tl.float32)
    weights = tl.zeros([M], tl.float32)
    total = tl.zeros([M, D], tl.float32)
    query = q.load([place, 0])
    for start in tl.range(0, context, N, num_stages=STAGES, warp_specialize=SPECIALISE):
        scores = tl.dot(query, k.load([first + start, 0]).T) * scale
        higher = tl.maximum(highest, tl.max(scores, 1))
        powers = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(highest - higher)
        weights = weights * shrink + tl.sum(powers, 1)
        total = tl.dot(powers.to(query.dtype), v.load([first + start, 0]), total * shrink[:, None])
        highest = higher
    out.store([place, 0], (total / weights[:, None]).to(query.dtype))


@triton.jit
def backward_prepare(out_ptr, grad_ptr, delta_ptr, context, M: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    at = tl.program_id(1) * context * D + rows[:, None] * D + tl.arange(0, D)[None, :]
    delta = tl.sum(tl.load(out_ptr + at) * tl.load(grad_ptr + at).to(tl.float32), axis=1)
    tl.store(delta_ptr + tl.program_id(1) * context + rows, delta)


@triton.jit
def backward_of_keys(
    dk,
    dv,
    q_ptr,
    k,
    v,
    grad_ptr,
    log_ptr,
    delta_ptr,
    stride,
    start_n,
    start_m,
    steps,
    M: tl.constexpr,
    N: tl.constexpr,
    D: tl.constexpr,
    MASKED: tl.constexpr,
):
    columns = start_n + tl.arange(0, N)
    depth = tl.arange(0, D)
    rows = start_m + tl.arange(0, M)
    qt_ptrs = q_ptr + rows[None, :] * stride + depth[:, None]
    grad_ptrs = grad_ptr + rows[:, None] * stride + depth[None, :]
    tl.static_assert(N % M == 0)
    current = start_m
    for _ in range(steps):
        qt = tl.load(qt_ptrs)
        rows = current + tl.arange(0, M)
        logs = tl.load(log_ptr + rows)
        pt = tl.math.exp2(tl.dot(k, qt) - logs[None, :])
        if MASKED:
            pt = tl.where(rows[None, :] >= columns[:, None], pt, 0.0)
        grad = tl.load(grad_ptrs)
        dv += tl.dot(pt.to(tl.float16), grad)
        delta = tl.load(delta_ptr + rows)
        dpt = tl.dot(v, tl.trans(grad)).to(tl.float32)
        dk += tl.dot((pt * (dpt - delta[None, :])).to(tl.float16), tl.trans(qt))
        current += M
        qt_ptrs += M * stride
        grad_ptrs += M * stride
    return dk, dv


@triton.jit
def backward_of_queries(
    dq,
    q,
    k_ptr,
    v_ptr,
    grad,
    logs,
    delta_ptr,
    stride,
    start_m,
    start_n,
    steps,
    M: tl.constexpr,
    N: tl.constexpr,
    D: tl.constexpr,
    MASKED: tl.constexpr,
):
    rows = start_m + tl.arange(0, M)
    depth = tl.arange(0, D)
    columns = start_n + tl.arange(0, N)
    kt_ptrs = k_ptr + columns[None, :] * stride + depth[:, None]
    vt_ptrs = v_ptr + columns[None, :] * stride + depth[:, None]
    delta = tl.load(delta_ptr + rows)
    current = start_n
    for _ in range(steps):
        kt = tl.load(kt_ptrs)
        p = tl.math.exp2(tl.dot(q, kt) - logs)
        if MASKED:
            columns = current + tl.arange(0, N)
            p = tl.where(rows[:, None] >= columns[None, :], p, 0.0)
        dp = tl.dot(grad, tl.load(vt_ptrs)).to(tl.float32)
        dq += tl.dot((p * (dp - delta[:, None])).to(tl.float16), tl.trans(kt))
        current += N
        kt_ptrs += N * stride
        vt_ptrs += N * stride
    return dq


@triton.jit
def backward(
    q_ptr,
    k_ptr,
    v_ptr,
    scale,
    grad_ptr,
    dq_ptr,
    dk_ptr,
    dv_ptr,
    log_ptr,
    delta_ptr,
    stride_z,
    stride_h,
    stride,
    heads,
    context,
    M1: tl.constexpr,
    N1: tl.constexpr,
    M2: tl.constexpr,
    N2: tl.constexpr,
    SLICES: tl.constexpr,
    D: tl.constexpr,
):
    head = tl.program_id(2)
    line = (head * context).to(tl.int64)
    offset = (stride_h * (head % heads) + stride_z * (head // heads)).to(tl.int64)
    tile = tl.program_id(0)
    q_ptr += offset
    k_ptr += offset
    v_ptr += offset
    grad_ptr += offset
    dq_ptr += offset
    dk_ptr += offset
    dv_ptr += offset
    log_ptr += line
    delta_ptr += line
    depth = tl.arange(0, D)
    start_n = tile * N1
    start_m = start_n
    masked: tl.constexpr = M1 // SLICES
    columns = start_n + tl.arange(0, N1)
    at = columns[:, None] * stride + depth[None, :]
    dv = tl.zeros([N1, D], dtype=tl.float32)
    dk = tl.zeros([N1, D], dtype=tl.float32)
    k = tl.load(k_ptr + at)
    v = tl.load(v_ptr + at)
    dk, dv = backward_of_keys(
        dk, dv, q_ptr, k, v, grad_ptr, log_ptr, delta_ptr, stride, start_n, start_m, N1 // masked, masked, N1, D, True
    )
    start_m += N1
    dk, dv = backward_of_keys(
        dk,
        dv,
        q_ptr,
        k,
        v,
        grad_ptr,
        log_ptr,
        delta_ptr,
        stride,
        start_n,
        start_m,
        (context - start_m) // M1,
        M1,
        N1,
        D,
        False,
    )
    tl.store(dv_ptr + at, dv)
    tl.store(dk_ptr + at, dk * scale)
    start_m = tile * M2
    narrow: tl.constexpr = N2 // SLICES
    rows = start_m + tl.arange(0, M2)
    at = rows[:, None] * stride + depth[None, :]
    q = tl.load(q_ptr + at)
    grad = tl.load(grad_ptr + at)
    logs = tl.load(log_ptr + rows)[:, None]
    dq = tl.zeros([M2, D], dtype=tl.float32)
    end = start_m + M2
    dq = backward_of_queries(
        dq, q, k_ptr, v_ptr, grad, logs, delta_ptr, stride, start_m, end - M2, M2 // narrow, M2, narrow, D, True
    )
    end -= M2
    dq = backward_of_queries(
        dq, q, k_ptr, v_ptr, grad, logs, delta_ptr, stride, start_m, 0, end // N2, M2, N2, D, False
    )
    tl.store(dq_ptr + at, dq * 0.6931471824645996)


@triton.jit
def decode_with_pages(
    q_ptr,
    cache_ptr,
    pages_ptr,
    lengths_ptr,
    part_ptr,
    scale,
    page_stride,
    max_pages,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    PAGE: tl.constexpr,
    SPLITS: tl.constexpr,
):
    sequence = tl.program_id(0)
    split = tl.program_id(1)
    length = tl.load(lengths_ptr + sequence)
    pages = tl.cdiv(length, PAGE)
    each = tl.cdiv(pages, SPLITS)
    first = split * each
    last = tl.minimum(first + each, pages)
    heads = tl.arange(0, HEADS)
    depth = tl.arange(0, D)
    slots = tl.arange(0, PAGE)
    q = tl.load(q_ptr + sequence * HEADS * D + heads[:, None] * D + depth[None, :])
    highest = tl.full([HEADS], float("-inf"), tl.float32)
    weights = tl.zeros([HEADS], tl.float32)
    total = tl.zeros([HEADS, D], tl.float32)
    if first < last:
        for index in range(first, last):
            page = tl.load(pages_ptr + sequence * max_pages + index).to(tl.int64)
            base = cache_ptr + page * page_stride
            known = index * PAGE + slots < length
            k = tl.load(base + slots[None, :] * D + depth[:, None], mask=known[None, :], other=0.0)
            v = tl.load(base + PAGE * D + slots[:, None] * D + depth[None, :], mask=known[:, None], other=0.0)
            scores = tl.where(known[None, :], tl.dot(q, k) * scale, float("-inf"))
            higher = tl.maximum(highest, tl.max(scores, 1))
            shrink = tl.exp(highest - higher)
            powers = tl.exp(scores - higher[:, None])
            weights = weights * shrink + tl.sum(powers, 1)
            total = total * shrink[:, None] + tl.dot(powers.to(v.dtype), v)
            highest = higher
    place = (sequence * SPLITS + split) * HEADS
    tl.store(part_ptr + (place + heads)[:, None] * (D + 1) + depth[None, :], total / weights[:, None])
    tl.store(part_ptr + (place + heads) * (D + 1) + D, highest + tl.log(weights))


@triton.jit
def join_splits(part_ptr, out_ptr, D: tl.constexpr, SPLITS: tl.constexpr):
    line = tl.program_id(0)
    splits = tl.arange(0, SPLITS)
    logs = tl.load(part_ptr + (line * SPLITS + splits) * (D + 1) + D)
    share = tl.exp(logs - tl.max(logs, 0))
    parts = tl.load(part_ptr + (line * SPLITS + splits)[:, None] * (D + 1) + tl.arange(0, D)[None, :])
    tl.store(out_ptr + line * D + tl.arange(0, D), tl.sum(parts * share[:, None], 0) / tl.sum(share, 0))


@triton.jit
def linear_attention_in_chunks(q_ptr, k_ptr, v_ptr, decay_ptr, out_ptr, context, C: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    offset = head.to(tl.int64) * context * D
    decay = tl.load(decay_ptr + head)
    steps = tl.arange(0, C)
    depth = tl.arange(0, D)
    within = tl.where(steps[:, None] >= steps[None, :], tl.exp2((steps[:, None] - steps[None, :]) * decay), 0.0)
    state = tl.zeros([D, D], tl.float32)
    for start in range(0, context, C):
        at = offset + (start + steps)[:, None] * D + depth[None, :]
        q = tl.load(q_ptr + at)
        k = tl.load(k_ptr + at)
        v = tl.load(v_ptr + at)
        near = tl.dot((tl.dot(q, tl.trans(k)) * within).to(v.dtype), v)
        far = tl.dot(q, state.to(q.dtype)) * tl.exp2((steps + 1) * decay)[:, None]
        tl.store(out_ptr + at, (near + far).to(out_ptr.dtype.element_ty))
        faded = (k * tl.exp2((C - 1 - steps) * decay)[:, None]).to(v.dtype)
        state = state * tl.exp2(C * decay) + tl.dot(tl.trans(faded), v)


TENSORS = {"q_ptr": "*fp16", "k_ptr": "*fp16", "v_ptr": "*fp16"}
FORWARD = TENSORS | {
    "out_ptr": "*fp16",
    "log_ptr": "*fp32",
    "scale": "fp32",
    "stride_z": "i32",
    "stride_h": "i32",
    "stride_n": "i32",
    "heads": "i32",
    "context": "i32",
}
FORWARD_FACTS = aligned("q_ptr", "k_ptr", "v_ptr", "out_ptr", "log_ptr", "stride_z", "stride_h", "stride_n", "context")
DESCRIBED = TENSORS | {"out_ptr": "*fp16", "scale": "fp32", "total_rows": "i32", "context": "i32"}
BACKWARD = TENSORS | {
    "scale": "fp32",
    "grad_ptr": "*fp16",
    "dq_ptr": "*fp16",
    "dk_ptr": "*fp16",
    "dv_ptr": "*fp16",
    "log_ptr": "*fp32",
    "delta_ptr": "*fp32",
    "stride_z": "i32",
    "stride_h": "i32",
    "stride": "i32",
    "heads": "i32",
    "context": "i32",
}

CASES = [
    Case("forward", forward, FORWARD, {"D": 64, "M": 64, "N": 64, "CAUSAL": False, "BIAS": None}, FORWARD_FACTS),
    Case(
        "forward_causal",
        forward,
        FORWARD,
        {"D": 64, "M": 128, "N": 64, "CAUSAL": True, "BIAS": None},
        FORWARD_FACTS,
        {"num_warps": 8, "num_stages": 2},
    ),
    Case(
        "forward_with_bias",
        forward,
        FORWARD,
        {"D": 64, "M": 64, "N": 32, "CAUSAL": True, "BIAS": linear_bias},
        FORWARD_FACTS,
    ),
    Case(
        "forward_with_descriptors",
        forward_with_descriptors,
        DESCRIBED,
        {"D": 64, "M": 64, "N": 64, "STAGES": 2, "SPECIALISE": False},
        aligned("q_ptr", "k_ptr", "v_ptr", "out_ptr", "context"),
    ),
    Case(
        "forward_specialised",
        forward_with_descriptors,
        DESCRIBED,
        {"D": 128, "M": 128, "N": 128, "STAGES": 2, "SPECIALISE": True},
        aligned("q_ptr", "k_ptr", "v_ptr", "out_ptr", "context"),
        targets=DATACENTER_BLACKWELL,
    ),
    Case(
        "backward_prepare",
        backward_prepare,
        {"out_ptr": "*fp16", "grad_ptr": "*fp16", "delta_ptr": "*fp32", "context": "i32"},
        {"M": 128, "D": 64},
        aligned("out_ptr", "grad_ptr"),
    ),
    Case(
        "backward",
        backward,
        BACKWARD,
        {"M1": 32, "N1": 64, "M2": 64, "N2": 32, "SLICES": 2, "D": 64},
        aligned(*[n for n in BACKWARD if n not in ("scale", "heads")]),
    ),
    Case(
        "decode_with_pages",
        decode_with_pages,
        {
            "q_ptr": "*bf16",
            "cache_ptr": "*bf16",
            "pages_ptr": "*i32",
            "lengths_ptr": "*i32",
            "part_ptr": "*fp32",
            "scale": "fp32",
            "page_stride": "i64",
            "max_pages": "i32",
        },
        {"HEADS": 16, "D": 128, "PAGE": 16, "SPLITS": 8},
        aligned("q_ptr", "cache_ptr", "page_stride"),
    ),
    Case("join_splits", join_splits, {"part_ptr": "*fp32", "out_ptr": "*bf16"}, {"D": 128, "SPLITS": 8}),
    Case(
        "linear_attention_in_chunks",
        linear_attention_in_chunks,
        TENSORS | {"decay_ptr": "*fp32", "out_ptr": "*fp16", "context": "i32"},
        {"C": 64, "D": 64},
        aligned("q_ptr", "k_ptr", "v_ptr", "out_ptr"),
    ),
]
