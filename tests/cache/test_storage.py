"""Trouble with the file system of the cache costs time and one warning, never the job."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import OtherUser, Worker
from tests.support.lanes import BaseFault

RIGHT = [True, True, ["cubin", "llir", "ptx", "source", "ttgir", "ttir"]]
#: Operation and error: whether the base fails, whether something is said (something cannot be kept), and whether files of the
#: cache end up where they belong.
FAULTS = [
    ("mkdir", "EROFS", True, True, False),
    ("mkdir", "EACCES", True, True, False),
    ("mkdir", "ENOSPC", True, True, False),
    ("write", "ENOSPC", True, True, False),
    ("write", "EDQUOT", True, True, False),
    ("write", "ESTALE", True, True, False),
    ("replace", "EXDEV", True, False, True),
    ("replace", "EBUSY", True, False, True),
    ("replace", "ESTALE", True, True, False),
    ("all-moves", "EPERM", True, False, True),
    ("replace-over", "EEXIST", True, False, True),
    ("replace-over", "EBUSY", True, False, True),
    ("rmdir", "EBUSY", True, False, True),
    ("rmdir", "ENOTEMPTY", True, False, True),
    ("removed", "1", True, False, True),
    ("unseen", "-", True, None, True),
]


@pytest.mark.parametrize(("operation", "error", "base_fails", "said", "kept"), FAULTS)
def test_kernels_are_compiled_all_the_same(
    operation: str, error: str, base_fails: bool, said: bool | None, kept: bool, run: Worker, fork_python: Path
) -> None:
    result = run(fork_python, "storage", operation, error)
    assert result["first"] == RIGHT
    assert result["compiled"] == [False, False]
    assert result["second"] == RIGHT
    if operation not in ("unseen", "removed"):
        assert result["hits"] == [True, True], "what was compiled was not kept"
    if said is not None:
        assert len(result["said"]) == said, result["said"]
    assert bool(result["files"]) == kept
    assert result["leftovers"] == []


@pytest.mark.parametrize(("operation", "error"), [fault[:2] for fault in FAULTS if fault[2]])
def test_the_base_fails(operation: str, error: str, run: Worker, base_python: Path) -> None:
    result = run(base_python, "storage", operation, error)
    assert result["first"].startswith("raised "), result["first"]


def test_a_cache_that_another_job_keeps_removing(run: Worker, fork_python: Path) -> None:
    result = run(fork_python, "storage", "removed", "1000000")
    assert (result["first"], result["second"]) == (RIGHT, RIGHT)
    assert len(result["said"]) == 1


@pytest.mark.parametrize("home", ["/nonexistent/home", "/dev/null", None])
def test_no_home_folder(
    home: str | None, run: Worker, fork_python: Path, base_python: Path, as_other_user: OtherUser
) -> None:
    prefix, folder = as_other_user(fork_python)
    folder.chmod(0o555)  # the current folder, in which the base makes a folder "~" for want of a home
    variables = {"HOME": home, "TRITON_CACHE_DIR": None, "XDG_CACHE_HOME": None}
    result = run(fork_python, "storage", "as-it-is", "-", cache=folder / "cache", prefix=prefix, **variables)
    assert (result["first"], result["second"], result["hits"]) == (RIGHT, RIGHT, [True, True])
    assert len(result["said"]) == 1
    result = run(base_python, "storage", "as-it-is", "-", cache=folder / "cache", prefix=prefix, **variables)
    assert result["first"].startswith("raised ")


def test_the_cache_is_no_folder(run: Worker, fork_python: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    result = run(fork_python, "storage", "as-it-is", "-", cache=tmp_path / "cache")
    assert (result["first"], result["second"], result["hits"]) == (RIGHT, RIGHT, [True, True])
    assert len(result["said"]) == 1


def mounted(folder: Path, options: str, then: str = "true") -> list[str]:
    """Give the command that runs another one with a small file system of its own at a folder."""
    script = f'mount -t tmpfs -o size=1m none {folder} && {then} && mount -o remount,{options} {folder} && exec "$@"'
    prefix = ["unshare", "-m", "sh", "-c", script, "sh"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("file systems cannot be mounted here")
    return prefix


@pytest.mark.parametrize(
    ("options", "then"),
    [("ro", "true"), ("rw", "dd if=/dev/zero of={folder}/full bs=4k count=1000 2>/dev/null || true")],
    ids=["read-only", "full"],
)
def test_real_file_systems(
    options: str,
    then: str,
    run: Worker,
    fork_python: Path,
    base_python: Path,
    tmp_path: Path,
    base_fault: BaseFault,
) -> None:
    prefix = mounted(tmp_path, options, then.format(folder=tmp_path))
    results: dict[str, Any] = {}
    for name, python in (("fork", fork_python), ("base", base_python)):
        results[name] = run(python, "storage", "as-it-is", "-", cache=tmp_path / "cache", prefix=prefix)
    base_fault("cache: not writable", results["base"]["first"].startswith("raised OSError"))
    fork = results["fork"]
    assert (fork["first"], fork["second"], fork["hits"]) == (RIGHT, RIGHT, [True, True])
    assert len(fork["said"]) == 1


def test_a_filled_cache_that_cannot_be_written_is_used(run: Worker, fork_python: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(fork_python, "storage", "as-it-is", "-", cache=cache)
    prefix = ["unshare", "-m", "sh", "-c", f'mount --bind -o ro {cache} {cache} && exec "$@"', "sh"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("file systems cannot be mounted here")
    result = run(fork_python, "storage", "as-it-is", "-", cache=cache, prefix=prefix)
    assert (result["first"], result["compiled"], result["said"]) == (RIGHT, [True, True], [])
