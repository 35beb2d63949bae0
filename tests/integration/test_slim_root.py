"""In a slim container, with no compiler, no ``Python.h`` and no ``ldconfig``, the fork compiles and launches where the base fails.

About 20 seconds on two cores, most of it copying.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from tests.fake_driver.builder import CUDA, build, package_of
from tests.fake_driver.library import parse
from tests.support.environments import repository
from tests.support.slim_root import SlimRoot, Trace, make_root, missing_tool

PROGRAM = "/program/tests/integration/programs/slim_launch.py"
DRIVER = {"TRITON_LIBCUDA_PATH": "/driver"}
ON_LOADER_PATH = {"LD_LIBRARY_PATH": "/driver"}
RECORDS = "/tmp/launches"
COMPILERS = {"cc", "gcc", "clang", "c++", "g++", "zig", "tcc", "as", "ld", "Python.h", "ldconfig", "sh"}

reason = missing_tool("chroot", "unshare")
no_trace = missing_tool("strace")
pytestmark = pytest.mark.skipif(reason is not None, reason=str(reason))


def furnish(folder: Path, python: Path) -> SlimRoot:
    """Make a root with an environment's Triton, the fake driver and the program."""
    library = build(folder / "driver", package_of(python), CUDA)
    root = make_root(folder, python, [library])
    for name in ("tests/__init__.py", "tests/fake_driver", f"{PROGRAM.removeprefix('/program/')}"):
        source, target = repository / name, folder / "program" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    time.sleep(2.1)  # files made a moment ago are not remembered yet
    return root


@pytest.fixture(scope="module")
def of_base(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> SlimRoot:
    return furnish(tmp_path_factory.mktemp("base") / "root", base_python)


@pytest.fixture(scope="module")
def of_fork(fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> SlimRoot:
    return furnish(tmp_path_factory.mktemp("fork") / "root", fork_python)


def variables(name: str, *more: dict[str, str]) -> dict[str, str]:
    """Give a run a kernel cache and a state of its own."""
    own = {"TRITON_CACHE_DIR": f"/tmp/{name}/cache", "TRITON_FORK_STATE_DIR": f"/tmp/{name}/state"}
    merged = {"PYTHONPATH": "/program", "FAKE_DRIVER_RECORD_FILE": f"{RECORDS}-{name}", **own}
    for each in more:
        merged |= each
    return merged


def launches(root: SlimRoot, name: str) -> list[tuple[str, tuple[int, ...], str]]:
    records = parse((root.folder / f"{RECORDS.lstrip('/')}-{name}").read_text())
    return [(launch.function, launch.grid, b"".join(launch.parameters[1:-2]).hex()) for launch in records]


def trace(root: SlimRoot, name: str, *more: dict[str, str]) -> Trace:
    written = root.folder.parent / f"{name}.strace"
    done = root.run(PROGRAM, variables(name, DRIVER, *more), written)
    assert done.returncode == 0, done.stderr
    return root.traced(written)


def test_there_is_nothing_to_build_with(of_base: SlimRoot, of_fork: SlimRoot) -> None:
    for root in (of_base, of_fork):
        assert not COMPILERS & {path.name for path in root.folder.rglob("*")}


@pytest.mark.parametrize("library", [DRIVER, ON_LOADER_PATH], ids=["TRITON_LIBCUDA_PATH", "loader path"])
def test_the_fork_compiles_and_launches(of_fork: SlimRoot, library: dict[str, str]) -> None:
    name = next(iter(library))
    done = of_fork.run(PROGRAM, variables(name, library))
    assert done.returncode == 0, done.stderr
    assert launches(of_fork, name) == [
        ("one", (2, 1, 1), ""),
        ("scaled", (3, 4, 1), "0000003f" + "0000000000000040"),
        ("both", (1, 1, 1), "0500"),
    ]


@pytest.mark.parametrize(
    ("library", "message"),
    [(DRIVER, "Failed to find C compiler"), (ON_LOADER_PATH, "No such file or directory: '/sbin/ldconfig'")],
    ids=["no compiler", "no ldconfig"],
)
def test_the_base_fails(of_base: SlimRoot, library: dict[str, str], message: str) -> None:
    done = of_base.run(PROGRAM, variables(next(iter(library)), library))
    assert done.returncode != 0
    assert message in done.stderr


def test_the_fork_without_its_extension_fails_like_the_base(of_fork: SlimRoot) -> None:
    done = of_fork.run(PROGRAM, variables("off", DRIVER, {"TRITON_FORK_NATIVE": "0"}))
    assert done.returncode != 0
    assert "Failed to find C compiler" in done.stderr


@pytest.mark.skipif(no_trace is not None, reason=str(no_trace))
def test_no_process_but_the_assembler(of_fork: SlimRoot) -> None:
    cold = trace(of_fork, "traced")
    assert set(cold.executed) == {"ptxas"}
    assert cold.started == len(cold.executed)
    assert trace(of_fork, "traced") == Trace([], 0)
    # What it sees is what there is: asked for its version again, the assembler shows up in a warm start, too.
    asked = trace(of_fork, "traced", {"TRITON_FORK_TOOL_ANSWERS": "0"})
    assert asked == Trace(["ptxas"] * asked.started, asked.started)
    assert asked.started > 0
    assert len(launches(of_fork, "traced")) == 9
