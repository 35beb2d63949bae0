"""The stand-in CUDA driver that benchmark programs launch on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fork.bench.runner import BenchmarkError

__all__ = ["build_stand_in", "variables_of"]

_BUILD = """
import sys
from pathlib import Path
from tests.fake_driver.builder import build
build(Path(sys.argv[1]))
"""


def build_stand_in(root: Path, folder: Path, python: Path) -> Mapping[str, str]:
    """Build the stand-in for libcuda.so.1 and what newer releases ask beyond it.

    :param root: The checkout.
    :param folder: Where the libraries go.
    :param python: An interpreter with Triton, for the vendor's headers.
    :returns: Variables for benchmark programs, as :func:`variables_of` gives them.
    :raises BenchmarkError: There is no C compiler, or it failed.
    """
    compiler = os.environ.get("CC", "cc")
    more = folder / "libnewer.so"
    commands = (
        [str(python), "-c", _BUILD, str(folder)],
        [compiler, "-O2", "-shared", "-fPIC", "-o", str(more), str(root / "benchmarks" / "support" / "newer.c")],
    )
    for command in commands:
        try:
            subprocess.run(
                command, env={**os.environ, "PYTHONPATH": str(root)}, check=True, capture_output=True, text=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            detail = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
            raise BenchmarkError(f"the stand-in for libcuda cannot be built: {detail.strip()}", "set CC?") from None
    return variables_of(root, folder)


def variables_of(root: Path, folder: Path) -> dict[str, str]:
    """Give the variables that programs run with.

    The library is loaded before the interpreter starts, so that no program has to import what loads it. Naming its folder
    spares the base a run of ldconfig that it would do on a machine with a device: the comparison leans to the base's side.

    :param root: The checkout; programs import ``benchmarks.support``, ``tests`` and ``fork.equivalence`` from it.
    :param folder: Where the libraries are.
    """
    return {
        "LD_PRELOAD": f"{folder / 'libcuda.so.1'} {folder / 'libnewer.so'}",
        "TRITON_LIBCUDA_PATH": str(folder),
        "FAKE_DRIVER_RECORD": "0",
        "PYTHONPATH": f"{root}{os.pathsep}{root / 'ci'}",
    }
