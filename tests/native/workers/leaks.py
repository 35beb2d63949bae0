"""Launches again and again in each way that there is, and prints how many blocks of memory and references each call leaves behind.

With `leak` as argument one way keeps a little of each call on purpose.
"""
# mypy: ignore-errors

import gc
import json
import sys

import triton.language as tl
from triton.backends.nvidia import driver

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import TensorLike, tensor
from triton import knobs

FAKE = install()
WARM, CALLS = 100, 1500
kept = []


@triton.jit
def plain(pointer, count):
    tl.store(pointer, count)


@triton.jit
def mixed(pointer, count, half: tl.float16, small: tl.int8, extra=7):
    tl.store(pointer, (count + half + small + extra).to(tl.float32))


@triton.jit
def paired(pointer, pair):
    tl.store(pointer, pair[0] + pair[1])


class Raising(TensorLike):
    def data_ptr(self):
        raise LookupError


TARGET = tensor(4096)
OTHER = TensorLike(4096, TARGET.dtype)


def failing(action):
    def attempt():
        try:
            action()
        except Exception as error:
            return type(error).__name__
        return None

    assert attempt()
    return attempt


def hooked():
    knobs.runtime.launch_enter_hook.add(hook)
    plain[(1,)](TARGET, 5)
    knobs.runtime.launch_enter_hook.remove(hook)


def hook(metadata):
    metadata.get()


def changed(bound):
    bound["count"] = 99999
    return (1,)


def driver_fails():
    FAKE.library.fail(["cuLaunchKernelEx"], 1, times=1)
    plain[(1,)](TARGET, 5)


def ways():
    for _ in range(3):
        compiled = plain[(1,)](TARGET, 5)
    return {
        "fast": lambda: plain[(1, 2)](TARGET, 70000),
        "fast with many": lambda: mixed[(1,)](OTHER, 70000, 1.5, 100, extra=12345),
        "computed grid": lambda: plain[lambda bound: (bound["count"], 1)](TARGET, 1234),
        "list": lambda: plain[[3, 4]](TARGET, 1234),
        "changing grid": lambda: plain[changed](TARGET, 1234),
        "tuple": lambda: paired[(1,)](TARGET, (1234, 5678)),
        "hooked": hooked,
        "run": lambda: plain.run(TARGET, 1234, grid=(1,), warmup=False),
        "compiled": lambda: compiled[(1, 1, 1)](TARGET, 1234),
        "no launch": lambda: plain[(0,)](TARGET, 1234),
        "wrong value": failing(lambda: mixed[(1,)](TARGET, 5, 1.5, 1000)),
        "wrong half": failing(lambda: mixed[(1,)](TARGET, 5, 1e30, 5)),
        "wrong grid": failing(lambda: plain[("a",)](TARGET, 1234)),
        "no grid": failing(lambda: plain[()](TARGET, 1234)),
        "failing grid": failing(lambda: plain[lambda _: 1 // 0](TARGET, 1234)),
        "wrong count": failing(lambda: plain[(1,)](TARGET)),
        "host's memory": failing(lambda: plain[(1,)](tensor(0xBAD0 << 48), 5)),
        "raising pointer": failing(lambda: plain[(1,)](Raising(4096, TARGET.dtype), 5)),
        "failing driver": failing(driver_fails),
        "dispatchers": forget_dispatcher,
        "maps": lambda: FAKE.utils.fill_tma_descriptor(4096, 0, 4, 7, [16, 16], [64, 64], [64, 1], 1),
        "wrong maps": failing(lambda: FAKE.utils.fill_tma_descriptor(4096, 0, 4, 7, [16, "a"], [64, 64], [64, 1], 1)),
        "properties": lambda: FAKE.utils.get_device_properties(0),
    }


def forget_dispatcher():
    for caches in plain.device_caches.values():
        caches[4].__globals__.pop("_fork_dispatcher", None)
    for _ in range(3):
        plain[(1,)](TARGET, 5)


def references():
    watched = (None, True, TARGET, OTHER, TARGET.dtype, plain, mixed, int, TensorLike, driver.PyCUtensorMap, type(FAKE))
    return [sys.getrefcount(each) for each in watched]


def measure(action):
    for _ in range(WARM):
        action()
    FAKE.library.launches()
    gc.collect()
    blocks, before = sys.getallocatedblocks(), references()
    for _ in range(CALLS):
        action()
    FAKE.library.launches()
    gc.collect()
    after, blocks = references(), sys.getallocatedblocks() - blocks
    grown = max(abs(now - then) for now, then in zip(after, before, strict=True))
    return [blocks / CALLS, grown / CALLS]


def main():
    FAKE.library.set_recording(False)
    made = ways()
    if "leak" in sys.argv:
        made = {"fast": lambda: kept.append(plain[(1,)](tensor(4096), 5) and (TARGET,))}
    print(json.dumps({name: measure(action) for name, action in made.items()}))


if __name__ == "__main__":
    main()
