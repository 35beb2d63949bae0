"""One life of a process with launches in it, named by the first argument; prints what it did as JSON, or what a child did."""
# mypy: ignore-errors

import atexit
import gc
import importlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import weakref
from pathlib import Path

import triton.language as tl

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor
from triton import knobs

FAKE = install()


@triton.jit
def add(pointer, count, BLOCK: tl.constexpr = 64):  # noqa: N803
    tl.store(pointer, count + BLOCK)


@triton.jit
def scale(pointer, count, factor):
    tl.store(pointer, count * factor)


def launch(number=5):
    return add[(number % 4 + 1,)](tensor(4096), number)


def warm():
    for number in range(2, 6):
        launch(number)


def report(**answers):
    print(json.dumps(answers))


# Threads.


def together(count, work):
    """Run `work` in threads that start at the same moment; return what went wrong."""
    failures, barrier = [], threading.Barrier(count)

    def body(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def forget(function):
    """Have the extension learn a function anew."""
    for caches in list(function.device_caches.values()):
        caches[4].__globals__.pop("_fork_dispatcher", None)


def threads():
    """First launches at once, then the same and different kernels, some with changes that others see."""
    sys.setswitchinterval(1e-6)
    failures = together(6, launch)
    launched = FAKE.library.launch_count

    def work(number):
        for step in range(150):
            if number == 0 and step % 10 == 0:
                add.device_caches.clear()
            if number == 1 and step % 10 == 0:
                forget(add)
            if number == 2 and step % 25 == 0:
                gc.collect()
            if (number + step) % 3:
                add[(1,)](tensor(4096), step % 5 + 2, BLOCK=32 << step % 3)
            else:
                scale[lambda bound: (bound["count"],)](tensor(4096), 3, step % 4 + 0.5)

    failures += together(6, work)
    report(failures=failures, first=launched, then=FAKE.library.launch_count - launched)


# Ends of a process. What they print comes from functions that run as the interpreter goes.


class Last:
    """Launches when it goes."""

    def __init__(self, bound):
        self.bound = bound

    def __del__(self):
        self.bound(tensor(4096), 5)


def launches_at_exit():
    warm()
    before = FAKE.library.launch_count
    atexit.register(lambda: (launch(), report(launched=FAKE.library.launch_count - before)))


def launches_when_modules_go():
    global last
    warm()
    last = Last(add[(1,)])
    sys.kept = [Last(add[(1,)]), add[(2,)], FAKE]
    add.loop = [Last(scale[(1,)]), add]
    report()


def daemons():
    """Threads that launch while the interpreter goes."""
    # Read from the environment the knob is one of libtriton's functions, which do not bear that their thread ends in them.
    knobs.runtime.debug = False
    warm()

    def work():
        while True:
            launch()

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    report()


def weak_callback():
    warm()
    called = []

    class Owner:
        pass

    owner = Owner()
    owner.bound = add[(1,)]
    reference = weakref.ref(owner, lambda _: called.append(launch() is not None))
    del owner
    report(called=called, gone=reference() is None)


# Children.


def child_launches(queue):
    before = FAKE.library.launch_count
    launch()
    scale[(1,)](tensor(64), 5, 2.5)
    queue.put(FAKE.library.launch_count - before)


def fork():
    warm()
    before = FAKE.library.launch_count
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        launch()
        scale[(1,)](tensor(64), 5, 2.5)  # the first launch of its kind
        os.write(writer, str(FAKE.library.launch_count - before).encode())
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    launch()
    report(status=status, child=int(os.read(reader, 9)), parent=FAKE.library.launch_count - before)


def processes():
    warm()
    launched = []
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        child = context.Process(target=child_launches, args=(queue,))
        child.start()
        launched.append(queue.get())
        child.join()
        launched.append(child.exitcode)
    report(launched=launched)


# Modules that come again.


def reload():
    warm()
    for name in (
        "triton.knobs",
        "triton",
        "triton.fork.launch.native",
        "triton.fork.launch.dispatch",
        "triton.runtime.jit",
    ):
        if name in sys.modules:
            importlib.reload(sys.modules[name])
        launch()
    report(launched=FAKE.library.launch_count)


def import_again():
    """The package from the beginning, the old one still in use."""
    warm()
    launched = FAKE.library.launch_count
    old = {name: sys.modules.pop(name) for name in list(sys.modules) if name == "triton" or name.startswith("triton.")}
    for name in ("triton._C.libtriton", "triton._C"):  # of these there can be one
        sys.modules.update({each: module for each, module in old.items() if each.startswith(name)})
    for name in list(sys.modules):
        if name.startswith("tests.fake_driver"):
            del sys.modules[name]
    importlib.import_module("tests.fake_driver.nvidia").install()
    new = {"tl": importlib.import_module("triton.language"), "triton": importlib.import_module("triton")}
    path = Path(os.environ["TRITON_CACHE_DIR"]) / "again.py"
    path.write_text(
        "import triton\nimport triton.language as tl\n\n@triton.jit\ndef again(p, n):\n    tl.store(p, n)\n"
    )
    spec = importlib.util.spec_from_file_location("again", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for number in (2, 3, 4):
        module.again[(1,)](tensor(4096), number)
        launch(number)
    report(launched=FAKE.library.launch_count - launched, same=new["triton"] is old["triton"])


def load_twice():
    """The extension as two modules, used with each other's objects."""
    warm()
    first = sys.modules.pop("triton._C.fork_native", None)
    if first is None:
        report(works=[])
        return
    second = importlib.import_module("triton._C.fork_native")
    works = [first is not second, first.PyCUtensorMap is not second.PyCUtensorMap]
    for module, other in ((first, second), (second, first)):
        map_ = other.PyCUtensorMap()
        try:
            module.Program("cuda", "T", other.PyCUtensorMap, 0).launch(
                1, 1, 1, 0, 0, 0, 0, None, None, (4, 1, 0), None, None, None, map_
            )
        except (TypeError, ValueError, RuntimeError):
            works.append("refused")
    launch()
    del first, second, module, other
    gc.collect()
    launch()
    report(works=works)


# Interruptions.


class InterruptionError(Exception):
    pass


def interruptions():
    """A signal's handler raises while a call is looked at: in data_ptr(), in the driver's answers, in a knob, in a comparison."""
    warm()
    outcomes = []

    def handler(*_):
        raise error("signal")

    signal.signal(signal.SIGUSR1, handler)

    class Pointer(type(tensor(0))):
        def data_ptr(self):
            signal.raise_signal(signal.SIGUSR1) if armed.pop("data_ptr", False) else None
            return 4096

    class Runtime(type(knobs.runtime)):
        @property
        def launch_exit_hook(self):
            signal.raise_signal(signal.SIGUSR1) if armed.pop("knob", False) else None

    def stream(device):
        signal.raise_signal(signal.SIGUSR1) if armed.pop("stream", False) else None
        return 0

    class Value:
        def __ne__(self, other):
            signal.raise_signal(signal.SIGUSR1) if armed.pop("global", False) else None
            return False

    knobs.runtime = Runtime()
    knobs.runtime.launch_enter_hook = None
    FAKE.get_current_stream = stream
    pointer = Pointer(4096, tensor(0).dtype)
    armed = {}
    for number in (2, 3, 4):
        add[(1,)](pointer, number)
    add.used_global_vals = {("VALUE", 1): (None, {"VALUE": Value()})}
    for error in (KeyboardInterrupt, SystemExit, InterruptionError, TimeoutError):
        for place in ("data_ptr", "knob", "stream", "global"):
            armed[place] = True
            try:
                outcome = type(add[(1,)](pointer, 5)).__name__
            except BaseException as raised:
                outcome = type(raised).__name__
            outcomes.append([place, error.__name__, outcome, len(armed)])
            add[(1,)](pointer, 5)
    report(outcomes=outcomes)


def timer():
    """Signals at any moment of many launches: none gets lost."""
    warm()
    delivered = launched = lost = 0
    armed = False
    # In the launcher an exception of data_ptr() becomes a TypeError, as in the base.
    expected = (KeyboardInterrupt, InterruptionError, TypeError)

    def handler(*_):
        nonlocal armed, delivered
        if not armed:
            return
        armed = False
        delivered += 1
        raise [KeyboardInterrupt, InterruptionError][delivered % 2]

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.0007)
    while delivered < 300:
        try:
            armed = True
            while delivered < 300:
                launch(launched % 3 + 4)
                launched += 1
                if not armed:  # the handler has raised, and yet we come here
                    lost += 1
                    armed = True
        except expected:
            pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    report(lost=lost, delivered=delivered)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
