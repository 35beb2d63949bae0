"""Sequences of events between launches, done in several processes at once and compared."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.fake_driver.programs import environment

WORKER = Path(__file__).parent / "workers" / "guard_events.py"

Event = dict[str, Any]
PROBED = 5
bare = st.sampled_from(["plain", "plain", "mixed", "uses_global", "uses_helper", "described"])
wrapped = st.sampled_from(["tuned", "heuristic"])
extents = st.lists(st.integers(0, 4), min_size=1, max_size=3)
devices = st.integers(0, 1)
sides = st.sampled_from(["enter", "exit"])
numbers = st.sampled_from([5, 21, 16, 32, 1, 2**31, -7, 2**63, True, 2.5, None, "text"]) | st.integers(-200, 200)
addresses = st.sampled_from([4096, 8192, 4104, 0, 0xBAD0 << 48, 0xBAD2 << 48 | 64])
tensors = st.tuples(
    st.sampled_from(["tensor", "tensor", "tensor", "other tensor"]),
    st.tuples(addresses, st.sampled_from(["float32", "float16"])),
)
odd_pointers = st.sampled_from([["plain", 64], ["plain", None], ["plain", "text"], ["tuple", [1, 2]]])
pointers = st.one_of(tensors, tensors, tensors, tensors, tensors, odd_pointers)
second = st.one_of(*[st.sampled_from([5, 21, 32])] * 3, numbers).map(lambda number: ["plain", number])
effects = st.sampled_from(
    [
        "nothing",
        "nothing",
        "change a value",
        "take a value away",
        "launch",
        "raise",
        {"do": "stream", "device": 0, "handle": 99},
        {"do": "device", "number": 1},
        {"do": "set_hook", "side": "enter", "function": True},
        {"do": "add_hook", "side": "exit"},
        {"do": "clear_caches", "kernel": "plain", "what": "all"},
        {"do": "set_global", "name": "SCALE", "number": 4},
        {"do": "replace_run", "kernel": "plain"},
    ]
)
kinds = st.sampled_from(["tuple", "tuple", "tuple", "tuple", "list", "dictionary", "sequence", "nothing", "number"])
grids = st.tuples(kinds, extents, st.none() | st.none() | effects)


@st.composite
def launches(draw: st.DrawFn) -> Event:
    """Draw a launch, mostly one that is like others that came before."""
    kernel = draw(bare)
    values = [draw(pointers), draw(second)]
    options: dict[str, Any] = {}
    if kernel == "mixed":
        values = [values[0], ["tensor", [64, "float32"]], values[1], ["plain", 1.5], ["plain", draw(st.booleans())]]
        options = draw(st.fixed_dictionaries({}, optional={"BLOCK": st.sampled_from([64, 128]), "extra": numbers}))
    options |= draw(st.sampled_from([{}, {}, {}, {"num_warps": 8}, {"debug": True}, {"unknown": 1}]))
    return {"do": "launch", "kernel": kernel, "grid": draw(grids), "values": values, "options": options}


class Side:
    """A process that does events."""

    def __init__(self, python: Path, folder: Path, name: str, *arguments: str, **extra: str) -> None:
        variables = environment(folder, folder / name, {"FAKE_CUDA_DEVICES": "2", "FAKE_HIP_DEVICES": "2", **extra})
        self.messages = (folder / f"{name}.stderr").open("w")
        self.process = subprocess.Popen(
            [python, WORKER, *arguments],
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.messages,
            text=True,
        )

    def send(self, event: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(event) + "\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"a process died; see {self.messages.name}"
        return json.loads(line)

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        self.process.wait()
        self.messages.close()


class Sides:
    """The base, the fork with its fast path, and the fork without."""

    def __init__(self, sides: Mapping[str, Side], backend: str) -> None:
        self.sides, self.backend = sides, backend
        self.launched = 0

    def do(self, event: Event) -> None:
        """Do an event everywhere.

        :raises AssertionError: What was seen of it differs.
        """
        for side in self.sides.values():
            side.send(event)
        seen = {name: side.receive() for name, side in self.sides.items()}
        self.launched += {"launch": event.get("times", 1), "probe": PROBED}.get(event["do"], 0)
        for name, answer in seen.items():
            assert answer == seen["base"], f"{event}: base {seen['base']}, {name} {answer}"


class Events(RuleBasedStateMachine):
    """The events; `sides` is set for each test."""

    sides: Sides

    @initialize()
    def begin(self) -> None:
        self.sides.do({"do": "reset"})
        self.do("probe")

    def do(self, name: str, /, **details: Any) -> None:
        """Do an event, and see what has become of launches that were fast before."""
        self.sides.do({"do": name, **details})
        self.sides.do({"do": "probe"})

    @rule(event=launches(), times=st.integers(1, 4))
    def launch(self, event: Event, times: int) -> None:
        self.sides.do({**event, "times": times})

    @rule(kernel=bare, number=st.sampled_from([5, 21, 32]), times=st.integers(2, 6))
    def launch_plainly(self, kernel: str, number: int, times: int) -> None:
        values: list[Any] = [["tensor", [4096, "float32"]], ["plain", number]]
        if kernel == "mixed":
            values += [["plain", 7], ["plain", 0.5], ["plain", True]]
            values[1] = values[0]
        self.do("launch", kernel=kernel, grid=["tuple", [2, 1], None], values=values, options={}, times=times)

    @rule(kernel=wrapped, grid=grids, pointer=tensors, number=st.sampled_from([5, 21, 32]))
    def launch_wrapped(self, kernel: str, grid: Any, pointer: Any, number: int) -> None:
        values = [pointer, ["plain", number]]
        self.do("launch", kernel=kernel, grid=grid, values=values, options={})

    @rule(kernel=bare, grid=grids)
    def keep_bound(self, kernel: str, grid: Any) -> None:
        self.do("keep_bound", kernel=kernel, grid=grid)

    @rule(kernel=bare, pointer=pointers, number=second)
    def launch_bound(self, kernel: str, pointer: Any, number: Any) -> None:
        self.do("launch_bound", kernel=kernel, values=[pointer, number])

    @rule(kernel=bare, change=st.sampled_from(["nothing", "dtype", "address", "method"]))
    def launch_kept(self, kernel: str, change: str) -> None:
        self.do("launch_kept", kernel=kernel, change=change)

    @rule(address=addresses, dtype=st.sampled_from(["float32", "float16"]))
    def keep_tensor(self, address: int, dtype: str) -> None:
        self.do("keep_tensor", address=address, dtype=dtype)

    @rule(kernel=bare, pointer=tensors, number=second)
    def run_method(self, kernel: str, pointer: Any, number: Any) -> None:
        self.do("run_method", kernel=kernel, values=[pointer, number])

    @rule(number=st.integers(0, 5))
    def launch_compiled(self, number: int) -> None:
        self.do("launch_compiled", number=number)

    @rule(name=st.sampled_from(["SCALE", "FACTOR"]), number=st.sampled_from([2, 3, 4, None]))
    def set_global(self, name: str, number: int | None) -> None:
        self.do("set_global", name=name, number=number)

    @rule(setting=st.sampled_from([True, False, None]))
    def debug(self, setting: bool | None) -> None:
        self.do("knob", name="debug", setting=setting)

    @rule(setting=st.sampled_from([None, "0", "1"]))
    def environment_debug(self, setting: str | None) -> None:
        self.do("environment_debug", setting=setting)

    @rule(hooked=st.booleans())
    def replace_knobs(self, hooked: bool) -> None:
        self.do("replace_knobs", hooked=hooked)

    @rule(side=sides)
    def add_hook(self, side: str) -> None:
        self.do("add_hook", side=side)

    @rule(side=sides)
    def clear_hooks(self, side: str) -> None:
        self.do("clear_hooks", side=side)

    @rule(side=sides, function=st.booleans())
    def set_hook(self, side: str, function: bool) -> None:
        self.do("set_hook", side=side, function=function)

    @rule(on=st.booleans())
    def compile_hook(self, on: bool) -> None:
        self.do("compile_hook", on=on)

    @rule(number=devices)
    def device(self, number: int) -> None:
        self.do("device", number=number)

    @rule(number=devices, handle=st.sampled_from([0, 77, 2**64 - 1]))
    def stream(self, number: int, handle: int) -> None:
        self.do("stream", device=number, handle=handle)

    @rule(name=st.sampled_from(["other_driver", "fail"]))
    def driver(self, name: str) -> None:
        # After a launch that failed the base calls HIP's exit hook with the exception set.
        self.do("other_driver" if self.sides.backend == "hip" else name)

    @rule(kernel=bare, on=st.booleans())
    def pre_run_hook(self, kernel: str, on: bool) -> None:
        self.do("pre_run_hook", kernel=kernel, on=on)

    @rule(kernel=bare, setting=st.sampled_from([None, True]))
    def function_debug(self, kernel: str, setting: bool | None) -> None:
        self.do("function_debug", kernel=kernel, setting=setting)

    @rule(kernel=bare, what=st.sampled_from(["all", "new", "kernels", "keys"]))
    def clear_caches(self, kernel: str, what: str) -> None:
        self.do("clear_caches", kernel=kernel, what=what)

    @rule(kernel=bare, name=st.sampled_from(["forget_key", "forget_globals", "duplicate", "weak", "forget_function"]))
    def disturb(self, kernel: str, name: str) -> None:
        self.do(name, kernel=kernel)

    @rule(kernel=bare, name=st.sampled_from(["replace_run", "restore_run", "update_source"]))
    def replace(self, kernel: str, name: str) -> None:
        self.do(name, kernel=kernel)

    @rule(kernel=bare, other=bare)
    def monkey_patch(self, kernel: str, other: str) -> None:
        self.do("monkey_patch", kernel=kernel, other=other)

    @rule(
        name=st.sampled_from(["patch_class", "unpatch_class"]),
        member=st.sampled_from([("JITFunction", "run"), ("Launcher", "__call__")]),
    )
    def patch(self, name: str, member: tuple[str, str]) -> None:
        self.do(name, name=member[0], member=member[1])

    @rule(number=st.integers(0, 5), what=st.sampled_from(["run", "launch", "metadata", "shared"]))
    def tamper(self, number: int, what: str) -> None:
        self.do("tamper", number=number, what=what)
