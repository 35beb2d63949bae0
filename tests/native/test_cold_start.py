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


@pytest.fixture(scope="module")
def of_base(base_python: Path, folder: Path) -> Any:
    return run_program(base_python, WORKER, folder, folder / "base")


def test_the_extension_is_installed(fork_python: Path) -> None:
    assert (package_of(fork_python).parent / EXTENSION).is_file()


def test_no_process_but_the_assembler(of_base: Any, fork_python: Path, folder: Path, tmp_path: Path) -> None:
    report = run_program(fork_python, WORKER, folder, tmp_path / "cache", extra={"CC": "/no/compiler"})
    assert set(report["processes"]) <= ASSEMBLER
    assert report["utilities"].split()[-1] == "triton._C.fork_native"
    assert report["launchers"] == ["program"] * 3
    assert report["records"] == of_base["records"]
    assert set(of_base["processes"]) - ASSEMBLER  # the base starts the linker's ldconfig and a compiler


def test_nothing_new_runs_when_everything_is_in_the_cache(fork_python: Path, folder: Path, tmp_path: Path) -> None:
    run_program(fork_python, WORKER, folder, tmp_path / "cache")
    report = run_program(fork_python, WORKER, folder, tmp_path / "cache")
    assert set(report["processes"]) <= {"ptxas"}  # its version is part of the keys


@pytest.mark.parametrize("value", ["0", "off"])
def test_switched_off(of_base: Any, fork_python: Path, folder: Path, tmp_path: Path, value: str) -> None:
    report = run_program(fork_python, WORKER, folder, tmp_path / "cache", extra={"TRITON_FORK_NATIVE": value})
    assert report["launchers"] == of_base["launchers"] == ["__triton_launcher"] * 3
    assert report["utilities"].split()[-1] == "cuda_utils"
    assert report["records"] == of_base["records"]


def test_unknown_types_go_the_way_of_the_base(of_base: Any, fork_python: Path, folder: Path, tmp_path: Path) -> None:
    report = run_program(fork_python, WORKER, folder, tmp_path / "cache", ["foreign type"])
    assert report["launchers"] == ["program", "__triton_launcher", "program"]
    assert report["records"] == of_base["records"]
