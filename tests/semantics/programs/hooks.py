"""Prints every call that hooks get, in order, while a kernel is compiled and launched in several ways."""
# mypy: ignore-errors

import json
from pathlib import Path

import triton.language as tl

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor
from triton import knobs

EVENTS = []


def describe(grid, metadata, arguments):
    EVENTS.append(["launch_metadata", list(grid), metadata.num_warps, sorted(arguments)])
    return {"flops": 5}


@triton.jit(launch_metadata=describe)
def kernel(p, n, scale, size: tl.constexpr, other: tl.constexpr = 3):
    tl.store(p, n * scale + size + other)


@triton.jit
def bare(p):
    tl.store(p, 1)


def compile_event(name, result=None):
    def hook(**call):
        compiled, fn = call["compile"], call["fn"]
        fields = {field: str(compiled[field]) for field in sorted(compiled) if field != "specialization_data"}
        EVENTS.append(
            [
                *(name, call["key"], call["repr"], fn.name, fn.module, fn.jit_function.__name__),
                *(sorted(call), call["is_manual_warmup"], call["already_compiled"]),
                *(fields, json.loads(compiled["specialization_data"])),
            ]
        )
        return result

    return hook


def launch_event(name, library):
    def hook(metadata):
        data = dict(metadata.get())
        # The handle is an address; that it is there at all is what counts.
        data["function"] = data["function"] > 0
        EVENTS.append([name, data, library.launch_count])

    return hook


def load_event(name):
    def hook(module, function, kernel_name, metadata_group, key):
        EVENTS.append([name, module is not None, function is not None, kernel_name, sorted(metadata_group), len(key)])

    return hook


def section(name, action):
    """Note what an action sets off, and its result or error."""
    EVENTS.append([f"== {name}"])
    try:
        result = action()
        EVENTS.append(["result", type(result).__name__])
    except Exception as error:
        EVENTS.append(["error", type(error).__name__, str(error)])


def raising(metadata):
    raise ValueError("from the hook")


def main():
    fake = install()
    runtime = knobs.runtime
    p = tensor(4096, "int32")
    arguments = (p, 7, 2.5, 4)
    runtime.jit_cache_hook = compile_event("jit_cache_hook")
    runtime.jit_post_compile_hook = compile_event("jit_post_compile_hook")
    runtime.kernel_load_start_hook.add(load_event("load_start"))
    runtime.kernel_load_end_hook.add(load_event("load_end"))
    section("no launch hooks", lambda: kernel[(2,)](*arguments))
    enter, second = launch_event("enter", fake.library), launch_event("second enter", fake.library)
    leave, second_leave = launch_event("exit", fake.library), launch_event("second exit", fake.library)
    for hook in (enter, second):
        runtime.launch_enter_hook.add(hook)
    for hook in (leave, second_leave):
        runtime.launch_exit_hook.add(hook)
    kernel.add_pre_run_hook(lambda *args, **kwargs: EVENTS.append(["pre-run", len(args), sorted(kwargs)]))
    section("launch again", lambda: kernel[(2, 3)](*arguments))
    section("other constant, by name", lambda: kernel[(1,)](p, n=7, scale=2.5, size=8, other=9, num_warps=8))
    section("warm-up", lambda: kernel.warmup(p, 16, 2.5, 4, grid=(1,)))
    section("warm-up again", lambda: kernel.warmup(p, 16, 2.5, 4, grid=(1,)))
    section("no metadata function", lambda: bare[(1,)](p))
    section("empty grid", lambda: bare[(0,)](p))
    section("callable grid", lambda: bare[lambda meta: (len(meta), 2)](p))
    section("compiled kernel", lambda: bare.warmup(p, grid=(1,))[(1, 1, 1)](p))
    runtime.launch_enter_hook.remove(second)
    runtime.launch_exit_hook.remove(leave)
    section("some removed", lambda: bare[(1,)](p))
    runtime.launch_enter_hook.add(raising)
    section("enter raises", lambda: bare[(1,)](p))
    runtime.launch_enter_hook.remove(raising)
    runtime.launch_exit_hook.add(raising)
    section("exit raises", lambda: bare[(1,)](p))
    runtime.launch_exit_hook.remove(raising)
    runtime.jit_cache_hook = compile_event("jit_cache_hook", result=True)
    section("cache hook says no", lambda: kernel[(1,)](p, 7, 2.5, 77))
    bare.add_pre_run_hook(lambda *args, **kwargs: raising(None))
    section("pre-run raises", lambda: bare[(1,)](p))
    answer = json.dumps({"events": EVENTS, "launches": fake.library.launch_count})
    # Paths of the installation are among the options; they differ between two environments.
    print(answer.replace(str(Path(triton.__file__).parent), "TRITON"))


if __name__ == "__main__":
    main()
