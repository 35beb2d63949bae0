"""Launch a kernel with pairs of constants that are equal but not the same: does the second call get its own code?"""

import dataclasses
import enum
import fractions
import functools
import gc
import re
import sys
import tempfile
import time
import weakref
import zlib
from collections import namedtuple

import common
import triton.language as tl
from triton.compiler.code_generator import CodeGenerator
from triton.runtime.jit import MockTensor

import triton

POINTER = MockTensor(tl.int64)


class Driver:
    """Just enough of a driver for ``warmup``."""

    def get_current_target(self):
        return common.TARGET

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


class Mode(enum.IntEnum):
    A = 1


class Word(str, enum.Enum):  # noqa: UP042 (StrEnum is younger than Python 3.10)
    A = "a"


class Plain:
    """Equal when the fields are; the text of one says nothing of them."""

    def __init__(self, x, y=0):
        self.x, self.y = x, y

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return hash(self.x)

    def __repr__(self):
        return "Plain"


@dataclasses.dataclass(frozen=True)
class Shape:
    rows: object


class Number(int):
    pass


class Hidden(int):
    def __repr__(self):
        return "hidden"


class Named(tuple):
    """A tuple with an attribute that equality leaves out."""

    def __new__(cls, items, name):
        self = super().__new__(cls, items)
        self.name = name
        return self


Point, Other = namedtuple("Point", "x y"), namedtuple("Other", "x y")


def added(value, more):
    return value + more


PAIRS = {
    "int_bool": (1, True),
    "bool_int": (True, 1),
    "int_float": (1, 1.0),
    "float_bool": (1.0, True),
    "zero_false": (0, False),
    "zeros": (0, 0.0),
    "signs": (0.0, -0.0),
    "float_complex": (1.0, 1 + 0j),
    "signs_complex": (complex(0.0, 0.0), complex(0.0, -0.0)),
    "in_tuple": ((1, 2), (True, 2)),
    "in_tuple_float": ((1, 2), (1, 2.0)),
    "signs_in_tuple": ((0.0,), (-0.0,)),
    "nested": (((1,), 2), ((1.0,), 2)),
    "named": (Point(1, 2), (1, 2)),
    "other_name": (Point(1, 2), Other(1, 2)),
    "in_named": (Point(1, 1), Point(1, True)),
    "enumeration": (1, Mode.A),
    "enumeration_first": (Mode.A, 1),
    "word": ("a", Word.A),
    "subclass": (1, Number(1)),
    "in_set": (frozenset({1}), frozenset({True})),
    "dataclass": (Shape(1), Shape(True)),
    "dataclass_in_tuple": ((Shape(1),), (Shape(1.0),)),
    "object": (Plain(1), Plain(True)),
    "other_field": (Plain(1, 2), Plain(1, 3)),
    "same_text": (Plain(1), Plain(2)),
    "hidden_number": (Hidden(1), Hidden(2)),
    "attribute_of_tuple": (Named((1, 2), "a"), Named((1, 2), "b")),
    "partial": (functools.partial(max, 1), functools.partial(max, 2)),
    "partials_of_functions": (functools.partial(added, 1), functools.partial(added, 2)),
    "wrapped": (tl.constexpr(1), tl.constexpr(True)),
    "wrapped_float": (tl.constexpr(1), tl.constexpr(1.0)),
    "wrapped_or_not": (1, tl.constexpr(True)),
    "wrapped_in_tuple": ((tl.constexpr(1),), (tl.constexpr(True),)),
}
try:
    import numpy

    PAIRS.update(
        numpy_float=(1.0, numpy.float32(1)),
        numpy_int=(1, numpy.int64(1)),
        numpy_widths=(numpy.int64(1), numpy.int32(1)),
        numpy_bool=(True, numpy.bool_(True)),
        numpy_signs=(numpy.float32(0), numpy.float32(-0.0)),
    )
except ImportError:
    pass


def text(value):
    """Tell values apart by type and content, the same way in every process."""
    if isinstance(value, tl.constexpr):
        value = value.value
    if isinstance(value, Hidden):
        return f"Hidden {int(value)}"
    if isinstance(value, functools.partial):
        return f"partial {value.args}"
    if isinstance(value, tuple):
        return f"{vars(value) if isinstance(value, Named) else ''}{type(value).__name__}({', '.join(map(text, value))})"
    if isinstance(value, frozenset):
        return f"set({sorted(map(text, value))})"
    if isinstance(value, (Plain, Shape)):
        return f"{type(value).__name__}({[text(item) for item in vars(value).values()]})"
    return f"{type(value).__name__} {value!r}"


def number(value):
    return zlib.crc32(text(value).encode())


@triton.constexpr_function
def number_of(value):
    import __main__ as module  # a kernel may not name an ordinary function

    return module.number(value)


@triton.jit
def kernel(p, N: tl.constexpr):
    tl.store(p, number_of(N))


def launch(value):
    return common.outcome(lambda: number_in(kernel.warmup(POINTER, N=value, grid=(1,))))


@triton.jit
def many(p, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    tl.store(p, A)


def number_in(compiled):
    return re.search(r"arith.constant (-?\d+) : i", compiled.asm["ttir"])[1]


def run(values, shared):
    """Launch with each value, in one process or as if each were the first."""
    numbers = []
    for value in values:
        if not shared:
            kernel.device_caches.clear()
            triton.knobs.cache.dir = tempfile.mkdtemp()
        numbers.append(launch(value))
    return numbers


class Owner:
    """One of the kinds of things that objects hold beside what they are compared by."""

    asked = 0

    def __init__(self, size, **more):
        self.size = size
        self.__dict__.update(more)

    def __eq__(self, other):
        return isinstance(other, Owner) and self.size == other.size

    def __hash__(self):
        return hash(self.size)

    def __repr__(self):
        return f"Owner({self.size})"

    def __getattr__(self, name):
        Owner.asked += 1
        raise AttributeError(name)


@dataclasses.dataclass(frozen=True)
class Uncompared:
    size: int
    more: object = dataclasses.field(compare=False, default=None)

    def __repr__(self):
        return f"Uncompared({self.size})"


class Cached:
    """Remembers its hash."""

    def __init__(self, size):
        self.size = size

    def __eq__(self, other):
        return self._key() == other._key()

    def _key(self):
        return ("cached", self.size)

    def __hash__(self):
        if "_hash" not in self.__dict__:
            self._hash = hash(self._key())
        return self._hash

    def __repr__(self):
        return f"Cached({self.size})"


class Counting(Owner):
    pass


def counting():
    one = Counting(16, uses=0)
    for _ in range(5):
        one.uses += 1
        yield one


class HashedByIdentity(Owner):
    """As people make an object hashable that is compared by something which is not."""

    __hash__ = object.__hash__


EQUAL = {
    "counter": counting,
    "time": lambda: (Owner(16, created=time.time() + turn) for turn in range(5)),
    "memory": lambda: (Owner(16, memo={turn: turn}) for turn in range(5)),
    "array": lambda: (Owner(16, array=bytearray(range(turn, turn + 9))) for turn in range(5)),
    "uncompared": lambda: (Uncompared(16, object()) for _ in range(5)),
    "cached": lambda: (Cached(16) for _ in range(5)),
    "hashed_by_identity": lambda: (HashedByIdentity(16) for _ in range(5)),
    "in_tuple": lambda: ((Owner(16, turn=turn), 1) for turn in range(5)),
}


@triton.jit
def ignoring(p, N: tl.constexpr):
    tl.store(p, 1)


@triton.jit
def using(p, N: tl.constexpr):
    tl.store(p, N)


def kernels_of_equal():
    """Launch with equal objects: how many kernels are there?"""
    counts = {}
    for name, values in EQUAL.items():
        ignoring.device_caches.clear()
        for value in values():
            ignoring.warmup(POINTER, N=value, grid=(1,))
        counts[name] = len(ignoring.device_caches[0][0])
    return counts


def asked_of_equal():
    """Count what an object is asked for that it does not have, in a launch with one that equals another."""
    ignoring.device_caches.clear()
    ignoring.warmup(POINTER, N=Owner(16), grid=(1,))
    Owner.asked = 0
    ignoring.warmup(POINTER, N=Owner(16), grid=(1,))
    return Owner.asked


@triton.jit
def three(n):
    return n, (n, n)


@triton.jit
def nested(X, n):
    a, (b, c) = three(n)
    tl.store(X, a + b + c)


def owners_alive():
    """Launch with equal objects: how many does Triton hold?"""
    ignoring.device_caches.clear()
    kept = []
    for turn in range(5):
        value = Owner(16, turn=turn)
        kept.append(weakref.ref(value))
        ignoring.warmup(POINTER, N=value, grid=(1,))
    del value
    gc.collect()
    return sum(reference() is not None for reference in kept)


UNUSABLE = {"fraction": (1, fractions.Fraction(1))}
if "numpy_bool" in PAIRS:
    UNUSABLE["numpy_bool"] = True, numpy.bool_(True)
    UNUSABLE["numpy_float"] = 0.5, numpy.float32(0.5)


def unusable():
    """Launch with what a kernel cannot use, alone and after the number that it equals."""
    outcomes = {}
    for name, (number, value) in UNUSABLE.items():
        using.device_caches.clear()
        alone = common.outcome(lambda v=value: using.warmup(POINTER, N=v, grid=(1,)))[:23]
        using.device_caches.clear()
        first = using.warmup(POINTER, N=number, grid=(1,))
        after = [common.outcome(lambda v=value: using.warmup(POINTER, N=v, grid=(1,))) for _ in range(2)]
        same = all(kernel is first for kernel in after)
        outcomes[name] = {"alone": alone, "after": "the same kernel" if same else str(after)}
    return outcomes


def passing():
    """Launch with what equals a known constant while compiling fails for once; then again. Say of which type the constants are."""

    def fail(error):
        raise error

    def types(of):
        return [type(value).__name__ for value in of.src.constants.values()]

    compile_hook = "jit_post_compile_hook"
    outcomes = {}
    for name, error in (("hook", ValueError("a hook")), ("memory", MemoryError()), ("file", OSError("a file"))):
        using.device_caches.clear()
        outcomes[name] = [types(using.warmup(POINTER, N=2, grid=(1,)))]
        if name == "hook":
            setattr(triton.knobs.runtime, compile_hook, lambda error=error, **_: fail(error))
        else:
            CodeGenerator.visit_FunctionDef, own = (
                (lambda *_, error=error: fail(error)),
                CodeGenerator.visit_FunctionDef,
            )
            triton.knobs.cache.dir = tempfile.mkdtemp()
        outcomes[name].append(common.outcome(lambda: types(using.warmup(POINTER, N=2.0, grid=(1,))))[:23])
        setattr(triton.knobs.runtime, compile_hook, None)
        if name != "hook":
            CodeGenerator.visit_FunctionDef = own
        outcomes[name].append(types(using.warmup(POINTER, N=2.0, grid=(1,))))
    return outcomes


def nested_target():
    """Say what comes of a function that assigns to a tuple in a tuple, three times."""
    return [common.outcome(lambda: nested.warmup(POINTER, 64, grid=(1,)) and "ran")[:16] for _ in range(3)]


def calls_of_a_launch():
    """Count the calls of Python functions in the second launch with constants of every day."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    many.warmup(POINTER, 1, "relu", None, 64, grid=(1,))
    sys.setprofile(note)
    many.warmup(POINTER, 1, "relu", None, 64, grid=(1,))
    sys.setprofile(None)
    return count


if __name__ == "__main__":
    triton.runtime.driver.set_active(Driver())
    result = {}
    for name, values in PAIRS.items():
        alone = run(values, shared=False)
        kernel.device_caches.clear()
        triton.knobs.cache.dir = tempfile.mkdtemp()
        shared = run((*values, *values), shared=True)
        result[name] = {"alone": alone, "shared": shared, "kernels": len(kernel.device_caches[0][0])}
    kernel.device_caches.clear()
    for value in (3, 2.5, True, "relu", None, tl.float16, (1, "a", tl.int8), tl.constexpr(4)):
        kernel.warmup(POINTER, N=value, grid=(1,))
    texts = list(kernel.device_caches[0][0])
    report = {"pairs": result, "texts": texts, "calls": calls_of_a_launch(), "equality": kernels_of_equal()}
    report |= {"asked": asked_of_equal(), "alive": owners_alive(), "unusable": unusable()}
    common.report({**report, "passing": passing(), "nested": nested_target()})
