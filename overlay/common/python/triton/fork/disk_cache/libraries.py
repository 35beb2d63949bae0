"""Shared libraries in the cache: checked before they are loaded.

Loading one that is cut short may end the process with a bus error.

Mirrors python/triton/runtime/build.py: compile_module_from_src
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from triton.fork.disk_cache.entries import find, is_whole_elf, say_damaged
from triton.fork.python.interruptions import pass_on
from triton.fork.settings import at_import

__all__ = ["ON", "SWITCH", "library", "put_library"]

#: The environment variable that has libraries loaded as they are, as in the base; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_CACHE_DAMAGED_LIBRARIES"

ON = at_import(SWITCH)


def library(manager: Any, filename: str) -> str | None:
    """Find a shared library in the cache.

    :param manager: The cache manager.
    :param filename: The name of the library.
    """
    path: str | None = manager.get_file(filename)
    if path is None or not ON:
        return path
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        pass_on(error)
        say_damaged(path, error)
        return None
    group = find(manager, filename) if _records(manager) else {}
    digest = getattr(group, "digests", {}).get(filename)
    good = is_whole_elf(data) if digest is None else hashlib.sha256(data).hexdigest() == digest
    if not good:
        say_damaged(path, "it is not what was written")
        return None
    return str(path)


def put_library(manager: Any, data: bytes, filename: str) -> str:
    """Store a shared library, with its digest where the manager is the base's own.

    :param manager: The cache manager.
    :param data: The library.
    :param filename: Its name.
    :returns: Its path.
    """
    path: str = manager.put(data, filename, binary=True)
    if _records(manager) and ON:
        manager.put_group(filename, {filename: path})
    return path


def _records(manager: Any) -> bool:
    from triton.runtime.cache import FileCacheManager

    return type(manager) is FileCacheManager
