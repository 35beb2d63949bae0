"""A copy of an installed package with small files in place of the native ones, whose files a test may edit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.startup.running import WORKERS
from tests.support.programs import isolated_environment

NATIVE_BYTES = 9_000_000


class Installation:
    """The package in a folder, and a process that works its key out.

    :ivar package: The package's folder.
    """

    def __init__(self, python: Path, folder: Path) -> None:
        site = subprocess.check_output(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
        )
        self.package = folder / "site" / "triton"
        shutil.copytree(Path(site.strip()) / "triton", self.package, ignore=self._ignored)
        for path in ("_C/libtriton.so", "backends/nvidia/bin/ptxas", "backends/amd/lib/ocml.bc"):
            (self.package / path).write_bytes(os.urandom(NATIVE_BYTES))
        self._folder, self._python = folder, python
        self._process = self._start()

    @staticmethod
    def _ignored(folder: str, names: list[str]) -> list[str]:
        return [
            name
            for name in names
            if name in {"__pycache__", "include", "cupti", "FileCheck"} or _is_native(folder, name)
        ]

    def _start(self) -> subprocess.Popen[str]:
        environment = isolated_environment(self._folder, TRITON_FORK_STATE_DIR=str(self.state))
        command = [str(self._python), str(WORKERS / "installation.py"), str(self.package)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    @property
    def state(self) -> Path:
        """The folder of the answers remembered."""
        return self._folder / "state"

    def restart(self) -> None:
        """Go on in a new process."""
        self.close()
        self._process = self._start()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def ask(self, **question: Any) -> dict[str, Any]:
        """Ask for the key and for how many files were looked at and read."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def key(self, **question: Any) -> str:
        """Ask for the key."""
        return str(self.ask(**question)["key"])


def _is_native(folder: str, name: str) -> bool:
    path = Path(folder) / name
    return path.is_file() and path.stat().st_size > 1_000_000


def edit_in_place(path: Path, content: bytes | None = None) -> bytes:
    """Change a file without changing its size, inode or modification time.

    :param path: The file.
    :param content: What to write; by default what is there with its last byte changed.
    :returns: What was there.
    """
    status = path.stat()
    before = path.read_bytes()
    changed = content if content is not None else before[:-1] + bytes([before[-1] ^ 1])
    assert len(changed) == len(before)
    time.sleep(
        0.02
    )  # more than a tick of the file system's clock: without the two seconds that the fork waits, see installation.py
    with path.open("r+b") as file:
        file.write(changed)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_ino, after.st_mtime_ns) == (status.st_size, status.st_ino, status.st_mtime_ns)
    return before
