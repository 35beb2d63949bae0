"""Getting base wheels: from the cache, from a folder, or from a package index, and never without checking size and SHA-256.

A download goes to ``<cache>/<sha256>/<file name>.part`` and takes its name only once it is right. A broken one is continued where
it stopped, by this process or a later one (``Range`` with ``If-Range``). Two processes that want the same file take turns.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import filelock
import requests
from rich.progress import Progress

from fork.config import BaseWheel
from fork.download.transfer import Transfer, WrongFileError, disk_full, mismatch, say
from fork.errors import ForkError

__all__ = ["CacheFolderError", "WrongFileError", "default_cache", "fetch"]


class CacheFolderError(ForkError):
    """The folder that keeps downloads cannot be used safely."""

    exit_code = 36


def default_cache() -> Path:
    """Name the folder that keeps downloads: ``TRITON_FORK_CACHE``, else ``triton-fork/wheels`` in the user's cache folder."""
    chosen = os.environ.get("TRITON_FORK_CACHE")
    if chosen:
        return Path(chosen)
    user_cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(user_cache) if user_cache else Path.home() / ".cache") / "triton-fork" / "wheels"


def fetch(
    wheel: BaseWheel,
    *,
    cache: Path,
    index_urls: Sequence[str],
    find_links: Sequence[Path] = (),
    progress: Progress | None = None,
) -> Path:
    """Give a local, verified copy of a base wheel.

    :param wheel: What is wanted.
    :param cache: Folder that keeps downloads; made, for this user alone, where it is missing.
    :param index_urls: Base URLs of package indexes, asked in order.
    :param find_links: Folders that are looked at before any index; a file in them is used in place.
    :param progress: Display that a transfer shows up in.
    :raises CacheFolderError: Others can write to the cache, or this user cannot.
    :raises NetworkError: The index cannot be reached, or the connection broke again and again.
    :raises IndexLacksFileError: The index does not have the file.
    :raises WrongFileError: What the index has is not the pinned file.
    :raises DiskFullError: There is no room for it.
    """
    _secure(cache)
    target = cache / wheel.sha256 / wheel.filename
    if target.exists() and not mismatch(target, wheel):
        return target
    for folder in find_links:
        candidate = folder / wheel.filename
        if candidate.is_file():
            fault = mismatch(candidate, wheel)
            if not fault:
                return candidate
            say(progress, f"ignoring {candidate}: {fault}")
    with _cache_errors(cache, wheel.size), _turn(cache, wheel, progress):
        if target.exists():
            fault = mismatch(target, wheel)  # again: another process may have put it right in the meantime
            if not fault:
                return target
            say(progress, f"the cached {wheel.filename} is damaged ({fault}); getting it anew")
            target.unlink()
        target.parent.mkdir(mode=0o700, exist_ok=True)
        Transfer(wheel, target, progress).run(index_urls)
    return target


def _secure(cache: Path) -> None:
    """Make the cache where it is missing; refuse one that another user could change between the check and the use of a file."""
    other = "or name another folder with --cache or TRITON_FORK_CACHE"
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = cache.stat()
    except OSError as error:
        raise CacheFolderError(f"the cache {cache} cannot be made: {error.strerror}", f"mend that, {other}") from None
    if status.st_uid != os.getuid():
        raise CacheFolderError(f"the cache {cache} belongs to another user (id {status.st_uid})", f"chown it, {other}")
    if status.st_mode & 0o022:
        raise CacheFolderError(f"other users can write to the cache {cache}", f"chmod go-w '{cache}', {other}")


@contextmanager
def _turn(cache: Path, wheel: BaseWheel, progress: Progress | None) -> Iterator[None]:
    """Hold the lock of a file in the cache."""
    lock = filelock.FileLock(cache / f"{wheel.sha256}.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        say(progress, f"waiting for another process that gets {wheel.filename}")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _cache_errors(cache: Path, needed: int) -> Iterator[None]:
    try:
        yield
    except requests.RequestException:
        raise  # an OSError by inheritance only
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(cache, needed) from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise CacheFolderError(
                f"the cache {cache} cannot be written: {error}",
                "mend that, or name another folder with --cache or TRITON_FORK_CACHE",
            ) from None
        raise
