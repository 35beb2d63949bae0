"""Launch a kernel on a driver that launches nothing, and report what the process did until then."""

# ruff: noqa: I001, N803, PTH123
# Runs in the environment under test: the order of imports matters, and pathlib is one of those that are watched.

import json
import os
import sys

opened: list[str] = []
processes: list[str] = []
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork")  # newer Pythons name os.posix_spawn as well


def watch(event: str, arguments: tuple) -> None:
    if event == "open" and isinstance(arguments[0], str):
        opened.append(arguments[0])
    elif event in _STARTS:
        processes.append(str(arguments[0]))


sys.addaudithook(watch)

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402


@triton.jit
def add(left, right, result, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(result + offsets, tl.load(left + offsets, mask=mask) + tl.load(right + offsets, mask=mask), mask=mask)


class Dtype:
    def __str__(self) -> str:
        return "torch.float32"


class Tensor:
    dtype = Dtype()

    def data_ptr(self) -> int:
        return 4096


class Utils:
    def get_device_properties(self, device: int) -> dict:
        return {"max_shared_mem": 232448}

    def load_binary(self, *arguments: object) -> tuple:
        return 1, 2, 0, 0, 1024


class Launcher:
    calls = 0

    def __init__(self, source: object, metadata: object) -> None:
        pass

    def __call__(self, *arguments: object) -> None:
        Launcher.calls += 1


class Driver:
    utils = Utils()
    launcher_cls = Launcher

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)


triton.runtime.driver.set_active(Driver())
tensor = Tensor()
kernel = add[(1,)](tensor, tensor, tensor, 4096, BLOCK=1024)

with open("/proc/self/io", encoding="ascii") as file:
    read = int(file.readline().split()[1])
report = {
    "launches": Launcher.calls,
    "hash": kernel.hash,
    "opened": opened,
    "processes": processes,
    "bytes_read": read,
    "modules": sorted(sys.modules),
    "compiled": not os.environ.get("EXPECT_WARM") and "triton.compiler.code_generator" in sys.modules,
}
print(json.dumps(report))
