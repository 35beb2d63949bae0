"""Programs that do what few do: the fork does what the base does, or what is right where the base is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fake_driver.programs import Both

#: What comes of a case in the fork, where the base is wrong.
CORRECTED = {
    "functions_in_constexpr": [["41"], ["42"]],
    "aggregates_of_one_name": ["1", "2"],
    "functions_of_kernels_in_a_class": 2,
}


@pytest.fixture(scope="module")
def answers(run_both: Both) -> tuple[dict[str, Any], dict[str, Any]]:
    base, fork = run_both("odd_programs.py")
    return base, fork


def test_the_fork_does_what_the_base_does(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = answers
    assert len(base) > 15
    assert {name: fork[name] for name in base if name not in CORRECTED} == {
        name: outcome for name, outcome in base.items() if name not in CORRECTED
    }


def test_what_is_wrong_in_the_base_is_right(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = answers
    assert {name: fork[name] for name in CORRECTED} == CORRECTED
    assert [name for name in CORRECTED if base[name] == fork[name]] == []


def test_no_case_fails_by_itself(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """A case that ends in an error in both would say nothing."""
    base, _ = answers
    assert [name for name, outcome in base.items() if isinstance(outcome, str)] == []
