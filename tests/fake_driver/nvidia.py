"""Triton's CUDA driver over the fake libcuda.so.1, without torch.

Everything but torch's part is the installed Triton's own: it compiles its ``cuda_utils`` and its launchers as ever.
"""

import os
from pathlib import Path

from triton.backends.nvidia.driver import CudaDriver
from triton.runtime.driver import driver as drivers

from .builder import CUDA
from .torchless import TorchlessAnswers, TorchlessDriver, load


class FakeCudaDriver(TorchlessAnswers, CudaDriver, TorchlessDriver):  # type: ignore[misc]
    """The installed CudaDriver without torch."""

    def get_device_capability(self, device: int) -> tuple[int, int]:
        """Answer the capability that the fake library is set to, as major and minor number."""
        capability = int(os.environ.get("FAKE_CUDA_CAPABILITY") or 90)
        return capability // 10, capability % 10


def install(folder: Path | str | None = None) -> FakeCudaDriver:
    """Make Triton use the fake CUDA driver in this process.

    :param folder: where libcuda.so.1 is or will be built; ``FAKE_DRIVER_FOLDER`` or a fresh temporary folder by default
    :returns: the active driver; its ``library`` has the records
    """
    library = load(CUDA, folder)
    # The linker looks here when Triton builds cuda_utils and launchers; at run time the loaded library answers.
    os.environ["TRITON_LIBCUDA_PATH"] = str(library.path.parent)
    driver = FakeCudaDriver()
    driver.library = library
    drivers.set_active(driver)
    return driver
