"""For pairs of programs that differ only in a value: does the second one get its own code?"""

import enum
import importlib.util
import linecache
import os
import signal
import tempfile
import threading
import time
import types

import common
import triton.language as tl

import triton

CASES = {}
AGGREGATE = """
@tl.core._aggregate
class Pair:
    {fields}: tl.tensor

    @triton.constexpr_function
    def __init__(self, a, b):
        self.a = a
        self.b = b
@triton.jit(noinline=True)
def difference(pair):
    return pair.a - pair.b
@triton.jit
def k(p):
    tl.store(p, difference(Pair(tl.program_id(0), tl.program_id(1))))
"""
X = tl.constexpr(1)  # hidden by closures below

MODULE = """
import triton
import triton.language as tl
NN = {value}
X = tl.constexpr({value})
{more}
@triton.jit
def with_default(p, N: tl.constexpr = NN):
    tl.store(p, N)
@triton.jit
def calls_with_default(p):
    with_default(p)
@triton.jit
def in_a_branch(p, TAKEN: tl.constexpr):
    if TAKEN:
        X = 5
    tl.store(p, X)
@triton.jit
def max(a, b):
    return a + b * X
@triton.jit
def own_max(p):
    tl.store(p, max(1, 1))
"""


def case(function):
    CASES[function.__name__] = function
    return function


def module_with(value, more=""):
    folder = tempfile.mkdtemp(dir=os.path.dirname(os.environ["TRITON_CACHE_DIR"]))
    path = os.path.join(folder, "kernels.py")
    with open(path, "w") as stream:
        stream.write(MODULE.format(value=value, more=more))
    linecache.clearcache()
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@case
def closure_hides_global(value):
    X = tl.constexpr(value)

    @triton.jit
    def k(p):
        tl.store(p, X)

    return k, {}


@case
def data_type_in_closure(value):
    D = {1: tl.int32, 2: tl.int16}[value]

    @triton.jit
    def k(p):
        tl.store(p, tl.full((), 99999, D).to(tl.int32))

    return k, {}


@case
def constant_in_module(value):
    settings = types.ModuleType("settings")
    settings.N = tl.constexpr(value)

    @triton.jit
    def k(p):
        tl.store(p, settings.N)

    return k, {}


@case
def number_in_module(value):
    settings = types.ModuleType("settings")
    settings.N = value

    @triton.jit
    def k(p):
        tl.store(p, settings.N)

    return k, {}


@case
def default_of_called(value):
    return module_with(value).calls_with_default, {}


@case
def assigned_in_a_branch(value):
    return module_with(value).in_a_branch, {"TAKEN": False}


@case
def function_named_like_builtin(value):
    return module_with(value).own_max, {}


@case
def number_or_text(value):
    N = tl.constexpr({1: 1, 2: "1"}[value])

    @triton.jit
    def k(p):
        if N == 1:
            tl.store(p, 5)
        else:
            tl.store(p, 6)

    return k, {}


@triton.jit
def branches(p, N: tl.constexpr):
    if N == 1:
        tl.store(p, 5)
    else:
        tl.store(p, 6)


@case
def number_or_text_argument(value):
    return branches, {"N": {1: 1, 2: "1"}[value]}


@triton.jit
def two_words(p, A: tl.constexpr, B: tl.constexpr):
    if A == "a":
        tl.store(p, 5)
    else:
        tl.store(p, 6)


@case
def words_run_together(value):
    return two_words, {1: {"A": "a", "B": "b-c"}, 2: {"A": "a-b", "B": "c"}}[value]


@triton.constexpr_function
def length_of_text(value):
    import builtins  # what a function imports may ask anything of what it is given

    return builtins.len(repr(value))


@case
def member_that_is_asked_anything(value):
    X = tl.constexpr(enum.Enum("Mode", {"SLOW": 10**value}).SLOW)

    @triton.jit
    def k(p):
        tl.store(p, length_of_text(X))

    return k, {}


@triton.jit
def calls_first(p, FUNCTIONS: tl.constexpr):
    first: tl.constexpr = FUNCTIONS[0]
    tl.store(p, first())


@case
def functions_in_tuple(value):
    N = tl.constexpr(value)

    @triton.jit
    def give():
        return N

    return calls_first, {"FUNCTIONS": (give,)}


def cycle(value):
    V = tl.constexpr(value)

    @triton.jit
    def ping(N: tl.constexpr):
        if N == 0:
            return V
        else:
            return pong(N - 1)

    @triton.jit
    def pong(N: tl.constexpr):
        if N == 0:
            return 7
        else:
            return ping(N - 1)

    @triton.jit
    def k(p):
        tl.store(p, pong(3))

    return ping, pong, k


@case
def cycle_entered_elsewhere_before(value):
    ping, _, k = cycle(value)
    ping.cache_key
    return k, {}


@case
def fields_of_aggregate(value):
    return module_with(value, AGGREGATE.format(fields={1: "a b", 2: "b a"}[value].replace(" ", ": tl.tensor; "))).k, {}


@case
def after_an_error(value):
    settings = types.ModuleType("settings")
    N = tl.constexpr(value)

    @triton.jit
    def k(p):
        tl.store(p, N + settings.LATER)

    try:
        k.cache_key
    except AttributeError:
        settings.LATER = tl.constexpr(0)
    return k, {}


def texts(values, shared):
    results = []
    for value in values:
        if not shared:
            triton.knobs.cache.dir = tempfile.mkdtemp()
        function, constants = CASES[name](value)
        results.append(common.outcome(lambda f=function, c=constants: common.compile_kernel(f, c).asm["ttir"]))
    return [text.split("#loc")[0] if text.startswith("raised") else "\n".join(code_lines(text)) for text in results]


def code_lines(text):
    """The code without locations, which name the file."""
    return [line.split(" loc(")[0] for line in text.splitlines() if not line.startswith("#loc")]


result = {}
for name in CASES:
    alone = texts((1, 2), shared=False)
    triton.knobs.cache.dir = tempfile.mkdtemp()
    result[name] = {"alone": alone, "shared": texts((1, 2), shared=True)}

ping, pong, _ = cycle(1)
first = (ping.cache_key, pong.cache_key)
ping, pong, _ = cycle(1)
second = (pong.cache_key, ping.cache_key)[::-1]
result["cycle_order"] = [first, second]

# Two threads enter a cycle at different places, each with one function begun.
ping, pong, _ = cycle(1)
both, started = threading.Barrier(2), threading.local()
parse = triton.runtime.jit.JITCallable.parse


def parse_together(self):
    if not getattr(started, "yes", False):
        started.yes = True
        try:
            both.wait(0.5)
        except threading.BrokenBarrierError:
            pass  # the other thread is kept out, as it should be
    return parse(self)


triton.runtime.jit.JITCallable.parse = parse_together
threads = [threading.Thread(target=lambda f=f: f.cache_key, daemon=True) for f in (ping, pong)]
for thread in threads:
    thread.start()
end = time.monotonic() + 5
for thread in threads:
    thread.join(max(0, end - time.monotonic()))
result["deadlock"] = any(thread.is_alive() for thread in threads)

# A process is forked while another thread is at work on a key; the child asks for the same one.
working, done = threading.Event(), threading.Event()


def parse_slowly(self):
    working.set()
    done.wait(10)
    return parse(self)


triton.runtime.jit.JITCallable.parse = parse_slowly
thread = threading.Thread(target=lambda: branches.cache_key)
branches.hash = None
thread.start()
working.wait(10)
triton.runtime.jit.JITCallable.parse = parse
child = os.fork()
if child == 0:
    signal.alarm(3)
    os._exit(0 if len(branches.cache_key) == 64 else 1)
result["child"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
done.set()
thread.join()
common.report(result)
if result["deadlock"]:
    os.sys.stdout.flush()
    os._exit(0)
