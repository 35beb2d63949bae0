"""Runs test programs in an environment with Triton, under the fake driver and with a cache of their own."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.programs import isolated_environment, run_json

from .builder import CUDA, HIP, build, package_of

# Runs a program in both environments: name, command line and environment variables in, both answers out.
Both = Callable[..., tuple[Any, Any]]

TESTS = Path(__file__).resolve().parent.parent


def environment(folder: Path, cache: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Make the environment of a test program: of the caller's settings of Triton, only switches of the fork come through.

    :param folder: where the fake library is
    :param cache: Triton's cache for this run; home and state lie beside it
    :param extra: more variables
    :returns: the whole environment
    """
    switches = {name: value for name, value in os.environ.items() if name.startswith("TRITON_FORK_")}
    switches.pop("TRITON_FORK_STATE_DIR", None)
    own = {"PYTHONPATH": str(TESTS.parent), "TRITON_CACHE_DIR": str(cache), "FAKE_DRIVER_FOLDER": str(folder)}
    return isolated_environment(cache.parent, **{**switches, **own, **(extra or {})})


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
    return run_json([str(python), str(program), *(arguments or [])], environment(folder, cache, extra), cache.parent)
