"""Calls the launcher that the base compiles and the extension's with the same random arguments, and compares what they did.

Arguments: cuda or hip, the extension's file, how many signatures, how many calls of each, seed, how many threads call
the extension's launchers afterwards, how often each.
"""
# mypy: ignore-errors

import json
import random as randoms
import sys
import tempfile
import threading
from collections import Counter

from tests.native.workers.arguments import SIZES, leaves, spoil, value
from tests.native.workers.extension import load_extension
from tests.native.workers.vendors import VENDORS


class Differ:
    """Both launchers and what they answered."""

    def __init__(self, vendor, seed):
        self.random, self.vendor, self.seen = randoms.Random(seed), vendor, Counter()
        self.library = vendor.fake.library

    def outcome(self, launch, arguments, calls):
        calls.clear()
        try:
            answer = launch(*arguments)
        except BaseException as error:
            self.library.launches()
            return type(error).__name__, str(error), list(calls)
        return answer, self.library.launches(), list(calls)

    def compare(self, launchers, arguments, calls):
        """Call both; tell whether both launched."""
        base, ours = (self.outcome(launch, arguments, calls) for launch in launchers)
        if isinstance(base[0], str):
            self.seen["error"] += 1
            self.seen[base[0]] += 1
        else:
            self.seen["launched" if base[1] else "nothing launched"] += 1
        if base != ours:
            if isinstance(base[0], str) and isinstance(ours[0], str) and self.vendor.is_excused(base, ours):
                self.seen["other error"] += 1
            else:
                self.seen["difference"] += 1
                print("base", base, "ours", ours, "arguments", arguments, file=sys.stderr)
        return base == ours and base[0] is None and base[1]

    def signature(self, length, folder, number, calls_of_each):
        random, calls, launched, vendor = self.random, [], None, self.vendor
        types, descriptors, expanded = vendor.signature(random, length)
        sizes = [SIZES[type_] for type_ in leaves(expanded) if type_ != "constexpr"] + [8, 8]
        function = vendor.load(f"kernel{number}", sizes)
        launchers = vendor.launchers(types, descriptors, folder, number)

        def hook(metadata):
            calls.append(metadata)

        def failing_hook(metadata):
            raise KeyError(metadata)

        for _ in range(calls_of_each):
            hooks = [
                random.choice([None, None, None, hook, failing_hook if random.random() < 0.1 else None])
                for _ in range(2)
            ]
            arguments = vendor.head(random, function, random.choice(["metadata", None]), hooks)
            arguments += [value(random, type_, vendor.descriptors) for type_ in expanded]
            if random.random() < 0.25:
                spoil(random, arguments)
            if random.random() < 0.01:
                arguments = arguments[: random.randrange(len(arguments))]
            # Only the driver's own handles: another function would be another kernel, or none.
            at = vendor.function_at
            if len(arguments) > at and arguments[at] != function:
                arguments[at] = random.choice([function, "function", 1.5, None])
            if self.compare(launchers, arguments, calls):
                launched = arguments
        return launchers[1], launched


def main():
    backend, path, signatures, calls, seed, threads, launches = *sys.argv[1:3], *map(int, sys.argv[3:8])
    differ = Differ(VENDORS[backend](load_extension(path)), seed)
    kept = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(signatures):
            length = differ.random.choice([0, 1, 3, 5, 8, 12, 90 if number % 7 == 3 else 4])
            launch, launched = differ.signature(length, folder, number, calls)
            if launched:
                kept.append((launch, launched))

    before = differ.library.launch_count
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
    launched = differ.library.launch_count - before
    print(json.dumps({"seen": differ.seen, "failures": failures, "launched by threads": launched}))


if __name__ == "__main__":
    main()
