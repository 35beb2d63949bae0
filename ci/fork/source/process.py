"""Runs a long build: its output goes to a log, its progress to the user, and nothing of it survives the tool."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

__all__ = ["LoggedProcess", "end_session", "members"]

_TICK = 1.0
_SILENCE = 30.0
_PATIENCE = 10.0
_NINJA = re.compile(rb"^\s*\[(\d+)/(\d+)\] ")


class LoggedProcess:
    """A command in a session of its own.

    :param command: What to run.
    :param folder: Where.
    :param environ: Its environment.
    :param log: File for its output, standard error included. It is made anew.
    :param progress: Is told how far Ninja is at each new percent, and after 30 s of silence that the command still runs: a
        build that downloads or links for long otherwise looks frozen (triton-lang/triton#6606, #9722).
    :param clock: Seconds from any point in time.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        environ: Mapping[str, str],
        log: Path,
        progress: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command = command
        self._folder = folder
        self._environ = dict(environ)
        self._log = log
        self._progress = progress
        self._clock = clock
        self._started = self._told = clock()
        self._percent = -1
        self._rest = b""

    def run(self) -> int:
        """Run it to its end.

        Whatever ends this call, an interrupt too, ends every process of the command first.

        :returns: The exit status, negative for a signal.
        """
        # A session: Ninja gives each compiler a process group of its own, so the group does not reach them all.
        with (
            self._log.open("wb", buffering=0) as log,
            subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as process,
        ):
            try:
                self._follow(process, cast("IO[bytes]", process.stdout).fileno(), log.write)
                return process.wait()
            finally:
                end_session(process.pid)

    def _follow(self, process: subprocess.Popen[bytes], output: int, write: Callable[[bytes], object]) -> None:
        while True:
            if select.select([output], [], [], _TICK)[0]:
                piece = os.read(output, 1 << 16)
                if not piece:
                    return
                write(piece)
                self._read(piece)
            elif process.poll() is not None:
                return  # something that outlives the command, such as the server of a compiler cache, holds the pipe open
            if self._clock() - self._told >= _SILENCE:
                self._tell("still running")

    def _read(self, piece: bytes) -> None:
        *lines, self._rest = re.split(rb"[\r\n]", self._rest + piece)
        for line in lines:
            found = _NINJA.match(line)
            if found and int(found[2]):
                percent = 100 * int(found[1]) // int(found[2])
                if percent != self._percent:
                    self._percent = percent
                    self._tell(f"[{found[1].decode()}/{found[2].decode()}] {percent} %")

    def _tell(self, what: str) -> None:
        self._told = self._clock()
        minutes, seconds = divmod(int(self._told - self._started), 60)
        self._progress(f"{what}, {minutes}:{seconds:02d} minutes so far")


def end_session(session: int) -> None:
    """End all processes of a session: politely, so that Ninja ends its compilers, and after 10 s by force.

    :param session: Its number, which is the process number of the command that it was made for.
    """
    for number, patience in ((signal.SIGTERM, _PATIENCE), (signal.SIGKILL, _PATIENCE)):
        deadline = time.monotonic() + patience
        for process in members(session):
            _send(process, number)
        while members(session) and time.monotonic() < deadline:
            time.sleep(0.05)


def members(session: int) -> list[int]:
    """List the living processes of a session.

    :param session: Its number.
    :returns: Process numbers, without those that only wait for their parent to look at them.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                status = (entry / "stat").read_bytes()
            except OSError:
                continue  # it ended meanwhile
            state, _, _, own = status.rpartition(b") ")[2].split()[:4]
            if int(own) == session and state not in (b"Z", b"X"):
                found.append(int(entry.name))
    return found


def _send(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)
