"""Keys of sources take one pass over the tree that is compiled, and are those that a visit of the tree gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Worker

SWITCH = "TRITON_FORK_SOURCE_KEYS"
#: The path of the base raises on these for reasons of its own.
RAISING = {
    "unsupported",
    "missing_attribute",
    "two_targets",
    "lambda_in_default",
    "attribute_of_tuple",
}
#: The base raises on these, and should not: the fork gives them a key.
CORRECTED = {"nested_tuple"}


@pytest.fixture(scope="module")
def on(run: Worker, fork_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(fork_python, "source_keys")
    return result


@pytest.fixture(scope="module")
def off(run: Worker, fork_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(fork_python, "source_keys", PYTHONHASHSEED="5", **{SWITCH: "0"})
    return result


def test_both_paths_give_the_same_keys(on: dict[str, Any], off: dict[str, Any]) -> None:
    different = {name: (fact, off["facts"][name]) for name, fact in on["facts"].items() if fact != off["facts"][name]}
    assert different == {}


def test_the_cases_raise_where_the_base_raises(
    run: Worker, base_python: Path, on: dict[str, Any], off: dict[str, Any]
) -> None:
    raising = {name for name, fact in on["facts"].items() if isinstance(fact, str)}
    assert raising == RAISING
    base = run(base_python, "source_keys")["facts"]
    assert {name for name, fact in base.items() if isinstance(fact, str)} == RAISING | CORRECTED
    assert {name for name in RAISING if base[name] != on["facts"][name]} == set()
    # What is watched for changes is what the base watches, but that parameters of all kinds hide globals.
    assert {name for name in set(base) - RAISING - CORRECTED if base[name][1] != on["facts"][name][1]} == {"parameters"}


def test_one_pass_and_one_parse(on: dict[str, Any]) -> None:
    assert on["visits"] == 0


def test_the_switch_restores_the_visit(on: dict[str, Any], off: dict[str, Any]) -> None:
    assert off["visits"] > 20
    assert off["parses"] > on["parses"]
