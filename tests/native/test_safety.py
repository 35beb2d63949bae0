"""No argument from Python crashes the extension, and no call leaves anything behind.

Longer runs, each with `-m slow` and under the sanitizers: `HOSTILE_SEEDS=5000` programs of hostile calls, `LAUNCH_EXAMPLES=2000`
kernels whose launches, each done `LAUNCH_ROUNDS=20` times, are compared with the base's, and `LAUNCH_PROGRAMS=5000` programs of
launches during which things change.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from fork.native import EXTENSION
from tests.fake_driver.builder import package_of
from tests.fake_driver.cases import cases
from tests.fake_driver.differential import COMMON, Side, compare_many
from tests.fake_driver.programs import environment, prepare, run_program
from tests.launch_sequences.programs import programs
from tests.launch_sequences.search import Pair, Search, side

WORKERS = Path(__file__).parent / "workers"
STRESS = Path(__file__).parents[1] / "launch_sequences" / "worker" / "stress.py"
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
    examples, rounds = int(os.environ.get("LAUNCH_EXAMPLES", "500")), int(os.environ.get("LAUNCH_ROUNDS", "20"))
    extra = {**sanitizer_environment, "FORK_EXTENSION": str(sanitized)}
    start = int(os.environ.get("LAUNCH_SEED", "2"))
    with (
        Side(base_python, folder, folder / "cache_base") as base,
        Side(fork_python, folder, folder / "cache_fork", extra=extra) as fork,
    ):
        seen = compare_many(base, fork, cases(rounds=rounds), settings(COMMON, max_examples=examples), start)
    for name, count in seen.items():
        record_property(name, count)
    assert fork.crashes == 0
    assert seen["launches"] > examples * rounds


@pytest.mark.slow
def test_many_programs_agree_under_the_sanitizers(
    base_python: Path,
    fork_python: Path,
    sanitized: Path,
    sanitizer_environment: dict[str, str],
    folder: Path,
    record_property: Callable[[str, object], None],
) -> None:
    count, start = int(os.environ.get("LAUNCH_PROGRAMS", "500")), int(os.environ.get("LAUNCH_SEED", "4"))
    extra = {**sanitizer_environment, "FORK_EXTENSION": str(sanitized)}
    with (
        side(base_python, folder, folder / "cache_base") as base,
        side(fork_python, folder, folder / "cache_fork", **extra) as fork,
    ):
        pair = Pair(base, fork)
        found = list(Search(pair, programs()).find_all(count, start))
    for name, number in pair.seen.items():
        record_property(name, number)
    assert not found, "\n\n".join(map(str, found))


def test_threads_that_change_what_others_launch(fork_python: Path, folder: Path) -> None:
    check_threads(fork_python, folder, [])


def test_threads_under_the_sanitizers(
    fork_python: Path, sanitized: Path, sanitizer_environment: dict[str, str], folder: Path
) -> None:
    check_threads(fork_python, folder, [str(sanitized)], sanitizer_environment)


def check_threads(python: Path, folder: Path, extension: list[str], extra: dict[str, str] | None = None) -> None:
    """Check that each launch of many threads is of a kernel for what it was given, and that each call launches once."""
    report = run_program(python, STRESS, folder, folder / "threads", ["2", *extension], extra)
    assert report["wrong"] == []
    assert report["seen"]["launches"] == report["called"]
    assert min(report["seen"][change] for change in ("move", "clear", "collect", "hook")) > 5


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
