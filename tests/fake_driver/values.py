"""Strategies for the arguments of generated launches; :mod:`tests.fake_driver.cases` describes their form."""

import struct
from typing import Any

from hypothesis import strategies as st

Strategy = st.SearchStrategy[Any]

WIDTHS = (8, 16, 32, 64)
SIGNED = {f"tl.int{bits}": bits for bits in WIDTHS}
UNSIGNED = [f"tl.uint{bits}" for bits in WIDTHS]
FLOAT_TYPES = ["tl.float16", "tl.bfloat16", "tl.float32", "tl.float64", '"fp32"']
POINTER_TYPES = ['"*fp32"', '"*i8"', '"*bf16"', "tl.pointer_type(tl.float16)", "tl.const"]
DTYPES = ["float32", "float16", "bfloat16", "float64", "int8", "int64", "uint8", "bool", "float8_e4m3fn", "int32"]
ODD = ["list", "dict", "bytes", "text", "complex", "object", "range", "type", "ellipsis", "enumeration", "index"]
ODD += ["function", "dtype", "constexpr", "integer subclass", "float subclass", "pointer without dtype", "empty tuple"]
ODD += ["pointer of text", "pointer that raises"]

LIMITS = [-(10**30), 10**30, 2**16, 16, 1, 0]
LIMITS += [
    sign * 2**power + step for sign in (-1, 1) for power in (7, 8, 15, 16, 31, 32, 63, 64) for step in (-1, 0, 1)
]
SPECIAL = [0.0, -0.0, 1.0, 65504.0, 65519.99, 65520.0, 6e-8, 1e-45, 3.4028235e38, 3.5e38, float("inf"), float("-inf")]
# A quiet, a negative, a signalling one, and one with a payload.
NAN_BITS = [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0x7FF8000012345678]
ADDRESSES = [0, 1, 8, 16, 0x7F0000001230, 2**47, 2**63, 2**64 - 16, 0xBAD2 << 48]
# What the fake driver answers with an error.
REFUSED_ADDRESSES = [0xBAD0 << 48, 0xBAD1 << 48]


def made_of(kind: str, payload: Strategy) -> Strategy:
    """Describe values of one kind.

    :param kind: the kind, such as ``int``
    :param payload: what the values are made of
    :returns: pairs of both
    """
    return payload.map(lambda made: [kind, made])


def _numbers(strategy: Strategy) -> Strategy:
    return made_of("float", strategy.map(lambda number: struct.pack("<d", number).hex()))


def _within(low: int, high: int) -> Strategy:
    return made_of("int", (st.sampled_from([low, low + 1, high - 1, high]) | st.integers(low, high)).map(str))


any_integer = made_of("int", (st.sampled_from(LIMITS) | st.integers(-(2**70), 2**70)).map(str))
not_numbers = made_of("float", st.sampled_from([struct.pack("<Q", bits).hex() for bits in NAN_BITS]))
floats = _numbers(st.sampled_from(SPECIAL) | st.floats()) | not_numbers
halves = _numbers(st.sampled_from([*SPECIAL[:5], *SPECIAL[-2:]]) | st.floats(-65000, 65000)) | not_numbers
booleans = made_of("plain", st.booleans())
nothing = st.just(["plain", None])
odd = made_of("odd", st.sampled_from(ODD))


def _tensors(addresses: Strategy) -> Strategy:
    shapes = st.lists(st.integers(0, 100), max_size=3)
    return made_of("tensor", st.tuples(addresses.map(str), st.sampled_from(DTYPES), shapes).map(list))


addresses = st.sampled_from(ADDRESSES) | st.integers(0, 2**48)
tensors = _tensors(addresses)
refused_tensors = _tensors(st.sampled_from(REFUSED_ADDRESSES))
pointers = tensors | made_of("int", addresses.map(str)) | nothing


@st.composite
def descriptors(draw: st.DrawFn) -> list[Any]:
    """Draw host-side tensor descriptors that their own constructor accepts."""
    rank = draw(st.integers(1, 5))
    block = [draw(st.sampled_from([1, 2, 4])) for _ in range(rank - 1)] + [draw(st.sampled_from([16, 32, 64]))]
    shape = [draw(st.sampled_from([1, 3, 64])) for _ in range(rank - 1)] + [draw(st.sampled_from([16, 32, 256]))]
    dtype = draw(st.sampled_from(["float32", "float16", "bfloat16", "int8", "float8_e5m2"]))
    padding = draw(st.sampled_from(["zero", "nan"])) if "float" in dtype else "zero"
    address = draw(st.sampled_from(["0", "4096", str(2**47)]))
    return ["descriptor", {"address": address, "dtype": dtype, "shape": shape, "block": block, "padding": padding}]


specializable = _within(-(2**63), 2**64 - 1)
leaves = specializable | floats | booleans | tensors | nothing
tuples = st.recursive(
    made_of("tuple", st.lists(leaves, min_size=1, max_size=4)),
    lambda inner: (
        made_of("tuple", st.lists(inner | leaves, min_size=1, max_size=3))
        | made_of("pair", st.lists(inner | leaves, min_size=2, max_size=2))
    ),
    max_leaves=4,
)
texts = made_of("plain", st.sampled_from(["", "abc", "zero"]))
constants = specializable | floats | booleans | nothing | texts | tuples
anything = st.one_of(
    any_integer, any_integer, floats, booleans, pointers, refused_tensors, tuples, descriptors(), odd, odd
)

SORTS: dict[str, Strategy] = {
    "integer": _within(-(2**31), 2**31 - 1),
    "wide integer": _within(2**31, 2**63 - 1) | _within(-(2**63), -(2**31) - 1),
    "unsigned integer": _within(2**63, 2**64 - 1),
    "any integer": specializable,
    "float": floats,
    "boolean": booleans,
    "tensor": tensors,
    "nothing": nothing,
    "tuple": tuples,
    "descriptor": descriptors(),
}
sorts = st.sampled_from([*SORTS, "integer", "integer", "tensor", "tensor", "float"])

# Which values fit a parameter, by its annotation or, where it has none, by its sort. The launcher refuses negative
# numbers for i8, and takes any integer for the unsigned types.
FITTING: dict[str, Strategy] = {
    **SORTS,
    **{name: _within(-(2 ** (bits - 1)) if bits > 8 else 0, 2 ** (bits - 1) - 1) for name, bits in SIGNED.items()},
    **dict.fromkeys(UNSIGNED, specializable),
    **dict.fromkeys(FLOAT_TYPES, floats),
    **dict.fromkeys(POINTER_TYPES, pointers),
    "tl.float16": halves,
    "tl.constexpr": constants,
    "tl.int1": booleans,
    "tl.const": tensors,
}
fitting_annotations = st.sampled_from(["", "", *[name for name in FITTING if name not in SORTS]]) | st.just("")
odd_annotations = st.sampled_from(
    ["tl.float8e5", '"no such type"', "int", "float", "bool", "str", "tl.void", '"*"', "tl.tensor"]
)
