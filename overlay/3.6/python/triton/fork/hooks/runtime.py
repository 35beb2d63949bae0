"""``triton/runtime``: ``jit.py``, ``cache.py`` and ``build.py``."""

from triton.fork import settings
from triton.fork.cache_key import free_variables, launch_keys, rebound_cells, recursion, value_texts
from triton.fork.disk_cache import entries, files, libraries
from triton.fork.launch import dispatch, hooks
from triton.fork.source import deferred, function_text, trees
from triton.fork.startup.lazy_import import lazy_module
from triton.fork.startup.tools import platform_text

__all__ = [
    "deferred",
    "dispatch",
    "entries",
    "files",
    "free_variables",
    "function_text",
    "hooks",
    "launch_keys",
    "lazy_module",
    "libraries",
    "platform_text",
    "rebound_cells",
    "recursion",
    "settings",
    "trees",
    "value_texts",
]
