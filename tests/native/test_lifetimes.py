"""Launches in threads, in children, at the end of a process, across reloads and interrupted: nothing crashes, nothing gets lost."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.programs import environment, prepare

WORKER = Path(__file__).parent / "workers" / "lifetimes.py"


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


def live(python: Path, folder: Path, name: str, **extra: str) -> tuple[Any, str]:
    """Run one life to its end; return what it printed and its messages."""
    done = subprocess.run(
        [python, "-X", "faulthandler", WORKER, name],
        env=environment(folder, folder / "cache", {"PYTHONMALLOC": "debug", **extra}),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_threads(fork_python: Path, folder: Path) -> None:
    assert live(fork_python, folder, "threads")[0] == {"failures": [], "first": 6, "then": 6 * 150}


@pytest.mark.parametrize("name", ["launches_when_modules_go", "daemons"])
def test_ends(fork_python: Path, folder: Path, name: str) -> None:
    assert live(fork_python, folder, name)[0] == {}


def test_a_launch_at_exit(fork_python: Path, folder: Path) -> None:
    answer, messages = live(fork_python, folder, "launches_at_exit")
    assert answer == {"launched": 1}
    assert messages == ""


def test_a_launch_in_a_weak_reference(fork_python: Path, folder: Path) -> None:
    assert live(fork_python, folder, "weak_callback")[0] == {"called": [True], "gone": True}


def test_fork(fork_python: Path, folder: Path) -> None:
    assert live(fork_python, folder, "fork")[0] == {"status": 0, "child": 2, "parent": 1}


def test_processes(fork_python: Path, folder: Path) -> None:
    assert live(fork_python, folder, "processes")[0] == {"launched": [2, 0, 2, 0]}


def test_reload(base_python: Path, fork_python: Path, folder: Path) -> None:
    expected = live(base_python, folder, "reload")[0]
    assert live(fork_python, folder, "reload", TRITON_FORK_NATIVE="1")[0] == expected


def test_import_again(fork_python: Path, folder: Path) -> None:
    assert live(fork_python, folder, "import_again")[0] == {"launched": 6, "same": False}


def test_the_extension_twice(fork_python: Path, folder: Path) -> None:
    assert live(fork_python, folder, "load_twice")[0] == {"works": [True, True, "refused", "refused"]}


def test_interruptions(base_python: Path, fork_python: Path, folder: Path) -> None:
    expected = live(base_python, folder, "interruptions")[0]["outcomes"]
    assert all(raised == outcome for _, raised, outcome, _ in expected)
    assert live(fork_python, folder, "interruptions")[0]["outcomes"] == expected


def test_no_signal_gets_lost(fork_python: Path, folder: Path) -> None:
    answer = live(fork_python, folder, "timer")[0]
    assert answer["lost"] == 0
    assert answer["delivered"] >= 300
