"""What a program makes use of: tells whether a program differs for a reason that is known already."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from .programs import Program

Features = frozenset[str]

# Arguments of steps that say what is done; the others say to what, or how much.
_TELLING = ("name", "what", "side", "answer", "error", "how", "kind", "setting", "functions", "stack", "hooked")
_CHANGES_OF_OBJECTS = ("move", "retype", "reclass", "method", "make_constant", "use", "resize")


def features(program: Program) -> Features:
    """List what a program makes use of.

    :param program: the program
    """
    return frozenset(feature for step in program for feature in _of_step(step))


def is_explained(program: Program, known: Collection[Features]) -> bool:
    """Tell whether a program has all that some shorter one needs to differ.

    :param program: the program
    :param known: features of programs that are known to differ
    """
    own = features(program)
    return any(each <= own for each in known)


def _of_step(step: dict[str, Any], moment: str = "") -> Iterator[str]:
    name = step["do"]
    if name in ("launch", "begin"):
        launch = step.get("launch", step)
        yield from _of_launch(launch, f"{moment}{name} {launch['kernel']}")
    elif name == "thread":
        yield from _of_step(step["step"], f"{moment}thread: ")
    else:
        telling = [] if name in _CHANGES_OF_OBJECTS else [str(step[key]) for key in _TELLING if key in step]
        if name in ("make_tensor", "drop"):
            telling = [step["spec"][0] if name == "make_tensor" else step["kind"]]
        yield f"{moment}{name} {' '.join(telling)}".rstrip()


def _of_launch(launch: dict[str, Any], name: str) -> Iterator[str]:
    yield name
    kind, _, how = launch["grid"]
    if how != "plain" or kind != "tuple":
        yield f"{name} on a {how} {kind}"
    for value in launch["values"]:
        if value[0] != "int" or value[1] != "5":
            yield f"{name} of {value[0]} {value[1] if value[0] in ('stored', 'numpy') else ''}"
    for key in ("how", "options", "fresh_names"):
        if launch.get(key):
            yield f"{name} with {key} {launch[key]}"
    for moment, inner in launch.get("during", ()):
        yield from _of_step(inner, f"at {moment}: ")
