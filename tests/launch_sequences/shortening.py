"""Makes a program that differs shorter, one part at a time, while it still differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .programs import Program

# What a launch has where nothing is said.
_USUAL = {"times": 1, "grid": ["tuple", [1], "plain"]}
_OPTIONAL = ("how", "options", "keywords", "fresh_names", "during", "times")


def shorten(program: Program, differs: Callable[[Program], bool]) -> Program:
    """Drop what a program does not need to differ.

    :param program: a program that differs
    :param differs: tells whether a program does
    :returns: the shortest that was found
    """
    current = program
    while shorter := next((each for each in shorter_ones(current) if differs(each)), None):
        current = shorter
    return current


def shorter_ones(program: Program) -> Iterator[Program]:
    """Give programs that are simpler in one place.

    :param program: the program
    """
    for size in (8, 4, 2, 1):
        for start in range(len(program) - size, -1, -1):
            if len(program) > size:
                yield program[:start] + program[start + size :]
    for at, step in enumerate(program):
        for simpler in _simpler(step):
            yield [*program[:at], simpler, *program[at + 1 :]]


def _simpler(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if step["do"] == "begin":
        yield from ({**step, "launch": simpler} for simpler in _simpler_launch(step["launch"]))
    elif step["do"] == "launch":
        yield from _simpler_launch(step)
    elif step["do"] == "thread":
        yield step["step"]
        yield from ({**step, "step": simpler} for simpler in _simpler(step["step"]))


def _simpler_launch(launch: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in _OPTIONAL:
        if key in launch and launch[key] not in ({}, [], False):
            yield {name: value for name, value in launch.items() if name != key}
    if launch["grid"] != _USUAL["grid"]:
        yield {**launch, "grid": _USUAL["grid"]}
    if launch["grid"][:2] != ["tuple", [1]]:
        yield {**launch, "grid": ["tuple", [1], launch["grid"][2]]}
    if launch.get("times", 1) > 1:
        yield {**launch, "times": launch["times"] - 1}
    inner = launch.get("during", [])
    for at, (moment, step) in enumerate(inner):
        yield {**launch, "during": inner[:at] + inner[at + 1 :]}
        for simpler in _simpler(step):
            yield {**launch, "during": [*inner[:at], [moment, simpler], *inner[at + 1 :]]}
