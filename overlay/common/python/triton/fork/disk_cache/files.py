"""Writing files of the cache so that trouble with the file system costs time, never the job.

What cannot be written where it belongs (read-only, full, no home folder, stale handles) goes to a folder of the process, which
is removed when it ends. ``FileCacheManager`` in ``triton/runtime/cache.py`` calls this module.

Mirrors python/triton/runtime/cache.py: FileCacheManager.put, FileCacheManager._make_path
"""

# Strings in, strings out: paths of the cache are strings throughout Triton.
# ruff: noqa: PTH103, PTH105, PTH104, PTH106, PTH108, PTH110, PTH112, PTH114, PTH118, PTH119, PTH120, PTH123
from __future__ import annotations

import atexit
import contextlib
import errno
import io
import os
import threading
from typing import Any

from triton.fork.python.interruptions import pass_on
from triton.fork.settings import at_import

__all__ = ["ON", "SWITCH", "encode", "locate", "prepare", "say_once", "write"]

#: The environment variable that makes trouble with writing an error, as in the base; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_CACHE_NOT_WRITABLE"

ON = at_import(SWITCH)

_LOCK = threading.Lock()
_SAID: set[str] = set()
_PRIVATE: dict[str, str] = {}  # folder of a key -> its replacement
_PRIVATE_ROOT: list[str] = []

#: The folder vanished under us (a cleaner, another job, a remount): making it again may help.
_GONE = frozenset({errno.ENOENT, errno.ESTALE, errno.ENOTDIR})
_ATTEMPTS = 3


def say_once(subject: str, message: str, *arguments: object) -> None:
    """Log a warning, once in a process for each subject.

    Logging, since a warning of the ``warnings`` module is an error to those who ask for that.

    :param subject: What the message is about: a path.
    :param message: As for ``logging``.
    :param arguments: As for ``logging``.
    """
    with _LOCK:
        if subject in _SAID:
            return
        _SAID.add(subject)
    import logging  # here and below: every process imports this module, few have anything to say

    logging.getLogger("triton.runtime.cache").warning(message, *arguments)


def encode(data: Any) -> bytes:
    """Give the bytes that a file opened for text would hold, so that the base reads what the fork writes."""
    if isinstance(data, bytes):
        return data
    raw = io.BytesIO()
    text = io.TextIOWrapper(raw)
    text.write(str(data))
    text.flush()
    return raw.getvalue()


def prepare(directory: str) -> None:
    """Make the folder of a key, or say that the cache cannot be written."""
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        pass_on(error)
        if not ON:
            raise
        _say_unwritable(directory, error)


def locate(directory: str, filename: str) -> str:
    """Give the path of a file of the cache, which need not exist.

    :param directory: The folder of the key, where the file belongs.
    :param filename: The name of the file.
    :returns: The path in ``directory``, or in the replacement of a folder that could not be written.
    """
    path = os.path.join(directory, filename)
    replacement = _PRIVATE.get(directory)
    if replacement is None:
        return path
    private = os.path.join(replacement, filename)
    return private if os.path.exists(private) or not os.path.exists(path) else path


def write(path: str, data: bytes, required: bool) -> str:
    """Write a file of the cache; other processes see all of it or nothing.

    :param path: Where it belongs.
    :param data: The content.
    :param required: The user asked for this file (a dump): an error is raised, as in the base.
    :returns: Where the file is. When nothing at all can be written, ``path``; there is no file then.
    :raises OSError: The file is required and cannot be written.
    """
    if not ON:
        return _write_as_base(path, data)
    error: OSError | None = None
    for _ in range(_ATTEMPTS):
        try:
            _publish(path, data)
        except OSError as caught:
            pass_on(caught)
            error = caught
            if caught.errno not in _GONE:
                break
        else:
            return path
    assert error is not None  # noqa: S101 - the loop ends without an error only by returning
    if required:
        raise error
    directory, filename = os.path.split(path)
    _say_unwritable(directory, error)
    try:
        private = os.path.join(_replacement(directory), filename)
        _publish(private, data)
    except OSError as caught:  # nothing can be written anywhere: said above, and the caller has the data
        pass_on(caught)
        return path
    return private


def _write_as_base(path: str, data: bytes) -> str:
    """Write a file as the base does: whatever goes wrong is an error, and folders left empty are removed up to the root."""
    scratch = os.path.join(os.path.dirname(path), f"tmp.pid_{os.getpid()}_{os.urandom(16).hex()}")
    os.makedirs(scratch, exist_ok=True)
    staged = os.path.join(scratch, os.path.basename(path))
    with open(staged, "wb") as stream:
        stream.write(data)
    os.replace(staged, path)
    os.removedirs(scratch)
    return path


def _say_unwritable(directory: str, error: OSError) -> None:
    root = os.path.dirname(directory)
    say_once(
        root,
        "The cache folder %s cannot be written (%s). Kernels are compiled all the same and kept until this process ends; "
        "set TRITON_CACHE_DIR to a folder that can be written.",
        root,
        error,
    )


def _publish(path: str, data: bytes) -> None:
    """Write a file beside its final place, then move it there."""
    directory, filename = os.path.split(path)
    scratch = os.path.join(directory, f"tmp.pid_{os.getpid()}_{os.urandom(16).hex()}")
    staged = os.path.join(scratch, filename)
    try:
        os.makedirs(scratch, exist_ok=True)
        with open(staged, "wb") as stream:
            stream.write(data)
        _move(staged, path, data)
    finally:
        # The file is in its place, or the error is on its way: what cannot be cleaned up (EBUSY on network file systems) is
        # no reason to fail. Only this folder: its parents belong to others too.
        with contextlib.suppress(OSError):
            os.unlink(staged)
        with contextlib.suppress(OSError):
            os.rmdir(scratch)


def _move(staged: str, path: str, data: bytes) -> None:
    try:
        os.replace(staged, path)
        return
    except OSError as error:
        pass_on(error)
        if error.errno in _GONE:
            raise
        first = error
    if _holds(path, data):  # another process was first, and the file is in use
        return
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            _remove(path, os.getpid())
        elif os.path.lexists(path):
            os.unlink(path)
        try:
            os.rename(staged, path)
        except OSError as error:  # a file system without renaming; the digest in the group file tells a partial file
            pass_on(error)
            with open(path, "wb") as stream:
                stream.write(data)
    except OSError as error:
        pass_on(error)
        raise error from first


def _holds(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read() == data
    except OSError as error:
        pass_on(error)
        return False


def _replacement(directory: str) -> str:
    with _LOCK:
        if directory not in _PRIVATE:
            if not _PRIVATE_ROOT:
                import tempfile

                _PRIVATE_ROOT.append(tempfile.mkdtemp(prefix="triton-cache-"))
                atexit.register(_remove, _PRIVATE_ROOT[0], os.getpid())
            _PRIVATE[directory] = os.path.join(_PRIVATE_ROOT[0], str(len(_PRIVATE)), os.path.basename(directory))
        return _PRIVATE[directory]


def _remove(root: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a forked child, whose parent still uses it
        import shutil

        shutil.rmtree(root, ignore_errors=True)
