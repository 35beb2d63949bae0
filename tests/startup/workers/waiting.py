"""Look at Triton's own functions in many ways and from many threads at once, and report what they are before and after."""

import copy
import functools
import inspect
import json
import os
import pickle
import threading

import triton.language as tl
from triton.runtime.jit import JITFunction

NAMES = ("sum", "max", "sort", "cumsum", "flip", "softmax", "argmax", "xor_sum", "zeros", "sigmoid", "cdiv")


def waits(function: object) -> bool:
    """Tell whether a function was not made yet, without looking at it."""
    return not object.__getattribute__(function, "__dict__")


def pickled(function: object) -> object:
    try:
        return pickle.dumps(function)
    except Exception as error:
        return type(error).__name__


WAYS = {
    "vars": vars,
    "dir": dir,
    "attribute": lambda function: function.arg_names,
    "wraps": lambda function: functools.wraps(function)(lambda: None),
    "copy": copy.copy,
    "pickle": pickled,
    "set": lambda function: setattr(function, "noinline", True),
    "delete": lambda function: delattr(function, "params"),
    "members": inspect.getmembers,
    "repr": repr,
    "hash": hash,
}
QUIET = {
    "isinstance": lambda function: isinstance(function, (JITFunction, int)),
    "class": lambda function: function.__class__ is JITFunction,
    "type": lambda function: type(function).__name__ == "JITFunction",
    "names": lambda function: [function.__name__, function.__module__, function.__qualname__] != [],
    "doc": lambda function: bool(function.__doc__),
    "callable": callable,
}

functions = {name: getattr(tl, name) for name in NAMES}
report: dict[str, object] = {"waiting": [waits(function) for function in functions.values()]}
for name, way in QUIET.items():
    report[f"quiet: {name}"] = [bool(way(tl.ravel)), waits(tl.ravel)]
for (name, way), function in zip(WAYS.items(), functions.values(), strict=True):
    way(function)
    report[name] = [waits(function), type(function) is JITFunction, "device_caches" in vars(function)]

made = []
initialise = JITFunction.__init__


def counted(self: object, *arguments: object, **keywords: object) -> None:
    made.append(self)
    initialise(self, *arguments, **keywords)


JITFunction.__init__ = counted
barrier, seen = threading.Barrier(8), []


def look() -> None:
    barrier.wait()
    seen.append([tl.min.arg_names, len(vars(tl.min)), tl.min.signature is not None])


threads = [threading.Thread(target=look) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
report["threads"] = [len(made), all(one == seen[0] for one in seen), type(tl.min) is JITFunction]
JITFunction.__init__ = initialise

child = os.fork()
if not child:
    os._exit(0 if tl.argmin.arg_names and type(tl.argmin) is JITFunction else 1)
report["forked"] = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), bool(tl.argmin.arg_names)]

print(json.dumps(report))
