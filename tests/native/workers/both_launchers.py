"""Calls the launcher that the base compiles and the extension's with the same random arguments, and compares what they did.

Arguments: the extension's file, how many signatures, how many calls of each, seed, how many threads call
the extension's launchers afterwards, how often each.
"""
# mypy: ignore-errors

import importlib.machinery
import importlib.util
import json
import random as randoms
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

from triton.runtime.build import _build, _load_module_from_path

from tests.fake_driver.nvidia import install
from tests.native.workers.arguments import SIZES, leaves, random_type, spoil, value
from tests.native.workers.image import image

CLUSTERS = [1, 1, 1, 2, 16]
GRIDS = [0, 1, 2, 65535, 65536, 2**31 - 1, -1, 2**31]


def load_extension(path):
    """Import the extension from a file, under the name by which the fork asks for it."""
    name = "triton._C.fork_native"
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    sys.modules[name] = module
    return module


def compiled_launcher(nvidia, signature, folder, number):
    source = Path(folder) / f"launcher{number}.c"
    source.write_text(nvidia.make_launcher({}, signature, None))
    name = "__triton_launcher"
    built = Path(folder) / str(number)
    built.mkdir()
    flags = ["-O1", "-Wno-int-conversion"]
    path = _build(name, str(source), str(built), nvidia.library_dirs(), nvidia.include_dirs, nvidia.libraries, flags)
    return _load_module_from_path(name, path).launch


class Differ:
    """Both launchers and what they answered."""

    def __init__(self, extension, seed):
        self.random = randoms.Random(seed)
        self.fake = install()
        from triton.backends.nvidia import driver as nvidia

        self.nvidia, self.extension, self.seen = nvidia, extension, Counter()
        assert extension.load_driver(None)
        fill = self.fake.utils.fill_tma_descriptor
        self.maps = [fill(4096 * n, 0, 4, 7, [16, 16], [64, 64 * n], [64, 1], n % 2) for n in (1, 2, 3)]
        self.maps += (
            [extension.fill_tma_descriptor(8192, 3, 2, 6, [8], [64], [1], 1)]
            if nvidia.PyCUtensorMap is extension.PyCUtensorMap
            else []
        )

    def head(self, function, metadata, hooks):
        random = self.random
        grid = [random.choice(GRIDS) if random.random() < 0.1 else random.randint(1, 9) for _ in range(3)]
        cluster = random.choice(CLUSTERS)
        scratch = [random.choice([None, None, 4096, -1 if random.random() < 0.02 else 64]) for _ in range(2)]
        described = (
            random.choice([1, 4, 8]),
            cluster,
            random.choice([0, 1024, 2**20 if random.random() < 0.05 else 0]),
        )
        stream = random.choice([0, 0x51AE, 2**64 - 1])
        return [
            *grid,
            stream,
            function,
            random.random() < 0.2,
            random.random() < 0.2,
            *scratch,
            described,
            metadata,
            *hooks,
        ]

    def outcome(self, launch, arguments, calls):
        calls.clear()
        try:
            answer = launch(*arguments)
        except BaseException as error:
            self.fake.library.launches()
            return type(error).__name__, str(error), list(calls)
        return answer, self.fake.library.launches(), list(calls)

    def compare(self, launchers, arguments, calls):
        """Call both; tell whether both launched."""
        base, ours = (self.outcome(launch, arguments, calls) for launch in launchers)
        if isinstance(base[0], str):
            self.seen["error"] += 1
            self.seen[base[0]] += 1
        else:
            self.seen["launched" if base[1] else "nothing launched"] += 1
        if base != ours:
            # After a wrong address the base goes on with an exception set, and calls into Python in that state.
            if isinstance(base[0], str) and isinstance(ours[0], str) and ours[0] == "OverflowError":
                self.seen["other error"] += 1
            else:
                self.seen["difference"] += 1
                print("base", base, "ours", ours, "arguments", arguments, file=sys.stderr)
        return base == ours and base[0] is None and base[1]

    def signature(self, types, letters, folder, number, calls_of_each):
        random, calls, launched = self.random, [], None
        signature = dict(enumerate(types))
        sizes = [SIZES[type_] for type_ in leaves(types) if type_ != "constexpr"] + [8, 8]
        function = self.extension.load_binary(f"kernel{number}", image(f"kernel{number}", sizes), 0, 0)[1]
        launchers = (
            compiled_launcher(self.nvidia, signature, folder, number),
            self.extension.make_launcher(letters(types), self.nvidia.PyCUtensorMap),
        )

        def hook(metadata):
            calls.append(metadata)

        def failing_hook(metadata):
            raise KeyError(metadata)

        for _ in range(calls_of_each):
            hooks = [
                random.choice([None, None, None, hook, failing_hook if random.random() < 0.1 else None])
                for _ in range(2)
            ]
            arguments = self.head(function, random.choice(["metadata", None]), hooks)
            arguments += [value(random, type_, self.maps) for type_ in types]
            if random.random() < 0.25:
                spoil(random, arguments)
            if random.random() < 0.01:
                arguments = arguments[: random.randrange(len(arguments))]
            # Only the driver's own handles: another function would be another kernel, or none.
            if len(arguments) > 4 and arguments[4] != function:
                arguments[4] = random.choice([function, "function", 1.5, None])
            if self.compare(launchers, arguments, calls):
                launched = arguments
        return launchers[1], launched


def main():
    path, signatures, calls, seed, threads, launches = sys.argv[1], *map(int, sys.argv[2:7])
    extension = load_extension(path)
    from triton.fork._native import _letters

    differ = Differ(extension, seed)
    kept = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(signatures):
            types = [
                random_type(differ.random)
                for _ in range(differ.random.choice([0, 1, 3, 5, 8, 12, 90 if number % 7 == 3 else 4]))
            ]
            launch, launched = differ.signature(types, _letters, folder, number, calls)
            if launched:
                kept.append((launch, launched))

    before = differ.fake.library.launch_count
    failures = []

    def work(own):
        random = randoms.Random(own)
        try:
            for _ in range(launches):
                launch, arguments = random.choice(kept)
                launch(*arguments)
        except BaseException as error:
            failures.append(repr(error))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    launched = differ.fake.library.launch_count - before
    print(json.dumps({"seen": differ.seen, "failures": failures, "launched by threads": launched}))


if __name__ == "__main__":
    main()
