"""Nobody is asked more for a launch than in the base, and answers that change are seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.programs import prepare, run_program

WORKER = Path(__file__).parent / "workers" / "questions.py"
BACKENDS = WORKER.with_name("backends.py")
PARTS = [
    *("streams_in_turn", "refused", "changed_tensors", "changed_tuples", "made_tuples", "metaclasses"),
    *("changed_parameters", "dropped_kernels", "results_of_grids"),
]


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="module")
def of_base(base_python: Path, folder: Path) -> Any:
    return run_program(base_python, WORKER, folder, folder / "base")


@pytest.fixture(scope="module")
def of_fork(fork_python: Path, folder: Path) -> Any:
    return run_program(fork_python, WORKER, folder, folder / "fork")


@pytest.mark.parametrize("part", PARTS)
def test_the_same_as_in_the_base(of_base: Any, of_fork: Any, part: str) -> None:
    assert of_fork[part] == of_base[part]


def test_each_part_is_compared(of_base: Any) -> None:
    assert sorted(of_base) == sorted(PARTS)


def test_under_the_sanitizers(
    of_fork: Any, fork_python: Path, folder: Path, sanitized: Path, sanitizer_environment: dict[str, str]
) -> None:
    assert run_program(fork_python, WORKER, folder, folder / "fork", [str(sanitized)], sanitizer_environment) == of_fork


@pytest.mark.parametrize("vendor", ["cuda", "hip"])
def test_backends_that_specialise_in_another_way(
    base_python: Path, fork_python: Path, folder: Path, vendor: str
) -> None:
    base, fork = (
        run_program(python, BACKENDS, folder, folder / f"{vendor}-{name}", [vendor])
        for python, name in ((base_python, "base"), (fork_python, "fork"))
    )
    assert fork == base
    assert any(asked for _, asked in base)
