"""What other people's checkers say of our wheels and of the extension in them.

`TRITON_FORK_NIGHTLY=1 ci/test -k every_wheel` builds all 14 wheels, each Python and machine that upstream published for, and
checks each: about ten minutes, 2.5 GB of base wheels to download and as much again to build, which is removed afterwards.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fork.base import select_wheels
from fork.config import Lane
from fork.native import EXTENSION, MACHINES, build_native, native_environment
from tests.support.checkers import content_findings, extension_fault, glibc_fault, wheel_faults
from tests.support.environments import base_wheel, build, repository

TAG = "cp311-cp311-manylinux_2_27_x86_64"

# `dlopen` is in libc itself since glibc 2.34; PyUnicode_New is not in the limited API.
OTHER_EXTENSION = """
#include <dlfcn.h>
void *PyUnicode_New(long size, unsigned maximum);
void *PyInit_other(void) { return dlopen("libnothing.so", RTLD_NOW) ? 0 : PyUnicode_New(1, 127); }
"""


@pytest.mark.parametrize("machine", MACHINES)
def test_the_extension_keeps_to_the_limited_api(machine: str, tmp_path: Path) -> None:
    built = build_native(repository / "native", tmp_path / "build", machine, native_environment(), lambda _: None)
    extension = tmp_path / Path(EXTENSION).name
    extension.write_bytes(built[EXTENSION])
    assert extension_fault(extension) is None


def test_this_wheel(fork_wheel: Path, base: Path, tmp_path: Path) -> None:
    assert wheel_faults(fork_wheel, base, tmp_path) == []


@pytest.fixture
def other_extension(tmp_path: Path) -> Path:
    """An extension built without care, on this machine."""
    library = tmp_path / "other.abi3.so"
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
    subprocess.run(command, input=OTHER_EXTENSION, text=True, check=True)
    return library


def test_faults_are_found(other_extension: Path, tmp_path: Path) -> None:
    assert "PyUnicode_New" in str(extension_fault(other_extension))
    wheel = make_wheel(tmp_path, {"triton/_C/other.abi3.so": other_extension.read_bytes()})
    assert "manylinux_2_34" in str(glibc_fault(wheel))
    missing = make_wheel(tmp_path / "base", {"triton/__init__.py": b"first"})
    faults = wheel_faults(wheel, missing, tmp_path / "scratch")
    assert faults[1:] == ["it lacks the extension"]
    twice = make_wheel(tmp_path / "twice", {"triton/first.py": b"the same", "triton/second.py": b"the same"})
    assert content_findings(twice) == [
        "W002: Wheel contains duplicate files:\n  triton/first.py\n  triton/second.py",
    ]
    assert any("W002" in fault for fault in wheel_faults(twice, missing, tmp_path / "scratch"))
    assert not any("W002" in fault for fault in wheel_faults(twice, twice, tmp_path / "scratch"))


def make_wheel(folder: Path, members: dict[str, bytes]) -> Path:
    """Write a wheel with some files."""
    folder.mkdir(exist_ok=True)
    path = folder / f"triton-1.0-{TAG}.whl"
    information = "triton-1.0.dist-info"
    metadata = b"Metadata-Version: 2.1\nName: triton\nVersion: 1.0\n\n"
    described = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
    every = {**members, f"{information}/METADATA": metadata, f"{information}/WHEEL": described}
    rows = []
    for name, content in every.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}")
    every[f"{information}/RECORD"] = "\n".join([*rows, f"{information}/RECORD,,\n"]).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in every.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def every_wheel() -> Iterator[list[Path]]:
    """The wheels for every Python and machine; gone afterwards, since they take 2.6 GB."""
    with TemporaryDirectory() as folder:
        yield build("--all", wheelhouse=Path(folder))


@pytest.mark.slow
def test_every_wheel(every_wheel: list[Path], lane: Lane, tmp_path: Path) -> None:
    pinned = select_wheels(lane, [], [], True)
    assert len(every_wheel) == len(pinned) == len(lane.wheels)
    for number, (wheel, base) in enumerate(zip(every_wheel, pinned, strict=True)):
        assert wheel.name.split("-")[2:] == base.filename.split("-")[2:]
        scratch = tmp_path / str(number)
        assert wheel_faults(wheel, base_wheel(lane, base.python, base.machine), scratch) == [], wheel.name
