"""The declarations in native/src agree with Python.h, cuda.h and HIP's headers: the compiler refuses these files where they do not."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.fake_driver.builder import package_of
from tests.support.environments import repository

SOURCES = repository / "native" / "src"
CHECKS = Path(__file__).parent / "src"
WITH_PYTHON_H = ["-DWITH_PYTHON_H", "-isystem", sysconfig.get_path("include")]


def check(source: Path, *flags: str, headers: Path = SOURCES) -> subprocess.CompletedProcess[str]:
    command = ["cc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{headers}", *flags, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("flags", [[], WITH_PYTHON_H], ids=["own", "Python.h"])
def test_python_abi(flags: list[str]) -> None:
    done = check(CHECKS / "python_abi_check.c", *flags)
    assert done.returncode == 0, done.stderr


def test_numbers_of_classes() -> None:
    done = check(CHECKS / "type_version_check.c", *WITH_PYTHON_H)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("vendor", "backend"), [("cuda", "nvidia"), ("hip", "amd")])
def test_driver_abi(base_python: Path, vendor: str, backend: str) -> None:
    headers = package_of(base_python) / "backends" / backend / "include"
    done = check(CHECKS / f"{vendor}_abi_check.c", "-isystem", str(headers))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("long PyLong_AsLong(PyObject *object)", "int PyLong_AsLong(PyObject *object)"),
        ("void PyErr_Fetch(PyObject **type,", "void PyErr_Fetch(PyObject *type,"),
    ],
)
def test_a_wrong_declaration_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    text = (SOURCES / "python" / "python_abi.h").read_text()
    assert right in text
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "python_abi.h").write_text(text.replace(right, wrong))
    done = check(CHECKS / "python_abi_check.c", *WITH_PYTHON_H, headers=tmp_path)
    assert "conflicting types" in done.stderr
