"""Functions and constants with one name each give the code of their own within one kernel, and the same ones share theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.conftest import Worker


def test_each_call_runs_its_own_function(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "function_names"), run(fork_python, "function_names")
    # Constant tuples, what is not equal to itself, and objects that fill while they are asked have the code of the base.
    texts = fork.pop("texts")
    assert texts == base.pop("texts")
    assert "Error" not in str(texts)
    assert fork.pop("same_functions") == base.pop("same_functions") == [1, 1]
    assert {name: numbers for name, numbers in fork.items() if numbers != [1, 2, 1]} == {}
    assert {name: numbers for name, numbers in base.items() if numbers != [1, 1, 1]} == {}
    assert len(fork) == 9


def test_with_the_base_s_ways_of_naming(run: Worker, fork_python: Path) -> None:
    off = {"TRITON_FORK_CALLS": "0", "TRITON_FORK_VALUES": "0"}
    assert run(fork_python, "function_names", **off) == run(fork_python, "function_names")


@pytest.mark.parametrize("switch", ["TRITON_FORK_FIX_CALLED_FUNCTIONS_TOLD_APART", "TRITON_FORK_FIXES"])
def test_with_the_switch_functions_of_one_name_are_one(
    switch: str, run: Worker, base_python: Path, fork_python: Path
) -> None:
    assert run(fork_python, "function_names", **{switch: "0"}) == run(base_python, "function_names")
