"""What Triton's drivers ask torch for, answered without torch; and the loading that both vendors share.

Runs inside the environment under test, so it needs the standard library and Triton only (CPython 3.10 on).
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triton.backends.driver import GPUDriver

from .builder import Library, build
from .library import FakeLibrary


class TorchlessDriver(GPUDriver):  # type: ignore[misc]
    """Stands between a vendor's driver and GPUDriver, whose constructor would import torch.

    A class that inherits from the vendor's driver and then from this one runs the vendor's constructor, which calls this
    one's as the next in line.

    :ivar device: the current device
    :ivar streams: handle of the current stream by device; 0 where there is none
    :ivar library: control of the loaded fake library
    """

    library: FakeLibrary

    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, int] = {}

    def get_current_device(self) -> int:
        """Answer the current device."""
        return self.device

    def set_current_device(self, device: int) -> None:
        """Change the current device."""
        self.device = device

    def get_current_stream(self, device: int) -> int:
        """Answer the handle of a device's current stream."""
        return self.streams.get(device, 0)


class TorchlessAnswers:
    """Replaces methods of a vendor's driver that import torch; so it comes before that driver among the bases."""

    device: int

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


def load(library: Library, folder: Path | str | None) -> FakeLibrary:
    """Load a fake library, built first where it is not there yet.

    :param library: which one
    :param folder: where it is or will be; ``FAKE_DRIVER_FOLDER`` or a fresh temporary folder by default
    :returns: control of the loaded library
    """
    place = folder or os.environ.get("FAKE_DRIVER_FOLDER") or tempfile.mkdtemp(prefix="fake-driver-")
    path = Path(place) / library.name
    if not path.exists():
        build(path.parent, library=library)
    return FakeLibrary(path)
