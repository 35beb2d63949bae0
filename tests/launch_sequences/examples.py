"""Programs that have differed once, made short: each must agree for ever."""

from __future__ import annotations

from typing import Any

from .programs import Program

ONE: list[Any] = ["tuple", [1], "plain"]
COMPUTED: list[Any] = ["tuple", [1], "function"]
FIVE = ["int", "5"]


def launch(name: str = "t0", grid: list[Any] = ONE, kernel: str = "plain", **details: Any) -> dict[str, Any]:
    """Make a launch of a kept tensor.

    :param name: the tensor
    :param grid: the grid
    :param kernel: the kernel
    :param details: what else a launch has
    """
    made = {"do": "launch", "kernel": kernel, "grid": grid, "values": [["stored", name], FIVE], **details}
    if kernel == "constant":
        made["values"].append(["stored", "c0"])
    return made


def moved(moment: str, address: int = 4104) -> list[Any]:
    """Say that a tensor moves at a moment.

    :param moment: the moment
    :param address: where to
    """
    return [moment, {"do": "move", "name": "t0", "address": address}]


def patched(name: str) -> Program:
    """Make a program that replaces a part of Triton between launches of a kind.

    :param name: what is replaced
    """
    return [launch(times=2), {"do": "patch", "name": name}, launch(times=2), {"do": "unpatch"}, launch(times=2)]


def changed_caches(what: str) -> Program:
    """Make a program that changes the caches of a function between launches of a kind.

    :param what: what is changed
    """
    return [launch(times=2), {"do": "caches", "kernel": "plain", "what": what}, launch(times=2)]


BETWEEN_AND_DURING: dict[str, Program] = {
    "address after the grid": [launch(times=2), launch(grid=COMPUTED, during=[moved("grid", 8192)])],
    "address after the allocator": [
        launch(kernel="scratch", times=2),
        launch(kernel="scratch", during=[moved("allocator", 8192)]),
    ],
    "address after the hook": [
        {"do": "set_hook", "side": "enter", "function": True},
        launch(times=2, during=[moved("enter alone", 8192)]),
    ],
    "learned from a grid": [
        launch(grid=COMPUTED, during=[moved("grid")]),
        {"do": "move", "name": "t1", "address": 4104},
        launch("t1"),
        launch(),
    ],
    "learned from a thread": [
        launch(grid=COMPUTED, during=[["grid", {"do": "thread", "step": moved("")[1]}]]),
        launch(times=2),
    ],
    "type that changes": [
        launch(grid=COMPUTED, during=[["grid", {"do": "retype", "name": "t0", "dtype": "float16"}]]),
        launch(times=2),
    ],
    "types that are new each time": [launch("t2", times=2), launch("t3", times=2)] * 10,
    "failure after the launch": [
        launch(during=[["data_ptr after the launch", {"do": "raise", "error": "LookupError"}]])
    ],
    "classes that refuse to be compared": [{"do": "drop", "name": "t0", "kind": "loud"}, launch(times=2)],
    "hooks for a while": [
        {"do": "set_hook", "side": "enter", "function": True},
        launch(times=40),
        {"do": "set_hook", "side": "enter", "function": False},
        launch(times=3),
    ],
    "debugging for a while": [{"do": "knob", "name": "debug", "setting": True}, launch(times=40)],
    "a grid for ever": [launch(times=2), {"do": "endless", "kernel": "plain", "limit": None, "stack": 0}],
    "a grid for ever, nested deeply": [
        launch(times=2),
        {"do": "endless", "kernel": "plain", "limit": 20000, "stack": 0},
    ],
    "a grid for ever, small stack": [
        launch(times=2),
        {"do": "endless", "kernel": "plain", "limit": None, "stack": 1 << 18},
    ],
    "constant that was used": [launch(kernel="constant"), {"do": "use", "name": "c0"}, launch(kernel="constant")],
    "two launches at once": [
        {"do": "begin", "launch": {**launch(grid=COMPUTED), "during": [["grid", {"do": "pause"}]]}},
        {"do": "move", "name": "t0", "address": 4104},
        launch(times=2),
        {"do": "caches", "kernel": "plain", "what": "clear"},
        {"do": "resume", "number": 0},
        launch(times=2),
    ],
    "own metadata": [launch(), {"do": "tamper", "number": 0, "what": "instance"}, launch()],
    "own run during a question": [
        launch(),
        launch(during=[["data_ptr", {"do": "replace_run", "kernel": "plain"}]]),
        launch(),
    ],
    "keys that are exchanged": [
        launch(),
        {"do": "knob", "name": "debug", "setting": True},
        launch(),
        {"do": "knob", "name": "debug", "setting": False},
        {"do": "caches", "kernel": "plain", "what": "swap keys"},
        launch(),
    ],
}
PATCHED = [
    "launch_metadata", "kernel's run", "getitem", "run", "key", "another key", "another active", "driver", "knobs", "launcher",
]  # fmt: skip
EXAMPLES: dict[str, Program] = {
    **BETWEEN_AND_DURING,
    **{f"patched {name}": patched(name) for name in PATCHED},
    **{f"patched before the first launch: {name}": patched(name)[1:] for name in ("run", "launcher")},
    "function that is forgotten": [launch(times=2), {"do": "forget_function", "kernel": "plain"}, launch(times=2)],
    **{f"caches: {what}": changed_caches(what) for what in ("watch", "watch kernels", "watch keys", "wrap binder")},
}
