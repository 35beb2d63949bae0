"""Keeping other processes out of a folder while this one works there."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from fork.errors import BusyError

__all__ = ["locked", "locked_folder"]

# What a file system says that cannot lock folders, NFS for one.
_NO_FOLDER_LOCKS = frozenset({errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL})


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


@contextmanager
def locked_folder(folder: Path, message: str, hint: str) -> Iterator[None]:
    """Hold a lock on a folder itself, so that no file for it lies in there; see :func:`locked`.

    Where the file system cannot do that, as NFS cannot, a file ``.lock`` stands for it.

    :param folder: A folder that exists.
    :raises BusyError: Another process holds it.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BusyError(message, hint) from None
    except OSError as error:
        os.close(descriptor)
        if error.errno not in _NO_FOLDER_LOCKS:
            raise
        with locked(folder / ".lock", message, hint):
            yield
        return
    try:
        (folder / ".lock").unlink(missing_ok=True)  # what revision 1 of the tool left
        yield
    finally:
        os.close(descriptor)
