"""``triton/compiler/compiler.py`` and ``triton/experimental/gluon/_runtime.py``."""

from triton.fork.cache_key import value_texts
from triton.fork.cache_key.rebound_cells import key_of_source
from triton.fork.codegen import kernels
from triton.fork.disk_cache import entries, metadata
from triton.fork.launch import hooks
from triton.fork.source import deferred
from triton.fork.startup.lazy_backend import possible

__all__ = ["deferred", "entries", "hooks", "kernels", "key_of_source", "metadata", "possible", "value_texts"]
