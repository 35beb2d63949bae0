"""Run programs that do what few do, and print what comes of each: what was launched, which code there is, or the error."""
# mypy: ignore-errors

import dataclasses
import json
import operator
import re

import numpy
import triton.language as tl
from triton.compiler.code_generator import CodeGenerator
from triton.language.semantic import TritonSemantic

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor
from triton import knobs

driver = install()
CASES = {}
X = tensor(0x1000, "int32")


def case(function):
    CASES[function.__name__] = function
    return function


def stored(kernel):
    return re.findall(r"arith.constant (\d+) : i32", kernel.asm["ttir"])


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


@triton.jit
def number(X, n, C: tl.constexpr):
    tl.store(X, n)


def streams_of_launches(count):
    driver.library.launches()
    for _ in range(count):
        number[(1,)](X, 7, 3)
    return [launch.stream for launch in driver.library.launches()]


@case
def streams_that_are_no_plain_numbers():
    """A driver that hands out streams in turn is asked once for each launch."""

    class Stream(int):
        pass

    count, own = [0], driver.get_current_stream

    def stream(device=None):
        count[0] += 1
        return Stream(count[0] * 16)

    driver.get_current_stream = stream
    try:
        return streams_of_launches(4)
    finally:
        driver.get_current_stream = own


@case
def stream_of_a_call_that_python_refuses():
    """It is not used by a later launch on the same grid."""
    current, own, grid = [16], driver.get_current_stream, (1,)
    driver.get_current_stream = lambda device=None: current[0]
    try:
        for _ in range(3):
            number[grid](X, 7, 3)
        refused = [outcome(lambda name=name: number[grid](X, 7, 3, **{name: False})) for name in ("warmup", "grid")]
        driver.library.launches()
        current[0] = 32
        number.run(X, 7, 3, grid=grid, warmup=False)
        return refused, [launch.stream for launch in driver.library.launches()]
    finally:
        driver.get_current_stream = own


@case
def hook_that_is_added_while_the_kernel_is_loaded():
    met = []

    @triton.jit
    def kernel(X):
        tl.store(X, 1)

    def enter(metadata):
        met.append((type(metadata).__name__, metadata.get()["name"]))

    def loaded(*_):
        knobs.runtime.launch_enter_hook.add(enter)

    knobs.runtime.kernel_load_end_hook.add(loaded)
    try:
        return outcome(lambda: kernel[(1,)](X) and None), met
    finally:
        knobs.runtime.kernel_load_end_hook.remove(loaded)
        knobs.runtime.launch_enter_hook.remove(enter)


class Config:
    def __eq__(self, other):
        return type(other) is Config

    __hash__ = None

    @property
    def library(self):
        raise RuntimeError("there is none here")


config = Config()


@triton.jit
def asks_in_a_branch(X, FLAG: tl.constexpr):
    if FLAG:  # noqa: SIM102 - a branch that is not compiled
        if hasattr(config, "library"):
            tl.store(X, 1)
    tl.store(X, 2)


@case
def property_that_raises_in_a_branch_that_is_not_taken():
    return outcome(lambda: stored(asks_in_a_branch[(1,)](X, False)))


@triton.jit
def of_a_later_release(x):
    return operator.only_in_a_later_release(x)


@triton.jit
def of_this_release(x):
    return x + 1


class Choices:
    def __init__(self):
        self.new, self.old = of_a_later_release, of_this_release


@triton.jit
def asks_for_more(X, C: tl.constexpr):
    if hasattr(C, "fast"):
        tl.store(X, C.new(40))
    else:
        tl.store(X, C.old(40))


@triton.jit
def call_old(C: tl.constexpr):
    return C.old(40)


@triton.jit
def hands_it_on(X, C: tl.constexpr):
    tl.store(X, call_old(C))


@case
def function_without_a_key_that_nothing_calls():
    return [
        outcome(lambda kernel=kernel: stored(kernel[(1,)](X, Choices()))) for kernel in (asks_for_more, hands_it_on)
    ]


@case
def attributes_with_numbers_as_names():
    choices = Choices()
    choices.__dict__.update({1: 2, "one": 3})
    return outcome(lambda: stored(hands_it_on[(1,)](X, choices)))


@triton.jit
def adds(X):
    tl.store(X, tl.load(X) + tl.load(X + 1))


def additions(pointer):
    adds.device_caches.clear()
    return re.findall(r"arith.addf .* : (\S+)", adds.warmup(tensor(0x1000, pointer), grid=(1,)).asm["ttir"])


@case
def rule_of_types_that_is_replaced():
    base = TritonSemantic.computation_type_impl

    def wide(self, *arguments):
        found = base(self, *arguments)
        return tl.float32 if found == tl.bfloat16 else found

    TritonSemantic.computation_type_impl = wide
    knobs.compilation.always_compile = True
    try:
        return additions("bfloat16")
    finally:
        TritonSemantic.computation_type_impl = base
        knobs.compilation.always_compile = False


@triton.jit
def subtracts(X, n, m):
    tl.store(X, n - m)


@case
def look_up_of_names_that_is_replaced():
    base = CodeGenerator._define_name_lookup

    def swapped(self):
        look = base(self)
        return lambda name: look("n" if name == "m" else name)

    CodeGenerator._define_name_lookup = swapped
    knobs.compilation.always_compile = True
    try:
        text = subtracts.warmup(X, 5, 6, grid=(1,)).asm["ttir"]
        return "arith.subi %n, %n" in text or "arith.constant 0" in text
    finally:
        CodeGenerator._define_name_lookup = base
        knobs.compilation.always_compile = False


@tl.core.builtin
def change(c, _semantic=None):
    c.value = 42


@triton.jit
def changes_in_a_branch(X, n):
    c: tl.constexpr = 3
    if n > 5:
        change(c)
        tl.store(X, c)
    else:
        tl.store(X + 1, c)
    tl.store(X + 2, c)


@case
def constant_that_a_builtin_changes():
    text = changes_in_a_branch[(1,)](X, 7).asm["ttir"]
    return re.findall(r"tt.store %\w+, (%c\w+) ", text)


def made_around(value):
    c = tl.constexpr(value)

    @triton.jit
    def kernel(X, n):
        tl.store(X, c)

    def bind(to):
        nonlocal c
        c = to

    return kernel, bind


@case
def variable_that_no_kernel_can_read_any_more():
    kernel, bind = made_around(41)
    first = stored(kernel[(1,)](X, 5))
    bind(43)
    return first, [outcome(lambda n=n: stored(kernel[(1,)](X, n))) for n in (16, 2**40)]


@case
def kernels_that_were_dropped():
    """None comes back, also not of what a variable was bound to before."""
    kernel, bind = made_around(41)
    for value in (41, 43):
        bind(tl.constexpr(value))
        kernel[(1,)](X, 5)
    kernel.device_caches.clear()
    own = knobs.language.default_fp_fusion
    knobs.language.default_fp_fusion = not own
    try:
        kernel[(1,)](X, 5)
        bind(tl.constexpr(41))
        return kernel[(1,)](X, 5).metadata.enable_fp_fusion is not own
    finally:
        knobs.language.default_fp_fusion = own


@triton.constexpr_function
def first_of(values):
    return list(values)[0]  # noqa: RUF015


@triton.jit
def stores_first(X, C: tl.constexpr):
    value: tl.constexpr = first_of(C)
    tl.store(X, value)


@triton.constexpr_function
def milliseconds(value):
    return int(value.astype("m8[ms]").astype(int))


@triton.jit
def stores_milliseconds(X, C: tl.constexpr):
    value: tl.constexpr = milliseconds(C)
    tl.store(X, value)


def keys_on_disk(kernel, *constants):
    hashes = set()
    for constant in constants:
        kernel.device_caches.clear()
        hashes.add(kernel.warmup(X, constant, grid=(1,)).hash)
    return len(hashes)


@case
def order_of_a_set():
    return keys_on_disk(stores_first, frozenset([0, 8]), frozenset([8, 0]))


@case
def unit_of_a_time():
    return keys_on_disk(stores_milliseconds, numpy.timedelta64(1, "s"), numpy.timedelta64(1, "m"))


@dataclasses.dataclass(frozen=True)
class Scaled:
    scale: float


@triton.jit
def ignores(X, C: tl.constexpr):
    tl.store(X, 1)


@case
def number_that_is_none_in_an_object():
    for _ in range(4):
        ignores[(1,)](X, Scaled(float("nan")))
    return len(ignores.device_caches[0][0])


def function_with(c):
    @triton.jit
    def function(x):
        return x + c

    return function


@triton.jit
def calls_constant(X, F: tl.constexpr):
    tl.store(X, F(40))


@case
def functions_in_constexpr():
    return [stored(calls_constant[(1,)](X, tl.constexpr(function_with(tl.constexpr(n))))) for n in (1, 2)]


def class_with(n):
    @tl.core._aggregate
    class Pair:
        value: tl.tensor

        @triton.constexpr_function
        def __init__(self, value):
            self.value = value

        @triton.jit
        def get(self):
            return self.value + n

    return Pair


One, Two = class_with(tl.constexpr(1)), class_with(tl.constexpr(2))


@triton.jit
def get(pair):
    return pair.get()


@triton.jit
def gets(X):
    tl.store(X, get(One(tl.load(X))) * get(Two(tl.load(X))))


@case
def aggregates_of_one_name():
    return sorted(stored(gets[(1,)](X)))


def policy_with(n):
    class Policy:
        @staticmethod
        @triton.jit
        def apply(x):
            return x + n

        @triton.jit
        def also(x):  # noqa: N805
            return x * n

    return Policy


@triton.jit
def applies(X, P: tl.constexpr):
    tl.store(X, P.apply(40))


@case
def functions_of_kernels_in_a_class():
    return keys_on_disk(applies, policy_with(tl.constexpr(1)), policy_with(tl.constexpr(2)))


print(json.dumps({name: outcome(function) for name, function in CASES.items()}))
