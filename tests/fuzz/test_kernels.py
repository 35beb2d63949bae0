"""Kernels made by chance: base and fork make the same of them, and what gives other code has another key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.fuzz.kernels.kernels import GENERATORS
from tests.fuzz.kernels.processes import Side
from tests.fuzz.kernels.search import LIKE, Search

SEED = 20
#: Groups of programs: about a minute, and what each part of the fork is tried with when it is turned off.
GROUPS, FEWER = 150, 15
#: For the night: 10,000 programs.
MANY = 2000
OFF = (
    {"TRITON_FORK": "0"},
    {"TRITON_FORK_LOOPS": "0"},
    {"TRITON_FORK_LOOPS": "0", "TRITON_FORK_VISIT": "0"},
    {"TRITON_FORK_VALUES": "0", "TRITON_FORK_CALLS": "0"},
    {"TRITON_FORK_PLAIN_VALUES": "0", "TRITON_FORK_LAZY_TYPES": "0"},
    {"TRITON_FORK_DEFERRED_SOURCE": "0", "TRITON_FORK_PARSE": "0"},
    {"TRITON_FORK_SOURCE_KEYS": "0"},
)


def search_with(base: Path, fork: Path, folder: Path, variables: Mapping[str, str]) -> Search:
    """Make a search; the keys of the other process are worked out in the other way."""
    other = {"TRITON_FORK_SOURCE_KEYS": "1" if "TRITON_FORK_SOURCE_KEYS" in variables else "0"}
    return Search(
        Side("base", base, folder / "base", {"PYTHONHASHSEED": "1"}),
        Side("fork", fork, folder / "fork", {"PYTHONHASHSEED": "2", **variables}),
        Side("again", fork, folder / "again", {"PYTHONHASHSEED": "3", **other}),
        folder / "programs",
        list(GENERATORS.values()),
        corrected=variables.get("TRITON_FORK") != "0",
    )


@pytest.fixture(scope="module")
def searched(base_python: Path, fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Search]:
    search = search_with(base_python, fork_python, tmp_path_factory.mktemp("search"), {})
    search.run(SEED, GROUPS)
    yield search
    search.close()


def shown(search: Search) -> list[str]:
    """Write out what was found, for the message of a failing test."""
    return ["\n".join([one.difference.kind, one.difference.detail, *one.group.sources]) for one in search.found]


def test_base_and_fork_make_the_same_of_programs_and_keys_tell_them_apart(searched: Search) -> None:
    assert shown(searched) == []


def test_most_programs_compile(searched: Search) -> None:
    counts = searched.counts
    assert counts["programs"] == (1 + LIKE) * GROUPS
    assert counts["compiled"] > 0.8 * counts["compilations"]
    assert counts["faults"] < 0.05 * GROUPS


@pytest.mark.parametrize("off", OFF, ids=lambda off: " ".join(name.removeprefix("TRITON_FORK_") for name in off))
def test_the_same_with_parts_turned_off(
    base_python: Path, fork_python: Path, tmp_path: Path, off: dict[str, str]
) -> None:
    search = search_with(base_python, fork_python, tmp_path, off)
    search.run(SEED + 1 + OFF.index(off), FEWER)
    search.close()
    assert shown(search) == []


@pytest.mark.slow
def test_many_programs(base_python: Path, fork_python: Path, tmp_path: Path) -> None:
    search = search_with(base_python, fork_python, tmp_path, {})
    search.run(SEED + 100, MANY)
    search.close()
    assert shown(search) == []
