"""A damaged entry of the cache is compiled again, mentioned once, and repaired."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import OtherUser, Worker
from tests.support.lanes import BaseFault

READ = ["__grp__kernel.json", "kernel.cubin", "kernel.json"]
TEXTS = ["kernel.llir", "kernel.ptx", "kernel.source", "kernel.ttgir", "kernel.ttir"]
DAMAGES = [
    "missing",
    "empty",
    "cut",
    "cut_end",
    "garbage",
    "flip",
    "other_json",
    "deep_json",
    "directory",
    "full_directory",
    "dangling",
]
CASES = [
    *(f"{file} {damage}" for file in READ for damage in DAMAGES),
    *(f"{file} {damage}" for file in TEXTS for damage in ("missing", "cut_end", "flip", "directory")),
]
RIGHT = {"kernel": True, "texts": True, "metadata": True}


@pytest.fixture(scope="module")
def fork(run: Worker, fork_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(fork_python, "damage")
    return result


@pytest.fixture(scope="module")
def base(run: Worker, base_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(base_python, "damage")
    return result


def test_all_cases_are_tested(fork: dict[str, Any]) -> None:
    assert set(fork) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_is_made_again(name: str, fork: dict[str, Any]) -> None:
    case = fork[name]
    assert case["first"] == RIGHT
    assert case["compiled"]
    assert case["repaired"] is True
    assert case["second"] == RIGHT
    assert case["hit"]
    # A group file that is gone is an entry that was never finished: nothing is wrong with that.
    expected = 0 if name in ("__grp__kernel.json missing", "__grp__kernel.json dangling") else 1
    assert len(case["said"]) == expected, case["said"]


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ("__grp__kernel.json empty", "JSONDecodeError"),
        ("__grp__kernel.json cut", "JSONDecodeError"),
        ("__grp__kernel.json garbage", "UnicodeDecodeError"),
        ("__grp__kernel.json other_json", "AttributeError"),
        ("__grp__kernel.json deep_json", "RecursionError"),
        ("__grp__kernel.json directory", "IsADirectoryError"),
        ("kernel.json empty", "JSONDecodeError"),
        ("kernel.json other_json", "TypeError"),
        ("kernel.json directory", "IsADirectoryError"),
        ("kernel.cubin missing", "KeyError"),
        ("kernel.cubin directory", "IsADirectoryError"),
        ("kernel.ttgir directory", "IsADirectoryError"),
    ],
)
def test_the_base_raises(case: str, error: str, base: dict[str, Any], base_fault: BaseFault) -> None:
    base_fault(f"cache: {case}", base[case]["first"].startswith(f"raised {error}"))


@pytest.mark.parametrize("damage", ["empty", "cut", "garbage", "flip"])
def test_the_base_hands_garbage_to_the_driver(damage: str, base: dict[str, Any], base_fault: BaseFault) -> None:
    base_fault(f"cache: garbage to the driver, {damage}", base[f"kernel.cubin {damage}"]["first"]["kernel"] is False)


def test_a_file_that_may_not_be_read_is_replaced(
    run: Worker, fork_python: Path, base_python: Path, as_other_user: OtherUser
) -> None:
    prefix, folder = as_other_user(fork_python)
    result = run(fork_python, "damage", "unreadable", cache=folder / "cache", prefix=prefix)
    assert len(result) == len(READ) + len(TEXTS)
    for name, case in result.items():
        assert (case["first"], case["second"], case["repaired"]) == (RIGHT, RIGHT, True), name
        assert len(case["said"]) == 1, name
    result = run(base_python, "damage", "unreadable", cache=folder / "of-the-base", prefix=prefix)
    assert result["kernel.cubin unreadable"]["first"].startswith("raised PermissionError")
