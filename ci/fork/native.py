"""Builds the native extension with CMake, Ninja and a C compiler that targets both machines and an old glibc."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from fork.environments import pinned_python
from fork.errors import ForkError

__all__ = ["EXTENSION", "MACHINES", "NativeBuildError", "build_native", "native_environment"]

#: Path of the extension in the wheel. One build per machine serves every CPython from 3.10 on; those without the GIL ignore it.
EXTENSION = "triton/_C/fork_native.abi3.so"

#: Machines that it is built for, by the names that wheels use.
MACHINES = ("x86_64", "aarch64")

# The glibc that the tags of the base wheels promise: manylinux_2_27.
_GLIBC = "2.27"


class NativeBuildError(ForkError):
    """The native extension cannot be built."""

    exit_code = 48


def native_environment() -> Path:
    """Find the environment with CMake, Ninja and the compiler, which is made on first use.

    :returns: The environment's folder.
    :raises VirtualEnvironmentError: It cannot be made.
    """
    return pinned_python("native").parents[1]


def build_native(
    sources: Path, work: Path, machine: str, environment: Path, progress: Callable[[str], None]
) -> dict[str, bytes]:
    """Build the extension for one machine.

    The bytes depend on the sources and on the pinned tools alone: not on folders, time, the machine that builds or its Python.

    :param sources: The folder ``native/``.
    :param work: Scratch folder; made if missing.
    :param machine: One of :data:`MACHINES`.
    :param environment: From :func:`native_environment`.
    :param progress: Is told what is being done.
    :returns: Path in the wheel -> content.
    :raises NativeBuildError: The machine is unknown, or a step failed; the message has the end of its output.
    """
    if machine not in MACHINES:
        raise NativeBuildError(f"there is no native build for '{machine}'", f"choose one of {', '.join(MACHINES)}")
    build = work / machine
    build.mkdir(parents=True, exist_ok=True)
    toolchain = build / "toolchain.cmake"
    toolchain.write_text(_toolchain(_compiler(environment), machine), "utf-8")
    cmake = environment / "bin" / "cmake"
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_MAKE_PROGRAM": environment / "bin" / "ninja",
        "CMAKE_TOOLCHAIN_FILE": toolchain,
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    progress(f"building the native extension for {machine}")
    environ = dict(_environ(work, environment))
    _run([cmake, "-S", sources, "-B", build, "-G", "Ninja", *options], environ)
    _run([cmake, "--build", build], environ)
    return {EXTENSION: (build / Path(EXTENSION).name).read_bytes()}


def _compiler(environment: Path) -> Path:
    found = sorted(environment.glob("lib*/python*/site-packages/ziglang/zig"))
    if not found:
        raise NativeBuildError(
            f"'{environment}' has no C compiler",
            "make the environment anew: remove the folder and run 'ci/environment.sh native'",
        )
    return found[0]


def _toolchain(compiler: Path, machine: str) -> str:
    """Write the CMake toolchain file.

    The target is always named, also where it is this machine's: otherwise the compiler takes this processor and this glibc.
    """
    lines = [
        "set(CMAKE_SYSTEM_NAME Linux)",
        f"set(CMAKE_SYSTEM_PROCESSOR {machine})",
        f'set(CMAKE_C_COMPILER "{compiler}" cc -target {machine}-linux-gnu.{_GLIBC} -mcpu=baseline)',
        "set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)",
        f'set(CMAKE_AR "{compiler}")',
        'set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> ar qc <TARGET> <OBJECTS>")',
        'set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_AR> ranlib <TARGET>")',
    ]
    return "\n".join(lines) + "\n"


def _environ(work: Path, environment: Path) -> Iterator[tuple[str, str]]:
    """Give the build's environment: nothing of the user's flags, and the compiler's caches beside the compiler.

    The compiler builds its own runtime and the stubs of glibc for a target that is new to it: half a minute, once.
    """
    yield from ((name, value) for name, value in os.environ.items() if name in ("PATH", "TMPDIR", "LD_LIBRARY_PATH"))
    yield "LC_ALL", "C.UTF-8"
    yield "HOME", str(work)
    for kind in ("GLOBAL", "LOCAL"):
        yield f"ZIG_{kind}_CACHE_DIR", str(environment / "compiler-cache")


def _run(command: list[str | Path], environ: dict[str, str]) -> None:
    done = subprocess.run(
        command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        end = "\n".join(done.stdout.splitlines()[-30:])
        raise NativeBuildError(f"'{' '.join(map(str, command))}' failed with {done.returncode}:\n{end}")
