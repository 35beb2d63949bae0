"""Changes what kernels depend on after their first launch and prints what the next launch does."""
# mypy: ignore-errors

import json
import sys

import triton.language as tl

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor

NUMBER = tl.constexpr(1)
INNER = tl.constexpr(1)
UNUSED = 1
FOR_DEFAULT = 5


@triton.jit
def uses_number(p):
    tl.store(p, NUMBER)


@triton.jit
def inner():
    return INNER


@triton.jit
def uses_inner(p):
    tl.store(p, inner())


@triton.jit
def known():
    return INNER


@triton.jit
def uses_known(p):
    tl.store(p, known())


@triton.jit
def has_default(p, size: tl.constexpr = FOR_DEFAULT):
    tl.store(p, size)


def make(value):
    @triton.jit
    def closed(p):
        tl.store(p, value)

    def change(new):
        nonlocal value
        value = new

    return closed, change


def outcome(library, kernel):
    library.launches()
    try:
        kernel[(1,)](tensor(4096, "int32"))
    except Exception as error:
        return [type(error).__name__, str(error)]
    return len(library.launches())


def main():
    library = install().library
    closed, change = make(tl.constexpr(1))
    assert known.cache_key
    kernels = {
        "number": uses_number,
        "known": uses_known,
        "inner": uses_inner,
        "default": has_default,
        "closure": closed,
    }
    answer = {"before": {name: outcome(library, kernel) for name, kernel in kernels.items()}}
    module = globals()
    module["UNUSED"] = 2
    module["FOR_DEFAULT"] = 6
    answer["unrelated"] = {name: outcome(library, kernel) for name, kernel in kernels.items()}
    module["NUMBER"] = tl.constexpr(2)
    module["INNER"] = tl.constexpr(2)
    change(tl.constexpr(2))
    answer["changed"] = {name: outcome(library, kernel) for name, kernel in kernels.items()}
    module["NUMBER"] = tl.constexpr(1)
    module["INNER"] = tl.constexpr(1)
    answer["restored"] = {name: outcome(library, kernel) for name, kernel in kernels.items()}
    del module["NUMBER"]
    kind, message = outcome(library, uses_number)
    # The rest of the message is the address of an object that stands for "not there".
    answer["deleted"] = [kind, message.partition(", from ")[0]]
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
