"""Asks for keys in several threads at once.

Argument: `import` (one thread imports a module in which a key is asked for, another one is at work on a key and imports that
module), `import same` (it is the key that the other one is at work on), or `cycle` (threads enter a cycle of functions at
different places, again and again). Prints JSON.
"""

import importlib.util
import os
import random
import sys
import tempfile
import threading
import time
import types
from pathlib import Path

import common
import triton.language as tl

import triton

PATIENCE = 10
FUNCTIONS, THREADS, ROUNDS = 6, 6, 25
IMPORTED = """
import builtins
builtins.importing.set()
builtins.computing.wait({patience})
KEY = builtins.asked.cache_key
"""


def together(targets):
    """Run functions in threads; tell whether all came to an end."""
    threads = [threading.Thread(target=target, daemon=True) for target in targets]
    for thread in threads:
        thread.start()
    end = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


def importing(same):
    import builtins

    def look_up(name):
        if name != "VALUE":
            raise AttributeError(name)
        builtins.computing.set()
        importlib.import_module("key_is_asked_for_here")
        return tl.constexpr(1)

    settings = types.ModuleType("settings")
    settings.__getattr__ = look_up

    @triton.jit
    def kernel(p):
        tl.store(p, settings.VALUE)

    @triton.jit
    def other(p):
        tl.store(p, 1)

    builtins.importing, builtins.computing = threading.Event(), threading.Event()
    builtins.asked = kernel if same else other

    def ask():
        builtins.importing.wait(PATIENCE)
        assert kernel.cache_key

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "key_is_asked_for_here.py").write_text(IMPORTED.format(patience=PATIENCE))
        sys.path.insert(0, folder)
        ended = together([lambda: importlib.import_module("key_is_asked_for_here"), ask])
    return {"ended": ended, "keys": [len(function.hash or "") for function in (kernel, other)]}


def load(path):
    spec = importlib.util.spec_from_file_location("many", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [getattr(module, name) for name in vars(module) if name.startswith("function")]


def cycle():
    """Each function calls itself, the next one, and one further on."""
    source = "import triton\n"
    for number in range(FUNCTIONS):
        called = [number, (number + 1) % FUNCTIONS, (number * 2) % FUNCTIONS]
        calls = "".join(f"    function_{other}(x)\n" for other in called)
        source += f"@triton.jit\ndef function_{number}(x):\n    x + {number}\n{calls}\n"
    sys.setswitchinterval(1e-6)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "many.py")
        path.write_text(source)
        expected = [function.cache_key for function in load(path)]
        different, ended = 0, True
        for number in range(ROUNDS):
            functions, start, seen = load(path), threading.Barrier(THREADS), []

            def ask(seed, functions=functions, start=start, seen=seen):
                order = random.Random(seed).sample(functions, len(functions))
                start.wait()
                found = {function.__name__: function.cache_key for function in order}
                seen.append([found[function.__name__] for function in functions])

            seeds = range(number * THREADS, (number + 1) * THREADS)
            ended = ended and together([lambda seed=seed: ask(seed) for seed in seeds])
            different += sum(keys != expected for keys in seen) + (THREADS - len(seen))
    return {"ended": ended, "different": different, "distinct": len(set(expected))}


answer = cycle() if sys.argv[1] == "cycle" else importing("same" in sys.argv)
common.report(answer)
sys.stdout.flush()
os._exit(0)  # threads that wait for each other never end
