"""The extension under the sanitizers, for tests that run the same program with and without."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fork.native import EXTENSION, native_environment
from tests.support.environments import repository


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension, built with the machine's compiler and its sanitizers."""
    tools, build = native_environment() / "bin", tmp_path_factory.mktemp("sanitized")
    options = ["-DSANITIZE=address,undefined", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}"]
    for command in (
        ["-S", str(repository / "native"), "-B", str(build), "-G", "Ninja", *options],
        ["--build", str(build)],
    ):
        subprocess.run([str(tools / "cmake"), *command], check=True, stdout=subprocess.DEVNULL)
    return build / Path(EXTENSION).name


@pytest.fixture(scope="session")
def sanitizer_environment() -> dict[str, str]:
    """Environment variables of a process that loads the extension under the sanitizers."""
    names = ("libasan.so", "libubsan.so")
    found = [subprocess.check_output(["cc", f"-print-file-name={name}"], text=True).strip() for name in names]
    return {
        "LD_PRELOAD": " ".join(found),
        # The interpreter keeps memory to its end; LLVM sets alternate stacks of threads, which the sanitizer would free as its own.
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:use_sigaltstack=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }
