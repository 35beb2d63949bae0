"""The kernel that a thread generates: known to those who read for it, and to those who generate."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["current", "state"]


class _State(threading.local):
    kernel: Any = None


#: Holds as ``kernel`` the :class:`triton.fork.codegen.kernels.Kernel` that this thread generates, for those that ask often.
state = _State()


def current() -> Any:
    """Give the kernel that this thread generates, ``None`` where it generates none."""
    return state.kernel
