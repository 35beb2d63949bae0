"""Before the first kernel: ``triton/knobs.py``, ``triton/backends/__init__.py`` and compilers of backends."""

from triton.fork.startup.backend_discovery import backend_entry_points, entry_points
from triton.fork.startup.lazy_import import lazy_module, lazy_names
from triton.fork.startup.tools import executable_suffix, version_text

__all__ = ["backend_entry_points", "entry_points", "executable_suffix", "lazy_module", "lazy_names", "version_text"]
