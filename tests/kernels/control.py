"""Control flow: loops of every kind and depth, branches, early returns."""

import triton.language as tl

import triton
from fork.equivalence.cases import Case


@triton.jit
def halve_while_even(x_ptr, out_ptr, limit):
    value = tl.load(x_ptr)
    steps = 0
    while value % 2 == 0 and steps < limit:
        value = value // 2
        steps += 1
    tl.store(out_ptr, value)
    tl.store(out_ptr + 1, steps)


@triton.jit
def while_with_hint(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    while tl.condition(tl.max(x) > limit, disable_licm=True):
        x = x * 0.5 + tl.load(x_ptr + BLOCK)
    tl.store(out_ptr + at, x)


@triton.jit
def while_over_tensors(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    turn = 0
    while turn < limit:
        inner = 0
        while inner < turn:
            x = x * 0.5 + inner
            inner += 2
        turn += 1
    tl.store(out_ptr + at, x)


@triton.jit
def nested_loops(x_ptr, out_ptr, a, b, c, d, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(a):
        row = tl.zeros([BLOCK], tl.float32)
        for j in range(0, b):
            for k in range(j, c, 2):
                scale = 1.0
                for m in range(d):
                    row += tl.load(x_ptr + ((i * b + j) * c + k) * d + m + at) * scale
                    scale *= 0.5
                row *= scale
            total += row
        total = tl.maximum(total, row)
    tl.store(out_ptr + at, total)


@triton.jit
def nested_loops_with_branches(x_ptr, out_ptr, a, b, c, d):
    best = -1.0
    place = 0
    for i in range(a):
        if i % 2 == 0:
            for j in range(b):
                value = tl.load(x_ptr + i * b + j)
                if value > best:
                    best = value
                    place = i * b + j
                else:
                    for k in range(c):
                        while value < best and k < d:
                            value = value * 2 + k
                        best = tl.maximum(best, value - k)
        else:
            place += 1
    tl.store(out_ptr, best)
    tl.store(out_ptr + 1, place)


@triton.jit
def unrolled_loops(x_ptr, out_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for i in tl.static_range(N):
        for j in tl.static_range(i, 2 * i + 1, 2):
            if (i + j) % 2 == 0:
                total += tl.load(x_ptr + (i * N + j) * BLOCK + at)
            else:
                total *= i + 0.5 * j
    for i in tl.static_range(N, 0, -1):
        total += i
    tl.store(out_ptr + at, total)


@triton.jit
def loop_options(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), flatten=True):
        total = tl.zeros([BLOCK], tl.float32)
        for start in tl.range(0, columns, BLOCK, num_stages=3, loop_unroll_factor=2):
            total += tl.load(x_ptr + row * columns + start + at)
        for start in tl.range(0, columns, BLOCK, disallow_acc_multi_buffer=True, disable_licm=True):
            total *= tl.load(x_ptr + row * columns + start + at)
        tl.store(out_ptr + row * BLOCK + at, total)


@triton.jit
def loop_downwards(x_ptr, out_ptr, count):
    total = 0.0
    for i in range(count - 1, -1, -1):
        total = total * 0.9 + tl.load(x_ptr + i)
    for i in range(10, 0, -3):
        total += i
    tl.store(out_ptr, total)


@triton.jit
def loop_over_long_integers(x_ptr, out_ptr, start, end, step):
    total = tl.zeros([], tl.float64)
    for i in range(start, end, step):
        total += tl.load(x_ptr + i)
    tl.store(out_ptr, total)


@triton.jit
def chain_of_branches(x_ptr, out_ptr, mode, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    if mode == 0:
        x = x + 1
    elif mode == 1:
        x = x * 2
    elif mode == 2:
        x = tl.exp(x)
    elif mode == 3:
        if tl.program_id(0) == 0:
            x = -x
        else:
            x = x * x
    elif mode == 4:
        x = tl.sqrt(x)
    else:
        x = tl.zeros_like(x)
    tl.store(out_ptr + at, x)


@triton.jit
def branches_on_constants(x_ptr, out_ptr, MODE: tl.constexpr, EXTRA: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    if MODE == "double":
        y = x * 2
    elif MODE == "half":
        y = x / 2
    else:
        tl.static_assert(False, "an unknown mode")
    if EXTRA is not None:
        y += EXTRA
    tl.store(out_ptr + at, y if BLOCK >= 128 else -y)


@triton.jit
def leave_early(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    if block * BLOCK >= count:
        return
    at = block * BLOCK + tl.arange(0, BLOCK)
    if tl.load(x_ptr) < 0:
        tl.store(out_ptr + at, 0.0)
        return
    tl.store(out_ptr + at, tl.load(x_ptr + at))


@triton.jit
def first_above(x_ptr, count, threshold):
    place = -1
    for i in range(count):
        if place < 0:
            if tl.load(x_ptr + i) > threshold:
                place = i
    return place


@triton.jit
def sign_of(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0


@triton.jit
def results_of_branches(x_ptr, out_ptr, count, threshold):
    place = first_above(x_ptr, count, threshold)
    tl.store(out_ptr, place + sign_of(place) * sign_of(threshold))


@triton.jit
def swap_in_loop(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    left = tl.load(x_ptr + at)
    right = tl.load(x_ptr + BLOCK + at)
    for i in range(count):
        left, right = right, left + right
        both = (left, right)
        left = both[0] * 0.5 + i
    tl.store(out_ptr + at, left - right)


CASES = [
    Case("halve_while_even", halve_while_even, {"x_ptr": "*i32", "out_ptr": "*i32", "limit": "i32"}),
    Case(
        "while_with_hint",
        while_with_hint,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "limit": "fp32"},
        {"BLOCK": 128},
    ),
    Case(
        "while_over_tensors", while_over_tensors, {"x_ptr": "*fp32", "out_ptr": "*fp32", "limit": "i32"}, {"BLOCK": 128}
    ),
    Case(
        "nested_loops",
        nested_loops,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "a": "i32", "b": "i32", "c": "i32", "d": "i32"},
        {"BLOCK": 128},
    ),
    Case(
        "nested_loops_with_branches",
        nested_loops_with_branches,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "a": "i32", "b": "i32", "c": "i32", "d": "i32"},
    ),
    Case("unrolled_loops", unrolled_loops, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 4, "BLOCK": 128}),
    Case(
        "loop_options",
        loop_options,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "columns": "i32"},
        {"BLOCK": 256},
    ),
    Case("loop_downwards", loop_downwards, {"x_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32"}),
    Case(
        "loop_over_long_integers",
        loop_over_long_integers,
        {"x_ptr": "*fp64", "out_ptr": "*fp64", "start": "i32", "end": "i64", "step": "i32"},
    ),
    Case("chain_of_branches", chain_of_branches, {"x_ptr": "*fp32", "out_ptr": "*fp32", "mode": "i32"}, {"BLOCK": 128}),
    Case(
        "branches_on_constants",
        branches_on_constants,
        {"x_ptr": "*fp32", "out_ptr": "*fp32"},
        {"MODE": "half", "EXTRA": None, "BLOCK": 128},
    ),
    Case(
        "branches_on_other_constants",
        branches_on_constants,
        {"x_ptr": "*fp32", "out_ptr": "*fp32"},
        {"MODE": "double", "EXTRA": 1.5, "BLOCK": 64},
    ),
    Case("leave_early", leave_early, {"x_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32"}, {"BLOCK": 256}),
    Case(
        "results_of_branches",
        results_of_branches,
        {"x_ptr": "*fp32", "out_ptr": "*i32", "count": "i32", "threshold": "fp32"},
    ),
    Case("swap_in_loop", swap_in_loop, {"x_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32"}, {"BLOCK": 128}),
]
