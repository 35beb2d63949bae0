"""What new Pythons ask for, brought about on the Python that there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.programs import run_program

PROGRAM = Path(__file__).parent / "programs" / "new_python.py"


def report(python: Path, folder: Path) -> dict[str, Any]:
    answer: dict[str, Any] = run_program(python, PROGRAM, folder, folder / "cache")
    return answer


@pytest.fixture(scope="module")
def of_base(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return report(base_python, tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def of_fork(fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return report(fork_python, tmp_path_factory.mktemp("fork"))


def test_aggregates_whose_annotations_are_a_function(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    assert of_base["aggregate"] == "Unsupported function referenced"
    assert of_fork["aggregate"] == "compiled"


def test_annotated_defaults_have_every_field(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    assert of_base["default"] == of_fork["default"] == "compiled"
    assert of_base["fields"] == [["annotation", "target", "value"]]
    assert of_fork["fields"] == [["annotation", "simple", "target", "value"]]
