"""Triton's own CUDA driver over the stand-in libcuda.so.1, with as little of our own as possible in the measured process.

The runner builds the library and has it loaded before the interpreter starts (``LD_PRELOAD``): the driver's
``dlopen("libcuda.so.1")`` finds it there, and no import is needed to load it. Answers are fixed: one Hopper, one stream.
"""

from __future__ import annotations

from typing import Any

from triton.backends.driver import GPUDriver
from triton.backends.nvidia.driver import CudaDriver
from triton.runtime.driver import driver as drivers

__all__ = ["Tensor", "install"]


class _Torchless(GPUDriver):  # type: ignore[misc]
    """Comes between CudaDriver and GPUDriver, whose constructor would import torch."""

    def __init__(self) -> None:
        pass


class _Driver(CudaDriver, _Torchless):  # type: ignore[misc]
    """The installed driver, with torch's answers given by functions that do nothing."""

    def __init__(self) -> None:
        super().__init__()
        # On the instance, as torch's functions are: newer releases put functions of their own there.
        self.get_current_device = lambda: 0
        self.set_current_device = lambda _device: None
        self.get_current_stream = lambda _device: 0
        self.get_device_capability = lambda _device=0: (9, 0)


class _Dtype:
    """Prints as an element type of torch does."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return f"torch.{self._name}"


_DTYPES = {name: _Dtype(name) for name in ("float32", "float16", "int32")}


class Tensor:
    """What Triton looks at in a tensor: an address and an element type.

    :param address: What ``data_ptr()`` answers.
    :param dtype: ``float32``, ``float16`` or ``int32``.
    """

    def __init__(self, address: int, dtype: str = "float32") -> None:
        self._address = address
        self.dtype = _DTYPES[dtype]

    def data_ptr(self) -> int:
        """Answer the address."""
        return self._address


def install() -> Any:
    """Make the driver and make it Triton's active one.

    :returns: The driver; its utilities are loaded, and compiled where the cache does not have them.
    """
    driver = _Driver()
    drivers.set_active(driver)
    return driver
