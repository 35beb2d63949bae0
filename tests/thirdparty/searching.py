"""Search the signatures of packages anew and store them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.thirdparty.packages import HERE, Package, PackageError, environment, unpacked

__all__ = ["SIGNATURES", "run_search", "search", "store"]

#: The stored signatures, one file a package.
SIGNATURES = HERE / "signatures"
_LONGEST = 200
_PATH = re.compile(r"(?<![\w.])/(?:[^\s/()]+/)+")


def search(python: Path, packages: Sequence[Package], jobs: int, told: Callable[[str], None]) -> None:
    """Search, and replace what is stored.

    :param python: An interpreter with the unpatched Triton.
    :param packages: Whose kernels.
    :param jobs: Packages at a time.
    :param told: Told a line on each package.
    :raises PackageError: A search ended without an answer.
    """
    folders, site = unpacked(packages), environment()

    def one(package: Package) -> None:
        with tempfile.TemporaryDirectory(prefix="third-party-") as scratch:
            answer = run_search(python, folders[package], site, Path(scratch))
        store(package, answer, SIGNATURES)
        solved = sum(bool(found) for found in answer["kernels"].values())
        told(f"{package.name}: {solved} of {len(answer['kernels'])} kernels compile")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, packages))


def run_search(python: Path, folder: Path, site: Path, scratch: Path) -> dict[str, Any]:
    """Search one package.

    :param python: An interpreter with the unpatched Triton.
    :param folder: Where the package is unpacked.
    :param site: Where torch is.
    :param scratch: A folder for what comes and goes.
    :returns: What ``worker.py`` wrote.
    :raises PackageError: The search ended without an answer.
    """
    request, output = scratch / "request.json", scratch / "answer.json"
    request.write_text(json.dumps({"folder": str(folder), "paths": [str(site)], "output": str(output)}))
    environ = {**os.environ, "HOME": str(scratch), "TRITON_CACHE_DIR": str(scratch / "cache")}
    command = [str(python), "-I", "-B", str(HERE / "worker.py"), str(request)]
    done = subprocess.run(
        command, env=environ, cwd=scratch, capture_output=True, text=True, errors="replace", check=False
    )
    if not output.exists():
        raise PackageError(f"the search in '{folder.name}' ended with {done.returncode}: {done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(output.read_text())
    return answer


def store(package: Package, answer: dict[str, Any], place: Path) -> None:
    """Write what a search found.

    :param package: Of which package.
    :param answer: What ``worker.py`` wrote.
    :param place: The folder of signatures.
    """

    def short(text: str) -> str:
        return " ".join(_PATH.sub(".../", text).split())[:_LONGEST]

    document = {
        "package": f"{package.name}=={package.version}",
        "kernels": {name: found for name, found in answer["kernels"].items() if found},
        "without": {name: short(text) for name, text in answer["errors"].items()},
        "helpers": answer["helpers"],
        "not imported": {name: short(text) for name, text in answer["failures"].items()},
        "stood in": answer["absent"],
    }
    (place / f"{package.module}.json").write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
