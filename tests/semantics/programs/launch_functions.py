"""What ``kernel[grid]`` is to whoever looks at it, and launches within launches."""
# mypy: ignore-errors

import copy
import functools
import inspect
import json
import pickle
import re
import sys
import threading
import traceback

import triton.language as tl

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import TensorLike, dtype_named, tensor

DRIVER = install()


@triton.jit
def kernel(x, n, extra=3):
    tl.store(x, n + extra)


@triton.autotune([triton.Config({}, num_warps=4)], key=["n"])
@triton.jit
def tuned(x, n):
    tl.store(x, n)


def outcome(action):
    try:
        return str(action())
    except Exception as error:
        return [type(error).__name__, re.sub("0x[0-9a-f]+", "0x", str(error))]


def looked_at(made):
    grid = (1,)
    bound = made[grid]
    bound.own = 5
    flags = [
        inspect.isfunction(bound), inspect.isbuiltin(bound), inspect.isroutine(bound), callable(bound),
        inspect.iscoroutinefunction(bound), bound == bound, bound == made[grid], bound in {bound},
    ]  # fmt: skip
    return {
        "flags": flags,
        "type": type(bound).__name__,
        "dir": sorted(dir(bound)),
        "texts": [str(inspect.signature(bound)), bound.__name__, bound.__qualname__, bound.__module__, bound.__doc__],
        "attributes": [vars(bound), bound.__defaults__, bound.__kwdefaults__, bound.__annotations__],
        "repr": re.sub("0x[0-9a-f]+", "0x", repr(bound)),
        "wrapped": [str(inspect.signature(functools.wraps(bound)(lambda: 1))), functools.wraps(bound)(lambda: 1).own],
        "copies": [copy.copy(bound) is bound, copy.deepcopy(bound) is bound],
        "pickled": outcome(lambda: pickle.dumps(bound))[0],
        "method": outcome(lambda: type("Holder", (), {"launch": bound})().launch(5))[0],
        "defined by": [name for name in ("__getitem__", "run", "warmup") if name in vars(triton.JITFunction)],
        "file": inspect.getfile(bound).rpartition("triton")[2],
    }


def frames(action):
    """Names of the functions that an error comes through."""
    try:
        action()
    except Exception as error:
        return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def calls():
    """Calls that are wrong, or unusual in the way they are made."""
    x = tensor(0x1000)
    names = {"n": 5, "".join(["ex", "tra"]): 7}
    for action in [
        lambda: kernel[(1,)](x, 5), lambda: kernel[(1,)](x, 5, 3), lambda: kernel[(1,)](x=x, n=5),
        lambda: kernel[(1,)](n=5, x=x), lambda: kernel[(1,)](x, **names), lambda: kernel[(1,)](x, 5, x=x),
        lambda: kernel[(1,)](x, 5, grid=(2,)), lambda: kernel[(1,)](x, 5, warmup=True), lambda: kernel[(1,)](x, 5, self=1),
        lambda: kernel[(1,)](x, 5, 3, 4), lambda: kernel[(1,)](), lambda: kernel[(1,)](x, 5, stream=1),
        lambda: kernel[(1,)](x, 5, num_warps=2), lambda: kernel[(1,)](x, 5, num_warps=2, debug=True),
        lambda: kernel[(1,)](x, 5, debug=False), lambda: kernel[(1,)](x, 5, instrumentation_mode="x"),
        lambda: kernel[None](x, 5), lambda: kernel[(1,)](x, 5, unknown=5), lambda: kernel[(1,)](*[x], n=True),
    ]:  # fmt: skip
        for _ in range(3):
            seen = outcome(lambda action=action: (action() or DRIVER.library.launches) and None)
            yield [seen, [[data.hex() for data in each.parameters] for each in DRIVER.library.launches()]]


class Launching(TensorLike):
    """Launches when it is asked for its address."""

    def data_ptr(self):
        kernel[(1,)](self, 5)
        return 0


def recursions():
    """Grids and tensors that launch their own kernel again, without end and with."""
    x, depth = tensor(0x1000), [0]

    def endless(_meta):
        depth[0] += 1
        return kernel[endless](x, 5)

    def ending(meta):
        depth[0] -= 1
        if depth[0] > 0:
            kernel[ending](x, meta["n"] + 16)
        return (1,)

    for action in (lambda: kernel[endless](x, 5), lambda: kernel[(1,)](Launching(0x1000, dtype_named("float32")), 5)):
        for _ in range(2):
            yield outcome(action)[0]
    depth[0] = 40
    kernel[ending](x, 5)
    yield [each.parameters[1].hex() for each in DRIVER.library.launches()]
    seen = []
    threading.stack_size(512 * 1024)
    thread = threading.Thread(target=lambda: seen.append(outcome(lambda: kernel[endless](x, 5))[0]))
    thread.start()
    thread.join()
    yield seen
    sys.setrecursionlimit(20000)
    yield outcome(lambda: kernel[endless](x, 5))[0]


for _ in range(3):
    kernel[(1,)](tensor(0x1000), 5)
tuned[(1,)](tensor(0x1000), 5)
DRIVER.library.launches()
x = tensor(0x1000)
REPORT = {
    "calls": list(calls()),
    "function": looked_at(kernel),
    "autotuner": looked_at(tuned),
    "frames": [
        frames(lambda: kernel[lambda _: 1 // 0](x, 5))[1:2],
        frames(lambda: kernel[(1,)](x))[1:],
        frames(lambda: kernel[(1,)](x, "text"))[1:3],
    ],
    "attributes": [name for name in vars(kernel) if "dispatch" in name],
    "recursions": list(recursions()),
}
print(json.dumps(REPORT))
