"""The dynamic linker's cache, ``/etc/ld.so.cache``, read without ``ldconfig``: a slim container has the one and not the other.

The format is glibc's own since 2.2 (``sysdeps/generic/dl-cache.h``): a header, entries, and a table of texts, with a file of the
older format before it on some systems. ``TRITON_FORK_NATIVE=0`` asks ``ldconfig -p`` as the base does.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from triton.fork.python.interruptions import pass_on
from triton.fork.settings import enabled
from triton.fork.startup.tools import linker_libraries as listed_libraries

__all__ = ["linker_libraries"]

_SWITCH = "TRITON_FORK_NATIVE"
_PATH = "/etc/ld.so.cache"
_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = struct.Struct("=20sII20x")  # magic, number of entries, bytes of texts, and what is of no use here
_ENTRY = struct.Struct("=iIIIQ")  # flags, offsets of the name and of the path, version, hardware


def linker_libraries(word: str) -> str:
    """Return a line for each library of the cache whose line contains a word, ``name => path``, in the linker's order.

    :param word: Part of a library's name.
    :returns: Nothing where there is no cache.
    :raises subprocess.CalledProcessError: The cache reads otherwise, and ``ldconfig`` failed.
    :raises OSError: The cache reads otherwise, and ``ldconfig`` cannot be run.
    """
    if not enabled(_SWITCH) or sys.platform != "linux":
        return listed_libraries(word)
    try:
        lines = list(_lines(Path(_PATH).read_bytes()))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, struct.error) as error:
        pass_on(error)
        return listed_libraries(word)
    return "".join(line for line in lines if word in line)


def _lines(cache: bytes) -> Iterator[str]:
    """Yield a line for each entry.

    :raises ValueError: This is no such cache.
    :raises struct.error: It is cut short.
    """
    start = cache.index(_MAGIC)  # offsets count from here
    _, count, _ = _HEADER.unpack_from(cache, start)
    for number in range(count):
        _, name, path, _, _ = _ENTRY.unpack_from(cache, start + _HEADER.size + number * _ENTRY.size)
        yield f"\t{_text(cache, start + name)} => {_text(cache, start + path)}\n"


def _text(cache: bytes, at: int) -> str:
    return cache[at : cache.index(b"\0", at)].decode(errors="ignore")
