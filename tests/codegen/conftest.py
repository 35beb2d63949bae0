"""Run the workers of this folder in an environment with Triton, and read the JSON that they print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import run_program

WORKERS = Path(__file__).parent / "workers"
Worker = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Worker:
    """Run a worker: ``run(python, name, *arguments, **environment)``."""

    def run_worker(python: Path, name: str, *arguments: str, **environment: str) -> Any:
        return run_program(python, WORKERS / f"{name}.py", tmp_path, *arguments, **environment)

    return run_worker
