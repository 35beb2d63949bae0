"""Calls everything in the extension with arguments that mean no good, and prints how often, and which errors came of it.

Arguments: the extension's file, the first seed, how many seeds. A seed is one short program; `-v` names each before it runs, so
that the last name is the culprit.
"""
# mypy: ignore-errors

import copy
import json
import random as randoms
import sys
import warnings

from tests.native.workers.attempts import attempt, broken, seen
from tests.native.workers.extension import load_extension
from tests.native.workers.hostile_values import Hostile
from tests.native.workers.image import cubin

LETTERS = "PTCbhiLBHIKegfd"
WRONG = ["()", "(i)(", ")", "x", "(" * 16 + ")" * 16, "(" * 17 + ")" * 17, "i" * 70000, "i" * 300, "((ie)P)T", "é"]


class Program:
    """One short program."""

    def __init__(self, extension, fake, hip, seed):
        self.random = randoms.Random(seed)
        self.hostile = Hostile(self.random)
        self.extension, self.fake, self.hip, self.seed = extension, fake, hip, seed
        self.launchers = []
        # Only the driver's own handle or what is none: drivers follow what they are given, the base's way and ours.
        self.handle = extension.load_binary("kernel", cubin("kernel", [8] * 8), 0, 0)[1]
        self.hostile.mischief += [
            self.launch_any,
            self.make_any,
            lambda: self.hostile.kept.append(self.hostile.value()),
        ]

    def some(self, most=6):
        return [self.hostile.value() for _ in range(self.random.randrange(most))]

    def functions(self):
        """Everything that the module has, with anything."""
        names = [name for name in dir(self.extension) if callable(getattr(self.extension, name))]
        for _ in range(8):
            name = self.random.choice(names)
            arguments = self.likely(name)
            first = int(name == "cuOccupancyMaxActiveClusters")
            if len(arguments) > first and self.random.random() < 0.8:
                arguments[self.random.randrange(first, len(arguments))] = self.hostile.value()
            if first == 0 and self.random.random() < 0.2:
                arguments = self.some(9)
            if "load_binary" in name and len(arguments) > 1:
                # The same is true of what they load.
                arguments[1] = self.random.choice([b"\0" * 4096, None, 1, cubin("kernel", [8, 4])])
            attempt(getattr(self.extension, name), *arguments, **self.random.choice([{}, {}, {}, {"x": 1}]))

    def likely(self, name):
        """Arguments that the function takes."""
        random = self.random
        return {
            "Program": lambda: self.likely_program(random.choice(["cuda", "hip", "rocm"])),
            "make_launcher": lambda: self.some(9),
            "load_binary": lambda: ["kernel", b"", 0, 0],
            "hip_load_binary": lambda: ["kernel", b"", 0, 0],
            "fill_tma_descriptor": lambda: [4096, 0, 4, 7, [16, 16], [64, 64], [64, 1], 1],
            "create_tdm_descriptor": lambda: [16, [16, 16], 4, 0, 0, [64, 64], [64, 1], 4096],
            "cuOccupancyMaxActiveClusters": lambda: [self.handle, 0, 1],
        }.get(name, lambda: [0])()

    def likely_program(self, vendor):
        random = self.random
        text = (
            random.choice(WRONG) if random.random() < 0.3 else "".join(random.choices(LETTERS, k=random.randrange(9)))
        )
        own = self.extension.PyCUtensorMap if vendor == "cuda" else self.extension.PyTDMDescriptor
        return [vendor, text, random.choice([own, None, None, int, tuple, self.hostile.value()]), 32]

    def make_any(self):
        vendor = self.random.choice(["cuda", "hip"])
        made = attempt(self.extension.Program, *self.likely_program(vendor))
        if made:
            made = attempt(copy.copy, made) if self.random.random() < 0.2 else made
            self.launchers.append((vendor, made.launch))

    def launch_any(self):
        if self.launchers:
            self.launch(*self.random.choice(self.launchers))

    def launch(self, vendor, launcher):
        random, hostile = self.random, self.hostile
        hooks = [random.choice([None, None, hostile.value()]) for _ in range(2)]
        metadata = random.choice([(4, 1, 0), (4, 2, 64), hostile.value()])
        extents = [random.choice([1, 2, hostile.value()]) for _ in range(3)]
        if vendor == "cuda":
            head = [*extents, 0, self.handle, False, False, None, hostile.pointer(), metadata, None, *hooks]
        else:
            # HIP's own handles are of another library: the launch ends before it.
            head = [False, *extents, 0, "handle", None, metadata, None, *hooks]
        if random.random() < 0.3:
            function = 4 if vendor == "cuda" else 5
            head[random.choice([at for at in range(len(head)) if at != function])] = hostile.value()
        steps = getattr(launcher, "__self__", None)
        # A program tells its text when it is copied; so many arguments are right where there are no tuples.
        count = len(steps.__reduce__()[1][1]) if random.random() < 0.8 else random.randrange(8)
        attempt(launcher, *head, *(self.argument() for _ in range(min(count, 400))))

    def argument(self):
        random, hostile = self.random, self.hostile
        return random.choice([5, 1.5, 64, hostile.value(), hostile.value(), hostile.sequence(), hostile.pointer()])

    def signatures(self):
        """Launchers of any signature, with anything."""
        for _ in range(4):
            self.make_any()
        for _ in range(12):
            self.launch_any()

    def descriptors(self):
        """Tensor maps in all states, and what pretends to be one."""
        type_ = self.extension.PyCUtensorMap
        values = [
            type_(),
            attempt(type_, 1),
            attempt(type_.__new__, type_),
            object(),
            type_,
            bytearray(300),
            *self.some(3),
        ]
        values.append(self.extension.fill_tma_descriptor(4096, 0, 4, 7, [16, 16], [64, 64], [64, 1], 1))
        attempt(setattr, values[0], "__class__", int)
        for expected in (type_, None, int, type(None), self.hostile.value()):
            program = attempt(self.extension.Program, "cuda", "TT", expected, 32)
            for _ in range(3 if program else 0):
                head = [1, 1, 1, 0, self.handle, False, False, None, None, (4, 1, 0), None, None, None]
                attempt(program.launch, *head, *self.random.choices(values, k=2))


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "-v"]
    path, first, count = arguments[0], int(arguments[1]), int(arguments[2])
    warnings.simplefilter("ignore")
    extension = load_extension(path)
    from triton.backends.nvidia.driver import CudaLauncher
    from triton.fork.launch import dispatch
    from triton.runtime.driver import driver as drivers

    from tests.fake_driver.amd import install as install_hip
    from tests.fake_driver.nvidia import install
    from tests.launch_sequences.worker.patches import Patches
    from tests.launch_sequences.worker.world import World
    from tests.native.workers.hostile_kernels import Fast
    from triton import knobs

    hip = install_hip()
    fake = install()
    fake.library.set_recording(False)
    before = fake.library.launch_count
    patches = Patches(CudaLauncher)
    world = World(fake, patches)
    for seed in range(first, first + count):
        if "-v" in sys.argv:
            print(seed, file=sys.stderr, flush=True)
        program = Program(extension, fake, hip, seed)
        if seed % 2:
            for part in (program.functions, program.signatures, program.descriptors):
                part()
        else:
            if seed % 20 == 0:
                world = World(fake, patches)
            fast = Fast(program, world.module, dispatch, knobs, drivers)
            for name in fast.names:
                attempt(world.module.__dict__[name][(1,)], *fast.arguments(name))
            attempt(fast.run)
    print(json.dumps({"seen": seen, "broken": broken[:20], "launches": fake.library.launch_count - before}))


if __name__ == "__main__":
    main()
