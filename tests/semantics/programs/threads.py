"""Launches from many threads at once and prints what reached the driver, sorted."""
# mypy: ignore-errors

import json
import sys
import threading
from collections import Counter

import triton.language as tl

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor

THREADS = 8
ROUNDS = 25


@triton.jit
def shared(p, n, size: tl.constexpr):
    tl.store(p, n + size)


def make(value):
    @triton.jit
    def own(p, n):
        tl.store(p, n * value)

    return own


def main():
    library = install().library
    barrier = threading.Barrier(THREADS)
    errors = []

    def work(number):
        own = make(tl.constexpr(number))
        try:
            barrier.wait()
            for turn in range(ROUNDS):
                # All threads compile the same kernel first, then each one its own.
                shared[(1,)](tensor(4096, "int32"), 1000 * number + turn + 2, turn % 2)
                own[(number + 1,)](tensor(8192, "int32"), 1000 * number + turn + 2)
        except Exception as error:
            errors.append([type(error).__name__, str(error)])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    launches = Counter((launch.function, launch.grid[0], launch.parameters[1].hex()) for launch in library.launches())
    json.dump(
        {"errors": errors, "launches": sorted([*launch, count] for launch, count in launches.items())}, sys.stdout
    )


if __name__ == "__main__":
    main()
