"""Runs programs, one JSON document a line on standard input, and answers each with what could be seen of its steps.

Runs in the environment under test. The first argument is the backend. With a second one, the name of a plant, one thing is broken
on purpose.
"""
# mypy: ignore-errors

import faulthandler
import json
import os
import sys

from tests.native.workers.extension import load_extension

from .patches import Patches
from .world import World

LONGEST = 240  # seconds for a program, on a machine that has other things to do


def run(fake, patches, program):
    world = World(fake, patches)
    outcomes = [world.outcome(step) for step in program]
    return [*outcomes, world.end()]


def plant(name):
    """Break one thing on purpose."""
    if name == "early address":
        # As if addresses were asked for before the grid is called.
        moved, World.do_move = World.do_move, lambda self, **details: self.frames or moved(self, **details)
    elif name == "no exit hook":
        hook, World.hook = World.hook, lambda self, name: None if name.startswith("exit") else hook(self, name)


def main(backend):
    # Whatever prints to standard output must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    faulthandler.enable()
    if len(sys.argv) > 2:
        plant(sys.argv[2])
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
        # A process that hangs counts as one that died.
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        answers.write(json.dumps(run(fake, patches, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
