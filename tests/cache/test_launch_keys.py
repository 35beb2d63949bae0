"""Constants of a launch that are equal but not the same get their own code, in memory and on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Worker

#: What the base tells apart too.
RIGHT_IN_THE_BASE = {"wrapped_or_not", "partial", "partials_of_functions"}


@pytest.fixture(scope="module")
def fork(run: Worker, fork_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(fork_python, "launch_keys")
    return result


@pytest.fixture(scope="module")
def base(run: Worker, base_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(base_python, "launch_keys")
    return result


def test_each_constant_gets_its_own_code(fork: dict[str, Any], base: dict[str, Any]) -> None:
    wrong = set()
    for name, pair in base["pairs"].items():
        first, second = pair["alone"]
        assert first != second, f"{name} is no case: both constants give the same code"
        assert fork["pairs"][name] == {"alone": [first, second], "shared": [first, second] * 2, "kernels": 2}, name
        if pair["shared"] != [first, second] * 2:
            wrong.add(name)
    assert wrong == set(base["pairs"]) - RIGHT_IN_THE_BASE


def test_hooks_see_the_keys_of_the_base(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert len(base["texts"]) == 8
    assert fork["texts"] == base["texts"]


def test_a_launch_with_ordinary_constants_makes_no_further_call(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert fork["calls"] == base["calls"]
