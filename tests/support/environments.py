"""Virtual environments with the base's and with the fork's Triton, made once for each wheel and kept in ``.fork/``."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import filelock
from fork import download, package_index
from fork.base import select_wheels
from fork.config import BaseWheel, Lane
from fork.project import Project

__all__ = ["base_wheel", "build", "make_environment", "repository", "this_python"]

#: The checkout under test.
repository = Path(__file__).parents[2]

this_python = f"{sys.version_info.major}.{sys.version_info.minor}"


def base_wheel(lane: Lane, python: str = this_python) -> Path:
    """Give the base wheel for a Python and this machine, verified."""
    pinned: BaseWheel = select_wheels(lane, [python])[0]
    return download.fetch(
        pinned,
        cache=download.default_cache(),
        index_urls=package_index.index_urls(None),
        find_links=[],
        progress=None,
    )


def build(*arguments: str, wheelhouse: Path) -> list[Path]:
    """Run ``build.sh`` into a folder and return the wheels that it built or found unchanged."""
    command = [repository / "build.sh", *arguments, "--json", "--out", wheelhouse]
    done = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return [wheelhouse / wheel["file"] for wheel in json.loads(done.stdout)["wheels"]]


def make_environment(name: str, wheel: Path, python: Path = Path(sys.executable)) -> Path:
    """Make a virtual environment with a wheel of Triton and what the tests' programs need.

    :param name: Part of the folder's name; what the environment is for.
    :param wheel: The wheel; the environment is named by its digest, so an unchanged wheel is not installed again.
    :param python: The interpreter that the wheel is for.
    :returns: The environment's interpreter.
    """
    requirements = repository / "ci" / "requirements" / "kernels.txt"
    digest = hashlib.sha256(wheel.name.encode() + wheel.read_bytes() + requirements.read_bytes()).hexdigest()[:12]
    state = Project(repository).state
    state.mkdir(exist_ok=True)
    folder = state / f"{name}-{digest}"
    interpreter = folder / "bin" / "python"
    with filelock.FileLock(state / f"{name}.lock"):
        if not (folder / "complete").exists():
            for stale in state.glob(f"{name}-*"):
                shutil.rmtree(stale, ignore_errors=True)
            _run(python, "-m", "venv", folder)
            pip = (interpreter, "-m", "pip", "install", "--quiet", "--quiet", "--no-input")
            _run(*pip, "--require-hashes", "--only-binary", ":all:", "--requirement", requirements)
            _run(*pip, "--no-deps", "--no-index", wheel)
            (folder / "complete").touch()
    return interpreter


def _run(*command: str | os.PathLike[str]) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
