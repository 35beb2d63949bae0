"""The source base without a compiler: checks of the submodule, the environment, the process and the wheel."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fork.errors import DiskFullError, ForkError
from fork.git import Git
from fork.source import process as build_process
from fork.source.build import SourceBuildError, build_base_wheel
from fork.source.checkout import (
    SubmoduleCommitError,
    SubmoduleDirtyError,
    SubmoduleEmptyError,
    check_checkout,
    copy_checkout,
)
from fork.source.environment import SourceSettingError, build_environment
from fork.source.process import LoggedProcess, members
from fork.source.resources import Resources
from fork.source.wheel import ESSENTIAL, SourceVersionError, SourceWheelError, check_source_wheel
from tests.standin.repository import StandIn, add_submodule, make_standin

GIB = 1 << 30
SUFFIX = "+fork.1.q01234567"
VERSION = f"3.6.0{SUFFIX}"
POPULATE = "run: git submodule update --init --depth 1 triton"


@pytest.fixture
def standin(tmp_path: Path) -> StandIn:
    return make_standin(tmp_path)


class TestCheckCheckout:
    def test_populated_at_the_pin_and_clean(self, standin: StandIn) -> None:
        before = standin.snapshot()
        check_checkout(standin.checkout, standin.lane)
        assert standin.snapshot() == before

    @pytest.mark.parametrize("state", ["empty folder", "no folder", "no git"])
    def test_not_populated(self, standin: StandIn, state: str) -> None:
        shutil.rmtree(standin.checkout)
        if state != "no folder":
            standin.checkout.mkdir()
        if state == "no git":
            (standin.checkout / "setup.py").touch()
        with pytest.raises(SubmoduleEmptyError, match="'triton' is") as raised:
            check_checkout(standin.checkout, standin.lane)
        assert (raised.value.exit_code, raised.value.hint) == (40, POPULATE)

    def test_populated_halfway(self, standin: StandIn) -> None:
        Git(standin.checkout)("update-ref", "-d", "HEAD")
        with pytest.raises(SubmoduleEmptyError, match="no commit checked out"):
            check_checkout(standin.checkout, standin.lane)

    def test_wrong_commit(self, standin: StandIn) -> None:
        Git(standin.checkout).commit_all("A commit of the user's")
        with pytest.raises(SubmoduleCommitError, match=f"pins {standin.lane.commit}") as raised:
            check_checkout(standin.checkout, standin.lane)
        assert (raised.value.exit_code, raised.value.hint) == (41, POPULATE)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda git: (git.folder / "setup.py").write_text("changed"), "setup.py (unstaged)"),
            (lambda git: (git.folder / "setup.py").unlink(), "setup.py (unstaged)"),
            (lambda git: (git.folder / "setup.py").chmod(0o755), "setup.py (unstaged)"),
            (lambda git: git("rm", "--cached", "setup.py"), "setup.py (staged), setup.py (untracked)"),
            (lambda git: git("rm", "setup.py"), "setup.py (staged)"),
            (lambda git: (git.folder / "lib" / "new.cpp").touch(), "lib/new.cpp (untracked)"),
            (lambda git: [(git.folder / f"{n:02}").touch() for n in range(12)], "09 (untracked) and 2 more"),
        ],
        ids=["unstaged", "deleted", "mode", "unstaged from index", "staged", "untracked", "many"],
    )
    def test_dirty(self, standin: StandIn, change: Callable[[Git], object], said: str) -> None:
        change(Git(standin.checkout))
        with pytest.raises(SubmoduleDirtyError) as raised:
            check_checkout(standin.checkout, standin.lane)
        assert raised.value.message.endswith(said)
        assert raised.value.exit_code == 42

    def test_dirty_within_a_nested_submodule(self, standin: StandIn, tmp_path: Path) -> None:
        Git.init(tmp_path / "inner").commit_all("Inner")
        git = Git(standin.checkout)
        add_submodule(git, tmp_path / "inner", "third_party/inner")
        git.commit_all("With a submodule")
        lane = dataclasses.replace(standin.lane, commit=git("rev-parse", "HEAD"))
        check_checkout(standin.checkout, lane)
        (standin.checkout / "third_party" / "inner" / "new").touch()
        with pytest.raises(SubmoduleDirtyError, match="third_party/inner"):
            check_checkout(standin.checkout, lane)

    def test_what_upstream_ignores_does_not_count(self, standin: StandIn) -> None:
        (standin.checkout / "build").mkdir()
        (standin.checkout / "build" / "CMakeCache.txt").touch()
        check_checkout(standin.checkout, standin.lane)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
    def test_folder_of_another_user(self, standin: StandIn, tmp_path: Path) -> None:
        os.chown(standin.checkout, 12345, 12345)
        check_checkout(standin.checkout, standin.lane)
        copy_checkout(standin.checkout, standin.lane, tmp_path / "copy")


class TestCopyCheckout:
    def test_copy_of_a_shallow_checkout(self, standin: StandIn, tmp_path: Path) -> None:
        assert Git(standin.checkout)("rev-parse", "--is-shallow-repository") == "true"
        before = standin.snapshot()
        git = copy_checkout(standin.checkout, standin.lane, tmp_path / "copy")
        standin.apply(git.folder)
        assert git("rev-parse", "base") == standin.lane.commit
        assert len(git("rev-list", "base..HEAD").splitlines()) == 2
        assert "return 42;" in (git.folder / "lib" / "Answer.cpp").read_text()
        assert standin.snapshot() == before

    def test_upstream_takes_it_for_a_release(self, standin: StandIn, tmp_path: Path) -> None:
        git = copy_checkout(standin.checkout, standin.lane, tmp_path / "copy")
        assert git("rev-parse", "--abbrev-ref", "HEAD").startswith("release")


def environment(environ: Mapping[str, str], work: Path, told: list[str] | None = None) -> dict[str, str]:
    return build_environment(
        environ,
        python=Path("/environment/bin/python"),
        work=work,
        version_suffix=SUFFIX,
        epoch="1767225600",
        progress=(told if told is not None else []).append,
        resources=Resources(memory=64 * GIB, cores=12),
    )


class TestBuildEnvironment:
    def test_what_is_set(self, tmp_path: Path) -> None:
        settings = environment({"PATH": "/usr/bin", "HOME": "/home/user"}, tmp_path)
        assert settings["TRITON_WHEEL_VERSION_SUFFIX"] == SUFFIX
        assert settings["TRITON_WHEEL_NAME"] == "triton"
        assert settings["PATH"] == "/environment/bin:/usr/bin"
        assert settings["SOURCE_DATE_EPOCH"] == "1767225600"
        assert settings["TRITON_HOME"] == "/home/user"
        assert Path(settings["TMPDIR"]).is_relative_to(tmp_path)

    def test_relative_places_become_absolute(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "llvm").mkdir()
        (tmp_path / "ptxas").touch()
        settings = environment({"LLVM_SYSPATH": "llvm", "TRITON_PTXAS_PATH": "./ptxas", "JSON_SYSPATH": ""}, tmp_path)
        assert settings["LLVM_SYSPATH"] == str(tmp_path / "llvm")
        assert settings["TRITON_PTXAS_PATH"] == str(tmp_path / "ptxas")
        assert "JSON_SYSPATH" not in settings

    def test_user_settings_pass(self, tmp_path: Path) -> None:
        passed = {
            "MAX_JOBS": "3",
            "TRITON_PARALLEL_LINK_JOBS": "1",
            "TRITON_BUILD_PROTON": "OFF",
            "TRITON_BUILD_WITH_CCACHE": "1",
            "TRITON_BUILD_WITH_CLANG_LLD": "1",
            "TRITON_APPEND_CMAKE_ARGS": "-DX=1",
            "TRITON_HOME": "/cache",
            "CC": "clang",
        }
        settings = environment(passed, tmp_path)
        assert {name: settings.get(name) for name in passed} == passed

    def test_jobs_by_memory_are_told(self, tmp_path: Path) -> None:
        told: list[str] = []
        settings = environment({}, tmp_path, told)
        assert (settings["MAX_JOBS"], settings["TRITON_PARALLEL_LINK_JOBS"]) == ("12", "8")
        assert [line for line in told if "12 jobs" in line and "MAX_JOBS" in line]

    def test_what_would_build_something_else_is_left_out_and_told(self, tmp_path: Path) -> None:
        told: list[str] = []
        user = {"DEBUG": "1", "TRITON_PLUGIN_DIRS": "/plugin", "TRITON_WHEEL_NAME": "other", "MAX_JOBS": "1"}
        settings = environment(user, tmp_path, told)
        assert "DEBUG" not in settings
        assert settings["TRITON_WHEEL_NAME"] == "triton"
        assert len(told) == 1
        assert "DEBUG, TRITON_PLUGIN_DIRS, TRITON_WHEEL_NAME" in told[0]

    def test_settings_of_git_and_python_stay_out(self, tmp_path: Path) -> None:
        user = {"GIT_DIR": "/x", "PYTHONPATH": "ci", "PIP_INDEX_URL": "x", "NINJA_STATUS": "%p"}
        assert not set(user) & set(environment(user, tmp_path))

    @pytest.mark.parametrize(
        ("environ", "said"),
        [
            ({"LLVM_SYSPATH": "/nowhere/llvm"}, "LLVM_SYSPATH names '/nowhere/llvm', which does not exist"),
            ({"LLVM_SYSPATH": __file__}, "which is not a folder"),
            ({"TRITON_PTXAS_PATH": "/nowhere/ptxas"}, "TRITON_PTXAS_PATH"),
            ({"TRITON_OFFLINE_BUILD": "1"}, "LLVM_SYSPATH is not"),
            ({"TRITON_OFFLINE_BUILD": "on", "LLVM_SYSPATH": ""}, "LLVM_SYSPATH is not"),
            ({"MAX_JOBS": "many"}, "MAX_JOBS is 'many'"),
            ({"MAX_JOBS": "0"}, "MAX_JOBS is '0'"),
            ({"TRITON_PARALLEL_LINK_JOBS": "-1"}, "TRITON_PARALLEL_LINK_JOBS is '-1'"),
        ],
    )
    def test_bad_values(self, tmp_path: Path, environ: dict[str, str], said: str) -> None:
        with pytest.raises(SourceSettingError) as raised:
            environment(environ, tmp_path)
        assert said in raised.value.message
        assert raised.value.exit_code == 45

    def test_without_a_home(self, tmp_path: Path) -> None:
        assert Path(environment({}, tmp_path)["TRITON_HOME"]).is_relative_to(tmp_path)


class TestResources:
    @pytest.fixture
    def machine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Resources]:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))

        def measure(membership: str, files: Mapping[str, object], available: int = 100 * GIB) -> Resources:
            contents = {
                "proc/meminfo": f"MemTotal: 1 kB\nMemAvailable:   {available // 1024} kB\n",
                "proc/self/cgroup": membership,
                **{f"cgroup/{name}": f"{content}\n" for name, content in files.items()},
            }
            for name, content in contents.items():
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).write_text(content)
            return Resources.measure(tmp_path / "proc", tmp_path / "cgroup")

        return measure

    @pytest.mark.parametrize(
        ("membership", "files", "expected"),
        [
            ("", {}, (100 * GIB, 16)),
            ("0::/\n", {"memory.max": "max", "memory.current": 5, "cpu.max": "max 100000"}, (100 * GIB, 16)),
            ("0::/a/b\n", {"a/memory.max": 8 * GIB, "a/memory.current": GIB, "a/b/memory.max": "max"}, (7 * GIB, 16)),
            (
                "0::/a\n",
                {
                    "a/memory.max": 8 * GIB,
                    "a/memory.current": 6 * GIB,
                    "a/memory.stat": f"anon 1\ninactive_file {3 * GIB}",
                },
                (5 * GIB, 16),
            ),
            ("0::/a\n", {"a/memory.max": GIB, "a/memory.current": 2 * GIB}, (0, 16)),
            ("0::/not/mounted/here\n", {"memory.max": 4 * GIB, "memory.current": 0}, (4 * GIB, 16)),
            ("0::/a\n", {"a/cpu.max": "250000 100000"}, (100 * GIB, 2)),
            ("0::/a\n", {"a/cpu.max": "50000 100000"}, (100 * GIB, 1)),
            (
                "5:memory:/a\n3:cpu,cpuacct:/a\n",
                {
                    "memory/a/memory.limit_in_bytes": 6 * GIB,
                    "memory/a/memory.usage_in_bytes": GIB,
                    "cpu,cpuacct/a/cpu.cfs_quota_us": 300000,
                    "cpu,cpuacct/a/cpu.cfs_period_us": 100000,
                },
                (5 * GIB, 3),
            ),
            ("3:cpu:/a\n", {"cpu/a/cpu.cfs_quota_us": -1, "cpu/a/cpu.cfs_period_us": 100000}, (100 * GIB, 16)),
        ],
    )
    def test_limits(
        self,
        machine: Callable[..., Resources],
        membership: str,
        files: Mapping[str, object],
        expected: tuple[int, int],
    ) -> None:
        found = machine(membership, files)
        assert (found.memory, found.cores) == expected

    @pytest.mark.parametrize(
        ("memory", "cores", "jobs", "link_jobs"),
        [(64, 4, 4, 4), (32, 20, 10, 4), (7, 8, 2, 1), (2, 8, 1, 1), (0, 1, 1, 1)],
    )
    def test_jobs(self, memory: int, cores: int, jobs: int, link_jobs: int) -> None:
        found = Resources(memory * GIB, cores)
        assert (found.jobs, found.link_jobs) == (jobs, link_jobs)

    def test_unknown_memory_means_one_job(self, tmp_path: Path) -> None:
        assert Resources.measure(tmp_path, tmp_path).jobs == 1

    def test_this_machine(self) -> None:
        found = Resources.measure()
        assert found.memory > 0
        assert found.cores >= 1


class Script:
    """Runs Python code as a logged process and keeps what is told."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        self.folder = folder
        self.told: list[str] = []

    def process(self, code: str, clock: Callable[[], float] = lambda: 0.0) -> LoggedProcess:
        command = [sys.executable, "-u", "-c", code]
        return LoggedProcess(command, self.folder, os.environ, self.log, self.told.append, clock)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


def running(marker: str) -> list[int]:
    """List the processes that have a word on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and marker.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


class TestLoggedProcess:
    def test_log_status_and_folder(self, script: Script) -> None:
        code = "import os, sys; print(os.getcwd()); print('error', file=sys.stderr); sys.exit(3)"
        assert script.process(code).run() == 3
        assert script.log.read_text().splitlines() == [str(script.folder), "error"]

    def test_progress_of_ninja_once_for_each_percent(self, script: Script) -> None:
        code = r"for n in range(1, 401): print(f'  [{n}/400] Building CXX object')"
        assert script.process(code).run() == 0
        assert len(script.told) == 101  # 0 to 100
        assert script.told[-1].startswith("[400/400] 100 %")

    def test_a_bar_that_redraws_its_line_is_not_progress(self, script: Script) -> None:
        assert script.process(r"print('a [1/2] \r[1/2] CXX\rLLVM 10 %', end='\r')").run() == 0
        assert [line[:10] for line in script.told] == ["[1/2] 50 %"]

    def test_silence_is_told_with_the_time(self, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(build_process, "_TICK", 0.01)
        enough = script.folder / "enough"
        times = iter(range(0, 1_000_000, 31))

        def tell(line: str) -> None:
            script.told.append(line)
            enough.touch()

        code = (
            f"import os, sys, time\n"
            f"for _ in range(1000):\n"
            f"    if os.path.exists({str(enough)!r}): sys.exit(0)\n"
            f"    time.sleep(0.02)\n"
            f"sys.exit(9)"
        )
        process = LoggedProcess(
            [sys.executable, "-c", code], script.folder, os.environ, script.log, tell, lambda: float(next(times))
        )
        assert process.run() == 0
        assert script.told[0].startswith("still running, 1:02 minutes")

    def test_an_interrupt_ends_all_processes(self, script: Script) -> None:
        marker = f"marker-{os.getpid()}-interrupt"
        # As Ninja does: a child with a process group of its own. It ignores the polite signal, too.
        child = (
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('[1/1] ready'); time.sleep(60)"
        )
        code = (
            f"import subprocess, sys, time\n"
            f"subprocess.Popen([sys.executable, '-u', '-c', {child!r}, {marker!r}], process_group=0)\n"
            f"time.sleep(60)"
        )
        script.told = _InterruptingList()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(build_process, "_PATIENCE", 0.2)
            with pytest.raises(KeyboardInterrupt):
                script.process(code).run()
        assert running(marker) == []

    def test_what_leaves_the_session_does_not_hold_the_build_up(self, script: Script) -> None:
        marker = f"marker-{os.getpid()}-server"
        code = (
            f"import subprocess, sys\n"
            f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {marker!r}], start_new_session=True)"
        )
        assert script.process(code).run() == 0
        servers = running(marker)
        assert len(servers) == 1  # had it ended, the pipe would have been closed and the test would show nothing
        os.kill(servers[0], signal.SIGKILL)

    def test_members_are_those_of_the_session(self) -> None:
        with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
            assert members(process.pid) == [process.pid]
            process.kill()
        assert members(process.pid) == []


class _InterruptingList(list[str]):
    def append(self, _: str) -> None:
        raise KeyboardInterrupt


def row(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_wheel(
    folder: Path, files: Mapping[str, bytes], version: str = VERSION, metadata: str = VERSION, extra: str = ""
) -> Path:
    info = f"triton-{version}.dist-info"
    members = {**files, f"{info}/METADATA": f"Name: triton\nVersion: {metadata}\n".encode()}
    record = "".join(row(name, content) for name, content in members.items()) + f"{info}/RECORD,,\n" + extra
    wheel = folder / f"triton-{version}-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in {**members, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(name, content)
    return wheel


class TestCheckSourceWheel:
    @pytest.fixture
    def git(self, standin: StandIn, tmp_path: Path) -> Git:
        git = copy_checkout(standin.checkout, standin.lane, tmp_path / "copy")
        standin.apply(git.folder)
        (git.folder / "python/triton/language/__init__.py").unlink()
        git.commit_all("Remove a module")
        return git

    @pytest.fixture
    def files(self, git: Git) -> dict[str, bytes]:
        files = {name: b"content of " + name.encode() for name in ESSENTIAL}
        files["triton/_C/libtriton.so"] = b"\x7fELF..."
        files["triton/runtime/jit.py"] = (git.folder / "python/triton/runtime/jit.py").read_bytes()
        return files

    def test_good_wheel(self, standin: StandIn, git: Git, files: dict[str, bytes], tmp_path: Path) -> None:
        check_source_wheel(write_wheel(tmp_path, files), standin.lane, VERSION, git, {})

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda files: files.clear(), "triton/_C/libtriton.so is missing"),
            (lambda files: files.pop("triton/backends/nvidia/driver.c"), "triton/backends/nvidia/driver.c is missing"),
            (lambda files: files.update({"triton/_C/libtriton.so": b""}), "is not a shared library"),
            (
                lambda files: files.update({"triton/runtime/jit.py": b"unpatched"}),
                "jit.py is not what the queue made it",
            ),
            (lambda files: files.pop("triton/runtime/jit.py"), "jit.py is missing, though the queue changes it"),
            (lambda files: files.update({"triton/language/__init__.py": b""}), "though the queue removes it"),
        ],
        ids=["empty", "one missing", "empty library", "unpatched", "patched but missing", "removed but there"],
    )
    def test_not_whole(
        self,
        standin: StandIn,
        git: Git,
        files: dict[str, bytes],
        tmp_path: Path,
        change: Callable[[dict[str, bytes]], object],
        said: str,
    ) -> None:
        change(files)
        with pytest.raises(SourceWheelError) as raised:
            check_source_wheel(write_wheel(tmp_path, files), standin.lane, VERSION, git, {})
        assert said in raised.value.message
        assert raised.value.exit_code == 46

    def test_record_differs(self, standin: StandIn, git: Git, files: dict[str, bytes], tmp_path: Path) -> None:
        wheel = write_wheel(tmp_path, files, extra="triton/ghost.py,,\n")
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.writestr("triton/extra.py", b"")
        with pytest.raises(SourceWheelError) as raised:
            check_source_wheel(wheel, standin.lane, VERSION, git, {})
        assert "triton/extra.py is not in RECORD; triton/ghost.py is in RECORD but missing" in raised.value.message

    def test_profiler_may_be_left_out(
        self, standin: StandIn, git: Git, files: dict[str, bytes], tmp_path: Path
    ) -> None:
        (git.folder / "third_party/proton/proton/__init__.py").write_text("changed = True\n")
        git.commit_all("Change the profiler")
        wheel = write_wheel(tmp_path, files)
        check_source_wheel(wheel, standin.lane, VERSION, git, {"TRITON_BUILD_PROTON": "off"})
        with pytest.raises(SourceWheelError, match=r"triton/profiler/__init__\.py is missing"):
            check_source_wheel(wheel, standin.lane, VERSION, git, {})

    @pytest.mark.parametrize(
        ("named", "metadata", "where"),
        [("3.6.0+gitabcdef01", "3.6.0+gitabcdef01", "file name"), (VERSION, "3.6.0", "METADATA")],
    )
    def test_another_version(
        self, standin: StandIn, git: Git, files: dict[str, bytes], tmp_path: Path, named: str, metadata: str, where: str
    ) -> None:
        wheel = write_wheel(tmp_path, files, named, metadata)
        with pytest.raises(SourceVersionError, match=where) as raised:
            check_source_wheel(wheel, standin.lane, VERSION, git, {})
        assert raised.value.exit_code == 44


class TestBuildBaseWheel:
    """The whole, with a script in place of pip."""

    @pytest.fixture
    def build(self, standin: StandIn, tmp_path: Path) -> Callable[..., Path]:
        def run(code: str, apply: Callable[[Path], None] = standin.apply) -> Path:
            python = tmp_path / "python"
            python.write_text(f"#!{sys.executable}\nimport os, sys\n{code}\n")
            python.chmod(0o755)
            work = tmp_path / "work"
            work.mkdir()
            try:
                return build_base_wheel(
                    standin.checkout, standin.lane, apply, SUFFIX, work, lambda _: None, os.environ, python=python
                )
            finally:
                assert list(work.iterdir()) == []  # all these builds fail
                check_checkout(standin.checkout, standin.lane)

        return run

    def fails(self, build: Callable[..., Path], code: str, kind: type[ForkError]) -> ForkError:
        with pytest.raises(kind) as raised:
            build(code)
        return raised.value

    def test_failure_shows_the_last_lines_and_the_log(self, build: Callable[..., Path], tmp_path: Path) -> None:
        error = self.fails(build, "for n in range(50): print('line', n)\nsys.exit(7)", SourceBuildError)
        assert error.exit_code == 43
        assert "status 7" in error.message
        assert "\n  line 30\n" in error.message
        assert "line 29" not in error.message
        assert str(tmp_path / "source-build.log") in (error.hint or "")
        assert (tmp_path / "source-build.log").read_text().startswith("line 0\n")

    def test_failure_shows_the_first_error(self, build: Callable[..., Path]) -> None:
        code = (
            "print('fine\\nFAILED: x.o\\nc++ -c x.cpp\\nx.cpp:1:2: error: what')\n"
            "for n in range(300): print('noise', n)\nsys.exit(1)"
        )
        message = self.fails(build, code, SourceBuildError).message
        assert "its first error:\n  FAILED: x.o\n  c++ -c x.cpp\n  x.cpp:1:2: error: what\n  noise 0" in message
        assert "noise 17" not in message

    def test_failure_for_want_of_memory(self, build: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MAX_JOBS", "8")
        code = "print('c++: fatal error: Killed signal terminated program cc1plus')\nsys.exit(1)"
        assert "MAX_JOBS=4" in (self.fails(build, code, SourceBuildError).hint or "")

    def test_failure_for_want_of_room(self, build: Callable[..., Path]) -> None:
        code = "print('fatal error: error writing to /tmp/x.s: No space left on device')\nsys.exit(1)"
        assert self.fails(build, code, DiskFullError).exit_code == 33

    def test_no_wheel(self, build: Callable[..., Path]) -> None:
        assert "it left: none" in self.fails(build, "", SourceBuildError).message

    def test_empty_wheel(self, build: Callable[..., Path], tmp_path: Path) -> None:
        wheel = write_wheel(tmp_path, {})
        code = (
            "target = next(a for a in sys.argv if a.startswith('--wheel-dir=')).partition('=')[2]\n"
            f"os.mkdir(target); os.link({str(wheel)!r}, os.path.join(target, {wheel.name!r}))"
        )
        self.fails(build, code, SourceWheelError)

    def test_build_without_isolation_or_network(self, build: Callable[..., Path], tmp_path: Path) -> None:
        seen = tmp_path / "arguments"
        self.fails(build, f"open({str(seen)!r}, 'w').write(' '.join(sys.argv[1:]))", SourceBuildError)
        arguments = seen.read_text().split()
        assert arguments[:3] == ["-m", "pip", "--isolated"]
        assert {"--no-build-isolation", "--no-deps", "--no-index", "--no-cache-dir"} <= set(arguments)

    def test_queue_that_does_not_apply(self, build: Callable[..., Path], standin: StandIn, tmp_path: Path) -> None:
        patch = standin.fork / "patches/3.6/fix/answer.patch"
        patch.write_bytes(patch.read_bytes().replace(b"-  return 1;", b"-  return 2;"))
        ran = tmp_path / "ran"
        with pytest.raises(ForkError, match=r"fix/answer\.patch.*lib/Answer\.cpp") as raised:
            build(f"open({str(ran)!r}, 'w')")
        assert raised.value.exit_code == 12
        assert not ran.exists()

    def test_build_that_changes_the_submodule(self, standin: StandIn, tmp_path: Path) -> None:
        files = dict.fromkeys(ESSENTIAL, b"\x7fELF")
        jit = (standin.checkout / "python/triton/runtime/jit.py").read_bytes()
        files["triton/runtime/jit.py"] = jit.replace(b'"upstream"', b'"fork"')
        wheel = write_wheel(tmp_path, files)
        python, work = tmp_path / "python", tmp_path / "work"
        work.mkdir()
        make_wheel = f"mkdir {work}/dist && cp {wheel} {work}/dist\n"
        python.write_text(f"#!/bin/sh\necho changed > {standin.checkout}/setup.py\n{make_wheel}")
        python.chmod(0o755)
        arguments = (standin.checkout, standin.lane, standin.apply, SUFFIX, work, print, os.environ)
        with pytest.raises(SubmoduleDirtyError, match=r"setup\.py \(unstaged\)"):
            build_base_wheel(*arguments, python=python)
        Git(standin.checkout)("checkout", "--", "setup.py")
        python.write_text(f"#!/bin/sh\n{make_wheel}")
        assert build_base_wheel(*arguments, python=python) == work / "dist" / wheel.name
