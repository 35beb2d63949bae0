"""Triton's HIP driver over the fake libamdhip64.so, without torch.

Everything but torch's part is the installed Triton's own: it compiles its ``hip_utils`` and its launchers as ever.
"""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from triton.backends.amd.driver import HIPDriver
from triton.runtime.driver import driver as drivers

from .builder import HIP
from .torchless import TorchlessAnswers, TorchlessDriver, load


class FakeHipDriver(TorchlessAnswers, HIPDriver, TorchlessDriver):  # type: ignore[misc]
    """The installed HIPDriver without torch."""


def stand_in_for_torch() -> None:
    """Let ``import torch`` succeed where torch is missing.

    For every tensor argument the AMD backend itself asks whether it is a ``torch.Tensor``; without torch none is.
    """
    if importlib.util.find_spec("torch") is None:
        module = ModuleType("torch")
        module.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]
        sys.modules["torch"] = module


def install(folder: Path | str | None = None) -> FakeHipDriver:
    """Make Triton use the fake HIP driver in this process.

    :param folder: where libamdhip64.so is or will be built; ``FAKE_DRIVER_FOLDER`` or a fresh temporary folder by default
    :returns: the active driver; its ``library`` has the records
    """
    library = load(HIP, folder)
    if "torch" not in sys.modules:
        stand_in_for_torch()
    os.environ["TRITON_LIBHIP_PATH"] = str(library.path)
    driver = FakeHipDriver()
    driver.library = library
    drivers.set_active(driver)
    return driver
