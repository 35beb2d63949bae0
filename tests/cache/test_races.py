"""Many processes, one cache."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from tests.cache.conftest import WORKERS, worker_environment

PROCESSES = 6


def test_processes_that_compile_the_same_kernels(fork_python: Path, tmp_path: Path) -> None:
    """A guard, which the base passes too; test_storage.py removes the cache at the worst moment, on purpose."""
    cache, go = tmp_path / "cache", tmp_path / "go"
    ready = [tmp_path / f"ready-{number}" for number in range(PROCESSES)]
    processes = [
        subprocess.Popen(
            [fork_python, WORKERS / "race.py", go, mine],
            env=worker_environment(cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for mine in ready
    ]
    while not all(mine.exists() for mine in ready):
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)
    go.touch()
    results = []
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        results.append(json.loads(output.splitlines()[-1]))
    assert len({tuple(result["kernels"]) for result in results}) == 1
    assert all(result["said"] == [] for result in results)
    names = sorted(path.name for path in cache.rglob("*"))
    assert not [name for name in names if name.startswith("tmp.pid")]
    assert sum(name.startswith("__grp__") for name in names) == 4
