"""Exceptions of signal handlers, and those that other threads set, arrive while an entry of the cache is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Worker


@pytest.fixture(scope="module")
def fork(run: Worker, fork_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(fork_python, "interrupted")
    return result


@pytest.fixture(scope="module")
def base(run: Worker, base_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(base_python, "interrupted")
    return result


def test_an_alarm_is_no_damage(fork: dict[str, Any]) -> None:
    assert len(fork["outcomes"]) == 40
    for name, (arrived, left, said, found) in fork["outcomes"].items():
        assert (arrived, left, said, found) == (name.split()[1], 0, [], []), name
    assert fork["afterwards"] == [True]


def test_a_time_limit_that_comes_while_an_entry_is_written(fork: dict[str, Any], base: dict[str, Any]) -> None:
    for outcomes in (base["storing"], fork["storing"]):
        assert outcomes == ["TimeoutError"] * (len(outcomes) - 1) + ["nothing"]
        assert len(outcomes) > 10


def test_as_in_the_base(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert fork["outcomes"] == base["outcomes"]


def test_nothing_is_lost_while_a_kernel_is_named(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert fork["naming"] == base["naming"]
    assert set(map(tuple, fork["naming"].values())) == {("LimitError", 0)}
