"""Loop bodies are generated once, and what comes out is what the base makes in 2**depth runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.conftest import Worker

DEPTHS = range(1, 9)
OFF = {"TRITON_FORK_LOOPS": "0"}


@pytest.mark.parametrize("keyword", ["for", "while"])
def test_statements_are_visited_once_whatever_the_depth(
    run: Worker, base_python: Path, fork_python: Path, keyword: str
) -> None:
    base = run(base_python, "counts", "visits", keyword, "0")
    fork = run(fork_python, "counts", "visits", keyword, "0")
    assert base == {str(depth): [2**depth, 2 ** (depth + 1) - 1] for depth in DEPTHS}
    assert fork == {str(depth): [1, depth + 1] for depth in DEPTHS}


@pytest.mark.parametrize("keyword", ["for", "while"])
def test_a_variable_that_starts_as_another_costs_one_more_visit_a_level(
    run: Worker, fork_python: Path, keyword: str
) -> None:
    fork = run(fork_python, "counts", "visits", keyword, "n")
    assert all(fork[str(depth)][0] <= depth + 1 for depth in DEPTHS)


def test_the_switch_restores_the_dry_run(run: Worker, fork_python: Path) -> None:
    fork = run(fork_python, "counts", "visits", "for", "0", **OFF)
    assert fork == {str(depth): [2**depth, 2 ** (depth + 1) - 1] for depth in DEPTHS}


def test_loops_that_are_left_to_the_base_give_the_same(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "loops"), run(fork_python, "loops")
    assert fork["texts"] == base["texts"]


def test_a_body_speaks_once_while_it_is_compiled(run: Worker, base_python: Path, fork_python: Path) -> None:
    assert run(base_python, "loops")["printed"] == 4
    assert run(fork_python, "loops")["printed"] == 1
    assert run(fork_python, "loops", **OFF)["printed"] == 4


def test_methods_of_the_users_own_keep_the_dry_run(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "loops"), run(fork_python, "loops")
    assert fork["overridden"] == base["overridden"]
    assert fork["overridden_visits"] == base["overridden_visits"] == 1
