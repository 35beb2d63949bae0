"""One build for each machine serves every Python, needs no newer glibc than the wheels promise, and depends on its sources alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fork.native import EXTENSION, MACHINES, NativeBuildError, build_native, native_environment
from tests.support.environments import repository

ELF_MACHINES = {"x86_64": b"\x3e\x00", "aarch64": b"\xb7\x00"}


def built(folder: Path, machine: str) -> bytes:
    sources = folder / "sources"
    shutil.copytree(repository / "native", sources)
    return build_native(sources, folder / "work", machine, native_environment(), lambda _: None)[EXTENSION]


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_a_build_depends_on_the_sources_alone(machine: str, tmp_path: Path) -> None:
    first = built(tmp_path / "one", machine)
    assert first == built(tmp_path / "another folder" / "with a longer name", machine)
    assert first[:4] == b"\x7fELF"
    assert first[18:20] == ELF_MACHINES[machine]
    assert str(tmp_path).encode() not in first
    versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_([0-9.]+)", first)}
    assert max(versions) <= (2, 27)


@pytest.mark.slow
def test_only_the_entry_is_exported(tmp_path: Path) -> None:
    library = tmp_path / "extension.so"
    library.write_bytes(built(tmp_path / "build", "x86_64"))
    listed = subprocess.check_output(["nm", "--dynamic", "--defined-only", library], text=True)
    assert [line.split()[-1] for line in listed.splitlines()] == ["PyInit_fork_native"]


def test_an_unknown_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NativeBuildError, match="riscv64"):
        build_native(repository / "native", tmp_path, "riscv64", tmp_path, lambda _: None)
