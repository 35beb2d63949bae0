"""Functions that call each other: the cost of their keys, and that the order of asking does not show in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cache.conftest import Worker
from tests.support.programs import run_program

WORKER = Path(__file__).parent / "workers" / "dense_cycles.py"
COUNT = 9


def ask(python: Path, folder: Path, *order: int) -> dict:
    return run_program(python, WORKER, folder, str(COUNT), *map(str, order), timeout=120)


def test_a_function_is_visited_once_for_each_member_that_is_asked_for(fork_python: Path, tmp_path: Path) -> None:
    # Nine members, each asked for once and each of the others then visited once more; one function outside, one caller.
    assert ask(fork_python, tmp_path)["visited"] <= COUNT * COUNT + 2


@pytest.mark.parametrize("order", [(8, 3, 0), (10, 1), (1, 10, 0), (9, 10, 5)])
def test_the_order_of_asking_does_not_show(fork_python: Path, tmp_path: Path, order: tuple[int, ...]) -> None:
    keys = ask(fork_python, tmp_path)["keys"]
    assert ask(fork_python, tmp_path, *order)["keys"] == keys
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 for key in keys)


def test_cycles_through_values_have_one_key_each(run: Worker, fork_python: Path) -> None:
    keys = run(fork_python, "value_cycles", "1")
    assert len(set(keys)) == len(keys) == 9
    orders = ["8", "0 8", "7 5 2", "6 4 3 1", "3 8 6 0", "1 2 3 4 5 6 7 8", "8 7 6 5 4 3 2 1 0", "2 5", "5 6 8 7"]
    for seed, order in enumerate(orders):
        assert run(fork_python, "value_cycles", "1", *order.split(), PYTHONHASHSEED=str(seed)) == keys, order


def test_a_value_deep_in_a_cycle_through_values_is_in_each_key(run: Worker, fork_python: Path) -> None:
    first, second = (run(fork_python, "value_cycles", number) for number in "12")
    same = [place for place, keys in enumerate(zip(first, second, strict=True)) if len(set(keys)) == 1]
    assert same == [7]  # the function that calls none of them
