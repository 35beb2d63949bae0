"""Runs worker programs in an environment with Triton, each with a cache and a state folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

WORKERS = Path(__file__).parent / "workers"


def run(python: Path, worker: str, folder: Path, *arguments: str, **variables: str) -> Any:
    """Run a worker and return the JSON that it prints last.

    :param python: An interpreter with Triton installed.
    :param worker: The name of a program in ``workers/``.
    :param folder: Holds the kernel cache and the remembered answers of this run.
    :param arguments: The worker's command line.
    :param variables: More environment variables.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRITON", "PYTHON", "LLVM"))}
    own = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TRITON_HOME": str(folder / "home"),
        "TRITON_FORK_STATE_DIR": str(folder / "state"),
    }
    command = [str(python), str(WORKERS / worker), *arguments]
    done = subprocess.run(command, env={**kept, **own, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
