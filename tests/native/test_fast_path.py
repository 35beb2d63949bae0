"""``kernel[grid](...)`` launches natively where nothing unusual is on, and whatever is on does what it does in the base."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.programs import prepare, run_program

WORKER = Path(__file__).parent / "workers" / "fast_path.py"
TWO_DEVICES = {"FAKE_CUDA_DEVICES": "2"}


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="module")
def of_base(base_python: Path, folder: Path) -> Any:
    return run_program(base_python, WORKER, folder, folder / "base", extra=TWO_DEVICES)


@pytest.fixture(scope="module")
def of_fork(fork_python: Path, folder: Path) -> Any:
    return run_program(fork_python, WORKER, folder, folder / "fork", ["count"], TWO_DEVICES)


def test_most_calls_are_fast(of_fork: Any) -> None:
    assert 0 < of_fork["slow"] < of_fork["calls"] / 4
    assert of_fork["still fast"]


@pytest.mark.parametrize("name", ["a hook", "a hook alone", "no chain", "other knobs"])
def test_calls_are_looked_up_with_hooks_on(of_fork: Any, name: str) -> None:
    assert of_fork["returned"][name] == [0, 0]


@pytest.mark.parametrize("name", ["a pre-run hook", "other caches"])
def test_the_fast_path_comes_back_at_once(of_fork: Any, name: str) -> None:
    during, after = of_fork["returned"][name]
    assert during >= 1
    assert after == 0


@pytest.mark.parametrize("name", ["debugging", "a patched class"])
def test_the_fast_path_comes_back_soon(of_fork: Any, name: str) -> None:
    during, after = of_fork["returned"][name]
    assert during == 200
    assert after < 10


def test_the_fast_path_comes_back_after_calls_that_it_cannot_do(of_fork: Any) -> None:
    during, after = of_fork["returned"]["calls of no use"]
    assert during == 200
    assert after < 64


def test_fast_calls_launch_the_same(of_base: Any, of_fork: Any) -> None:
    assert of_fork["report"]["many"] == of_base["report"]["many"]


def test_unusual_things_do_the_same(of_base: Any, of_fork: Any) -> None:
    base, fork = of_base["report"]["unusual"], of_fork["report"]["unusual"]
    assert len(base) == len(fork)
    assert [(number, *pair) for number, pair in enumerate(zip(base, fork, strict=True)) if pair[0] != pair[1]] == []


def test_functions_are_not_kept_alive(of_fork: Any) -> None:
    assert of_fork["report"]["forgotten"]


def test_threads(of_base: Any, of_fork: Any) -> None:
    assert of_fork["report"]["threads"] == of_base["report"]["threads"] == [[], 1200]


@pytest.mark.parametrize("switch", ["TRITON_FORK_NATIVE", "TRITON_FORK_DISPATCH"])
def test_switched_off(switch: str, of_base: Any, fork_python: Path, folder: Path) -> None:
    extra = {**TWO_DEVICES, switch: "0"}
    report = run_program(fork_python, WORKER, folder, folder / f"without {switch}", ["count"], extra)
    assert report["slow"] == 0  # the extension is never asked
    assert report["report"] == of_base["report"]


def test_under_the_sanitizers(
    of_fork: Any, fork_python: Path, folder: Path, sanitized: Path, sanitizer_environment: dict[str, str]
) -> None:
    extra = {**TWO_DEVICES, **sanitizer_environment}
    report = run_program(fork_python, WORKER, folder, folder / "fork", ["count", str(sanitized)], extra)
    assert report == of_fork
