"""Runs worker programs in an environment with Triton, each with a cache and a state folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.programs import run_program

WORKERS = Path(__file__).parent / "workers"


def run(python: Path, worker: str, folder: Path, *arguments: str, **variables: str) -> Any:
    """Run a worker and return the JSON that it prints last.

    :param python: An interpreter with Triton installed.
    :param worker: The name of a program in ``workers/``.
    :param folder: Holds the kernel cache and the remembered answers of this run.
    :param arguments: The worker's command line.
    :param variables: More environment variables.
    """
    return run_program(python, WORKERS / worker, folder, *arguments, **variables)
