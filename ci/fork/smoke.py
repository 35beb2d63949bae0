"""Importing a wheel that was just built, where there is a Python that it is for."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from packaging.utils import parse_wheel_filename

from fork.archive.wheels import WheelArchive
from fork.errors import ForkError
from fork.interpreters import find_interpreters, inspect_interpreter

__all__ = ["SmokeImportError", "smoke_import"]

_TIMEOUT = 300  # seconds; an import that hangs must not hang the build

# Names of modules on standard input; prints those that do not import, with the reason.
_PROGRAM = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
failed = {}
for name in json.load(sys.stdin):
    try:
        importlib.import_module(name)
    except BaseException as error:
        failed[name] = f"{type(error).__name__}: {error}"
print(json.dumps(failed))
"""


class SmokeImportError(ForkError):
    """A wheel that was built cannot be imported; it is not published."""

    exit_code = 39


def smoke_import(wheel: Path, changed: Iterable[str], folder: Path) -> str | None:
    """Import Triton and every module that differs from the base, with the wheel unpacked, outside any environment.

    :param wheel: The wheel.
    :param changed: Paths in the wheel of what differs from the base.
    :param folder: Where to unpack; must not exist, and is gone afterwards.
    :returns: The Python that imported it, such as ``3.12.1``; ``None`` where there is none for it on this machine.
    :raises SmokeImportError: A module cannot be imported; the message lists all such.
    """
    interpreter = _interpreter_for(wheel)
    if interpreter is None:
        return None
    path, release = interpreter
    names = list(dict.fromkeys(["triton", *_modules(changed)]))
    try:
        _unpack(wheel, folder)
        said = _import(path, names, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if said:
        raise SmokeImportError(
            f"'{wheel.name}' cannot be imported by CPython {release}:{said}",
            "is a file missing in overlay/ or native/? `ci/fork.sh check` looks at all imports",
        )
    return release


def _import(python: Path, names: list[str], folder: Path) -> str:
    """Import modules in a process of its own; returns what failed, as lines."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRITON_", "PYTHON"))}
    # -S: nothing that is installed counts, as torch would; the state that the fork keeps goes to the folder too.
    command = [str(python), "-I", "-S", "-B", "-c", _PROGRAM, str(folder)]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(names),
            env={**kept, "HOME": str(folder), "TRITON_HOME": str(folder)},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"\n  - it did not end within {_TIMEOUT} seconds"
    if done.returncode != 0:
        return f"\n  - the process ended with {done.returncode}: {done.stderr.strip()}"
    failed: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return "".join(f"\n  - {name}: {reason}" for name, reason in failed.items())


def _modules(changed: Iterable[str]) -> Iterator[str]:
    for path in sorted(changed):
        if path.endswith(".py") and not path.endswith("/__main__.py"):
            yield path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _unpack(wheel: Path, folder: Path) -> None:
    """Unpack Python files, extensions, and the ``.dist-info`` folder, where the entry points of backends stand."""
    with WheelArchive.open(wheel) as archive:
        for member in archive.members:
            path = PurePosixPath(member.filename)
            wanted = (
                path.suffix in (".py", ".json") or path.parts[0] == archive.dist_info or path.match("triton/_C/*.so")
            )
            if wanted and not member.is_dir():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.stream(member) as source, target.open("wb") as file:
                    shutil.copyfileobj(source, file, 1 << 20)


def _interpreter_for(wheel: Path) -> tuple[Path, str] | None:
    tag = next(iter(parse_wheel_filename(wheel.name)[3]))
    digits = tag.interpreter.removeprefix("cp")
    python = f"{digits[0]}.{digits[1:]}" + ("t" if tag.abi.endswith("t") else "")
    return _interpreter(python) if tag.platform.endswith(f"_{platform.machine()}") else None


@cache
def _interpreter(python: str) -> tuple[Path, str] | None:
    own = inspect_interpreter(Path(sys.executable))
    found = own if own and own.python == python else next(iter(find_interpreters([python])), None)
    return (found.path, found.release) if found and found.machine == platform.machine() else None
