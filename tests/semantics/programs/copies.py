"""Copies and pickles kernels in every way and prints whether the copy exists and does the same."""
# mypy: ignore-errors

import copy
import json
import pickle
import sys

import triton.language as tl

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor

SIZE = tl.constexpr(3)


@triton.jit
def simple(p, n):
    tl.store(p, n + SIZE)


def plain(p, n):
    tl.store(p, n + SIZE)


other_name = triton.jit(plain)


@triton.heuristics({"twice": lambda arguments: arguments["n"] * 2})
@triton.jit
def guided(p, n, twice: tl.constexpr):
    tl.store(p, n + twice)


@triton.autotune([triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)], key=["n"])
@triton.jit
def tuned(p, n):
    tl.store(p, n)


@triton.constexpr_function
def helper(x):
    return x + 1


@triton.jit
def fresh(p, n):
    tl.store(p, n - SIZE)


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}
KERNELS = {"kernel": simple, "other name": other_name, "heuristics": guided, "autotune": tuned}


def launched(library, function, value=7):
    library.launches()
    function[(1,)](tensor(4096, "int32"), value)
    return [[launch.function, *(value.hex() for value in launch.parameters)] for launch in library.launches()][-1]


def outcome(library, way, original, value=7):
    try:
        made = WAYS[way](original)
    except Exception as error:
        return ["error", type(error).__name__]
    right = launched(library, original)
    try:
        return ["made", made is original, launched(library, made, value) == right]
    except Exception as error:
        return ["made", made is original, type(error).__name__]


def copied_before_the_first_launch(library):
    made = copy.copy(fresh)
    try:
        return ["made", made is fresh, bool(launched(library, made))]
    except Exception as error:
        return ["made", made is fresh, type(error).__name__]


def through(way, library):
    """Launch a compiled kernel through a copy of its launcher, as torch's inductor does after a pickle."""
    simple[(1,)](tensor(4096, "int32"), 7)
    kernel = next(iter(simple.device_caches[0][0].values()))
    launch = WAYS[way](kernel.run)
    library.launches()
    launch(1, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None, tensor(4096, "int32"), 7)
    return [[record.function, *(value.hex() for value in record.parameters)] for record in library.launches()]


def main():
    library = install().library
    value = 8 if sys.argv[1:] == ["wrong value"] else 7
    answer = {"fresh, copy": copied_before_the_first_launch(library)}
    for again in ("", " again"):  # The second time they have been compiled and hold a driver's handles.
        for name, kernel in KERNELS.items():
            answer |= {f"{name}{again}, {way}": outcome(library, way, kernel, value) for way in WAYS}
    answer |= {f"launcher, {way}": through(way, library) for way in WAYS}
    answer["constexpr function, copy"] = [copy.copy(helper)(2)]
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
