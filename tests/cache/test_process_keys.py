"""Keys are the same in every process and rank and with every hash seed where the base's are, and differ where the code does."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from tests.cache.conftest import WORKERS, Worker

PROCESSES = [{"PYTHONHASHSEED": seed, "RANK": rank} for seed, rank in (("1", "0"), ("2", "1"), ("3", "7"))]


def keys_of(run: Worker, python: Path, size: str = "16", worker: str = "process_keys") -> list[dict[str, Any]]:
    return [run(python, worker, size, **environment) for environment in PROCESSES]


def test_one_key_for_all_processes_and_ranks(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, *others = keys_of(run, base_python)
    assert [others] == [[base] * 2], "the base tells processes apart: no case"
    fork, *others = keys_of(run, fork_python)
    different = {name for name in fork for other in others if other[name] != fork[name]}
    assert different == set()
    assert len(fork) == 22
    assert len(set(fork.values())) == len(fork)


def test_another_size_gives_other_keys(run: Worker, fork_python: Path) -> None:
    one = run(fork_python, "process_keys", "16")
    other = run(fork_python, "process_keys", "32")
    assert {name for name in one if one[name] == other[name]} == set()


def test_what_is_asked_for_counts(run: Worker, fork_python: Path, tmp_path: Path) -> None:
    """A kernel that reads the rank of an object has another key in every rank, whatever the object's text says."""
    for name in ("common.py", "process_keys.py"):
        shutil.copy(WORKERS / name, tmp_path / name)
    worker = tmp_path / "process_keys.py"
    worker.write_text(re.sub(r"return holder\.size", "return holder.size + holder.rank", worker.read_text()))
    keys = keys_of(run, fork_python, worker=str(worker.with_suffix("")))
    different = {name for name in keys[0] if keys[0][name] != keys[1][name]}
    assert different == {f"{how} Stamped" for how in ("constant", "in a tuple", "captured")}


def test_the_name_is_in_the_key(run: Worker, fork_python: Path, tmp_path: Path) -> None:
    for name in ("common.py", "process_keys.py"):
        shutil.copy(WORKERS / name, tmp_path / name)
    worker = tmp_path / "process_keys.py"
    before = run(fork_python, str(worker.with_suffix("")), "16")
    worker.write_text(worker.read_text().replace("kernel_{", "other_{"))
    after = run(fork_python, str(worker.with_suffix("")), "16")
    assert {name for name in before if before[name] != after[name]} == {"renamed"}
