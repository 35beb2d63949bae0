"""Describing a value takes as many steps as it has parts, whatever holds what, and no stack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Worker


@pytest.fixture(scope="module")
def described(run: Worker, fork_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(fork_python, "descriptions", "described", PYTHONHASHSEED="1")
    return result


def test_each_value_is_gone_through_once(described: dict[str, Any]) -> None:
    steps = {name: entered for name, (entered, _, _) in described.items()}
    # An object, its attributes, its class and what that has in it.
    assert steps["acquainted"] < 100
    assert steps["many_acquainted"] < 500
    assert steps["chain"] < 2000
    assert steps["layers"] < 500
    assert steps["bound_method"] < 500
    assert steps["nested"] < 10_000
    assert steps["shared"] < 200
    assert steps["cyclic"] < 20


def test_beyond_the_bound_the_text_is_the_base_s(described: dict[str, Any]) -> None:
    for name in ("long_chain", "wide"):
        entered, _, text = described[name]
        assert entered == 10_000, name
        assert text == "Config", name


def test_what_differs_deep_inside_differs(described: dict[str, Any]) -> None:
    digests = {name: digest for name, (_, digest, _) in described.items()}
    for name in ("acquainted", "chain", "layers"):
        assert digests[name] != digests[f"{name}_other"]


def test_texts_are_the_same_in_every_process(run: Worker, fork_python: Path, described: dict[str, Any]) -> None:
    for seed in "23":
        assert run(fork_python, "descriptions", "described", PYTHONHASHSEED=seed) == described


def test_keys_come_to_an_end_where_those_of_the_base_do(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "descriptions", "keys"), run(fork_python, "descriptions", "keys")
    raising = {name for name, key in base.items() if key.startswith("raised")}
    assert raising == {"nested"}
    assert {name for name, key in fork.items() if key.startswith("raised")} == set()
