"""The source base end to end: the stand-in for upstream, built by its own setuptools, CMake, Ninja and pybind11."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from fork.environments import pinned_python
from fork.git import Git
from fork.source.build import SourceBuildError, build_base_wheel
from tests.standin.repository import StandIn, make_standin

ROOT = Path(__file__).parents[2]
SUFFIX = "+fork.1.q01234567"

SHOW = """
import importlib.metadata, json, triton, triton._C.libtriton as native, triton.profiler
from triton.runtime.jit import greeting
print(json.dumps([native.answer(), greeting(), native.llvm_version, importlib.metadata.version("triton"), triton.__file__]))
"""

BUILD_UNTIL_INTERRUPTED = """
import os, sys
from pathlib import Path
from fork.config import load
from fork.git import Git
from fork.source.build import build_base_wheel

def apply(folder):
    with (folder / "CMakeLists.txt").open("a") as file:
        file.write(f"add_custom_target(endless ALL COMMAND sleep {sys.argv[2]})\\n")
    Git(folder).commit_all("Never ends")

work = Path("work")
work.mkdir()
fork = Path(sys.argv[1])
build_base_wheel(fork / "triton", load(fork / "fork.toml").lane(), apply, "+fork.1.q0", work.resolve(), print, os.environ)
"""


@pytest.fixture
def standin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    llvm = tmp_path / "llvm"
    llvm.mkdir()
    (llvm / "version.txt").write_text("stand-in of LLVM\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLVM_SYSPATH", "llvm")  # relative on purpose: CMake runs in another folder
    monkeypatch.setenv("TRITON_OFFLINE_BUILD", "1")
    monkeypatch.setenv("DEBUG", "1")  # would make another build
    return make_standin(tmp_path)


def test_a_patch_to_cpp_and_one_to_python_reach_the_wheel(standin: StandIn, tmp_path: Path) -> None:
    told: list[str] = []
    before, work = standin.snapshot(), tmp_path / "work"
    work.mkdir()
    wheel = build_base_wheel(standin.checkout, standin.lane, standin.apply, SUFFIX, work, told.append, os.environ)
    python = pinned_python("source")
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    shown = subprocess.run(
        [python, "-c", SHOW],
        env={"PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=True,
        cwd=unpacked,
    )
    expected = f'[42, "fork", "stand-in of LLVM", "3.6.0{SUFFIX}", "{unpacked}/triton/__init__.py"]'
    assert shown.stdout.strip() == expected
    assert wheel.name.startswith(f"triton-3.6.0{SUFFIX}-cp")
    assert any("100 %" in line for line in told)
    assert standin.snapshot() == before
    assert sorted(path.name for path in work.iterdir()) == ["dist"]


def test_command_finishes_the_wheel_and_writes_the_index(standin: StandIn, tmp_path: Path) -> None:
    (standin.fork / "ci/requirements").mkdir(parents=True)
    shutil.copy(ROOT / "ci/requirements/tool.txt", standin.fork / "ci/requirements")
    done = subprocess.run(
        [ROOT / "ci/fork.sh", "build", "--source"],
        env={**os.environ, "TRITON_FORK_ROOT": str(standin.fork)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (standin.fork / "wheelhouse").rglob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert b"__version__ = '3.6.0+fork.1.q" in archive.read("triton/__init__.py")
        assert b'"fork"' in archive.read("triton/runtime/jit.py")
    assert {"triton/_C/libtriton.so", "triton/fork/__init__.py"} <= set(names)
    assert list((standin.fork / "wheelhouse" / "simple" / "triton").iterdir())


def test_a_compiler_error_is_shown(standin: StandIn, tmp_path: Path) -> None:
    def break_it(folder: Path) -> None:
        (folder / "python/src/main.cc").write_text("int main( {}\n")
        Git(folder).commit_all("Break the build")

    work = tmp_path / "work"
    work.mkdir()
    before = standin.snapshot()
    with pytest.raises(
        SourceBuildError, match=r"its first error:\n +FAILED: .*\n[^\0]*main\.cc:1:\d+: error:"
    ) as raised:
        build_base_wheel(standin.checkout, standin.lane, break_it, SUFFIX, work, lambda _: None, os.environ)
    assert str(tmp_path / "source-build.log") in (raised.value.hint or "")
    assert standin.snapshot() == before
    assert list(work.iterdir()) == []


def test_interrupt_leaves_nothing_behind(standin: StandIn, tmp_path: Path) -> None:
    seconds = f"300.{os.getpid()}"
    before = standin.snapshot()
    script = [sys.executable, "-u", "-c", BUILD_UNTIL_INTERRUPTED, str(standin.fork), seconds]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "ci"), "MAX_JOBS": "8"}
    with subprocess.Popen(script, env=environ, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        try:
            while not sleepers(seconds) and process.poll() is None:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            process.wait()
        finally:
            process.kill()
    assert process.returncode == -signal.SIGINT
    assert sleepers(seconds) == []
    assert standin.snapshot() == before
    assert list((tmp_path / "work").iterdir()) == []


def sleepers(seconds: str) -> list[str]:
    """List the command lines of the commands that a build of this test waits for."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
        except OSError:
            continue
        if words[:1] == [b"sleep"] and seconds.encode() in words:
            found.append(entry.name)
    return found
