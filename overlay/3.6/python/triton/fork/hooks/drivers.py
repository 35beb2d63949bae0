"""``driver.py`` of the backends for NVIDIA and AMD."""

from triton.fork.launch import native, native_hip
from triton.fork.startup.lazy_import import lazy_module
from triton.fork.startup.tools import linker_libraries

__all__ = ["lazy_module", "linker_libraries", "native", "native_hip"]
