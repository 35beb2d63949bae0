"""Run the workers of this folder in an environment with Triton, and read the JSON that they print."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import isolated_environment, run_json

WORKERS = Path(__file__).parent / "workers"
Worker = Callable[..., Any]
OtherUser = Callable[[Path], tuple[list[str], Path]]


def worker_environment(cache: Path, **more: str | None) -> dict[str, str]:
    """Environment variables of a worker with a cache of its own; home and state lie beside that."""
    return isolated_environment(cache.parent, **{"TRITON_CACHE_DIR": str(cache), **more})


def run_worker(
    python: Path, name: str, *arguments: str, cache: Path, prefix: Sequence[str] = (), **environment: str | None
) -> Any:
    """Run a worker to its end.

    :param python: The interpreter, of an environment with Triton.
    :param name: The worker, a file in ``workers`` without its suffix.
    :param arguments: Passed on.
    :param cache: ``TRITON_CACHE_DIR``.
    :param prefix: A command that runs the interpreter, ``setpriv`` for example.
    :param environment: More environment variables; ``None`` removes one.
    :returns: What the last line of its output says, as JSON.
    """
    command = [*prefix, str(python), str(WORKERS / f"{name}.py"), *arguments]
    return run_json(command, worker_environment(cache, **environment), cache.parent, timeout=120)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Worker:
    """Run a worker with an empty cache: ``run(python, name, *arguments, **environment)``."""

    def call(python: Path, name: str, *arguments: str, **options: Any) -> Any:
        cache = options.pop("cache", None) or tmp_path_factory.mktemp("worker") / "cache"
        return run_worker(python, name, *arguments, cache=cache, **options)

    return call


@pytest.fixture
def as_other_user() -> Iterator[OtherUser]:
    """Give the command that drops root's rights, under which no file is closed, and a folder that it can write."""
    folder = Path(tempfile.mkdtemp(prefix="triton-cache-test-"))
    folder.chmod(0o777)

    def call(python: Path) -> tuple[list[str], Path]:
        if os.geteuid() != 0:
            return [], folder
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if shutil.which("setpriv") is None:
            pytest.skip("root may read and write everything, and there is no setpriv")
        worker = str(WORKERS / "common.py")
        if subprocess.run([*prefix, str(python), worker], capture_output=True, check=False, cwd=folder).returncode != 0:
            pytest.skip("another user cannot reach the interpreter or the workers")
        return prefix, folder

    yield call
    shutil.rmtree(folder)
