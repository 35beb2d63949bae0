"""Keeping other processes out of a folder while this one works there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from fork.errors import BusyError

__all__ = ["locked"]


@contextmanager
def locked(file: Path, message: str, hint: str) -> Iterator[None]:
    """Hold a lock, without waiting for it.

    :param file: The lock's file, in a folder that exists.
    :param message: What to say where another process holds it.
    :param hint: The way out.
    :raises BusyError: Another process holds it.
    """
    lock = filelock.FileLock(file, timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise BusyError(message, hint) from None
    try:
        yield
    finally:
        lock.release()
