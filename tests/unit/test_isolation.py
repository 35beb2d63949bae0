"""Programs that the tests start see nothing of the home and the settings of whoever runs the tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.fake_driver.programs import environment
from tests.support.programs import ProgramError, isolated_environment, run_program

SETTINGS = ("TRITON_CACHE_DIR", "TRITON_FORK_STATE_DIR", "TRITON_FORK", "PYTHONPATH", "XDG_CACHE_HOME", "HOME")

TELL = """import json, os, sys
print("something else")
print(json.dumps({"home": os.path.expanduser("~"), "folder": os.getcwd(), "arguments": sys.argv[1:], "set": dict(os.environ)}))
"""


@pytest.fixture
def told(tmp_path: Path) -> Path:
    program = tmp_path / "tell.py"
    program.write_text(TELL)
    return program


def test_nothing_of_the_caller_comes_through(told: Path, tmp_path: Path, monkeypatch) -> None:
    for name in SETTINGS:
        monkeypatch.setenv(name, "/developer")
    folder = tmp_path / "own"
    said = run_program(Path(sys.executable), told, folder, "one", TRITON_FORK_VISIT="0")
    assert (said["home"], said["folder"], said["arguments"]) == (str(folder / "home"), str(folder), ["one"])
    assert "/developer" not in said["set"].values()
    assert said["set"]["TRITON_CACHE_DIR"] == str(folder / "cache")
    assert said["set"]["TRITON_FORK_STATE_DIR"] == str(folder / "state")
    assert said["set"]["TRITON_FORK_VISIT"] == "0"


def test_a_variable_can_be_removed(tmp_path: Path) -> None:
    assert "TRITON_CACHE_DIR" not in isolated_environment(tmp_path, TRITON_CACHE_DIR=None)


def test_under_the_fake_driver_switches_of_the_fork_come_through(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TRITON_FORK_VISIT", "0")
    monkeypatch.setenv("TRITON_FORK_STATE_DIR", "/developer")
    made = environment(tmp_path, tmp_path / "cache")
    assert made["TRITON_FORK_VISIT"] == "0"
    assert made["TRITON_FORK_STATE_DIR"] == str(tmp_path / "state")


@pytest.mark.parametrize(
    ("text", "said"), [("raise SystemExit(3)", "ended with 3"), ("print('no')", "printed no JSON"), ("", "no JSON")]
)
def test_a_program_that_fails_is_said(tmp_path: Path, text: str, said: str) -> None:
    program = tmp_path / "fails.py"
    program.write_text(text)
    with pytest.raises(ProgramError, match=said):
        run_program(Path(sys.executable), program, tmp_path)


def test_the_whole_session_is_away_from_the_home(tmp_path: Path) -> None:
    for name in ("TRITON_HOME", "TRITON_CACHE_DIR", "TRITON_FORK_STATE_DIR"):
        assert Path(os.environ[name]).is_relative_to(tmp_path.parent)
