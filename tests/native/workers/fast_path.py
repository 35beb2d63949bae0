"""Launches the same kernels again and again with other values, then with one unusual thing on at a time; reports what happened.

Arguments: "count" where the fast path is to be watched, and perhaps another build of the extension.
"""
# mypy: ignore-errors

import copy
import functools
import gc
import json
import random
import re
import sys
import threading
import weakref

import triton.language as tl
from triton.runtime.driver import driver as drivers
from triton.runtime.jit import JITFunction

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import DtypeLike, TensorLike
from tests.native.workers.counting import watch_launches
from tests.native.workers.extension import load_extension
from triton import knobs

FACTOR = 3
SCALE = tl.constexpr(2)
DTYPES = {name: DtypeLike(name) for name in ("float32", "float16")}
slow = []
kernels = []  # in the order in which they were first launched


@triton.jit
def mixed(left, right, count, scale, flag, BLOCK: tl.constexpr, extra=7):  # noqa: N803
    tl.store(left, (count + scale + flag + extra).to(tl.float32))


@triton.jit
def narrow(pointer, number: tl.int8, BLOCK: tl.constexpr = 64):  # noqa: N803
    tl.store(pointer, number)


@triton.jit
def uses_global(pointer, count):
    tl.store(pointer, count + SCALE)


@triton.jit(do_not_specialize=["count"])
def plain(pointer, count):
    tl.store(pointer, count)


class Odd(TensorLike):
    """A tensor of another class."""


def tensor(address, dtype="float32", kind=TensorLike):
    return kind(address, DTYPES[dtype])


def outcome(library, action):
    try:
        answer = action()
    except Exception as error:
        library.launches()
        return [type(error).__name__, re.sub("0x[0-9a-f]+", "0x", str(error))]
    records = [
        [
            launch.function,
            launch.device,
            launch.grid,
            launch.block,
            launch.stream,
            [value.hex() for value in launch.parameters],
        ]
        for launch in library.launches()
    ]
    if not any(answer is kernel for kernel in kernels):
        kernels.append(answer)
    return [type(answer).__name__, [answer is kernel for kernel in kernels].index(True), records]


def many(library, generator):
    """Calls that differ in value only from some that came before, mostly."""
    outcomes = []
    counts = [1, 16, 17, 2**31, None, True]
    shapes = [(offset, "float32", count, 128, False, False) for offset in (0, 8) for count in counts]
    shapes += [
        (
            generator.choice([0, 8]), generator.choice(list(DTYPES)), generator.choice(counts),
            generator.choice([128, 256]), generator.random() < 0.3, generator.random() < 0.3,
        )
        for _ in range(10)
    ]  # fmt: skip
    for _ in range(500):
        offset, dtype, count, block, keyword, function = generator.choice(shapes)
        if type(count) is int and count != 1:
            count += 16 * generator.randrange(50)
        address = 4096 * generator.randrange(1, 9)
        arguments = [
            tensor(address + offset, dtype),
            tensor(address),
            count,
            generator.random(),
            generator.random() < 0.5,
        ]
        options = {"num_warps": 8} if keyword else {}
        if keyword and generator.random() < 0.5:
            options["extra"] = generator.choice([5, 6, 32])
        extent = generator.randrange(1, 5)
        grid = (lambda bound, extent=extent: (extent, bound["BLOCK"] // 64, bound["extra"])) if function else (extent,)
        outcomes.append(outcome(library, functools.partial(mixed[grid], *arguments, BLOCK=block, **options)))
    return outcomes


def unusual(library, fake):
    """One thing at a time, before and after which the call is as usual."""
    global FACTOR, SCALE
    seen = []
    target = tensor(4096)

    def launch(kernel=plain, grid=(2,), *arguments, **options):
        loaded = library.call_count("cuModuleLoadData")
        seen.append(outcome(library, lambda: kernel[grid](*(arguments or (target, 5)), **options)))
        seen[-1].append(library.call_count("cuModuleLoadData") - loaded)

    def usual():
        launch()

    def called(name):
        return lambda *arguments, **options: seen.append([name, len(arguments), sorted(options)])

    usual()
    usual()
    knobs.runtime.debug = True
    launch()
    knobs.runtime.debug = False
    usual()
    hook = called("enter")
    knobs.runtime.launch_enter_hook.add(hook)
    launch()
    knobs.runtime.launch_enter_hook.remove(hook)
    knobs.runtime.launch_exit_hook.add(hook)
    launch()
    knobs.runtime.launch_exit_hook.remove(hook)
    usual()
    before = knobs.runtime
    knobs.runtime = before.copy()
    knobs.runtime.launch_enter_hook = called("other knobs")
    launch()
    knobs.runtime = before
    usual()
    plain.pre_run_hooks.append(called("before"))
    launch()
    plain.pre_run_hooks.clear()
    usual()
    plain.debug = True
    launch()
    plain.debug = None
    fake.streams[0] = 77
    usual()
    fake.device = 1
    usual()
    usual()
    fake.device = 0
    usual()
    plain.device_caches.clear()
    usual()
    plain.device_caches[0][0].clear()
    usual()
    usual()
    clone = copy.copy(plain)
    clone.debug = True
    launch(clone)
    usual()
    run = JITFunction.run
    JITFunction.run = lambda *arguments, **options: called("run")(*arguments[1:], **options)
    launch()
    JITFunction.run = run
    usual()
    drivers.active.get_current_stream, own = (lambda device: 99), drivers.active.get_current_stream
    usual()
    drivers.active.get_current_stream = own
    launch(uses_global, (1,), target, 5)
    launch(uses_global, (1,), target, 21)
    SCALE = tl.constexpr(4)
    launch(uses_global, (1,), target, 21)
    SCALE = tl.constexpr(2)
    launch(uses_global, (1,), target, 37)
    del SCALE
    launch(uses_global, (1,), target, 37)
    globals()["SCALE"] = tl.constexpr(2)
    for _ in range(2):
        for grid in [
            (),
            (1, 2, 3, 4),
            [2],
            None,
            3,
            "ab",
            (1.5,),
            (0,),
            (-1,),
            (2**31,),
            lambda _: None,
            lambda _: (3,),
            lambda bound: [bound["count"]],
            lambda _: 1 // 0,
        ]:
            launch(plain, grid)
        for arguments in [
            (target,),
            (target, 5, 6),
            (target, 5.5),
            (target, True),
            (target, None),
            (target, 2**40),
            (target, 2**63),
            (target, 2**64),
            (target, "text"),
            (target, (1, 2)),
            (64, 5),
            (None, 5),
        ]:
            launch(plain, (1,), *arguments)
        for address in (0, 8, 0xBAD0 << 48, 0xBAD1 << 48, 0xBAD2 << 48 | 64, 2**64 - 16):
            launch(plain, (1,), tensor(address), 5)
            launch(plain, (1,), tensor(address, kind=Odd), 5)
        for number in (5, 127, 200, -1, 256):
            launch(narrow, (1,), target, number)
            launch(narrow, (1,), target, number, BLOCK=32)
            launch(narrow, (1,), target, number, BLOCK=True)
            launch(narrow, (1,), target, number, **{"".join(["BLO", "CK"]): 32})
        launch(narrow, (1,), target, 5, number=6)
        launch(narrow, (1,), target, 5, unknown=6)
        launch(narrow, (1,), target, 5, num_warps=2)
        launch(narrow, (1,), target, 5, num_warps=2, BLOCK=32)
    launch(copy.copy(plain), (1,), target, 5)
    launch(copy.copy(plain), (1,), target, 5)
    library.fail(["cuLaunchKernelEx"], 1, times=1)
    usual()
    library.clear_failures()
    usual()
    return seen


def returning(fake):
    """How many of 64 launches go the base's way after something was in the way of 200."""
    chain, runtime = knobs.runtime.launch_enter_hook, knobs.runtime
    target, calls = tensor(4096), {}

    def launch(times, *arguments):
        before = len(slow)
        for _ in range(times):
            plain[(1,)](*(arguments or (target, 5)))
        fake.library.launches()
        return len(slow) - before

    def after(name, begin, end, *arguments):
        launch(3)
        begin()
        during = launch(200, *arguments)
        end()
        calls[name] = [during, launch(64)]

    def nothing():
        pass

    def hook(_metadata):
        pass

    def patched(holder, name, made):
        before = getattr(holder, name)
        return lambda: setattr(holder, name, made), lambda: setattr(holder, name, before)

    after("a hook", lambda: chain.add(hook), lambda: chain.remove(hook))
    after("debugging", *patched(runtime, "debug", True))
    after("a hook alone", *patched(runtime, "launch_exit_hook", hook))
    after("other knobs", *patched(knobs, "runtime", runtime.copy()))
    after(
        "no chain",
        lambda: setattr(runtime, "launch_exit_hook", hook),
        lambda: setattr(runtime, "launch_exit_hook", None),
    )
    after("a pre-run hook", lambda: plain.pre_run_hooks.append(hook_of_run), plain.pre_run_hooks.clear)
    after("a patched class", *patched(JITFunction, "run", functools.partialmethod(JITFunction.run)))
    after("other caches", plain.device_caches.clear, nothing)
    vars(runtime).pop("launch_exit_hook")
    after("calls of no use", nothing, nothing, Unknown(4096, DTYPES["float32"]), 5)
    return calls


def hook_of_run(*arguments, **options):
    """Does nothing before a launch."""


class Unknown(TensorLike):
    """A tensor of a class that says it is another one: the base alone knows what to do with it."""

    __class__ = Odd


def forgotten():
    """A function that nobody holds any more is gone, whatever it launched."""

    def made(pointer):
        tl.store(pointer, 1)

    kernel = triton.jit(made)
    for _ in range(3):
        kernel[(1,)](tensor(4096))
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    return gone() is None


def threads(library):
    failures = []

    def work(number):
        generator = random.Random(number)
        try:
            for _ in range(150):
                plain[(1,)](tensor(4096 * generator.randrange(1, 9)), generator.randrange(2, 99))
                mixed[(1,)](tensor(4096), tensor(64), 16 * generator.randrange(2, 9), 1.5, True, BLOCK=128)
        except BaseException as error:
            failures.append(repr(error))

    library.launches()
    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return [failures, len(library.launches())]


def main():
    fast = sys.argv[1:2] == ["count"]
    if sys.argv[2:]:
        load_extension(sys.argv[2])
    if fast:
        watch_launches(lambda function, left: slow.append(function.__name__) if left else None)
    fake = install()
    report = {"many": many(fake.library, random.Random(5))}
    slow_of_many = len(slow)
    usual = functools.partial(mixed[(1,)], tensor(4096), tensor(4096), 16, 1.5, True, BLOCK=128)
    usual()
    before = len(slow)
    usual()
    still_fast = len(slow) == before
    fake.library.launches()
    returned = returning(fake)
    report |= {"unusual": unusual(fake.library, fake), "forgotten": forgotten(), "threads": threads(fake.library)}
    counts = {"slow": slow_of_many, "calls": len(report["many"]), "still fast": still_fast, "returned": returned}
    print(json.dumps({"report": report, **counts}))


if __name__ == "__main__":
    main()
