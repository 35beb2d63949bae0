"""The entry points of backends, found without importing ``importlib.metadata``.

The rules are those of ``importlib.metadata.entry_points``: folders of ``sys.path`` in order, of several distributions with one
name the first counts. Whatever this module does not know how to read (archives on the path, other finders of distributions)
is left to ``importlib.metadata``.

Mirrors python/triton/backends/__init__.py: _discover_backends
"""

# ruff: noqa: PTH118, PTH122, PTH123, PTH208
# pathlib is one of the imports that a start goes without.

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from triton.fork.python.interruptions import pass_on
from triton.fork.settings import enabled

__all__ = ["EntryPoint", "backend_entry_points", "entry_points"]

_GROUP = "triton.backends"


class EntryPoint(NamedTuple):
    """The two fields of an entry point that finding backends takes."""

    name: str
    value: str


def entry_points(**selection: str) -> Any:
    """Call ``importlib.metadata.entry_points``, which takes a fifth of the base's time for ``import triton`` to import.

    :param selection: Passed on.
    """
    import importlib.metadata

    return importlib.metadata.entry_points(**selection)


def backend_entry_points() -> list[EntryPoint] | None:
    """List the entry points of the group ``triton.backends``.

    :returns: The entry points in the order of ``importlib.metadata``; ``None`` where only that can find them all, and with
        ``TRITON_FORK_BACKEND_DISCOVERY=0``.
    """
    if not enabled("TRITON_FORK_BACKEND_DISCOVERY") or not _only_folders_provide_distributions():
        return None
    found: list[EntryPoint] = []
    spellings: dict[str, str] = {}
    for folder in sys.path:
        metadata = _metadata_folders(folder or ".")
        if metadata is None:
            return None
        for file_name in metadata:
            name = os.path.splitext(file_name)[0].partition("-")[0]
            normalized = re.sub(r"[-_.]+", "-", name).lower()
            if normalized not in spellings:
                found += _entry_points_of(os.path.join(folder or ".", file_name))
            # Python 3.10 and 3.11 take two spellings of a name for two distributions, later ones do not.
            if not name or spellings.setdefault(normalized, name) != name:
                return None
    return found


def _only_folders_provide_distributions() -> bool:
    """Tell whether the path finder of Python is the only finder that knows of distributions."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return all(getattr(finder, "__module__", "") == "_frozen_importlib_external" for finder in finders)


def _metadata_folders(folder: str) -> list[str] | None:
    """Name the metadata folders in a folder of the path; ``None`` for an archive or an egg."""
    if folder.lower().rstrip(os.sep).endswith(".egg"):
        return None
    try:
        return [name for name in os.listdir(folder) if name.lower().endswith((".dist-info", ".egg-info"))]
    except NotADirectoryError:
        return None
    except OSError as error:
        pass_on(error)
        return []


def _entry_points_of(metadata: str) -> Iterator[EntryPoint]:
    try:
        with open(os.path.join(metadata, "entry_points.txt"), encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        pass_on(error)
        return
    if _GROUP not in text:
        return
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
        elif line and not line.startswith("#") and group == _GROUP:
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.strip())
