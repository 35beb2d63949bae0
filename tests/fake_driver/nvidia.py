"""Triton's CUDA driver over the fake libcuda.so.1, without torch.

Everything but torch's part is the installed Triton's own: it compiles its ``cuda_utils`` and its launchers as ever.
Runs inside the environment under test, so it needs the standard library and Triton only (CPython 3.10 on).
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triton.backends.driver import GPUDriver  # type: ignore[import-not-found]
from triton.backends.nvidia.driver import CudaDriver  # type: ignore[import-not-found]
from triton.runtime.driver import driver as drivers  # type: ignore[import-not-found]

from .builder import CUDA, build
from .library import FakeLibrary


class _WithoutTorch(GPUDriver):  # type: ignore[misc]
    """The constructor of GPUDriver with constants where torch would be asked."""

    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, int] = {}

    def get_current_device(self) -> int:
        return self.device

    def set_current_device(self, device: int) -> None:
        self.device = device

    def get_current_stream(self, device: int) -> int:
        return self.streams.get(device, 0)

    def get_device_capability(self, device: int) -> tuple[int, int]:
        capability = int(os.environ.get("FAKE_CUDA_CAPABILITY") or 90)
        return capability // 10, capability % 10


class FakeCudaDriver(CudaDriver, _WithoutTorch):  # type: ignore[misc]
    """The installed CudaDriver: its constructor runs, and the next one in line is the one without torch.

    :ivar library: control of the loaded fake library
    """

    library: FakeLibrary

    def get_active_torch_device(self) -> str:
        """Name the device, where the original makes a torch.device."""
        return f"cuda:{self.device}"

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """Answer a benchmarker that calls the kernel once and finds it equally fast every time."""
        return run_once


def run_once(kernel_call: Callable[[], Any], *, quantiles: list[float], **_: Any) -> list[float]:
    """Stand in for ``triton.testing.do_bench``.

    :param kernel_call: the launch to time
    :param quantiles: how many numbers to answer
    :returns: one millisecond for each quantile
    """
    kernel_call()
    return [1.0] * len(quantiles)


def install(folder: Path | str | None = None) -> FakeCudaDriver:
    """Make Triton use the fake driver in this process.

    :param folder: where libcuda.so.1 is or will be built; ``FAKE_DRIVER_FOLDER`` or a fresh temporary folder by default
    :returns: the active driver; its ``library`` has the records
    """
    place = folder or os.environ.get("FAKE_DRIVER_FOLDER") or tempfile.mkdtemp(prefix="fake-driver-")
    path = Path(place) / CUDA.name
    if not path.exists():
        build(path.parent)
    library = FakeLibrary(path)
    # The linker looks here when Triton builds cuda_utils and launchers; at run time the loaded library answers.
    os.environ["TRITON_LIBCUDA_PATH"] = str(path.parent)
    driver = FakeCudaDriver()
    driver.library = library
    drivers.set_active(driver)
    return driver
