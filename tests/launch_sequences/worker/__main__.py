"""Runs programs, one JSON document a line on standard input, and answers each with what could be seen of its steps.

Runs in the environment under test. The argument is the backend.
"""
# mypy: ignore-errors

import faulthandler
import json
import os
import sys

from tests.native.workers.extension import load_extension

from .patches import Patches
from .world import World


def run(fake, patches, program):
    world = World(fake, patches)
    outcomes = [world.outcome(step) for step in program]
    return [*outcomes, world.end()]


def main(backend):
    # Whatever prints to standard output must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    faulthandler.enable()
    if extension := os.environ.get("FORK_EXTENSION"):
        load_extension(extension)
    if backend == "hip":
        from triton.backends.amd.driver import HIPLauncher as Launcher

        from tests.fake_driver.amd import install
    else:
        from triton.backends.nvidia.driver import CudaLauncher as Launcher

        from tests.fake_driver.nvidia import install
    fake = install()
    patches = Patches(Launcher)
    for line in sys.stdin:
        answers.write(json.dumps(run(fake, patches, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
