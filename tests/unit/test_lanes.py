"""The suite runs for one lane at a time, and knows where a lane's base differs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from _pytest.outcomes import Failed

from fork.config import Pin
from fork.project import Project
from tests.support.environments import repository
from tests.support.lanes import Expectations, active_lanes, read_expectations


def expectations(is_default: bool = False) -> Expectations:
    return Expectations("3.8", is_default, {"old": "gone since 3.8.0"}, {"tests/a.py::test_x": "another way"})


def test_a_fault_that_the_base_no_longer_has_is_reported() -> None:
    found = expectations()
    found.base_fault("old", False)
    found.base_fault("other", False)
    found.base_fault("third", True)
    assert found.changes == [
        "the base no longer has 'old': gone since 3.8.0",
        "the base no longer has 'other': not in [gone] of tests/lanes/3.8.toml; say there since when",
    ]


def test_a_fault_that_came_back_breaks_the_test() -> None:
    with pytest.raises(Failed, match="it has"):
        expectations().base_fault("old", True)


def test_on_the_lane_that_a_test_was_written_for_a_fault_must_show() -> None:
    with pytest.raises(Failed, match="for which this test was written"):
        expectations(is_default=True).base_fault("other", False)


def test_tests_that_cannot_pass_must_fail() -> None:
    marks: list[tuple[str, pytest.MarkDecorator]] = []
    items = [
        SimpleNamespace(nodeid=name, add_marker=lambda mark, name=name: marks.append((name, mark)))
        for name in ("tests/a.py::test_x[1]", "tests/a.py::test_y")
    ]
    expectations().mark(items)  # type: ignore[arg-type]
    assert [(name, mark.kwargs["strict"]) for name, mark in marks] == [("tests/a.py::test_x[1]", True)]


def test_a_lane_without_a_file_differs_in_nothing(tmp_path: Path) -> None:
    assert read_expectations(tmp_path, "3.6", "3.6") == Expectations("3.6", True, {}, {})
    (tmp_path / "3.8.toml").write_text("[goen]\n")
    with pytest.raises(pytest.UsageError, match="a table 'goen'"):
        read_expectations(tmp_path, "3.8", "3.6")


def test_files_are_of_lanes_that_there_are() -> None:
    names = {file.stem for file in (repository / "tests" / "lanes").glob("*.toml")}
    assert names <= set(Project(repository).pin().lanes)


def test_lanes_that_get_no_more_features_are_left_out(small) -> None:
    lane = small.lane
    lanes = {
        name: replace(lane, name=name, state=state)
        for name, state in [("a", "active"), ("b", "fixes"), ("c", "active")]
    }
    assert active_lanes(Pin(lanes, "a")) == ["a", "c"]


def test_an_unknown_lane_is_said() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        str(repository / "tests" / "unit" / "test_lanes.py"),
    ]
    environment = {**os.environ, "TRITON_FORK_TEST_LANE": "9.9"}
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "there is no lane '9.9'" in done.stdout + done.stderr
