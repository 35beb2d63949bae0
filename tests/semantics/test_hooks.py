"""Hooks see the same calls, with the same contents, in the same order."""

from typing import Any

import pytest

from tests.fake_driver.programs import Both


@pytest.fixture(scope="module")
def answers(run_both: Both) -> tuple[dict[str, Any], dict[str, Any]]:
    return run_both("hooks.py")


def names(answer: dict[str, Any]) -> dict[str, list[str]]:
    """Names of the events by section."""
    sections: dict[str, list[str]] = {}
    for event in answer["events"]:
        if event[0].startswith("== "):
            sections[event[0].removeprefix("== ")] = current = []
        else:
            current.append(event[0])
    return sections


def test_the_same_calls(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = answers
    for ours, theirs in zip(base["events"], fork["events"], strict=False):
        assert theirs == ours
    assert fork == base


ENTER, EXIT = ["enter", "second enter"], ["second exit", "exit"]
COMPILE = ["jit_cache_hook", "jit_post_compile_hook"]
LOAD = ["load_start", "load_end"]


def test_the_order(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    sections = names(answers[0])
    assert sections["no launch hooks"] == [*COMPILE, *LOAD, "result"]
    assert sections["launch again"] == ["pre-run", "launch_metadata", *ENTER, *EXIT, "result"]
    assert sections["other constant, by name"] == [
        *("pre-run", *COMPILE, *LOAD, "launch_metadata", *ENTER, *EXIT, "result")
    ]
    assert sections["warm-up"] == ["pre-run", *COMPILE, "result"]
    assert sections["warm-up again"] == ["pre-run", "result"]
    assert sections["no metadata function"] == [*COMPILE, *LOAD, *ENTER, *EXIT, "result"]
    assert sections["callable grid"] == [*ENTER, *EXIT, "result"]
    assert sections["compiled kernel"] == [*ENTER, *EXIT, "result"]
    assert sections["some removed"] == ["enter", "second exit", "result"]
    assert sections["cache hook says no"] == ["pre-run", "jit_cache_hook", "result"]
    assert sections["enter raises"] == ["enter", "error"]
    assert sections["pre-run raises"] == ["error"]


def test_launches_happen_between_enter_and_exit(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    counts = [event[2] for event in answers[0]["events"] if event[0] in ("enter", "exit")]
    assert counts[:2] == [1, 2]


def test_metadata_of_a_launch(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    entered = next(event for event in answers[0]["events"] if event[0] == "enter")
    assert entered[1] == {"name": "kernel", "function": True, "stream": 0, "flops": 5}


def test_metadata_is_made_for_hooks_alone(run_both: Both) -> None:
    base, fork = run_both("launch_metadata.py")
    assert [base.pop(name) for name in ("run", "compiled")] == [1, 1]
    assert [fork.pop(name) for name in ("run", "compiled")] == [0, 0]
    assert fork == base
    assert len(base["seen"]) == 4
    assert base["while loading"] == []


def test_the_switch_makes_metadata_for_every_launch(run_both: Both) -> None:
    base, fork = run_both("launch_metadata.py", TRITON_FORK_LAUNCH_METADATA="0")
    assert fork == base
