"""Whatever happens between two launches, the fork launches what the base launches, on the fast path and without it.

Random sequences of events, the same ones in three processes. `GUARD_EXAMPLES=500 GUARD_SEED=7` with `-m slow` runs as many
sequences as wanted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.fake_driver.programs import prepare
from tests.native.guard_sequences import Event, Events, Side, Sides

COMMON = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck), stateful_step_count=25)
QUICK = settings(COMMON, max_examples=15, derandomize=True)


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@contextmanager
def sides_of(base: Path, fork: Path, folder: Path, *arguments: str) -> Iterator[Sides]:
    with ExitStack() as stack:
        made = {
            "base": Side(base, folder, f"{arguments[0]}_base", *arguments),
            "fork": Side(fork, folder, f"{arguments[0]}_fork", *arguments, "count"),
            "fork without": Side(fork, folder, f"{arguments[0]}_without", *arguments, TRITON_FORK_NATIVE="0"),
        }
        for side in made.values():
            stack.callback(side.close)
        yield Sides(made, arguments[0])


@pytest.fixture(scope="module", params=["cuda", "hip"])
def sides_in_use(request: pytest.FixtureRequest, base_python: Path, fork_python: Path, folder: Path) -> Iterator[Sides]:
    with sides_of(base_python, fork_python, folder, request.param) as made:
        yield made


def run_events(made: Sides, chosen: settings, decorate: Callable[[Any], Any] = lambda machine: machine) -> float:
    """Run sequences of events; return which part of the launches took the fast path."""
    machine = type("Sequences", (Events,), {"sides": made})
    fork = made.sides["fork"]
    fork.send({"do": "count"})
    before, launched = fork.receive()[0], made.launched
    run_state_machine_as_test(decorate(machine), settings=chosen)
    fork.send({"do": "count"})
    return 1 - (fork.receive()[0] - before) / max(1, made.launched - launched)


def launch_of_plain(kind: str, *effect: Any) -> Event:
    grid = [kind, [2, 3], effect[0] if effect else None]
    return {
        "do": "launch",
        "kernel": "plain",
        "grid": grid,
        "values": [["tensor", [4096, "float32"]], ["plain", 5]],
        "options": {},
    }


@pytest.mark.parametrize(
    "event",
    [
        launch_of_plain("dictionary"),
        launch_of_plain("sequence"),
        launch_of_plain("tuple", "change a value"),
        launch_of_plain("tuple", "take a value away"),
        launch_of_plain("tuple", "launch"),
        launch_of_plain("tuple", {"do": "add_hook", "side": "enter"}),
        launch_of_plain("tuple", {"do": "set_hook", "side": "exit", "function": True}),
        launch_of_plain("tuple", {"do": "clear_caches", "kernel": "plain", "what": "all"}),
        launch_of_plain("tuple", {"do": "tamper", "number": 0, "what": "run"}),
        {"do": "replace_run", "kernel": "plain"},
        {"do": "knob", "name": "debug", "setting": None},
        {"do": "instrumentation", "setting": None},
        {"do": "patch_class", "name": "Launcher", "member": "__call__"},
        {"do": "tamper", "number": 0, "what": "launch"},
        {"do": "tamper", "number": 0, "what": "shared"},
        {"do": "tamper", "number": 0, "what": "run"},
    ],
    ids=lambda event: "-".join(str(value) for value in event.values() if isinstance(value, str)),
)
def test_event(sides_in_use: Sides, event: Event) -> None:
    for each in ({"do": "reset"}, {"do": "probe"}, {"do": "probe"}, event, {"do": "probe"}, {"do": "probe"}):
        sides_in_use.do(each)


@pytest.mark.parametrize("class_", ["JITFunction", "Launcher"])
def test_replaced_before_the_first_launch(base_python: Path, fork_python: Path, folder: Path, class_: str) -> None:
    with sides_of(base_python, fork_python, folder, "cuda", "patched", class_) as made:
        for _ in range(3):
            made.do({"do": "probe"})


def test_events(sides_in_use: Sides) -> None:
    share = run_events(sides_in_use, QUICK)
    assert share > 0.1 or sides_in_use.backend == "hip"


@pytest.mark.slow
def test_many_events(sides_in_use: Sides) -> None:
    chosen = settings(COMMON, max_examples=int(os.environ.get("GUARD_EXAMPLES", "300")))
    share = run_events(sides_in_use, chosen, seed(int(os.environ.get("GUARD_SEED", "1"))))
    assert share > 0.05 or sides_in_use.backend == "hip"
