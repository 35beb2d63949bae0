"""Stand-ins for what a package asks for when it is imported: a GPU, and other packages that are not installed.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import os
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["TARGET", "Absent", "absent_packages", "pretend_gpu"]

#: The device that a package finds when it is imported; some choose constants of their kernels by it.
TARGET = ("cuda", 90, 32)
#: What packages read from the environment instead of asking for a device.
_ENVIRONMENT = {"GEMS_VENDOR": "nvidia"}
#: Packages that say by themselves what is missing in them.
_REAL = ("triton", "torch", "numpy")


class _Meta(type):
    """Makes classes that have every attribute and can be called, subclassed, indexed and used as decorators."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Meta(name, (), {})

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if len(arguments) == 1 and not named and isinstance(arguments[0], (types.FunctionType, type)):
            return arguments[0]
        return _Meta("result", (), {}) if cls.__module__ == __name__ else super().__call__(*arguments, **named)

    def __getitem__(cls, _key: Any) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __bool__(cls) -> bool:
        return False  # `is_npu_available()`

    def __enter__(cls) -> Any:
        return cls

    def __exit__(cls, *_: Any) -> None:
        pass

    def __or__(cls, _other: Any) -> Any:
        return cls

    def __ge__(cls, _other: Any) -> bool:
        return True  # versions

    __ror__ = __or__
    __gt__ = __ge__


class Absent(types.ModuleType):
    """A package that is not installed; ``from it import anything`` works."""

    __path__ = []  # noqa: RUF012 (as ModuleType has it)
    __version__ = "99.0.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Meta(name, (), {})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds, after all others, what nobody found; for the modules of one folder alone, since others know how to do without."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.own = (*(path.stem for path in folder.iterdir()), *_REAL, *sys.stdlib_module_names)
        self.asked: set[str] = set()

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        if top in self.own or not (top in self.asked or self._asked_by_folder()):
            return None
        self.asked.add(top)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def _asked_by_folder(self) -> bool:
        frame: types.FrameType | None = sys._getframe(2)
        while frame and (
            frame.f_code.co_filename.startswith("<frozen") or frame.f_globals.get("__name__") == "importlib"
        ):
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename.startswith(self.folder)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return Absent(spec.name)

    def exec_module(self, _module: types.ModuleType) -> None:
        pass


@contextmanager
def absent_packages(folder: Path) -> Iterator[set[str]]:
    """Let a package's imports of packages that are not installed give stand-ins.

    :param folder: Where the package is unpacked; what is missing in the package itself stays missing.
    :returns: The names of the packages that stood in, complete when the context ends.
    """
    finder, version = _Finder(folder), importlib.metadata.version

    def known_version(distribution_name: str) -> str:
        try:
            return version(distribution_name)
        except importlib.metadata.PackageNotFoundError:
            if sys._getframe(1).f_code.co_filename.startswith(str(folder)):
                return Absent.__version__
            raise

    sys.meta_path.append(finder)
    importlib.metadata.version = known_version
    try:
        yield finder.asked
    finally:
        importlib.metadata.version = version
        sys.meta_path.remove(finder)


class _Device:
    """The driver of a machine with one Hopper, as far as packages ask it when they are imported."""

    utils = types.SimpleNamespace(
        get_device_properties=lambda _index: {
            "max_shared_mem": 232448,
            "max_num_regs": 65536,
            "multiprocessor_count": 132,
            "warpSize": 32,
        }
    )

    def get_current_target(self) -> Any:
        return importlib.import_module("triton.backends.compiler").GPUTarget(*TARGET)

    def get_current_device(self) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        return importlib.import_module("torch").device("cuda", 0)

    def get_device_interface(self) -> Any:
        return importlib.import_module("torch").cuda

    def get_benchmarker(self) -> Any:
        return lambda *_, **__: 0.0


@contextmanager
def pretend_gpu() -> Iterator[None]:
    """Have Triton and torch say that there is a Hopper, as long as the context lasts."""
    torch, driver = importlib.import_module("torch"), importlib.import_module("triton").runtime.driver
    properties = types.SimpleNamespace(
        name="NVIDIA H100", major=9, minor=0, total_memory=80 << 30, multi_processor_count=132, warp_size=32,
        shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=233472, L2_cache_size=50 << 20,
        max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, gcnArchName="",
    )  # fmt: skip
    answers = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_capability": TARGET_CAPABILITY,
        "get_device_properties": properties,
        "get_device_name": properties.name,
        "is_bf16_supported": True,
        "mem_get_info": (1 << 36, 1 << 36),
    }
    before = {name: getattr(torch.cuda, name) for name in answers}
    cuda, active = torch.version.cuda, driver._active
    for name, answer in answers.items():
        setattr(torch.cuda, name, _always(answer))
    torch.version.cuda = "12.8"
    driver.set_active(_Device())
    os.environ.update(_ENVIRONMENT)
    if not hasattr(torch._C, "_cuda_getCurrentRawStream"):
        torch._C._cuda_getCurrentRawStream = _always(0)
    try:
        yield
    finally:
        driver._active = active
        torch.version.cuda = cuda
        for name, original in before.items():
            setattr(torch.cuda, name, original)


TARGET_CAPABILITY = divmod(TARGET[1], 10)


def _always(answer: Any) -> Any:
    return lambda *_, **__: answer
