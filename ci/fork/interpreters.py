"""The CPython interpreters on this machine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Interpreter", "find_interpreters", "inspect_interpreter"]

_QUERY = """
import json, platform, sys, sysconfig
print(json.dumps([
    platform.python_implementation(), "%d.%d" % sys.version_info[:2], platform.python_version(),
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), platform.machine(), sys.base_prefix]))
"""
_TIMEOUT = 20  # seconds; a shim that waits for a terminal must not hang the search


@dataclass(frozen=True)
class Interpreter:
    """A CPython.

    :param path: The program.
    :param python: Its version as wheels have it, ``3.12`` or ``3.13t``.
    :param release: Its whole version, ``3.12.1``.
    :param machine: Its processor, as ``platform.machine()`` says it.
    :param prefix: The installation, the same for all names of one interpreter.
    """

    path: Path
    python: str
    release: str
    machine: str
    prefix: Path


def inspect_interpreter(path: Path) -> Interpreter | None:
    """Ask a program what Python it is.

    :returns: ``None`` where it is no working CPython.
    """
    try:
        done = subprocess.run([path, "-I", "-c", _QUERY], capture_output=True, text=True, timeout=_TIMEOUT, check=True)
        implementation, version, release, free_threaded, machine, prefix = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if implementation != "CPython":
        return None
    return Interpreter(path, version + ("t" if free_threaded else ""), release, machine, Path(prefix))


def find_interpreters(wanted: Iterable[str]) -> list[Interpreter]:
    """Search PATH and the places where pyenv, uv and the manylinux images put interpreters.

    :param wanted: The versions that count, ``3.12`` or ``3.13t``.
    :returns: One interpreter a version, the first found, in the order of the versions.
    """
    found: dict[str, Interpreter] = {}
    seen: set[Path] = set()
    for candidate in _candidates():
        real = candidate.resolve()
        if real in seen:
            continue
        seen.add(real)
        interpreter = inspect_interpreter(candidate)
        if interpreter:
            found.setdefault(interpreter.python, interpreter)
    return [found[version] for version in wanted if version in found]


def _candidates() -> Iterator[Path]:
    home = Path.home()
    folders = [
        *sorted(Path(os.environ.get("PYENV_ROOT") or home / ".pyenv").glob("versions/*/bin"), reverse=True),
        *(Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder and "shims" not in folder),
        Path("/usr/local/bin"),
        Path("/usr/bin"),
        *sorted(Path("/opt/python").glob("*/bin")),
        *sorted((home / ".local/share/uv/python").glob("*/bin")),
    ]
    for folder in folders:
        for pattern in ("python3.[0-9]*", "python3"):
            for path in sorted(folder.glob(pattern)):
                if not path.name.endswith("-config") and path.is_file() and os.access(path, os.X_OK):
                    yield path
