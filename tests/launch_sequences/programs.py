"""Strategies for whole programs."""

from __future__ import annotations

import functools
from typing import Any

from hypothesis import strategies as st

from .arguments import BARE, TENSORS, WRAPPED, Focus, grids, one_of, options, usual_grid, usual_values_of, values_of
from .changes import ERRORS, PATCHES, Step, Steps, changes, step

Program = list[Step]

PHASES = ["", " after the grid", " after the launch"]
QUESTIONS = [f"{question}{phase}" for question in ("data_ptr", "dtype") for phase in PHASES]
QUESTIONS += ["eq", "hash", "index", "bool", "mod", "cache get", "cache item", "caches item"]
FIRST_QUESTIONS = ("data_ptr", "dtype", "eq", "hash", "index", "bool", "mod", "device", "stream")
EVENTS = ["allocator", "enter alone", "exit alone", "enter of a chain", "exit of a chain", "pre_run", "binder"]
EVENTS += ["jit_cache_hook", "jit_post_compile_hook", "len of grid", "item of grid", "cache set"]
moments = one_of(
    (4, st.just("grid")), (3, st.sampled_from(QUESTIONS)), (2, st.sampled_from(EVENTS)), (1, st.sampled_from(PATCHES))
)


def usual_launch(kernel: str, name: str, times: int, grid: list[Any] | None = None) -> Step:
    """Make a launch as a kernel is launched most often.

    :param kernel: its name
    :param name: name of the stored tensor to give
    :param times: how often
    :param grid: the grid; a tuple by default
    """
    chosen = grid or ["tuple", [2, 3], "plain"]
    return {"do": "launch", "kernel": kernel, "grid": chosen, "values": usual_values_of(kernel, name), "times": times}


@st.composite
def launches(draw: st.DrawFn, focus: Focus, *, depth: int = 1) -> Step:
    """Draw a launch, most often a usual one, and what happens during it."""
    kernel = draw(st.sampled_from([*focus.kernels * 4, *WRAPPED] if depth else focus.kernels))
    made = usual_launch(kernel, draw(st.sampled_from(focus.tensors)), draw(st.integers(1, 6)), draw(usual_grid))
    oddness = draw(st.integers(0, 5))
    if oddness == 0:
        made["grid"] = draw(grids)
    elif oddness == 1 and kernel not in WRAPPED:
        made["values"] = draw(values_of(kernel))
    elif oddness == 2:
        made["options"] = draw(options)
        made["how"] = draw(st.sampled_from(["getitem", "bound", "run", "warmup", "thread"]))
    elif oddness == 3 and kernel not in WRAPPED:
        made["keywords"] = {"count": made["values"].pop(1)} if len(made["values"]) == 2 else {}
        made["fresh_names"] = draw(st.booleans())
    if depth and draw(st.booleans()):
        happening = draw(st.lists(st.tuples(moments, during(focus)).map(list), min_size=1, max_size=3))
        made["during"] = [each for each in happening if focus.early or not is_early(*each)]
    return made


@functools.cache
def during(focus: Focus) -> Steps:
    """Draw what happens at a moment of a launch."""
    change, inner = changes(focus), launches(focus, depth=0)
    return one_of(
        (8, change),
        (1, step("raise", error=ERRORS)),
        (1, inner),
        (2, change.map(in_thread)),
        (1, inner.map(in_thread)),
    )


def is_early(moment: str, inner: Step) -> bool:
    """Tell whether something changes when an argument is asked for the first time.

    Where a kind of call is new, the fork asks and then goes the base's way, which asks again: it sees what has changed.

    :param moment: the moment
    :param inner: what happens then
    """
    return moment in FIRST_QUESTIONS and inner["do"] != "raise"


def in_thread(inner: Step) -> Step:
    """Make a step of one that another thread does.

    :param inner: the step
    """
    return {"do": "thread", "step": inner}


@st.composite
def suspensions(draw: st.DrawFn, focus: Focus) -> Step:
    """Draw a launch in another thread that waits for a later step."""
    inner = draw(launches(focus, depth=0))
    early = ["data_ptr"] if focus.early else []
    pause = [draw(st.sampled_from(["grid", "grid", "data_ptr after the grid", *early, *EVENTS])), {"do": "pause"}]
    change = draw(st.lists(st.tuples(moments, changes(focus)).map(list), max_size=1))
    launch = {name: value for name, value in inner.items() if name != "do"}
    change = [each for each in change if focus.early or not is_early(*each)]
    return {"do": "begin", "launch": {**launch, "times": 1, "during": [pause, *change]}}


@st.composite
def endless(draw: st.DrawFn, focus: Focus) -> Step:
    """Draw a launch whose grid launches the same again."""
    plain = [kernel for kernel in focus.kernels if kernel not in ("nested", "descriptor", "mixed", "constant")] or [
        "plain"
    ]
    limits = st.sampled_from([(None, 0), (None, 0), (6000, 0), (None, 1 << 18)])
    limit, stack = draw(limits)
    return {"do": "endless", "kernel": draw(st.sampled_from(plain)), "limit": limit, "stack": stack}


@functools.cache
def steps(focus: Focus) -> Steps:
    """Draw any step.

    :param focus: what the program is about
    """
    compiled = step("launch_compiled", number=[0, 1, 2], values=[[["stored", "t0"], ["int", "5"]]])
    return one_of(
        (16, launches(focus)),
        (10, changes(focus)),
        (3, suspensions(focus)),
        (3, step("resume", number=[0, 1])),
        (1, compiled),
        (1, endless(focus)),
    )


@st.composite
def programs(draw: st.DrawFn, backend: str = "cuda", length: int = 10, *, early: bool = False) -> Program:
    """Draw a program: launches that the fork can learn, then changes and launches in turn.

    :param backend: ``cuda`` or ``hip``
    :param length: most steps after the first launches
    :param early: whether a first question to an argument may change something
    """
    kernels = tuple(draw(st.lists(st.sampled_from(BARE + ["plain"] * 6), min_size=1, max_size=2, unique=True)))
    tensors = tuple(draw(st.lists(st.sampled_from(TENSORS), min_size=1, max_size=2, unique=True)))
    focus = Focus(backend, kernels, tensors, early)
    probes = [usual_launch(kernel, tensors[0], 3) for kernel in kernels]
    program = list(probes) if draw(st.integers(0, 3)) else []
    for other in draw(st.lists(steps(focus), min_size=length // 2, max_size=length)):
        program.append(other)
        # What the fork has learned shows in usual launches.
        if draw(st.booleans()):
            program += probes
    return program
