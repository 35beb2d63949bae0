"""Virtual environments that are made once and kept in ``.fork/``: of a wheel of Triton, or of pinned tools."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import filelock

from fork.errors import ForkError
from fork.project import Project

__all__ = ["VirtualEnvironmentError", "make_environment", "pinned_python"]


class VirtualEnvironmentError(ForkError):
    """A virtual environment cannot be made."""

    exit_code = 26


def make_environment(project: Project, name: str, wheel: Path, python: Path) -> Path:
    """Make a virtual environment with a wheel of Triton and what programs with kernels need.

    :param name: What the environment is for; an older one of the same name is removed.
    :param wheel: The wheel. The folder is named by its digest, so an unchanged wheel is not installed again.
    :param python: The interpreter that the wheel is for.
    :returns: The environment's interpreter.
    :raises VirtualEnvironmentError: pip or venv failed.
    """
    requirements = project.root / "ci" / "requirements" / "kernels.txt"
    content = wheel.name.encode() + wheel.read_bytes() + requirements.read_bytes() + str(python).encode()
    project.state.mkdir(exist_ok=True)
    folder = project.state / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}"
    interpreter = folder / "bin" / "python"
    with filelock.FileLock(project.state / f"{name}.lock"):
        if not (folder / "complete").exists():
            for stale in project.state.glob(f"{name}-????????????"):
                shutil.rmtree(stale, ignore_errors=True)
            pip = [str(interpreter), "-m", "pip", "install", "-qq", "--no-input", "--disable-pip-version-check"]
            _run([str(python), "-m", "venv", str(folder)])
            _run([*pip, "--require-hashes", "--only-binary", ":all:", "--requirement", str(requirements)])
            _run([*pip, "--no-deps", "--no-index", str(wheel)])
            (folder / "complete").touch()
    return interpreter


def pinned_python(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Find the Python of an environment with pinned tools, made at first use by ``ci/environment.sh``.

    :param name: ``native`` or ``source``, a file of ``ci/requirements``.
    :param environ: The environment variables for the script.
    :raises VirtualEnvironmentError: It cannot be made; the message is what the script says.
    """
    script = Path(__file__).parents[1] / "environment.sh"
    done = subprocess.run([script, name], env=dict(environ), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise VirtualEnvironmentError(f"the tools of the {name} build are not there: {done.stderr.strip()}")
    return Path(done.stdout.strip())


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise VirtualEnvironmentError(
            f"'{' '.join(command)}' failed: {done.stderr.strip()}", "is the package index reachable (pip config list)?"
        )
