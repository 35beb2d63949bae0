"""Runs programs in environments with Triton, cut off from whoever runs the tests: home, caches, state and settings."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["ProgramError", "isolated_environment", "run_json", "run_program"]

_FOREIGN = ("TRITON", "PYTHON", "LLVM", "FAKE_", "XDG_", "CUDA", "HIP", "ROCM")


class ProgramError(AssertionError):
    """A program failed, or printed something other than JSON."""


def isolated_environment(folder: Path, **variables: str | None) -> dict[str, str]:
    """Make the environment of a program.

    :param folder: Gets the home, Triton's cache and what the fork remembers between processes. Programs that are given the same
        folder share them.
    :param variables: More environment variables; ``None`` removes one.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    own = {
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TRITON_FORK_STATE_DIR": str(folder / "state"),
    }
    wanted: Mapping[str, str | None] = {**kept, **own, **variables}
    return {name: value for name, value in wanted.items() if value is not None}


def run_program(
    python: Path,
    program: Path,
    folder: Path,
    *arguments: str,
    prefix: Sequence[str] = (),
    timeout: float | None = None,
    **variables: str | None,
) -> Any:
    """Run a program to its end in a folder of its own.

    :param python: An interpreter with Triton installed.
    :param program: A Python file that prints one JSON document, on its last line.
    :param folder: See :func:`isolated_environment`; also the working directory.
    :param arguments: The program's command line.
    :param prefix: A command that runs the interpreter, ``setpriv`` for example.
    :param timeout: Seconds after which the program is ended.
    :param variables: More environment variables; ``None`` removes one.
    :returns: What the program printed, decoded.
    :raises ProgramError: It failed, or printed something else.
    """
    environment = isolated_environment(folder, **variables)
    return run_json([*prefix, str(python), str(program), *arguments], environment, folder, timeout)


def run_json(command: Sequence[str], environment: Mapping[str, str], folder: Path, timeout: float | None = None) -> Any:
    """Run a command to its end.

    :param command: What prints one JSON document, on its last line.
    :param environment: Its whole environment.
    :param folder: Its working directory.
    :param timeout: Seconds after which it is ended.
    :returns: What it printed, decoded.
    :raises ProgramError: It failed, or printed something else.
    """
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False
    )
    told = f"{done.stdout}\n{done.stderr}"
    if done.returncode != 0:
        raise ProgramError(f"{command} ended with {done.returncode}:\n{told}")
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (json.JSONDecodeError, IndexError):
        raise ProgramError(f"{command} printed no JSON:\n{told}") from None
