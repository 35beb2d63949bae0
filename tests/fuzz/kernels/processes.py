"""Run workers in the interpreters under comparison."""

from __future__ import annotations

import json
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.support.programs import isolated_environment

__all__ = ["Answer", "Side"]

WORKER = Path(__file__).with_name("worker.py")
#: How many programs a process compiles before a new one takes over, so that no process grows without end.
_LIFE = 3000
Answer = dict[str, Any]


class Side:
    """An interpreter with a Triton, and a process of it that answers.

    :param name: How it is called in reports.
    :param python: The interpreter.
    :param folder: Where it may write.
    :param variables: Environment variables besides those of this process that are not Triton's.
    """

    def __init__(self, name: str, python: Path, folder: Path, variables: Mapping[str, str] | None = None) -> None:
        self.name = name
        self._python = python
        self._environment = isolated_environment(folder, **(variables or {}))
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._asked = 0
        self._waiting: deque[str] = deque()

    def ask(self, path: Path, first: Sequence[str] = (), wanted: str = "ir") -> None:
        """Send a program.

        :param path: Its file.
        :param first: The functions whose keys are asked for first.
        :param wanted: ``ir``; ``exact``, the IR with called functions told apart as :mod:`tests.fuzz.kernels.exact_names` does;
            or only ``keys``.
        """
        if self._asked >= _LIFE and not self._waiting:
            self.close()
        self._asked += 1
        self._waiting.append(json.dumps({"path": str(path), "first": list(first), "wanted": wanted}))
        self._send(self._waiting[-1])

    def answer(self) -> Answer:
        """Wait for the answer to the first program that has none; one that ends the process has a fault."""
        process = self._running()
        assert process.stdout is not None
        line = process.stdout.readline()
        self._waiting.popleft()
        if line:
            answer: Answer = json.loads(line)
            return answer
        code = process.wait()
        self._process = None
        for waiting in self._waiting:
            self._send(waiting)
        return {"fault": f"the process ended with {code}"}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()
            self._process = None
        self._asked = 0
        self._waiting.clear()

    def _send(self, description: str) -> None:
        process = self._running()
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it is told by the answer that does not come
            process.stdin.write(description + "\n")
            process.stdin.flush()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [str(self._python), str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=self._folder,
                env=self._environment,
            )
        return self._process
