"""HIP's utilities do what those do that the base compiles, and its library is found without ``ldconfig``."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.programs import prepare, run_program

WORKERS = Path(__file__).parent / "workers"
DESCRIPTORS = 5000
VERSION = "int hipDriverGetVersion(int *version) { *version = %d; return 0; }"
GET = "int hipGetProcAddress(const char *name, void **function) { return name[4] != '%s'; }"


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


def test_utilities_do_the_same(fork_python: Path, folder: Path, tmp_path: Path) -> None:
    report = run_program(fork_python, WORKERS / "hip_utilities.py", folder, tmp_path / "cache", [str(DESCRIPTORS)])
    assert report["differences"] == []
    assert report["kinds"]["answer"] > 3
    assert report["kinds"]["descriptor"] > DESCRIPTORS / 4
    assert report["kinds"]["error"] > DESCRIPTORS / 4
    # Here the base divides by zero.
    assert report["refused"] == [["error", "RuntimeError", "Failed to encode TDM descriptor"]] * 2
    assert report["empty"]


def raised(python: Path, library: Path, folder: Path) -> Any:
    extra = {"TRITON_LIBHIP_PATH": str(library)}
    return run_program(python, WORKERS / "hip_library.py", folder, library.parent / "cache", extra=extra)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "cannot query 'hipDriverGetVersion' from libamdhip64.so"),
        (VERSION % 50731921, "libamdhip64 version 5.7.31921 is not supported! Required major version is >=6."),
        (VERSION % 60000000, "cannot query 'hipGetProcAddress' from libamdhip64.so"),
        (VERSION % 60000000 + GET % "n", "cannot get address for 'hipGetErrorString' from libamdhip64.so"),
    ],
)
def test_libraries_of_no_use(
    base_python: Path, fork_python: Path, folder: Path, tmp_path: Path, source: str, message: str
) -> None:
    library = tmp_path / "libamdhip64.so"
    command = ["cc", "-shared", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=source, text=True, check=True)
    expected = raised(base_python, library, folder)
    assert expected == ["RuntimeError", message]
    assert raised(fork_python, library, folder) == expected


def test_a_file_that_is_no_library(fork_python: Path, folder: Path, tmp_path: Path) -> None:
    library = tmp_path / "libamdhip64.so"
    library.write_text("no library")
    # The base goes on with a pointer that it never set.
    assert raised(fork_python, library, folder) == ["RuntimeError", "cannot open libamdhip64.so"]


def lines(python: Path, folder: Path, cache: Path, *arguments: str, **extra: str) -> list[list[str]]:
    text = run_program(python, WORKERS / "linker_cache.py", folder, cache, list(arguments), extra)
    return [line.split() for line in text.splitlines()]


def linker_cache(libraries: dict[str, str], before: bytes = b"") -> bytes:
    """Write a cache as ``ldconfig`` does; ``before`` is the part for older linkers."""
    start = 48 + 24 * len(libraries)
    texts = b""
    entries = b""
    for name, path in libraries.items():
        entries += struct.pack("=iIIIQ", 3, start + len(texts), start + len(texts) + len(name) + 1, 0, 0)
        texts += f"{name}\0{path}\0".encode()
    return before + struct.pack("=20sII20x", b"glibc-ld.so.cache1.1", len(libraries), len(texts)) + entries + texts


@pytest.mark.parametrize("before", [b"", b"ld.so-1.7.0\0" + bytes(20)])
def test_the_linker_cache_is_read(fork_python: Path, folder: Path, tmp_path: Path, before: bytes) -> None:
    libraries = {"libamdhip64.so.6": "/opt/rocm/lib/libamdhip64.so.6", "libc.so.6": "/lib/libc.so.6"}
    libraries["libamdhip64.so"] = "/opt/rocm/lib/libamdhip64.so"
    (tmp_path / "ld.so.cache").write_bytes(linker_cache(libraries, before))
    found = lines(fork_python, folder, tmp_path / "cache", "libamdhip64.so", str(tmp_path / "ld.so.cache"))
    assert found == [[name, "=>", path] for name, path in libraries.items() if "amd" in name]


def test_without_a_linker_cache_there_is_no_library(fork_python: Path, folder: Path, tmp_path: Path) -> None:
    assert lines(fork_python, folder, tmp_path / "cache", "lib", str(tmp_path / "none")) == []


@pytest.mark.skipif(not shutil.which("/sbin/ldconfig"), reason="no ldconfig to compare with")
def test_the_system_has_the_libraries_that_ldconfig_lists(fork_python: Path, folder: Path, tmp_path: Path) -> None:
    def read(**extra: str) -> list[tuple[str, str]]:
        found = lines(fork_python, folder, tmp_path / "cache", "libm", **extra)
        return [(line[0], line[-1]) for line in found if "libm" in line[0] + line[-1]]

    assert read() == read(TRITON_FORK_NATIVE="0") != []


def test_a_damaged_linker_cache_is_left_to_ldconfig(fork_python: Path, folder: Path, tmp_path: Path) -> None:
    whole = linker_cache({"libc.so.6": "/lib/libc.so.6"})
    listed = lines(fork_python, folder, tmp_path / "cache", "libc", TRITON_FORK_NATIVE="0")
    for content in (b"", b"something else", whole[:60], whole[:-3]):
        (tmp_path / "ld.so.cache").write_bytes(content)
        assert lines(fork_python, folder, tmp_path / "cache", "libc", str(tmp_path / "ld.so.cache")) == listed
