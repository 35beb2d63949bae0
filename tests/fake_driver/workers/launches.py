"""Launches one kernel in several ways and prints what the fake driver recorded and which files it was given."""
# mypy: ignore-errors

import json
import sys
from dataclasses import asdict
from pathlib import Path

import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor


@triton.jit
def scalars(
    pointer,
    narrow: tl.int8,
    short: tl.int16,
    word,
    wide,
    unsigned,
    half: tl.float16,
    brain: tl.bfloat16,
    single,
    double: tl.float64,
    flag,
    constant: tl.constexpr,
):
    tl.store(pointer, narrow + short + word + wide + unsigned + half + brain + single + double + flag + constant)


@triton.jit
def described(descriptor, other):
    descriptor.store([0, 0], descriptor.load([0, 0]) + other)


def portable(launch):
    record = asdict(launch)
    record["attributes"] = [[number, value.hex()] for number, value in launch.attributes]
    record["parameters"] = [value.hex() for value in launch.parameters]
    record["cluster"] = launch.cluster
    return record


def failing(action):
    try:
        action()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


def main(cubin: Path) -> None:
    fake = install()
    library = fake.library
    address = 0x7F0012345670
    fake.streams[0] = 0x51AE

    def launch(grid=(3, 2), address=address, **options):
        values = (5, -300, 70000, -(2**40), 2**63 + 1, 1.5, 1.5, 1.1, 1.1, True)
        return scalars[grid](tensor(address), *values, 7, **options)

    kernel = launch()
    launch(num_warps=8, num_ctas=2, launch_pdl=True, launch_cooperative_grid=True)
    launch(grid=(0,))
    described[(1,)](TensorDescriptor.from_tensor(tensor(0x2000, "float16", (64, 128)), [16, 32]), 2.0)
    records = [portable(record) for record in library.launches()]
    counts = {name: library.call_count(name) for name in ("cuModuleLoadData", "cuLaunchKernelEx", "cuCtxSetCurrent")}

    library.fail(["cuLaunchKernelEx"], 1, skip=1, times=1)
    errors = [failing(launch), failing(launch), failing(launch)]
    library.clear_failures()
    errors.append(failing(lambda: launch(address=0xBAD0 << 48)))
    errors.append(failing(lambda: launch(grid=(3, 70000))))
    library.launches()
    library.set_recording(False)
    before = library.launch_count
    launch()
    unrecorded = [library.launch_count - before, len(library.launches())]

    cubin.write_bytes(kernel.asm["cubin"])
    print(json.dumps({"records": records, "counts": counts, "errors": errors, "unrecorded": unrecorded}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
