"""Constants of a launch that are equal but not the same get their own code, in memory and on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Worker

#: What the base tells apart too.
RIGHT_IN_THE_BASE = {"wrapped_or_not", "partial", "partials_of_functions"}
#: Classes of the program say that these are equal, and nothing that Triton knows of the values says otherwise.
EQUAL = {"dataclass", "dataclass_in_tuple", "object", "other_field", "attribute_of_tuple"}


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
        if name in EQUAL:
            assert fork["pairs"][name] == pair == {"alone": [first, second], "shared": [first] * 4, "kernels": 1}, name
            continue
        assert fork["pairs"][name] == {"alone": [first, second], "shared": [first, second] * 2, "kernels": 2}, name
        if pair["shared"] != [first, second] * 2:
            wrong.add(name)
    assert wrong == set(base["pairs"]) - RIGHT_IN_THE_BASE - EQUAL


def test_equality_decides(fork: dict[str, Any], base: dict[str, Any]) -> None:
    """An object is the constant that it equals, whatever it counts, remembers, or leaves out of the comparison."""
    assert base["equality"] == dict.fromkeys(base["equality"], 1)
    assert len(base["equality"]) == 8
    assert fork["equality"] == base["equality"]


def test_no_description_of_what_equals_a_known_constant(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert fork["asked"] == base["asked"]


def test_owners_are_not_kept_alive(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert fork["alive"] == base["alive"] == 1


def test_what_cannot_be_compiled_takes_the_kernel_of_what_it_equals(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert fork["unusable"] == base["unusable"]
    assert set(fork["unusable"]) >= {"fraction"}
    for outcomes in fork["unusable"].values():
        assert outcomes["alone"].startswith("raised CompilationError")
        assert outcomes["after"] == "the same kernel"


def test_what_fails_for_once_takes_no_other_kernel(fork: dict[str, Any], base: dict[str, Any]) -> None:
    """In the base 2.0 has no kernel of its own."""
    assert set(fork["passing"]) == {"hook", "memory", "file"}
    for outcomes, of_base in zip(fork["passing"].values(), base["passing"].values(), strict=True):
        assert [types[-1] for types in of_base] == ["int"] * 3
        first, failed, again = outcomes
        assert first[-1] == "int"
        assert failed.startswith("raised ")
        assert again[-1] == "float"


def test_a_tuple_in_the_target_of_an_assignment(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert base["nested"] == ["raised TypeError", "ran", "ran"]
    assert fork["nested"] == ["ran"] * 3


def test_hooks_see_the_keys_of_the_base(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert len(base["texts"]) == 8
    assert fork["texts"] == base["texts"]


def test_a_launch_with_ordinary_constants_makes_no_further_call(fork: dict[str, Any], base: dict[str, Any]) -> None:
    assert fork["calls"] == base["calls"]
