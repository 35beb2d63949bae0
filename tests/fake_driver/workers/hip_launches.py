"""Launches one kernel with the fake HIP driver and prints what it recorded."""
# mypy: ignore-errors

import json
import sys
from pathlib import Path

import triton.language as tl

import triton
from tests.fake_driver.amd import install
from tests.fake_driver.tensors import tensor


@triton.jit
def kernel(pointer, short: tl.int16, word, half: tl.float16, double: tl.float64, constant: tl.constexpr):
    tl.store(pointer, short + word + half + double + constant)


def main(binary):
    fake = install()
    fake.streams[0] = 0x51AE

    def launch(address=4096, **options):
        return kernel[(3, 2)](tensor(address), -2, 70000, 1.5, 1.1, 7, **options)

    compiled = launch()
    launch(num_warps=8, launch_cooperative_grid=True)
    launch(address=0xBAD2 << 48 | 4096)
    records = fake.library.launches()
    try:
        launch(address=0xBAD0 << 48)
        error = None
    except Exception as raised:
        error = [type(raised).__name__, str(raised)]
    target = fake.get_current_target()
    binary.write_bytes(compiled.asm["hsaco"])
    answer = {
        "target": [target.backend, target.arch, target.warp_size],
        "shapes": [[record.grid, record.block, record.stream] for record in records],
        "attributes": [[[number, value.hex()] for number, value in record.attributes] for record in records],
        "parameters": [[value.hex() for value in record.parameters] for record in records],
        "error": error,
        "calls": fake.library.call_count("hipModuleLaunchKernel"),
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
