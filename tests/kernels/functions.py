"""What the language can do with functions and values at compile time."""

from typing import NamedTuple

import triton.language as tl

import triton
from fork.equivalence.cases import Case, aligned

SCALE = tl.constexpr(0.125)
LIMITS = tl.constexpr((2, 6))


@triton.constexpr_function
def next_power(n):
    return 1 << (n - 1).bit_length()


@triton.constexpr_function
def digits(n, base=10):
    found = []
    while n:
        n, digit = divmod(n, base)
        found.append(digit)
    return tuple(found)


@triton.jit
def functions_of_constants(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, next_power(N))
    x = tl.load(x_ptr + at, mask=at < N, other=0.0)
    wanted: tl.constexpr = digits(N, base=7)
    for place in tl.static_range(len(wanted)):
        x += wanted[place] * SCALE
    tl.store(out_ptr + at, x * LIMITS[0] - LIMITS[1], mask=at < N)


class Strided(NamedTuple):
    pointer: tl.tensor
    stride: tl.tensor


class Line(NamedTuple):
    slope: tl.tensor
    level: tl.tensor


@triton.jit
def divide_with_rest(a, b):
    quotient = a // b
    return quotient, a - quotient * b


@triton.jit
def fit(x, y):
    slope = tl.sum(x * y) / tl.sum(x * x)
    return Line(slope, tl.sum(y - slope * x))


@triton.jit
def tuples(pair, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    pointer, step = pair
    quotient, rest = divide_with_rest(tl.load(pointer + at * step), 3)
    longer = (quotient, rest) + (at,)
    total = longer[0] * longer[-1]
    for part in tl.static_range(len(longer)):
        total += longer[part]
    first, second, third = longer[0:2] + (total,)
    tl.store(out_ptr + at, third - first * second)


@triton.jit
def named_tuples(x: Strided, y: Strided, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    line = fit(tl.load(x.pointer + at * x.stride), tl.load(y.pointer + at * y.stride))
    tl.store(out_ptr + at, line.slope * at + line.level)


@triton.jit
def nested_tuples(arguments, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.load(arguments[0][0] + at) * arguments[0][1]
    if arguments[1][0] is not None:
        total += tl.load(arguments[1][0] + at)
    tl.store(out_ptr + at, total * arguments[1][1])


@tl.core._aggregate
class Window:
    start: tl.tensor
    length: tl.constexpr

    @triton.constexpr_function
    def __init__(self, start, length):
        self.start = start
        self.length = tl.constexpr(length)

    @triton.jit
    def places(self):
        return self.start + tl.arange(0, self.length)

    @triton.jit
    def moved(self, by):
        return Window(self.start + by, self.length)


@tl.core._aggregate
class Accumulator:
    total: tl.tensor
    window: Window

    @triton.constexpr_function
    def __init__(self, total, window):
        self.total = total
        self.window = window

    @triton.jit
    def add(self, pointer, factor=1.0):
        return Accumulator(
            self.total + tl.load(pointer + self.window.places()) * factor, self.window.moved(self.window.length)
        )


@triton.jit
def aggregates(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    state = Accumulator(tl.zeros([BLOCK], tl.float32), Window(tl.program_id(0) * BLOCK, BLOCK))
    for i in range(count):
        state = state.add(x_ptr, factor=i)
        if i % 2 == 0:
            state = state.add(x_ptr)
    tl.store(out_ptr + state.window.places(), state.total)


@triton.jit
def square(x):
    return x * x


@triton.jit
def negate(x):
    return -x


@triton.jit
def twice(function: tl.constexpr, x):
    return function(function(x))


@triton.jit
def functions_as_arguments(x_ptr, out_ptr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, twice(FUNCTION, tl.load(x_ptr + at)) + twice(square, at))


def closing_over(function, factor):
    factor = tl.constexpr(factor)

    @triton.jit
    def inner(x):
        return function(x) * factor

    @triton.jit
    def closure(x_ptr, out_ptr, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out_ptr + at, inner(tl.load(x_ptr + at)) + factor)

    return closure


@triton.jit
def power(x, N: tl.constexpr):
    if N == 0:
        return x * 0 + 1
    elif N % 2 == 0:
        return square(power(x, N // 2))
    else:
        return x * power(x, N - 1)


@triton.jit
def sum_tree(x_ptr, at, DEPTH: tl.constexpr):
    if DEPTH == 0:
        return tl.load(x_ptr + at)
    else:
        return sum_tree(x_ptr, 2 * at, DEPTH - 1) + sum_tree(x_ptr, 2 * at + 1, DEPTH - 1)


@triton.jit
def recursion_by_specialisation(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, power(tl.load(x_ptr + at), 13) + sum_tree(x_ptr, at, 3))


@triton.jit(noinline=True)
def mix_apart(x, y, scale):
    if scale > 1:
        x = x * scale
    return x + y, x - y


@triton.jit(noinline=True)
def store_apart(pointer, value):
    tl.store(pointer, value)


@triton.jit
def separate_functions(x_ptr, out_ptr, scale):
    total, difference = mix_apart(tl.load(x_ptr), tl.load(x_ptr + 1), scale)
    total, difference = mix_apart(total, difference, 2.0)
    store_apart(out_ptr, total)
    store_apart(out_ptr + 1, difference)


@triton.jit
def with_defaults(x, scale=2.0, offset: tl.constexpr = 1, other=None):
    x = x * scale + offset
    if other is not None:
        x += other
    return x


@triton.jit
def default_and_keyword_arguments(x_ptr, out_ptr, extra, BLOCK: tl.constexpr = 128):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    x = with_defaults(x) + with_defaults(x, offset=3) + with_defaults(x, 4.0, other=x) + with_defaults(scale=0.5, x=x)
    if extra is not None:
        x += tl.load(extra + at)
    tl.store(out_ptr + at, x)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 128}, num_warps=2),
        triton.Config({"BLOCK": 512}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK": 2048}, num_warps=8),
    ],
    key=["count"],
)
@triton.jit
def tuned(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < count) * 3, mask=at < count)


@triton.heuristics(
    {
        "BLOCK": lambda arguments: triton.next_power_of_2(arguments["count"]),
        "EVEN": lambda arguments: arguments["count"] % arguments["BLOCK"] == 0,
    }
)
@triton.jit
def guessed(x_ptr, out_ptr, count, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + at, tl.load(x_ptr + at) + 1)
    else:
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < count) + 1, mask=at < count)


@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024}, maxnreg=64)], key=[])
@triton.heuristics({"EVEN": lambda arguments: arguments["count"] % 2 == 0})
@triton.jit
def tuned_and_guessed(x_ptr, out_ptr, count, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < count) + EVEN, mask=at < count)


@triton.jit
def compare_pair(a, b, c):
    if a < b:
        return -1, a + c
    elif a > b:
        return 1, b - c
    else:
        return 0, c


@triton.jit
def scalar_function_on_elements(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    sign, rest = tl.map_elementwise(compare_pair, tl.load(x_ptr + at), tl.load(y_ptr + at), at)
    tl.store(out_ptr + at, sign + rest)


@triton.jit
def checks_at_compile_time(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 32 == 0, "whole warps only")
    tl.static_assert(x_ptr.dtype.element_ty == tl.float32)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    width: tl.constexpr = x.dtype.primitive_bitwidth // 8
    count: tl.constexpr = x.shape[0] * width
    if x.type.is_block() and not x.dtype.is_fp16():
        x += count
    if isinstance(x, tl.tensor):
        x += len(x.shape)
    tl.store(out_ptr + at, x.to(out_ptr.type.element_ty))


@triton.jit(do_not_specialize=["count"], do_not_specialize_on_alignment=["out_ptr"])
def annotated(x_ptr, out_ptr, count: tl.int64, scale: "fp32", BLOCK: tl.constexpr):  # noqa: F821
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < count) * scale, mask=at < count)


def rename(specialisation):
    return f"renamed_{specialisation.constants['BLOCK']}"


@triton.jit(repr=rename)
def with_own_name(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


VECTORS = {"x_ptr": "*fp32", "out_ptr": "*fp32"}
MANY = triton.jit  # a plain alias, as users have it


@MANY
def thirty_arguments(
    p0,
    p1,
    p2,
    p3,
    p4,
    p5,
    p6,
    p7,
    p8,
    p9,
    i0,
    i1,
    i2,
    i3,
    i4,
    i5,
    i6,
    i7,
    i8,
    i9,
    f0,
    f1,
    f2,
    f3,
    f4,
    f5,
    f6,
    f7,
    f8,
    f9,
):
    integers = i0 + i1 + i2 + i3 + i4 + i5 + i6 + i7 + i8 + i9
    floats = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9
    loads = (
        tl.load(p1) + tl.load(p2) + tl.load(p3) + tl.load(p4) + tl.load(p5) + tl.load(p6) + tl.load(p7) + tl.load(p8)
    )
    tl.store(p0, loads + floats)
    tl.store(p9, integers)


CASES = [
    Case("functions_of_constants", functions_of_constants, VECTORS, {"N": 100}),
    Case("tuples", tuples, {"pair": ("*i32", "i32"), "out_ptr": "*i32"}, {"BLOCK": 128}),
    Case(
        "named_tuples",
        named_tuples,
        {"x": Strided("*fp32", "i32"), "y": Strided("*fp32", "i64"), "out_ptr": "*fp32"},
        {"BLOCK": 64},
    ),
    Case(
        "nested_tuples",
        nested_tuples,
        {"arguments": (("*fp32", "fp32"), ("constexpr", "i32")), "out_ptr": "*fp32"},
        {(0, 1, 0): None, "BLOCK": 64},
    ),
    Case("aggregates", aggregates, VECTORS | {"count": "i32"}, {"BLOCK": 128}),
    Case("functions_as_arguments", functions_as_arguments, VECTORS, {"FUNCTION": negate, "BLOCK": 128}),
    Case("closure", closing_over(square, 3), VECTORS, {"BLOCK": 128}),
    Case("closure_of_another_function", closing_over(negate, 0.5), VECTORS, {"BLOCK": 128}),
    Case("recursion_by_specialisation", recursion_by_specialisation, VECTORS, {"BLOCK": 128}),
    Case("separate_functions", separate_functions, VECTORS | {"scale": "fp32"}),
    Case("default_and_keyword_arguments", default_and_keyword_arguments, VECTORS, {"extra": None, "BLOCK": 128}),
    Case(
        "default_and_keyword_arguments_given",
        default_and_keyword_arguments,
        VECTORS | {"extra": "*fp32"},
        {"BLOCK": 64},
    ),
    Case("tuned", tuned, VECTORS | {"count": "i32"}, attributes=aligned("x_ptr", "out_ptr", "count")),
    Case("guessed_even", guessed, VECTORS | {"count": "i32"}, examples={"count": 512}),
    Case("guessed_odd", guessed, VECTORS | {"count": "i32"}, examples={"count": 300}),
    Case("tuned_and_guessed", tuned_and_guessed, VECTORS | {"count": "i32"}, examples={"count": 300}),
    Case(
        "scalar_function_on_elements",
        scalar_function_on_elements,
        {"x_ptr": "*i32", "y_ptr": "*i32", "out_ptr": "*i32"},
        {"BLOCK": 256},
    ),
    Case("checks_at_compile_time", checks_at_compile_time, {"x_ptr": "*fp32", "out_ptr": "*bf16"}, {"BLOCK": 64}),
    Case("annotated", annotated, VECTORS | {"count": "i64", "scale": "fp32"}, {"BLOCK": 128}, aligned("x_ptr")),
    Case("with_own_name", with_own_name, {"x_ptr": "*fp32"}, {"BLOCK": 128}),
    Case(
        "thirty_arguments",
        thirty_arguments,
        {f"p{i}": "*i32" if i == 9 else "*fp32" for i in range(10)}
        | {f"i{i}": "i32" for i in range(10)}
        | {f"f{i}": "fp32" for i in range(10)},
    ),
]
