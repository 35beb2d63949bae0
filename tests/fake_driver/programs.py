"""Runs test programs in an environment with Triton, under the fake driver and with a cache of their own."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .builder import CUDA, HIP, build, package_of

# Runs a program in both environments: name, command line and environment variables in, both answers out.
Both = Callable[..., tuple[Any, Any]]

TESTS = Path(__file__).resolve().parent.parent


class ProgramError(Exception):
    """A test program failed, or printed something other than JSON."""


def environment(folder: Path, cache: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Make the environment of a test program: nothing of the caller's Triton or Python settings comes through.

    :param folder: where the fake library is
    :param cache: Triton's cache for this run
    :param extra: more variables
    :returns: the whole environment
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRITON_", "PYTHON", "FAKE_"))}
    own = {
        "PYTHONPATH": str(TESTS.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRITON_CACHE_DIR": str(cache),
        "FAKE_DRIVER_FOLDER": str(folder),
    }
    switches = {name: value for name, value in os.environ.items() if name.startswith("TRITON_FORK_")}
    return {**kept, **switches, **own, **(extra or {})}


def prepare(python: Path, folder: Path) -> Path:
    """Build the fake libraries with the headers of an environment.

    :param python: an interpreter with Triton installed
    :param folder: where to put them
    :returns: the folder
    """
    package = package_of(python)
    for library in (CUDA, HIP):
        build(folder, package, library)
    return folder


def run_program(
    python: Path,
    program: Path,
    folder: Path,
    cache: Path,
    arguments: list[str] | None = None,
    extra: Mapping[str, str] | None = None,
) -> Any:
    """Run a program that prints one JSON document.

    :param python: the interpreter to run it in
    :param program: a Python file
    :param folder: where the fake library is
    :param cache: Triton's cache for this run
    :param arguments: command line of the program
    :param extra: more environment variables
    :returns: what it printed, decoded
    :raises ProgramError: when it fails or prints something else
    """
    done = subprocess.run(
        [python, program, *(arguments or [])],
        env=environment(folder, cache, extra),
        cwd=cache.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        message = f"{program.name} in {python} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        raise ProgramError(message)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError as error:
        message = f"{program.name} in {python} printed no JSON:\n{done.stdout}\n{done.stderr}"
        raise ProgramError(message) from error
