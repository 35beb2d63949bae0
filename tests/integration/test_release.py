"""The real thing: the real wheel, installed by real clients from a real index, compiling real kernels."""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fork.config import Lane
from fork.environments import make_environment
from fork.index.writing import write_index
from fork.interpreters import find_interpreters
from fork.project import Project
from tests.support.environments import build

PROGRAMS = Path(__file__).parent / "programs"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def wheelhouse(fork_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheelhouse with this wheel alone: in the checkout's own, another build may be the one that is offered."""
    folder = tmp_path_factory.mktemp("wheelhouse")
    shutil.copy(fork_wheel, folder)
    write_index(folder)
    return folder


@pytest.fixture(scope="module")
def index_url(wheelhouse: Path) -> Iterator[str]:
    """The wheelhouse, served on loopback."""
    handler = functools.partial(Quiet, directory=str(wheelhouse))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()


def isolated(**variables: str) -> dict[str, str]:
    """An environment in which pip and uv know no index but those that the test names."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", **variables}


def run(*command: str | Path, **options) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def installed_version(python: Path) -> str:
    return run(python, "-c", "import triton, triton.fork; print(triton.__version__)").strip()


def test_pip_installs_it_for_the_pin_of_torch(index_url: str, fork_wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-cache-dir",
        "--index-url",
        index_url,
        "triton==3.6.0",
        env=isolated(),
    )
    assert installed_version(python) == fork_wheel.name.split("-")[1]
    run(python, "-m", "pip", "check", env=isolated())


def test_uv_installs_it_for_the_pin_of_torch(index_url: str, fork_wheel: Path, tmp_path: Path) -> None:
    environment = isolated(UV_CACHE_DIR=str(tmp_path / "cache"))
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "--python", sys.executable, tmp_path / "venv", env=environment)
    python = tmp_path / "venv" / "bin" / "python"
    run(*uv, "pip", "install", "--python", python, "--default-index", index_url, "triton==3.6.0", env=environment)
    assert installed_version(python) == fork_wheel.name.split("-")[1]


def test_uv_picks_it_as_the_dependency_of_torch(index_url: str, fork_wheel: Path, tmp_path: Path) -> None:
    environment = isolated(UV_CACHE_DIR=str(tmp_path / "cache"))
    requirements = tmp_path / "requirements.in"
    requirements.write_text("torch==2.11.0\n")
    command = [sys.executable, "-m", "uv", "pip", "compile", "-q", "--python-platform", "x86_64-manylinux_2_28"]
    resolved = run(*command, "--index", index_url, requirements, env=environment)
    assert f"triton=={fork_wheel.name.split('-')[1]}" in resolved.splitlines()


def test_a_matmul_is_the_same_machine_code(base_python: Path, fork_python: Path, tmp_path: Path) -> None:
    digests = []
    for python in (base_python, fork_python):
        environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / python.parents[1].name)}
        digests.append(json.loads(run(python, PROGRAMS / "matmul.py", env=environment)))
    assert digests[0] == digests[1]
    assert set(digests[0]) == {"80", "90", "100"}
    assert all(entry["size"] > 4000 for entry in digests[0].values())


def test_the_fork_never_asks_for_closure_variables(base_python: Path, fork_python: Path, tmp_path: Path) -> None:
    calls = {}
    for side, python in (("base", base_python), ("fork", fork_python)):
        environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / side)}
        calls[side] = int(run(python, PROGRAMS / "count_getclosurevars.py", env=environment))
    assert calls["fork"] == 0
    assert calls["base"] > 0


def test_what_a_capture_scope_shows(base_python: Path, fork_python: Path) -> None:
    base, fork = (json.loads(run(python, PROGRAMS / "capture_scopes.py")) for python in (base_python, fork_python))
    assert fork["scopes"] == base["scopes"]
    assert base["empty cell"] == fork["empty cell"] == "ValueError: Cell is empty"
    # As in the releases after 3.6: nothing is copied where there is nothing to add.
    assert (base["module's own"], fork["module's own"]) == ([], ["plain"])
    assert base["changed"] == fork["changed"] == []


def test_info_says_what_is_installed(project: Project, fork_wheel: Path, fork_python: Path, base_python: Path) -> None:
    tool = project.root / "ci" / "fork.sh"
    told = run(tool, "info", "installed", "--python", fork_python)
    assert told.startswith(run(tool, "info", fork_wheel).rstrip("\n"))
    assert "backport/capture-scope-direct-cells.patch: Read captured values from the closure cells" in told
    assert (
        json.loads(run(tool, "info", "installed", "--python", fork_python, "--json"))["upstream"]["version"] == "3.6.0"
    )
    version = fork_wheel.name.split("-")[1]
    for required in (version, version.rpartition(".")[0]):
        assert version in run(fork_python, "-m", "triton.fork", "--require", required)
    refused = subprocess.run(
        [tool, "info", "installed", "--python", base_python], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 22
    assert "is not the fork" in refused.stderr


def test_the_queue_the_wheel_and_the_index_are_in_order(project: Project, fork_wheel: Path) -> None:
    tool = project.root / "ci" / "fork.sh"
    assert "the queue is in order" in run(tool, "check")
    assert "in order" in run(tool, "verify", fork_wheel)
    assert "agrees" in run(tool, "index", "--check")


def copy_checkout(source: Path, target: Path) -> Path:
    """Copy what a build reads."""
    for name in ("ci", "patches", "overlay", "native"):
        if (source / name).exists():
            shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "fork.toml", target / "fork.toml")
    return target


def test_two_real_builds_give_the_same_bytes(project: Project, tmp_path: Path) -> None:
    first = copy_checkout(project.root, tmp_path / "first")
    second = copy_checkout(first, tmp_path / "somewhere" / "else")
    wheels = []
    for clone, mask, zone in ((first, "022", "UTC"), (second, "077", "Pacific/Kiritimati")):
        command = f"umask {mask} && {sys.executable} -m fork build --out {clone / 'out'}"
        run("sh", "-c", command, env={**os.environ, "TZ": zone, "PYTHONPATH": str(clone / "ci"), "PYTHONSAFEPATH": "1"})
        wheels.append(next((clone / "out").glob("*.whl")))
    assert wheels[0].name == wheels[1].name
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_each_python_found_compiles_with_its_own_wheel(project: Project, lane: Lane, tmp_path: Path) -> None:
    known = dict.fromkeys(wheel.python for wheel in lane.wheels)
    interpreters = find_interpreters(known)
    wheels = build("--python", "installed", wheelhouse=project.wheelhouse)
    assert len(wheels) == len(interpreters) > 0
    compiled = set()
    for interpreter, wheel in zip(interpreters, wheels, strict=True):
        python = make_environment(project, f"installed-{interpreter.python}", wheel, interpreter.path)
        assert installed_version(python) == wheel.name.split("-")[1]
        assert f"cp{interpreter.python.replace('.', '')}" in wheel.name
        environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / interpreter.python)}
        compiled.add(run(python, PROGRAMS / "matmul.py", env=environment))
    assert len(compiled) == 1
