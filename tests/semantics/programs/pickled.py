"""Pickles kernels as torch's inductor does, in every state, and prints what came through; see test_inspection.py and test_torch.py.

Inductor takes from a kernel what does not pickle, pickles it in a compile worker, and puts it back. With the argument ``torch`` its own
functions do that, without it a copy of what they do.
"""
# mypy: ignore-errors

import json
import pickle
import sys
import threading
from types import SimpleNamespace

import triton.language as tl
from triton.backends.compiler import GPUTarget

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor

SIGNATURE = {"p": "*i32", "n": "i32", "BLOCK": "constexpr"}


class Name:
    """Stands for a kernel's ``repr``."""

    def __init__(self, name):
        self.name = name

    def __call__(self, _=None):
        return self.name


class Clearing:
    """What ``CachingAutotuner`` does to a kernel before and after a pickle."""

    NAMES = ("fn", "__globals__", "used_global_vals", "repr", "_hash_lock")

    def prepare_for_pickle(self):
        kernel = self.fn
        old = [getattr(kernel, name) for name in Clearing.NAMES]
        kernel.fn = kernel.__globals__ = kernel.used_global_vals = None
        kernel.repr = Name(kernel.repr(kernel))
        kernel._hash_lock = None
        return old

    def restore_after_unpickle(self, old):
        for name, value in zip(Clearing.NAMES, old, strict=True) if old else ():
            setattr(self.fn, name, value)
        if not old:
            self.fn._hash_lock = threading.RLock()


@triton.jit
def helper(x):
    return x + 1


@triton.jit
def fresh(p, n, BLOCK: tl.constexpr):
    tl.store(p, helper(n) + BLOCK)


@triton.jit
def keyed(p, n, BLOCK: tl.constexpr):
    tl.store(p, helper(n) + BLOCK)


@triton.jit
def inspected(p, n, BLOCK: tl.constexpr):
    tl.store(p, helper(n) + BLOCK)


@triton.jit
def compiled(p, n, BLOCK: tl.constexpr):
    tl.store(p, helper(n) + BLOCK)


@triton.jit
def launched(p, n, BLOCK: tl.constexpr):
    tl.store(p, helper(n) + BLOCK)


KERNELS = {"fresh": fresh, "keyed": keyed, "inspected": inspected, "compiled": compiled, "launched": launched}


def compile_one(kernel):
    source = triton.compiler.ASTSource(kernel, SIGNATURE, {(2,): 4}, {})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32))


def text(value):
    """Write a value; the kernel itself, in its caches, has no name any more."""
    return type(value).__name__ if isinstance(value, dict) else repr(value).partition(" at 0x")[0]


def through_pickle(clearing, kernel):
    """Send a kernel through pickle; give its attributes on the other side, and whether it is whole again on this one."""
    before = {name: id(value) for name, value in vars(kernel).items()}
    holder = SimpleNamespace(fn=kernel, launchers=[], benchmark_failure_reasons={})
    old = clearing.prepare_for_pickle(holder)
    try:
        data = pickle.dumps(kernel)
    except Exception as error:
        return type(error).__name__
    finally:
        clearing.restore_after_unpickle(holder, old)
    again = pickle.loads(data)
    clearing.restore_after_unpickle(SimpleNamespace(fn=again, launchers=[]), None)
    state = {name: text(value) for name, value in vars(again).items()}
    changed = [name for name, value in vars(kernel).items() if before.get(name) != id(value) and name != "repr"]
    return [state | {"hash": bool(again.hash)}, changed]


def main():
    library = install().library
    clearing = Clearing
    if sys.argv[1:] == ["torch"]:
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner as clearing  # noqa: N813
    for kernel, name in ((keyed, "cache_key"), (inspected, "arg_names"), (inspected, "src")):
        getattr(kernel, name)
    compile_one(compiled)
    launched[(1,)](tensor(4096, "int32"), 3, 4)
    answer = {name: through_pickle(clearing, kernel) for name, kernel in KERNELS.items()}
    for kernel in KERNELS.values():  # what was taken out is back
        kernel[(1,)](tensor(4096, "int32"), 3, 4)
    answer["launches"] = [
        [record.function, *(value.hex() for value in record.parameters)] for record in library.launches()
    ]
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
