"""No argument from Python crashes the extension, and no call leaves anything behind.

Longer runs, each with `-m slow` and under the sanitizers: `HOSTILE_SEEDS=5000` programs of hostile calls, `LAUNCH_EXAMPLES=2000`
kernels whose launches, each done `LAUNCH_ROUNDS=20` times, are compared with the base's.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings

from fork.native import EXTENSION
from tests.fake_driver.builder import package_of
from tests.fake_driver.cases import Case, cases
from tests.fake_driver.differential import Side, compare
from tests.fake_driver.programs import environment, prepare, run_program

WORKERS = Path(__file__).parent / "workers"
SEEDS, SANITIZED_SEEDS = 16, 12
DEBUG = {"PYTHONMALLOC": "debug", "PYTHONFAULTHANDLER": "1"}


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


def survive(python: Path, extension: Path, folder: Path, seeds: tuple[int, int], extra: dict[str, str]) -> Counter[str]:
    """Run programs of hostile calls; return how many calls there were and what they raised."""
    first, count = seeds
    arguments = [str(extension), str(first), str(count)]
    report = run_program(python, WORKERS / "hostile.py", folder, folder / "hostile", arguments, extra)
    assert report["broken"] == []
    assert report["seen"]["calls"] > 20 * count
    assert report["seen"]["TypeError"] > count
    assert report["launches"] > count / 4
    return Counter(report["seen"])


def test_hostile_calls(fork_python: Path, folder: Path) -> None:
    survive(fork_python, package_of(fork_python).parent / EXTENSION, folder, (0, SEEDS), DEBUG)


def test_hostile_calls_under_the_sanitizers(
    fork_python: Path, sanitized: Path, sanitizer_environment: dict[str, str], folder: Path
) -> None:
    survive(fork_python, sanitized, folder, (SEEDS, SANITIZED_SEEDS), sanitizer_environment)


@pytest.mark.slow
def test_many_hostile_calls(
    fork_python: Path,
    sanitized: Path,
    sanitizer_environment: dict[str, str],
    folder: Path,
    record_property: Callable[[str, object], None],
) -> None:
    total: Counter[str] = Counter()
    # A process for each hundred: the sanitizer keeps what is freed for a while.
    for first in range(1000, 1000 + int(os.environ.get("HOSTILE_SEEDS", "1000")), 100):
        total += survive(fork_python, sanitized, folder, (first, 100), sanitizer_environment)
    for name, count in total.items():
        record_property(name, count)


@pytest.mark.slow
def test_many_launches_agree_under_the_sanitizers(
    base_python: Path,
    fork_python: Path,
    sanitized: Path,
    sanitizer_environment: dict[str, str],
    folder: Path,
    record_property: Callable[[str, object], None],
) -> None:
    seen: Counter[str] = Counter()
    examples, rounds = int(os.environ.get("LAUNCH_EXAMPLES", "500")), int(os.environ.get("LAUNCH_ROUNDS", "20"))
    extra = {**sanitizer_environment, "FORK_EXTENSION": str(sanitized)}
    checks = list(HealthCheck)
    with (
        Side(base_python, folder, folder / "cache_base") as base,
        Side(fork_python, folder, folder / "cache_fork", extra=extra) as fork,
    ):

        @seed(int(os.environ.get("LAUNCH_SEED", "2")))
        @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=checks)
        @given(cases(rounds=rounds))
        def run(case: Case) -> None:
            for outcome in compare(base, fork, case):
                seen.update(outcome.keys() & {"launches", "error", "crash", "again"})
                seen["calls"] += 1

        run()
    for name, count in seen.items():
        record_property(name, count)
    assert fork.crashes == 0
    assert seen["launches"] > examples * rounds


def leaks(python: Path, folder: Path, *arguments: str) -> dict[str, list[float]]:
    """Tell for each way to launch how many blocks of memory and references a call leaves behind."""
    found = run_program(python, WORKERS / "leaks.py", folder, folder / "leaks", list(arguments))
    return {name: numbers for name, numbers in found.items() if max(map(abs, numbers)) > 0.1}


def test_no_call_leaves_anything_behind(fork_python: Path, folder: Path) -> None:
    assert leaks(fork_python, folder) == {}


def test_what_is_left_behind_is_found(fork_python: Path, folder: Path) -> None:
    assert leaks(fork_python, folder, "leak").keys() == {"fast"}


def test_other_interpreters(fork_python: Path, folder: Path) -> None:
    """An interpreter beside the main one uses the extension or is refused it."""
    extension = package_of(fork_python).parent / EXTENSION
    done = subprocess.run(
        [fork_python, WORKERS / "interpreters.py", extension],
        env=environment(folder, folder / "cache", DEBUG),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) <= {"used", "refused"}
