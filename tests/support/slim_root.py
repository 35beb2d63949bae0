"""A root file system with Python and a Triton and nothing else, as in a slim container: no compiler, no headers, no ``ldconfig``.

It is made of this machine's own files, so nothing has to be fetched: the interpreter, its standard library, the installed Triton,
and the libraries that the dynamic linker says they need. Without ``/etc/ld.so.cache`` the linker looks in its own folders, so every
library lies where it lies here. A program inside sees the root as a mount of its own, and ``/proc``, as in a container; the mounts are
in a namespace of their own, which ends with the program.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.fake_driver.builder import package_of

__all__ = ["SlimRoot", "Trace", "make_root", "missing_tool"]

# Parts of the standard library that are tests, teach, install or draw; and what only a compiler reads.
_LEFT_OUT = ("site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip", "turtledemo", "__pycache__")
_LEFT_OUT_PATTERNS = ("config-*", "_tkinter*", "*.a")
_ASK = """
import json, os, sys, sysconfig
print(json.dumps([os.path.realpath(sys.executable), sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")]))
"""
_MOUNT = 'mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && exec "$@"'
_TRIALS = {
    "chroot": ["chroot", "/", "true"],
    "strace": ["strace", "-o", os.devnull, "true"],
    "unshare": ["unshare", "--mount", "mount", "-t", "proc", "proc", "/proc"],
}
_LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(", re.MULTILINE)
_STARTED = re.compile(r"\b(?:fork|vfork|clone|clone3)\(")
_EXECUTED = re.compile(r'\bexecve(?:at)?\((?:\w+, )?"([^"]*)"')


@dataclass(frozen=True)
class Trace:
    """The processes of a program.

    :param executed: Names of the programs that it and its descendants executed or tried to execute, in order.
    :param started: How many processes it and its descendants started; threads do not count.
    """

    executed: list[str]
    started: int


@dataclass(frozen=True)
class SlimRoot:
    """A root file system.

    :param folder: Where it lies.
    :param python: Path of the interpreter inside it.
    """

    folder: Path
    python: str

    def run(
        self, program: str, variables: Mapping[str, str], trace: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program inside, with nothing of this process's environment.

        :param program: Its path inside.
        :param variables: More environment variables.
        :param trace: Where to write what ``strace`` sees; read it with :meth:`traced`.
        :returns: The finished process, whatever its exit status.
        """
        watched = ["execve", "execveat", "fork", "vfork", "clone", "clone3"]
        strace = ["strace", "-f", "-qq", "-e", f"trace={','.join(watched)}", "-e", "signal=none", "-o", str(trace)]
        own_mounts = ["unshare", "--mount", "sh", "-c", _MOUNT, str(self.folder)]
        command = [*own_mounts, *(strace if trace else []), "chroot", str(self.folder), self.python, program]
        environment = {"PATH": os.environ["PATH"], "HOME": "/root", "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def traced(self, trace: Path) -> Trace:
        """Read what ``strace`` wrote, leaving out how the program itself came to run.

        :param trace: The file that :meth:`run` was given.
        """
        lines = trace.read_text().splitlines()
        executed = [Path(found[1]).name for line in lines if (found := _EXECUTED.search(line))]
        own = executed.index(Path(self.python).name) + 1
        started = [line for line in lines if _STARTED.search(line) and "CLONE_THREAD" not in line]
        return Trace(executed[own:], len(started))


def missing_tool(*tools: str) -> str | None:
    """Say why none of this works here.

    :param tools: ``chroot``, ``unshare``, ``strace``.
    :returns: A reason to skip a test; ``None`` where each tool is there and allowed to work.
    """
    for tool in tools:
        try:
            done = subprocess.run(_TRIALS[tool], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return f"{tool} is not installed"
        if done.returncode != 0:
            return f"{tool} does not work here: {done.stderr.strip()}"
    return None


def make_root(folder: Path, python: Path, libraries: Iterable[Path] = ()) -> SlimRoot:
    """Make a root file system with the interpreter and the Triton of an environment.

    :param folder: An empty folder, or one that is not there.
    :param python: The environment's interpreter.
    :param libraries: Other libraries whose needs are to be met.
    """
    asked = subprocess.run([os.path.realpath(python), "-I", "-c", _ASK], check=True, capture_output=True, text=True)
    interpreter, standard_library, packages = map(Path, json.loads(asked.stdout))
    for name in ("proc", "tmp", "root", str(packages).lstrip("/")):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _copy(interpreter, folder)
    left_out = shutil.ignore_patterns(*_LEFT_OUT, *_LEFT_OUT_PATTERNS)
    shutil.copytree(standard_library, _inside(folder, standard_library), ignore=left_out, dirs_exist_ok=True)
    triton = package_of(python)
    for source in [triton, *triton.parent.glob("triton-*.dist-info")]:
        target = _inside(folder, packages) / source.name
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    programs = [interpreter, *standard_library.glob("lib-dynload/*.so"), triton / "backends/nvidia/bin/ptxas"]
    programs = [program for program in programs if not program.match("_tkinter*")]
    for library in _needed([*programs, *triton.glob("_C/*.so"), *libraries]):
        _copy(library, folder)
    return SlimRoot(folder, str(interpreter))


def _needed(programs: Iterable[Path]) -> list[Path]:
    """List the libraries, the dynamic linker among them, that programs and libraries load when they start."""
    needed: set[Path] = set()
    for program in programs:
        told = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        needed |= {Path(path) for path in _LIBRARY.findall(told)}
    return sorted(needed)


def _inside(folder: Path, path: Path) -> Path:
    return folder / path.relative_to("/")


def _copy(path: Path, folder: Path) -> None:
    target = _inside(folder, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, target)
