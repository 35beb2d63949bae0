"""Threads launch one kernel with tensors of several types while others change tensors, caches and hooks; prints what does not fit.

Each tensor lives in a range of addresses of its own, so that a launch record says which it was given. Whatever the order, each
launch must be of a kernel for the type of its tensor, and each call must launch once.
"""
# mypy: ignore-errors

import gc
import json
import random
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fake_driver.nvidia import install
from tests.launch_sequences.worker import caches, foreign
from tests.launch_sequences.worker.world import KERNELS
from tests.native.workers.extension import load_extension
from triton import knobs

TYPES = {"float32": "fp32", "float16": "fp16", "int32": "i32", "float64": "fp64"}
SPAN = 1 << 20
LAUNCHERS, CHANGERS, LAUNCHES = 4, 2, 200
PAUSE = 1e-4  # seconds


class Silent:
    """Listens to foreign objects and says nothing."""

    def asked(self, question, name):
        pass

    happened = asked


class Stress:
    def __init__(self, library, function, seed):
        self.library, self.function, self.seed = library, function, seed
        self.wrong, self.seen, self.over = [], Counter(), False
        self.start = threading.Barrier(LAUNCHERS + CHANGERS)
        kinds = ["silent", "fresh"]
        self.tensors = [
            foreign.make_tensor(Silent(), str(number), kinds[number % 2], (number + 1) * SPAN, dtype)
            for number, dtype in enumerate(dtype for dtype in TYPES for _ in kinds)
        ]

    def launch(self, number):
        random_choice = random.Random(self.seed * 100 + number)
        self.start.wait()
        for _ in range(LAUNCHES):
            tensor = random_choice.choice(self.tensors)
            grid = random_choice.choice([(1,), lambda _: (1,)])
            try:
                kernel = self.function[grid](tensor, 5)
            except Exception as error:
                self.wrong.append(["raised", *traceback.format_exception(error)[-3:]])
                continue
            if kernel.src.signature["pointer"] != f"*{TYPES[tensor.element]}":
                self.wrong.append(["kernel", tensor.element, str(kernel.src.signature)])

    def change(self, number):
        random_choice = random.Random(self.seed * 100 + 50 + number)
        # A collection takes as long as hundreds of the others, and meanwhile nobody launches.
        changes = [self.collect, *[self.move, self.clear, self.hook] * 10]
        self.start.wait()
        while not self.over:
            change = random_choice.choice(changes)
            change(random_choice)
            self.seen[change.__name__] += 1
            time.sleep(PAUSE)

    def move(self, random_choice):
        tensor = random_choice.choice(self.tensors)
        tensor.address = tensor.address // SPAN * SPAN + random_choice.choice([0, 4, 16, 64])

    def clear(self, random_choice):
        caches.change(None, self.function, random_choice.choice(["clear kernels", "clear keys", "clear"]), 0)

    def collect(self, random_choice):
        gc.collect()

    def hook(self, random_choice):
        knobs.runtime.launch_enter_hook = random_choice.choice([None, knobs.HookChain(), lambda metadata: None])

    def run(self):
        launching = [threading.Thread(target=self.launch, args=(number,)) for number in range(LAUNCHERS)]
        changing = [threading.Thread(target=self.change, args=(number,)) for number in range(CHANGERS)]
        for thread in launching + changing:
            thread.start()
        for thread in launching:
            thread.join()
        self.over = True
        for thread in changing:
            thread.join()
        records = self.library.launches()
        for record in records:
            number = int.from_bytes(record.parameters[0], "little") // SPAN - 1
            expected = TYPES[self.tensors[number].element]
            if f"pointer__{expected}__" not in record.function:
                self.wrong.append(["record", expected, record.function])
        self.seen["launches"] += len(records)


def main(seeds, extension=None):
    if extension:
        load_extension(extension)
    sys.setswitchinterval(1e-5)
    library = install().library
    wrong, seen = [], Counter()
    for seed in range(int(seeds)):
        module = {"__name__": "stressed", "__file__": str(KERNELS)}
        exec(compile(Path(KERNELS).read_text(), str(KERNELS), "exec"), module)
        stress = Stress(library, module["plain"], seed)
        stress.run()
        wrong += stress.wrong
        seen += stress.seen
    json.dump({"wrong": wrong[:20], "seen": seen, "called": int(seeds) * LAUNCHERS * LAUNCHES}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
