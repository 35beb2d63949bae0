"""Different values give different keys, and the same program gives the same key in every process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Worker
from tests.support.lanes import BaseFault

CASES = [
    "closure_hides_global",
    "data_type_in_closure",
    "constant_in_module",
    "number_in_module",
    "default_of_called",
    "assigned_in_a_branch",
    "function_named_like_builtin",
    "number_or_text",
    "number_or_text_argument",
    "words_run_together",
    "member_that_is_asked_anything",
    "functions_in_tuple",
    "cycle_entered_elsewhere_before",
    "fields_of_aggregate",
    "after_an_error",
]


@pytest.fixture(scope="module")
def fork(run: Worker, fork_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(fork_python, "keys")
    return result


@pytest.fixture(scope="module")
def base(run: Worker, base_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(base_python, "keys")
    return result


@pytest.mark.parametrize("case", CASES)
def test_each_value_gets_its_own_code(
    case: str, fork: dict[str, Any], base: dict[str, Any], base_fault: BaseFault
) -> None:
    first, second = base[case]["alone"]
    assert not first.startswith("raised"), first
    assert not second.startswith("raised"), second
    assert first != second, "the case is none: both values give the same code"
    assert fork[case]["alone"] == [first, second], "the fork generates other code"
    base_fault(f"key: {case}", base[case]["shared"] == [first, first])
    assert fork[case]["shared"] == [first, second]


def test_the_key_of_a_cycle_does_not_depend_on_where_it_was_entered(
    fork: dict[str, Any], base: dict[str, Any], base_fault: BaseFault
) -> None:
    base_fault("key: order of a cycle", base["cycle_order"][0] != base["cycle_order"][1])
    assert fork["cycle_order"][0] == fork["cycle_order"][1]


def test_two_threads_in_a_cycle_do_not_wait_for_each_other(
    fork: dict[str, Any], base: dict[str, Any], base_fault: BaseFault
) -> None:
    base_fault("key: threads wait for each other", base["deadlock"])
    assert not fork["deadlock"]


def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent(
    fork: dict[str, Any], base: dict[str, Any], base_fault: BaseFault
) -> None:
    base_fault("key: child waits for a thread", base["child"] != 0)
    assert fork["child"] == 0
