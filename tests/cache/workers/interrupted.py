"""Let an exception come from outside while a file of the cache is opened, or while a value is described: does it arrive?"""

import ctypes
import functools
import signal
import sys
import tempfile
import threading

import common

import triton

PLACES = ("__grp__kernel.json", "kernel.json", "kernel.ttir", "kernel.cubin")
said, hits = common.Said(), common.Hits()
armed = []


class LimitError(Exception):
    pass


def handle(kind, number, frame):
    raise kind("alarm") if kind is TimeoutError else kind


def handle_once(kind, number, frame):
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    raise kind


def fire():
    """Stand for a signal, or for what another thread does, that comes now."""
    if armed.pop() == "thread":
        identity = ctypes.c_ulong(threading.get_ident())
        ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(LimitError))
        for _ in range(3):
            pass
    else:
        signal.raise_signal(signal.SIGUSR1)


def opening(event, arguments):
    if armed and event == "open" and str(arguments[0]).endswith(armed[-1]):
        armed.pop()
        signal.raise_signal(signal.SIGUSR1)


HANDLERS = {
    "function": lambda kind: lambda number, frame: handle(kind, number, frame),
    "any_arguments": lambda kind: lambda *given: handle(kind, *given),
    "partial": lambda kind: functools.partial(handle, kind),
    "partial_of_partial": lambda kind: functools.partial(functools.partial(handle), kind),
    "once": lambda kind: functools.partial(handle_once, kind),
}


def outcome(call):
    try:
        call()
    except (LimitError, TimeoutError) as error:
        return type(error).__name__
    except BaseException as error:
        return f"another: {error!r}"
    return "nothing"


def while_reading():
    """Which exceptions arrive that come while an entry is read, and is the entry taken for damaged?"""
    common.compile_kernel()
    hits.take()
    outcomes = {}
    for name, handler in HANDLERS.items():
        for kind in (LimitError, TimeoutError):
            for place in PLACES:
                signal.signal(signal.SIGUSR1, handler(kind))
                armed.append(place)
                arrived = outcome(common.compile_kernel)
                outcomes[f"{name} {kind.__name__} {place}"] = [arrived, len(armed), said.take(), hits.take()]
                armed.clear()
    common.compile_kernel()
    return {"outcomes": outcomes, "afterwards": hits.take()}


@triton.jit(repr=lambda _: fire() if armed else "named")
def named(p, N: common.tl.constexpr):
    common.tl.store(p, N)


def while_naming():
    """Which exceptions arrive that come while a kernel gets its name from a function of its own?"""
    outcomes = {}
    for name in ("function", "partial", "once", "thread"):
        signal.signal(signal.SIGUSR1, HANDLERS.get(name, HANDLERS["function"])(LimitError))
        armed.append(name)
        outcomes[name] = [outcome(lambda: common.compile_kernel(named)), len(armed)]
        armed.clear()
    return outcomes


def touching(event, arguments):
    """Send the signal when a file of the cache is touched for the so manyth time."""
    if event not in ("open", "os.mkdir", "os.rename") or not str(arguments[0]).startswith(
        str(common.triton.knobs.cache.dir)
    ):
        return
    touched.append(event)
    if len(touched) == limit[0]:
        signal.raise_signal(signal.SIGALRM)  # LLVM takes SIGUSR1 for itself while it compiles


touched, limit = [], [0]


def while_storing():
    """Which exceptions arrive that come while a kernel is stored: at the first touch of a file, at the second, and so on."""
    signal.signal(signal.SIGALRM, HANDLERS["function"](TimeoutError))
    outcomes = []
    while not outcomes or len(touched) >= limit[0]:
        limit[0] += 1
        touched.clear()
        triton.knobs.cache.dir = tempfile.mkdtemp()
        outcomes.append(outcome(common.compile_kernel))
    limit[0] = -1
    said.take()
    return outcomes


if __name__ == "__main__":
    naming = while_naming()
    sys.addaudithook(touching)
    storing = while_storing()
    sys.addaudithook(opening)
    common.report({**while_reading(), "naming": naming, "storing": storing})
