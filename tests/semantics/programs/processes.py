"""Launches in children made by fork and spawn, before and after the parent's first launch; prints what each recorded."""
# mypy: ignore-errors

import json
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import triton.language as tl

import triton
from tests.fake_driver.library import parse
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor


@triton.jit
def kernel(p, n, size: tl.constexpr):
    tl.store(p, n + size)


def launch(value, size=4):
    kernel[(2,)](tensor(4096, "int32"), value, size)


def spawned(value):
    install()
    launch(value)


def forked(action):
    """Run in a forked child; the child must not run the parent's clean-up."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            action()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records"
        os.environ["FAKE_DRIVER_RECORD_FILE"] = str(records)
        install()
        statuses = [forked(lambda: launch(101))]
        launch(102)
        statuses.append(forked(lambda: launch(103)))
        statuses.append(forked(lambda: launch(104, size=5)))
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=spawned, args=(105,))
        process.start()
        process.join()
        statuses.append(process.exitcode)
        launches = parse(records.read_text())
    values = [int.from_bytes(launch.parameters[1], "little") for launch in launches]
    json.dump(
        {"statuses": statuses, "values": values, "functions": [launch.function for launch in launches]}, sys.stdout
    )


if __name__ == "__main__":
    main()
