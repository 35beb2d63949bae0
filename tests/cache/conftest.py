"""Run the workers of this folder in an environment with Triton, and read the JSON that they print."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

WORKERS = Path(__file__).parent / "workers"
Worker = Callable[..., Any]
OtherUser = Callable[[Path], tuple[list[str], Path]]


def worker_environment(cache: Path, **more: str | None) -> dict[str, str]:
    """Environment variables of a worker: those of this process without Triton's, and a cache of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    wanted = {**kept, "TRITON_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1", **more}
    return {name: value for name, value in wanted.items() if value is not None}


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
    done = subprocess.run(
        command,
        env=worker_environment(cache, **environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=cache.parent,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout.splitlines()[-1])


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
