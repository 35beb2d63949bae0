"""Launch a kernel with constants that equal each other, over and over: which code does each launch get?

Prints as JSON, for every pair, how many of its launches got the code of the other value.
"""
# mypy: ignore-errors

import enum
import json
import re
import sys
import zlib

import triton.language as tl

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor


class Mode(enum.IntEnum):
    A = 1


PAIRS = {
    "integer and boolean": (1, True),
    "integer and number": (2, 2.0),
    "boolean and number": (True, 1.0),
    "zero and false": (0, False),
    "signs of zero": (0.0, -0.0),
    "member and value": (1, Mode.A),
    "in a tuple": ((1, 2), (True, 2)),
    "different integers": (3, 4),
    "different words": ("a", "b"),
}


def number(value):
    return zlib.crc32(f"{type(value).__name__} {value!r}".encode())


@triton.constexpr_function
def number_of(value):
    import __main__ as module  # a kernel may not name an ordinary function

    return module.number(value if not isinstance(value, tuple) else (*value,))


@triton.jit
def kernel(p, N: tl.constexpr):
    tl.store(p, number_of(N))


def wrong_launches(pair):
    argument, wrong = tensor(4096, "int64"), 0
    for value in (*pair, *pair, *reversed(pair), *pair):
        launched = kernel[(1,)](argument, value)
        wrong += int(re.search(r"arith.constant (-?\d+) : i", launched.asm["ttir"])[1]) != number(value)
    return wrong


if __name__ == "__main__":
    install()
    json.dump({name: wrong_launches(pair) for name, pair in PAIRS.items()}, sys.stdout)
