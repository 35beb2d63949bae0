"""Strategies for steps that change something, between launches or at a moment of one."""

from __future__ import annotations

import functools
from typing import Any

from hypothesis import strategies as st

from .arguments import ADDRESSES, DTYPES, KINDS, NUMBERS, Focus, one_of

Step = dict[str, Any]
Steps = st.SearchStrategy[Step]

PATCHES = [
    "launch_metadata", "launch_metadata refuses", "kernel's run", "kernel's run is watched", "getitem",
    "getitem of functions", "getitem refuses", "run", "another run", "run refuses", "key", "another key", "key refuses",
    "active", "another active", "driver", "knobs", "launcher", "launcher refuses", "compile", "create_binder", "pack",
    "hook chain", "device", "stream", "another stream", "class's stream", "allocator variable", "set_allocator",
]  # fmt: skip
CACHES = [
    "clear", "new", "watch", "plain", "clear kernels", "clear keys", "watch kernels", "watch keys", "swap kernels",
    "swap keys", "wrap binder", "another binder", "list",
]  # fmt: skip
TAMPERED = ["run", "launch", "shared", "cooperative", "scratch", "instance"]
# Kept apart: KeyboardInterrupt and its like, of which the base makes other errors in some places.
ERRORS = ["LookupError", "TypeError", "ValueError", "AttributeError", "StopIteration", "RuntimeError", "OverflowError"]
ERRORS += ["SystemError", "KeyboardInterrupt"]
LAUNCH_FUNCTIONS = {"cuda": ["cuLaunchKernelEx"], "hip": ["hipModuleLaunchKernel"]}
LOAD_FUNCTIONS = {"cuda": ["cuModuleLoadData"], "hip": ["hipModuleLoadDataEx"]}


def step(name: str, /, **details: list[Any]) -> Steps:
    """Draw a step of one name.

    :param name: what to do
    :param details: for each argument the values to choose from
    """
    parts = {key: st.sampled_from(values) for key, values in details.items()}
    return st.fixed_dictionaries({"do": st.just(name), **parts})


def of_objects(tensors: list[str]) -> list[Steps]:
    """List changes of what launches are given.

    :param tensors: names of the kept tensors
    """
    return [
        *[step("move", name=tensors, address=ADDRESSES)] * 4,
        *[step("retype", name=tensors, dtype=DTYPES)] * 3,
        step("reclass", name=tensors),
        step("method", name=tensors, address=[48, 52, None]),
        step("equal_dtype", name=tensors),
        st.fixed_dictionaries(
            {
                "do": st.just("make_tensor"),
                "name": st.sampled_from(tensors),
                "spec": st.tuples(st.sampled_from(KINDS), st.sampled_from(ADDRESSES), st.sampled_from(DTYPES)).map(
                    list
                ),
            }
        ),
        step("make_constant", name=["c0", "c1"], size=[16, 32]),
        step("use", name=["c0", "c1"]),
        step("resize", name=["c0", "c1"], size=[16, 32, 48]),
        step("make_number", name=["n0"], number=[str(number) for number in NUMBERS[:6]]).map(
            lambda made: {**made, "number": int(made["number"])}
        ),
        step("describe", name=["d0"], what=["address", "base"], setting=ADDRESSES),
        step("describe", name=["d0"], what=["dtype"], setting=["float32", "float16"]),
        step("describe", name=["d0"], what=["shape"], setting=[[64, 32], [32, 64], [64]]),
        step("describe", name=["d0"], what=["block_shape"], setting=[[16, 32], [32, 16], [16]]),
        step("describe", name=["d0"], what=["padding"], setting=["nan", "zero"]),
        step("drop", name=tensors, kind=KINDS),
    ]


def of_functions(kernels: list[str]) -> list[Steps]:
    """List changes of functions.

    :param kernels: names of the functions
    """
    return [
        *[step("caches", kernel=kernels, what=CACHES)] * 3,
        step("pre_run_hook", kernel=kernels, on=[True, False]),
        step("function_debug", kernel=kernels, setting=[None, True, False]),
        step("replace_run", kernel=kernels),
        step("restore_run", kernel=kernels),
        step("forget_key", kernel=kernels),
        step("forget_globals", kernel=kernels),
        step("update_source", kernel=kernels),
        step("monkey_patch", kernel=kernels, other=["plain", "described", "uses_helper"]),
        step("defaults", kernel=["mixed"], values=[[32, 7], [64, 8]]),
        step("duplicate", kernel=kernels),
        step("pickle", kernel=kernels),
        step("forget_function", kernel=kernels),
        step("launch_metadata", kernel=kernels, on=[True, False]),
        step("bind", kernel=kernels, grid=[["tuple", [3], "plain"], ["tuple", [3], "function"]]),
    ]


def of_triton(backend: str) -> list[Steps]:
    """List changes of Triton's own state.

    :param backend: ``cuda`` or ``hip``
    """
    hooks = ["jit_cache_hook", "jit_post_compile_hook"]
    changes = [
        *[step("patch", name=PATCHES)] * 4,
        step("unpatch"),
        step("tamper", number=[0, 1, 2], what=TAMPERED),
        step("set_global", name=["SCALE", "FACTOR"], number=[2, 3, 4, None]),
        step("knob", name=["debug"], setting=[True, False, None]),
        step("environment_debug", setting=[None, "0", "1"]),
        step("instrumentation", setting=["", None]),
        step("replace_knobs", hooked=[True, False]),
        step("add_hook", side=["enter", "exit"]),
        step("clear_hooks", side=["enter", "exit"]),
        step("set_hook", side=["enter", "exit"], function=[True, False]),
        step("compile_hook", name=hooks, answer=[True, False, None]),
        step("device", number=[0, 1]),
        step("stream", device=[0, 1], handle=[0, 77, 2**64 - 1]),
        step("other_driver"),
        step("allocator", name=["own allocator"]),
        step("refusing_allocator"),
        step("collect"),
        step("switch_often"),
    ]
    if backend == "cuda":
        # After a launch that failed the base calls HIP's exit hook with the exception set.
        changes += [
            step("fail", functions=[LAUNCH_FUNCTIONS[backend]]),
            step("fail", functions=[LOAD_FUNCTIONS[backend]]),
        ]
    return changes


@functools.cache
def changes(focus: Focus) -> Steps:
    """Draw a change of anything.

    :param focus: what the program is about
    """
    parts = (of_objects(list(focus.tensors)), of_functions(list(focus.kernels)), of_triton(focus.backend))
    objects, functions, triton = (st.sampled_from(part).flatmap(lambda each: each) for part in parts)
    return one_of((4, objects), (2, functions), (3, triton))
