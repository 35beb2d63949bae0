"""Counts the dictionaries that launches make for hooks, with and without hooks, and prints what hooks get."""
# mypy: ignore-errors

import json
import threading

import triton.compiler.compiler as compiler
import triton.language as tl
from triton.runtime.driver import driver

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor
from triton import knobs

ASKED = []


def describe(grid, metadata, arguments):
    ASKED.append([list(grid), sorted(arguments)])
    return {"flops": 5}


@triton.jit(launch_metadata=describe)
def kernel(p, n):
    tl.store(p, n)


def counted(launch):
    """Launch, and say how many dictionaries were made."""
    made = 0

    class Counting(original):
        def __init__(self, *args):
            nonlocal made
            made += 1
            super().__init__(*args)

    original_class, compiler.LazyDict = compiler.LazyDict, Counting
    try:
        launch()
    finally:
        compiler.LazyDict = original_class
    return made


original = compiler.LazyDict


@triton.jit
def loaded_twice(p, n):
    tl.store(p, n + 1)


def launched_while_loading():
    """Launch a kernel while another thread is loading it, which waits for this launch."""
    utils = driver.active.utils
    load, loading, launched, failed = utils.load_binary, threading.Event(), threading.Event(), []

    def waiting(*args):
        if threading.current_thread() is not threading.main_thread():
            loading.set()
            launched.wait(60)
        return load(*args)

    def launch():
        try:
            loaded_twice.run(tensor(4096, "int32"), 7, grid=(1,), warmup=False)
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error}")

    loaded_twice.warmup(tensor(4096, "int32"), 7, grid=(1,))
    utils.load_binary = waiting
    try:
        other = threading.Thread(target=launch)
        other.start()
        loading.wait(60)
        launch()
    finally:
        launched.set()
        other.join()
        utils.load_binary = load
    return failed


def main():
    library = install().library
    arguments = (tensor(4096, "int32"), 7)
    compiled = kernel[(1,)](*arguments)
    launches = {
        "run": lambda: kernel.run(*arguments, grid=(2,), warmup=False),
        "compiled": lambda: compiled[(3, 1, 1)](*arguments),
    }
    answer = {name: counted(launch) for name, launch in launches.items()}
    seen = []
    for hook in (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook):
        listen = seen.append
        hook.add(listen)
        answer |= {f"{name}, {hook.reversed}": counted(launch) for name, launch in launches.items()}
        hook.remove(listen)
    answer["seen"] = [[metadata.get()["name"], metadata.get()["flops"]] for metadata in seen]
    patched = []
    compiled.launch_metadata = lambda *args: patched.append(len(args))
    answer["patched"] = [counted(launch) for launch in launches.values()], patched
    answer["while loading"] = launched_while_loading()
    print(json.dumps({**answer, "asked": ASKED, "launches": len(library.launches())}))


if __name__ == "__main__":
    main()
