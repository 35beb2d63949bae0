"""Run the workers of this folder in an environment with Triton, and read the JSON that they print."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WORKERS = Path(__file__).parent / "workers"
Worker = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Worker:
    """Run a worker: ``run(python, name, *arguments, **environment)``."""

    def run_worker(python: Path, name: str, *arguments: str, **environment: str) -> Any:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("TRITON_")}
        done = subprocess.run(
            [str(python), str(WORKERS / f"{name}.py"), *arguments],
            check=True,
            capture_output=True,
            text=True,
            env={**kept, "TRITON_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        )
        return json.loads(done.stdout.splitlines()[-1])

    return run_worker
