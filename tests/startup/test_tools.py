"""Programs are asked once for as long as they stay the same files."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.startup.running import run


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that is machine code and knows ``--version``."""
    copy = tmp_path / "program"
    shutil.copy(shutil.which("cat") or "", copy)
    time.sleep(0.02)
    return copy


def test_version_is_asked_once(fork_python: Path, tmp_path: Path, program: Path) -> None:
    expected = subprocess.check_output([program, "--version"], text=True)
    first = run(fork_python, "tools.py", tmp_path, "version", str(program))
    assert first == {"answers": [expected] * 2, "processes": 1}
    assert run(fork_python, "tools.py", tmp_path, "version", str(program)) == {
        "answers": [expected] * 2,
        "processes": 0,
    }
    off = run(fork_python, "tools.py", tmp_path, "version", str(program), TRITON_FORK_TOOL_ANSWERS="0")
    assert off == {"answers": [expected] * 2, "processes": 2}


def test_another_program_in_its_place(fork_python: Path, tmp_path: Path, program: Path) -> None:
    first = run(fork_python, "tools.py", tmp_path, "version", str(program))
    status = program.stat()
    shutil.copy(shutil.which("ls") or "", program)
    os.utime(program, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run(fork_python, "tools.py", tmp_path, "version", str(program))["answers"] != first["answers"]


def test_scripts_are_asked_every_time(fork_python: Path, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho version 1\n")
    script.chmod(0o755)
    for _ in range(2):
        assert run(fork_python, "tools.py", tmp_path, "version", str(script))["processes"] == 2


def test_failures_are_the_base_s(fork_python: Path, tmp_path: Path) -> None:
    failing = tmp_path / "failing"
    shutil.copy(shutil.which("false") or "", failing)
    with pytest.raises(AssertionError, match="FileNotFoundError"):
        run(fork_python, "tools.py", tmp_path, "version", str(tmp_path / "missing"))
    with pytest.raises(AssertionError, match="PermissionError"):
        failing.chmod(0o644)
        run(fork_python, "tools.py", tmp_path, "version", str(failing))


def test_libraries(fork_python: Path, tmp_path: Path) -> None:
    linker, cache, calls = tmp_path / "ldconfig", tmp_path / "cache", tmp_path / "calls"
    cache.write_text("\tlibc.so.6 (libc6) => /lib/libc.so.6\n\tlibm.so.6 => /lib/libm.so.6\n")
    linker.write_text(f"#!/bin/sh\necho called >> {calls}\ncat {cache}\n")
    linker.chmod(0o755)
    time.sleep(0.02)
    expected = ["\tlibc.so.6 (libc6) => /lib/libc.so.6"] * 2
    arguments = ("libraries", str(linker), str(cache))
    assert run(fork_python, "tools.py", tmp_path, *arguments) == {"answers": expected, "processes": 1}
    assert run(fork_python, "tools.py", tmp_path, *arguments) == {"answers": expected, "processes": 0}
    cache.write_text("\tlibc.so.7 (libc6) => /lib/libc.so.7\n")
    changed = run(fork_python, "tools.py", tmp_path, *arguments)
    assert changed == {"answers": ["\tlibc.so.7 (libc6) => /lib/libc.so.7"] * 2, "processes": changed["processes"]}
    assert run(fork_python, "tools.py", tmp_path, *arguments, TRITON_FORK_TOOL_ANSWERS="0")["processes"] == 2


def test_platform(base_python: Path, fork_python: Path, tmp_path: Path) -> None:
    ours = run(fork_python, "tools.py", tmp_path, "platform")
    off = run(fork_python, "tools.py", tmp_path, "platform", TRITON_FORK_TOOL_ANSWERS="0")
    assert ours["processes"] == 0
    assert off["processes"] >= 1
    if shutil.which("file"):
        assert ours["answers"] == off["answers"]
