"""Answers kept between processes, each tied to the files it was derived from.

An answer is a small JSON object in a file of its own, in a folder that belongs to the user. Whoever asks states which files the
answer depends on; :func:`identity` describes a file by what changes when its content does. The change time is the part that
counts: a program can put the modification time back, but not the change time, which the kernel sets.

Nothing here is needed for a correct result: where no folder can be written, or the file system is not known to keep change
times, nothing is remembered and the caller works the answer out again.
"""

# ruff: noqa: PTH103, PTH105, PTH108, PTH111, PTH116, PTH117, PTH118
# pathlib is one of the imports that a start goes without.

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from typing import Any

from triton.fork.python.interruptions import pass_on
from triton.fork.state.filesystem import keeps_change_time

__all__ = ["Identity", "identity", "is_settled", "recall", "remember"]

#: Inode number, size in bytes, modification time and change time, both in nanoseconds.
Identity = list[int]

# A file that changed less than this ago may change again within one tick of its file system's clock without another change
# time to show for it. Two seconds is the coarsest clock in use (FAT); git handles its index in the same way.
_SETTLING_NANOSECONDS = 2_000_000_000
_LIMIT_BYTES = 1 << 20
_LIMIT_ANSWERS = 64


def identity(path: str) -> Identity:
    """Describe the file that a path leads to, in one system call.

    :param path: The path; symbolic links are followed.
    :raises OSError: The file cannot be looked at.
    """
    status = os.stat(path)
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def is_settled(identities: list[Identity]) -> bool:
    """Tell whether files have been left alone for long enough that their next change cannot go unseen.

    :param identities: What :func:`identity` returned for them.
    """
    latest = max((entry[3] for entry in identities), default=0)
    return latest < time.time_ns() - _SETTLING_NANOSECONDS


def recall(*name: str) -> dict[str, Any] | None:
    """Read an answer back: one ``open``, ``fstat``, ``read`` and ``close`` where it is there.

    :param name: What the answer was remembered under.
    :returns: The answer; ``None`` where there is none, or where the file is not the user's own and only theirs to write.
    """
    for folder in _folders():
        try:
            descriptor = os.open(os.path.join(folder, _file_name(name)), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            pass_on(error)
            continue
        try:
            status = os.fstat(descriptor)
            if not _is_private(status) or status.st_size > _LIMIT_BYTES:
                continue
            answer = json.loads(os.read(descriptor, status.st_size))
        except (OSError, ValueError) as error:
            pass_on(error)
            continue
        finally:
            os.close(descriptor)
        if isinstance(answer, dict):
            return answer
    return None


def remember(answer: dict[str, Any], sources: list[str], *name: str) -> bool:
    """Keep an answer for later processes, if that is safe.

    :param answer: The answer, something that JSON can hold.
    :param sources: Paths of the files that the answer was derived from.
    :param name: What to remember it under.
    :returns: Whether it was written.
    """
    if not all(keeps_change_time(path) for path in _one_of_each_device(sources)):
        return False
    return any(_write(folder, _file_name(name), answer) for folder in _folders())


def _one_of_each_device(paths: list[str]) -> list[str]:
    devices: dict[int, str] = {}
    for path in paths:
        devices.setdefault(os.stat(path).st_dev, path)
    return list(devices.values())


def _file_name(name: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(name).encode("utf-8", "surrogateescape")).hexdigest() + ".json"


def _folders() -> list[str]:
    explicit = os.environ.get("TRITON_FORK_STATE_DIR")
    if explicit:
        return [explicit]
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~")
    temporary = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"triton-fork-{os.geteuid()}")  # noqa: S108 (checked when read)
    return [os.path.join(home, ".triton", "fork"), temporary] if os.path.isabs(home) else [temporary]


def _is_private(status: os.stat_result) -> bool:
    writable_by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not writable_by_others


def _write(folder: str, file_name: str, answer: dict[str, Any]) -> bool:
    path = os.path.join(folder, file_name)
    temporary = f"{path}.{os.getpid()}.{time.monotonic_ns()}"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(answer, file)
            os.replace(temporary, path)
        except OSError as error:
            pass_on(error)
            os.unlink(temporary)
            raise
    except OSError as error:
        pass_on(error)
        return False
    _remove_oldest(folder)
    return True


def _remove_oldest(folder: str) -> None:
    """Keep the folder small: reinstalled environments and other machines with the same home leave answers behind."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        dated = sorted((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in entries)
        for _, path in dated[:-_LIMIT_ANSWERS]:
            os.unlink(path)
