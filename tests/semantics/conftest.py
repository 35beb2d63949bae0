"""Runs a program in both environments and hands back what each printed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.programs import Both, prepare, run_program

PROGRAMS = Path(__file__).resolve().parent / "programs"


@pytest.fixture(scope="session")
def driver_folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the fake CUDA library."""
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="session")
def run_both(
    base_python: Path, fork_python: Path, driver_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Both:
    """Run a program of ``programs/`` in base and fork at once: ``run_both(name, *arguments, **variables)``."""

    def run(name: str, *arguments: str, **variables: str) -> tuple[Any, Any]:
        def one(python: Path) -> Any:
            cache = tmp_path_factory.mktemp(Path(name).stem) / "cache"
            return run_program(python, PROGRAMS / name, driver_folder, cache, list(arguments), variables)

        with ThreadPoolExecutor(2) as pool:
            base, fork = pool.map(one, [base_python, fork_python])
        return base, fork

    return run
