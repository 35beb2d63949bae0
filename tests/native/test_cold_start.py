"""A job needs no C compiler: neither for the driver's utilities nor for a new signature; and every way back to the base's path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fork.native import EXTENSION
from tests.fake_driver.builder import package_of
from tests.fake_driver.programs import prepare, run_program

WORKER = Path(__file__).parent / "workers" / "cold_start.py"
ASSEMBLER = {"ptxas", "ptxas-blackwell"}


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


class Cold:
    """Runs the worker for one vendor, with a cache of its own each time unless one is given."""

    def __init__(self, vendor: str, folder: Path) -> None:
        self.vendor, self.folder = vendor, folder
        self.utilities = {"cuda": "cuda_utils", "hip": "hip_utils"}[vendor]

    def run(self, python: Path, cache: Path, *arguments: str, **extra: str) -> Any:
        return run_program(python, WORKER, self.folder, cache, [self.vendor, *arguments], extra)


@pytest.fixture(scope="module", params=["cuda", "hip"])
def cold(request: pytest.FixtureRequest, folder: Path) -> Cold:
    return Cold(request.param, folder)


@pytest.fixture(scope="module")
def of_base(base_python: Path, cold: Cold, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return cold.run(base_python, tmp_path_factory.mktemp("base") / "cache")


def test_the_extension_is_installed(fork_python: Path) -> None:
    assert (package_of(fork_python).parent / EXTENSION).is_file()


def test_no_process_but_the_assembler(of_base: Any, fork_python: Path, cold: Cold, tmp_path: Path) -> None:
    report = cold.run(fork_python, tmp_path / "cache", CC="/no/compiler")
    assert set(report["processes"]) <= ASSEMBLER
    assert report["utilities"] == "triton._C.fork_native"
    assert report["launchers"] == ["program"] * 3
    assert report["records"] == of_base["records"]
    assert set(of_base["processes"]) - ASSEMBLER  # the base starts a compiler


def test_nothing_new_runs_when_everything_is_in_the_cache(fork_python: Path, cold: Cold, tmp_path: Path) -> None:
    cold.run(fork_python, tmp_path / "cache")
    report = cold.run(fork_python, tmp_path / "cache")
    assert set(report["processes"]) <= {"ptxas"}  # its version is part of the keys


@pytest.mark.parametrize("value", ["0", "off"])
def test_switched_off(of_base: Any, fork_python: Path, cold: Cold, tmp_path: Path, value: str) -> None:
    report = cold.run(fork_python, tmp_path / "cache", TRITON_FORK_NATIVE=value)
    assert report["launchers"] == of_base["launchers"] == ["__triton_launcher"] * 3
    assert report["utilities"] == cold.utilities
    assert report["records"] == of_base["records"]


def test_without_the_fast_path_launchers_are_ours(of_base: Any, fork_python: Path, cold: Cold, tmp_path: Path) -> None:
    report = cold.run(fork_python, tmp_path / "cache", TRITON_FORK_DISPATCH="0")
    assert report["launchers"] == ["program"] * 3
    assert report["records"] == of_base["records"]


def test_unknown_types_go_the_way_of_the_base(of_base: Any, fork_python: Path, cold: Cold, tmp_path: Path) -> None:
    report = cold.run(fork_python, tmp_path / "cache", "foreign type")
    assert report["launchers"] == ["program", "__triton_launcher", "program"]
    assert report["records"] == of_base["records"]
