"""Prints the error that each of many wrong kernels raises, and the source positions in the IR of a right one.

Base and fork run this same file, so paths and positions must be the same.
"""
# mypy: ignore-errors

import json
import re
import sys

import triton.language as tl
from triton.compiler.errors import CompilationError

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor

ORDINARY = 5

# How the stages write a place in this file.
IN_MLIR = r'errors\.py":(\d+):(\d+)'
PLACE = {"source": IN_MLIR, "ttir": IN_MLIR, "ttgir": IN_MLIR, "llir": r"!DILocation\(line: (\d+), column: (\d+)"}


@triton.jit
def unknown_name(p):
    tl.store(p, nowhere)  # noqa: F821


@triton.jit
def unknown_attribute(p):
    tl.store(p, tl.no_such_function(p))


@triton.jit
def ordinary_global(p):
    tl.store(p, ORDINARY)


@triton.jit
def ordinary_function(p):
    tl.store(p, len_of(p))


def len_of(x):
    return 5


@triton.jit
def no_power_of_two(p):
    tl.store(p + tl.arange(0, 10), 1)


@triton.jit
def shapes(p):
    x = tl.arange(0, 16)
    y = tl.arange(0, 32)
    tl.store(p + x, x + y)


@triton.jit
def static_assertion(p):
    tl.static_assert(1 == 2, "one is not two")


@triton.jit
def loop_changes_type(p, n):
    x = 1
    for _i in range(n):
        x = x + 1.5
    tl.store(p, x)


@triton.jit
def branches_differ(p, n):
    if n > 5:  # noqa: SIM108
        x = 1
    else:
        x = p
    tl.store(p, x)


@triton.jit
def try_statement(p):
    try:
        tl.store(p, 1)
    finally:
        tl.store(p, 2)


@triton.jit
def break_statement(p, n):
    for i in range(n):
        tl.store(p, i)
        break


@triton.jit
def two_returns(p, n):
    if n > 5:
        return 1
    return p


@triton.jit
def constexpr_again(p):
    x: tl.constexpr = 1
    x: tl.constexpr = 2
    tl.store(p, x)


@triton.jit
def wrong_keyword(p):
    tl.store(p, 1, color="red")


@triton.jit
def few_arguments(p):
    tl.store(p)


@triton.jit
def deep(x):
    return x + nowhere  # noqa: F821


@triton.jit
def middle(x):
    y = 1
    return deep(x + y)


@triton.jit
def in_callee(p):
    tl.store(p, middle(1))


@triton.jit(
    do_not_specialize=[
        "p",
    ]
)
# A comment between the decorator and the function.
def decorated(
    p,
    n,
):
    # A comment before the error,
    # of two lines.
    tl.store(
        p,
        n + nowhere,  # noqa: F821
    )


def make(offset):
    class Holder:
        @staticmethod
        @triton.jit
        def nested(p):
            # Deeper than the decorator removes.
            tl.store(p, nowhere + offset)  # noqa: F821

    return Holder.nested


@triton.jit
def added(a, b):
    return a + b


@triton.jit
def right(p, n, size: tl.constexpr):
    total = tl.zeros([size], tl.float32)
    for i in range(n):
        x = tl.load(p + i + tl.arange(0, size))
        total = added(
            total,
            x,
        )
    if n > 5:
        total = tl.sqrt(total)
    tl.store(p + tl.arange(0, size), total)
    tl.store(p, tl.reduce(total, 0, added))


ONE = [unknown_name, unknown_attribute, ordinary_global, ordinary_function, no_power_of_two, shapes, static_assertion]
ONE += [try_statement, constexpr_again, wrong_keyword, few_arguments, in_callee, make(tl.constexpr(1))]
TWO = [loop_changes_type, branches_differ, break_statement, two_returns, decorated]


def raised(action):
    try:
        action()
    except Exception as error:
        # Addresses of objects differ from process to process.
        found = {"type": type(error).__name__, "message": re.sub(r"0x[0-9a-f]+", "0x...", str(error))}
        chain = []
        cause = error
        while isinstance(cause, CompilationError):
            chain.append([getattr(cause.node, "lineno", None), getattr(cause.node, "col_offset", None)])
            cause = cause.__cause__
        return {**found, "positions": chain}
    return {"type": None}


def main():
    install()
    p = tensor(4096, "float32")
    answer = {kernel.__name__: raised(lambda kernel=kernel: kernel[(1,)](p)) for kernel in ONE}
    answer |= {kernel.__name__: raised(lambda kernel=kernel: kernel[(1,)](p, 7)) for kernel in TWO}
    answer["called"] = raised(lambda: right(p, 7, 16))
    answer["no grid"] = raised(lambda: right[None](p, 7, 16))
    answer["unknown option"] = raised(lambda: right[(1,)](p, 7, 16, num_warp=4))
    answer["unknown parameter"] = raised(lambda: right[(1,)](p, 7, sizes=16))
    scope = {"triton": triton, "tl": tl}
    exec("def from_text(p):\n    tl.store(p, 1)\n", scope)
    answer["no source"] = raised(lambda: triton.jit(scope["from_text"]))
    kernel = right[(1,)](p, 7, 16)
    locations = [
        [stage, int(line), int(column)]
        for stage in ("source", "ttir", "ttgir", "llir")
        for line, column in re.findall(PLACE[stage], kernel.asm[stage])
    ]
    json.dump({"errors": answer, "locations": locations}, sys.stdout)


if __name__ == "__main__":
    main()
