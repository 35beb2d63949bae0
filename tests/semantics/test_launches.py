"""A launch is what the base's is, whatever changes while it is under way and whoever has replaced a part of it."""

from typing import Any

import pytest

from tests.fake_driver.programs import Both

SECTIONS = [
    "grids_that_move_a_tensor",
    "grids_that_change_what_a_kernel_is_chosen_by",
    "hooks_that_change_a_tensor",
    "allocators_that_move_a_tensor",
    "descriptors_whose_base_changes",
    "dtypes_that_are_new_each_time",
    "threads_that_change_a_tensor",
    "threads_that_change_the_caches",
    "questions_are_those_of_the_base",
]


@pytest.fixture(scope="module")
def effects(run_both: Both) -> tuple[Any, Any]:
    return run_both("launch_effects.py")


@pytest.mark.parametrize("section", SECTIONS)
def test_what_changes_during_a_launch(effects: tuple[Any, Any], section: str) -> None:
    base, fork = (report[section] for report in effects)
    assert len(fork) == len(base) > 0
    assert [(at, *pair) for at, pair in enumerate(zip(base, fork, strict=True)) if pair[0] != pair[1]] == []


def test_every_section_is_compared(effects: tuple[Any, Any]) -> None:
    assert sorted(effects[0]) == sorted(SECTIONS)


def test_what_others_replace(run_both: Both) -> None:
    base, fork = map(by_section, run_both("launch_patches.py"))
    assert list(fork) == list(base)
    assert len(base) > 25
    assert {name: (base[name], fork[name]) for name in base if base[name] != fork[name]} == {}


@pytest.fixture(scope="module")
def functions(run_both: Both) -> tuple[Any, Any]:
    return run_both("launch_functions.py")


@pytest.mark.parametrize("kind", ["function", "autotuner", "attributes", "frames", "calls"])
def test_a_function_with_a_grid_is_a_function(functions: tuple[Any, Any], kind: str) -> None:
    base, fork = functions
    assert fork[kind] == base[kind]


def test_launches_within_launches_end_in_a_recursion_error(functions: tuple[Any, Any]) -> None:
    base, fork = functions
    assert fork["recursions"] == base["recursions"]
    assert base["recursions"][:4] == ["RecursionError"] * 4


def by_section(events: list[Any]) -> dict[str, list[Any]]:
    """What happened, by what was replaced."""
    sections: dict[str, list[Any]] = {}
    current: list[Any] = []
    for event in events:
        if isinstance(event, str) and event.startswith("== "):
            current = sections.setdefault(f"{event} {len(sections)}", [])
        elif event not in ("asked", "ask") or event not in current[-1:]:
            # How often a kernel is asked for its attributes depends on whether metadata is made for hooks that are not there.
            current.append(event)
    return sections
