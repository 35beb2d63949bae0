"""Digests of files, those of large files worked out by several threads."""

from __future__ import annotations

import hashlib
import os
import threading

__all__ = ["digest_of"]

# A constant of the digest, not a tuning knob: other values give other digests.
_CHUNK_BYTES = 4 << 20
_MOST_THREADS = 8


def digest_of(path: str) -> str:
    """Return a digest of a file's whole content: SHA-256 over the SHA-256 of each chunk of 4 MiB.

    :param path: The file.
    :raises OSError: The file cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        chunks = -(-os.fstat(descriptor).st_size // _CHUNK_BYTES)
        few = chunks <= 1
        digests = [hashlib.sha256(_read(descriptor, 0)).digest()] if few else _digests_of_chunks(descriptor, chunks)
    finally:
        os.close(descriptor)
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _read(descriptor: int, index: int) -> bytes:
    """Read one chunk whole: a signal or a network file system may hand over less at a time."""
    pieces = []
    position, wanted = index * _CHUNK_BYTES, _CHUNK_BYTES
    while wanted and (piece := os.pread(descriptor, wanted, position)):
        pieces.append(piece)
        position += len(piece)
        wanted -= len(piece)
    return b"".join(pieces)


def _digests_of_chunks(descriptor: int, chunks: int) -> list[bytes]:
    digests = [b""] * chunks
    failures: list[OSError] = []
    count = min(_MOST_THREADS, chunks, len(os.sched_getaffinity(0)))

    def work(first: int) -> None:
        try:
            for index in range(first, chunks, count):
                digests[index] = hashlib.sha256(_read(descriptor, index)).digest()
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(1, count)]
    for thread in threads:
        thread.start()
    work(0)
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return digests
