"""The extension's launcher and the one that the base compiles do the same with random arguments, also under the sanitizers."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fork.native import EXTENSION
from tests.fake_driver.builder import package_of
from tests.fake_driver.programs import prepare, run_program

WORKER = Path(__file__).parent / "workers" / "both_launchers.py"
THREADS, LAUNCHES_OF_A_THREAD = 4, 200


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


def compare(
    python: Path, backend: str, extension: Path, folder: Path, cache: Path, size: tuple[int, int, int], **extra: str
) -> Any:
    signatures, calls, seed = size
    arguments = [
        backend,
        str(extension),
        str(signatures),
        str(calls),
        str(seed),
        str(THREADS),
        str(LAUNCHES_OF_A_THREAD),
    ]
    report = run_program(python, WORKER, folder, cache, arguments, extra)
    seen = Counter(report["seen"])
    assert seen["difference"] == 0
    assert report["failures"] == []
    assert report["launched by threads"] == THREADS * LAUNCHES_OF_A_THREAD
    assert seen["launched"] > signatures * calls / 2
    assert seen["error"] > signatures * calls / 20
    return seen


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_both_do_the_same(fork_python: Path, folder: Path, tmp_path: Path, backend: str) -> None:
    extension = package_of(fork_python).parent / EXTENSION
    compare(fork_python, backend, extension, folder, tmp_path / "cache", (8, 250, 1))


@pytest.mark.parametrize("backend", ["cuda", "hip"])
@pytest.mark.parametrize(
    "size",
    [
        (6, 200, 2),
        pytest.param((int(os.environ.get("LAUNCH_SIGNATURES", "200")), 500, 3), marks=pytest.mark.slow),
    ],
)
def test_both_do_the_same_under_the_sanitizers(
    fork_python: Path,
    sanitized: Path,
    sanitizer_environment: dict[str, str],
    folder: Path,
    tmp_path: Path,
    backend: str,
    size: tuple[int, int, int],
) -> None:
    compare(fork_python, backend, sanitized, folder, tmp_path / "cache", size, **sanitizer_environment)
