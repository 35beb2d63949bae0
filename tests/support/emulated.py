"""Python for 64-bit ARM, run by QEMU on another machine: Debian's packages, unpacked and not installed.

The programs that Python starts are this machine's: QEMU hands them to the kernel. So ``ptxas`` of the x86_64 wheel assembles, and
the compiler of ``ci/requirements/native.txt``, which targets both machines, builds the fake driver and the base's launchers.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fork.download.base_wheels import default_cache
from fork.native import native_environment

__all__ = ["Emulated", "emulated_python", "missing_emulator", "unpack_triton"]

_EMULATOR = "qemu-aarch64-static"
_APT = """
APT::Architecture "arm64";
APT::Architectures {{ "arm64"; }};
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
"""
# Of what Python's packages depend on, libraries: neither programs nor the headers of other libraries.
_LIBRARIES = re.compile(r"^(?:lib\S+(?<!-dev)|zlib1g)$", re.MULTILINE)


@dataclass(frozen=True)
class Emulated:
    """A Python for another machine.

    :param root: The folder with its files.
    :param version: Its version as wheels have it, ``3.11``.
    """

    root: Path
    version: str

    def script(self, path: Path) -> Path:
        """Write a program that stands for the interpreter.

        :param path: Where to put it.
        """
        interpreter = self.root / f"usr/bin/python{self.version}"
        return _script(path, f'exec {_EMULATOR} -L "{self.root}" "{interpreter}" "$@"')

    def compiler(self, folder: Path) -> dict[str, str]:
        """Give the environment variables with which programs compile for this Python.

        :param folder: Where to put a program that stands for the compiler.
        """
        environment = native_environment()
        zig = next(environment.glob("lib*/python*/site-packages/ziglang/zig"))
        compiler = _script(folder / "cc", f'exec "{zig}" cc -target aarch64-linux-gnu.2.27 "$@"')
        caches = {f"ZIG_{kind}_CACHE_DIR": str(environment / "compiler-cache") for kind in ("GLOBAL", "LOCAL")}
        return {"CC": str(compiler), "CPATH": str(self.root / "usr/include"), **caches}


def missing_emulator() -> str | None:
    """Say why no Python for 64-bit ARM can be run here.

    :returns: A reason to skip a test; ``None`` where it can.
    """
    if platform.machine() == "aarch64":
        return "this machine is one itself"
    for program, package in ((_EMULATOR, "qemu-user-static"), ("apt-get", "a Debian"), ("dpkg-deb", "a Debian")):
        if shutil.which(program) is None:
            return f"{program} is not installed ({package})"
    return None


def emulated_python() -> Emulated:
    """Get Debian's Python for 64-bit ARM, of the release that this machine has; 20 MB, kept beside the base wheels.

    :raises subprocess.CalledProcessError: The packages cannot be had.
    """
    folder = default_cache() / "arm64-python"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as scratch:
            _download(Path(scratch))
            root = Path(scratch) / "root"
            for package in Path(scratch).glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", package, root], check=True)
            root.rename(folder)
    version = next(folder.glob("usr/bin/python3.*[0-9]")).name.removeprefix("python")
    return Emulated(folder, version)


def unpack_triton(wheel: Path, folder: Path) -> None:
    """Unpack a wheel so that Python finds it in a folder.

    :param wheel: The wheel.
    :param folder: To be put on ``PYTHONPATH``.
    """
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            mode = member.external_attr >> 16 & 0o777
            path = Path(archive.extract(member, folder))
            if path.is_file():
                path.chmod(mode)


def _download(folder: Path) -> None:
    """Download the packages by apt with lists and a state of its own, so that nothing of this machine's changes."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "apt.conf").write_text(_APT.format(folder=folder))
    _apt(folder, "apt-get", "update")
    told = _apt(folder, "apt-cache", "depends", "python3-minimal")
    python = re.search(r"python3\.\d+(?=-minimal)", told)
    if python is None:
        raise LookupError(f"no version of Python among the dependencies:\n{told}")
    headers = f"lib{python[0]}-dev"
    kinds = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")
    closure = _apt(folder, "apt-cache", "depends", "--recurse", *(f"--no-{kind}" for kind in kinds), headers)
    libraries = sorted(set(_LIBRARIES.findall(closure)))
    _apt(folder, "apt-get", "download", f"{python[0]}-minimal", headers, "libstdc++6", *libraries)


def _apt(folder: Path, *command: str) -> str:
    environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def _script(path: Path, line: str) -> Path:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path
