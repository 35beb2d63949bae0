"""The base's functions are not run where the fork has another way, run as often as in the base when that is switched off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.codegen.conftest import Worker

SWITCHES = ("TRITON_FORK_PLAIN_VALUES", "TRITON_FORK_VALUES", "TRITON_FORK_CALLS")


def calls_under(switch: str, answer: dict[str, Any]) -> dict[str, int]:
    """Give how often the functions run that a switch is about."""
    return {name: count for name, count in answer["calls"].items() if name.startswith(f"{switch} ")}


def test_the_base_runs_its_functions_less_often_in_the_fork(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "ways"), run(fork_python, "ways")
    assert fork["ir"] == base["ir"]
    assert all(fork["calls"][name] < count for name, count in base["calls"].items())


@pytest.mark.parametrize("switch", SWITCHES)
def test_each_switch_restores_the_calls_of_the_base(
    run: Worker, base_python: Path, fork_python: Path, switch: str
) -> None:
    # Calls make some plain values of their own, fewer in the fork.
    off = {"TRITON_FORK_CALLS": "0", "TRITON_FORK_DEFERRED_SOURCE": "0", switch: "0"}
    base, fork = run(base_python, "ways"), run(fork_python, "ways", **off)
    assert fork["ir"] == base["ir"]
    assert calls_under(switch, fork) == calls_under(switch, base)


def test_all_switches_together_restore_all_calls(run: Worker, base_python: Path, fork_python: Path) -> None:
    assert run(fork_python, "ways", TRITON_FORK="0") == run(base_python, "ways")


def test_values_that_are_changed_after_they_were_shared(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "shared"), run(fork_python, "shared")
    tries = fork.pop("tries")
    assert {name for name, count in tries.items() if count == 2} == {
        "changed after",
        "changed in a branch",
        "changed in a loop",
        "changed by the called",
        "changed behind a handler",
        "wrong value",
    }
    base.pop("tries")
    assert fork == base
    assert not any(fork["missing"].values())


def test_gluon_attention_takes_a_third_of_the_calls(run: Worker, base_python: Path, fork_python: Path) -> None:
    assert 3 * run(fork_python, "attention") < run(base_python, "attention")
