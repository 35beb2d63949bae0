"""The wheel for 64-bit ARM, run by QEMU, does what the one for this machine does.

Nightly: `TRITON_FORK_NIGHTLY=1 ci/test tests/integration/test_aarch64.py`, with Debian's qemu-user-static; about six minutes, 200 MB to download.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest

from fork.native import EXTENSION
from tests.fake_driver.builder import CUDA, HIP, package_of
from tests.fake_driver.builder import build as build_library
from tests.fake_driver.library import parse
from tests.fake_driver.programs import prepare, run_program
from tests.support.emulated import emulated_python, missing_emulator, unpack_triton
from tests.support.environments import build, repository

reason = missing_emulator()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(reason is not None, reason=str(reason))]

TESTS = repository / "tests"
LAUNCH = TESTS / "integration" / "programs" / "slim_launch.py"
FAST_PATH = TESTS / "native" / "workers" / "fast_path.py"
BOTH_LAUNCHERS = TESTS / "native" / "workers" / "both_launchers.py"


class Machine:
    """An interpreter with the fork, and what its programs need.

    :ivar folder: of the fake drivers
    """

    def __init__(self, python: Path, packages: Path, folder: Path, **variables: str) -> None:
        self.python, self.folder, self.variables = python, folder, variables
        self.extension = packages / EXTENSION

    def run(self, program: Path, *arguments: str, **variables: str) -> Any:
        """Run a program with a cache of its own and return the JSON that it prints."""
        with TemporaryDirectory() as folder:
            cache = Path(folder) / "cache"
            return run_program(
                self.python, program, self.folder, cache, list(arguments), {**self.variables, **variables}
            )


@pytest.fixture(scope="module")
def here(fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(
        fork_python, package_of(fork_python).parent, prepare(fork_python, tmp_path_factory.mktemp("fake_here"))
    )


@pytest.fixture(scope="module")
def there(fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    emulated = emulated_python()
    folder = tmp_path_factory.mktemp("there")
    variables = emulated.compiler(folder)
    with TemporaryDirectory() as large:  # half a gigabyte, which pytest would keep for three runs
        packages = Path(large) / "site"
        wheels = build("--python", emulated.version, "--platform", "aarch64", wheelhouse=Path(large) / "wheels")
        unpack_triton(wheels[0], packages)
        with mock.patch.dict(os.environ, variables):
            for library in (CUDA, HIP):
                build_library(folder, packages / "triton", library)
        yield Machine(
            emulated.script(folder / "python"),
            packages,
            folder,
            **variables,
            PYTHONPATH=f"{packages}:{repository}",
            TRITON_PTXAS_PATH=str(package_of(fork_python) / "backends/nvidia/bin/ptxas"),
        )


def launches(machine: Machine, tmp_path: Path) -> list[Any]:
    records = tmp_path / machine.folder.name
    machine.run(LAUNCH, TRITON_LIBCUDA_PATH=str(machine.folder), FAKE_DRIVER_RECORD_FILE=str(records))
    return parse(records.read_text())


def test_kernels_are_compiled_and_launched_alike(here: Machine, there: Machine, tmp_path: Path) -> None:
    ours, theirs = launches(here, tmp_path), launches(there, tmp_path)
    assert theirs == ours
    assert [launch.function for launch in ours] == ["one", "scaled", "both"]


def test_the_fast_path_does_the_same(here: Machine, there: Machine) -> None:
    assert there.run(FAST_PATH) == here.run(FAST_PATH)


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_random_arguments_do_what_they_do_in_the_base(here: Machine, there: Machine, backend: str) -> None:
    reports = [
        machine.run(BOTH_LAUNCHERS, backend, str(machine.extension), "30", "400", "7", "4", "200")
        for machine in (here, there)
    ]
    assert reports[0] == reports[1]
    assert reports[0]["seen"].get("difference", 0) == 0
    assert reports[0]["failures"] == []
