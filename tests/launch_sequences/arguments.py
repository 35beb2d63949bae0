"""Strategies for what launches are given: arguments, grids, options."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Strategy = st.SearchStrategy[Any]

ADDRESSES = [4096, 8192, 4104, 4112, 0, 64, 2**47, 2**63 + 8]
DTYPES = ["float32", "float32", "float16", "bfloat16", "int32", "float64"]
KINDS = ["watched", "watched", "silent", "silent", "fresh", "other", "proxy", "loud", "pretender", "other silent"]
TENSORS = ["t0", "t0", "t1", "t1", "t2", "t3"]
# A number of each sort of specialisation; 1 is left out of the constants, where the fork tells it from True and the base does not.
NUMBERS = [5, 5, 5, 21, 32, 16, 1, 0, -7, 2**31 - 1, 2**31, 2**63, 2**64, -(2**63), 10**30]
BARE = [
    "plain",
    "mixed",
    "constant",
    "uses_global",
    "uses_helper",
    "described",
    "scratch",
    "nested",
    "descriptor",
    "own",
]
WRAPPED = ["tuned", "heuristic"]


@dataclass(frozen=True)
class Focus:
    """What a program is about: few functions and objects, so that what is changed is what is launched.

    :param backend: ``cuda`` or ``hip``
    :param kernels: names of functions
    :param tensors: names of kept tensors
    :param early: whether a first question to a tensor or a constant may change something, besides raising
    """

    backend: str
    kernels: tuple[str, ...]
    tensors: tuple[str, ...]
    early: bool = False


def one_of(*choices: tuple[int, Strategy]) -> Strategy:
    """Draw from one of several strategies. Hypothesis's own ``one_of`` takes nested ones apart, so that big ones win.

    :param choices: each with its weight
    """
    return st.sampled_from([strategy for weight, strategy in choices for _ in range(weight)]).flatmap(lambda each: each)


addresses = st.sampled_from(ADDRESSES)
dtypes = st.sampled_from(DTYPES)
kinds = st.sampled_from(KINDS)
stored_tensors = st.sampled_from(TENSORS).map(lambda name: ["stored", name])
integers = st.sampled_from(NUMBERS).map(lambda number: ["int", str(number)])
floats = st.sampled_from([0.5, 1.5, -0.0, float("inf")]).map(lambda number: ["float", struct.pack("<d", number).hex()])
new_tensors = st.tuples(kinds, addresses, dtypes).map(lambda spec: ["tensor", list(spec)])
odd = st.sampled_from(
    [
        ["plain", True],
        ["plain", None],
        ["plain", "text"],
        ["subclass", ["int", ["int", "5"]]],
        ["subclass", ["float", ["float", struct.pack("<d", 1.5).hex()]]],
        ["subclass", ["str", ["plain", "text"]]],
        ["stored", "n0"],
        ["stored", "c0"],
        ["level", None],
        ["numpy", ["int32", 5]],
        ["numpy", ["float64", 1.5]],
        ["numpy", ["bool_", True]],
        ["dtype", "float16"],
        ["tuple", [["int", "5"]]],
    ]
)
counts = st.one_of(*[st.just(["int", "5"])] * 4, integers, integers, floats, odd)
pointers = st.one_of(*[stored_tensors] * 6, new_tensors, new_tensors, odd)
constants = st.one_of(
    st.sampled_from([["int", "64"], ["int", "128"], ["plain", "text"], ["plain", None], ["dtype", "float32"]]),
    st.sampled_from(["c0", "c0", "c1"]).map(lambda name: ["stored", name]),
    st.just(["tuple", [["int", "4"], ["int", "8"]]]),
    st.just(["pair", [["int", "4"], ["int", "8"]]]),
)
pairs = st.one_of(
    st.tuples(pointers, pointers).map(lambda pair: ["tuple", list(pair)]),
    st.tuples(pointers, pointers).map(lambda pair: ["pair", list(pair)]),
    st.tuples(pointers, pointers).map(lambda pair: ["subclass", ["tuple", ["tuple", list(pair)]]]),
)
descriptors = st.one_of(*[st.just(["stored", "d0"])] * 4, pointers)

extents = st.lists(st.integers(1, 4), min_size=1, max_size=3) | st.lists(st.integers(-1, 4), max_size=4)
grid_kinds = st.sampled_from(
    [*["tuple"] * 6, "list", "dictionary", "sequence", "indices", "nothing", "number", "generator", "text"]
)
hows = st.sampled_from(["plain", "plain", "function", "function", "function", "changing", "taking"])
grids = st.tuples(grid_kinds, extents, hows).map(list)
usual_grid = st.sampled_from([["tuple", [2, 3], "plain"], ["tuple", [4], "function"], ["tuple", [4], "function"]])
options = st.sampled_from(
    [*[{}] * 6, {"num_warps": 8}, {"num_warps": 2}, {"debug": True}, {"debug": False}, {"unknown": 1}]
)

FIRST = {"nested": pairs, "descriptor": descriptors}


def values_of(kernel: str) -> st.SearchStrategy[list[Any]]:
    """Draw positional arguments of a kernel.

    :param kernel: its name
    """
    parts = [FIRST.get(kernel, pointers), counts]
    if kernel == "mixed":
        parts += [st.one_of(floats, floats, odd), st.just(["plain", True]) | odd]
    elif kernel == "constant":
        parts.append(constants)
    return st.tuples(*parts).map(list)


def usual_values_of(kernel: str, name: str = "t0") -> list[Any]:
    """Give arguments as a kernel has them most often.

    :param kernel: its name
    :param name: name of the stored tensor to give
    """
    first: list[Any] = ["stored", name]
    if kernel == "nested":
        first = ["tuple", [first, ["stored", "t1"]]]
    elif kernel == "descriptor":
        first = ["stored", "d0"]
    values = [first, ["int", "5"]]
    if kernel == "mixed":
        values += [["float", struct.pack("<d", 1.5).hex()], ["plain", True]]
    elif kernel == "constant":
        values.append(["stored", "c0"])
    return values
