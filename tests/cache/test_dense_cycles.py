"""Functions that call each other: the cost of their keys, and that the order of asking does not show in them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "workers" / "dense_cycles.py"
COUNT = 9


def ask(python: Path, *order: int) -> dict:
    command = [str(python), str(WORKER), str(COUNT), *map(str, order)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_function_is_visited_once_for_each_member_that_is_asked_for(fork_python: Path) -> None:
    # Nine members, each asked for once and each of the others then visited once more; one function outside, one caller.
    assert ask(fork_python)["visited"] <= COUNT * COUNT + 2


@pytest.mark.parametrize("order", [(8, 3, 0), (10, 1), (1, 10, 0), (9, 10, 5)])
def test_the_order_of_asking_does_not_show(fork_python: Path, order: tuple[int, ...]) -> None:
    keys = ask(fork_python)["keys"]
    assert ask(fork_python, *order)["keys"] == keys
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 for key in keys)
