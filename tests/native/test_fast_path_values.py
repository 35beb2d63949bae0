"""Tuples, tensor descriptors, scratch memory and constants of more types take the fast path, and do there what they do in the base."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.programs import prepare, run_program

WORKER = Path(__file__).parent / "workers" / "fast_path_values.py"
CALLS_OF_EACH = 120


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="module", params=["cuda 90", "cuda 80", "hip 0"])
def reports(
    request: pytest.FixtureRequest,
    base_python: Path,
    fork_python: Path,
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Any, Any]:
    """What base and fork report, with a device that has tensor maps and with two that have none."""
    vendor, capability = request.param.split()
    extra = {"FAKE_CUDA_CAPABILITY": capability}
    caches = tmp_path_factory.mktemp("caches")
    base = run_program(base_python, WORKER, folder, caches / "base", [vendor], extra)
    return base, run_program(fork_python, WORKER, folder, caches / "fork", [vendor, "count"], extra)


def test_most_calls_are_fast(reports: tuple[Any, Any]) -> None:
    slow = reports[1]["slow"]
    assert 0 < slow["tuples"] < CALLS_OF_EACH / 2
    assert 0 < slow["described"] + slow["scratched"] + slow["typed"] < 20


@pytest.mark.parametrize("part", ["many", "descriptors", "odd", "storages"])
def test_launches_are_the_same(reports: tuple[Any, Any], part: str) -> None:
    base, fork = (report["report"][part] for report in reports)
    assert len(base) == len(fork)
    assert [(number, *pair) for number, pair in enumerate(zip(base, fork, strict=True)) if pair[0] != pair[1]] == []


def test_allocators_are_asked_for_the_same(reports: tuple[Any, Any]) -> None:
    base, fork = (report["report"]["allocations"] for report in reports)
    assert fork == base


@pytest.mark.parametrize("vendor", ["cuda", "hip"])
def test_under_the_sanitizers(
    vendor: str, fork_python: Path, folder: Path, tmp_path: Path, sanitized: Path, sanitizer_environment: dict[str, str]
) -> None:
    arguments = [vendor, "count", str(sanitized)]
    report = run_program(fork_python, WORKER, folder, tmp_path / "cache", arguments, sanitizer_environment)
    assert report["slow"]["tuples"] < CALLS_OF_EACH / 2
