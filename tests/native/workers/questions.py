"""What the driver, arguments and classes are asked for launches, and what happens where these change their answers; prints JSON.

Argument: another build of the extension, perhaps.
"""
# mypy: ignore-errors

import collections
import gc
import json
import sys
import weakref

import triton.language as tl
from triton.runtime.driver import driver as drivers

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import DtypeLike, TensorLike
from tests.native.workers.extension import load_extension

FLOAT = DtypeLike("float32")


@triton.jit
def one(x):
    return x + 1


@triton.jit
def plain(pointer, count, BLOCK: tl.constexpr):  # noqa: N803
    tl.store(pointer, count)


@triton.jit
def called(pointer, FUNCTION: tl.constexpr):  # noqa: N803
    tl.store(pointer, FUNCTION(1))


@triton.jit
def pairs(pair, count):
    tl.store(pair[0], count)


@triton.jit
def unused(value, BLOCK: tl.constexpr):  # noqa: N803
    pass


@triton.jit
def specialised(pointer):
    tl.store(pointer, 1)


def tensor(address=4096, kind=TensorLike):
    return kind(address, FLOAT)


def outcome(action):
    try:
        return action()
    except Exception as error:
        return [type(error).__name__, str(error)[:100]]


def streams_in_turn(library):
    """A driver that gives another stream for each question: the streams of calls that the fast path knows, or leaves to the base."""
    own, given = drivers.active.get_current_stream, iter(range(1, 1000))
    drivers.active.get_current_stream = lambda _device: next(given)
    for _ in range(6):
        plain[(1,)](tensor(), 5, BLOCK=64)
    for _ in range(6):
        called[(1,)](tensor(), one)
    for block in (32, 128, 256):
        plain[(1,)](tensor(), 5, BLOCK=block)
        plain[lambda _: (1,)](tensor(), 5, BLOCK=block)
    for _ in range(3):
        outcome(lambda: plain[(1,)](tensor(), (1, 2), BLOCK=64))
        outcome(lambda: plain[(1,)](tensor(), 5, BLOCK=64, unknown=1))
        plain.run(tensor(), 5, BLOCK=64, grid=(1,), warmup=False)
    drivers.active.get_current_stream = own
    return [launch.stream for launch in library.launches()]


def refused(_library):
    """What a tensor is asked in a call that the base refuses because of a name."""
    asked = []

    class Telling:
        @property
        def dtype(self):
            asked.append("dtype")
            return FLOAT

        def data_ptr(self):
            asked.append("data_ptr")
            return 4096

    seen = []
    for options in ({}, {"grid": 1}, {"warmup": 1}, {"self": 1}, {"count": 5}, {"pointer": 3}, {}):
        asked.clear()
        message = outcome(lambda options=options: str(plain[(1,)](Telling(), 64, 64, **options).name))
        seen.append([message, list(asked)])
    return seen[1:]  # the first one compiles


def changed_tensors(_library):
    """A class of tensors that loses its method."""

    class Losing:
        dtype = FLOAT

        def data_ptr(self):
            return 4096

    def launch():
        return outcome(lambda: str(plain[(1,)](Losing(), 5, BLOCK=64).name))

    seen = [launch(), launch(), launch()]
    method = Losing.data_ptr
    del Losing.data_ptr
    seen += [launch(), launch()]
    Losing.data_ptr = property(lambda _: lambda: 4096)
    seen += [launch(), launch()]
    Losing.data_ptr = method
    return [*seen, launch()]


def changed_tuples(library):
    """Classes of tuples that begin to show other items, or to equal others."""

    class Shown(tuple):
        pass

    class Equal(tuple):
        pass

    def launch(value):
        library.launches()
        found = outcome(lambda: str(unused[(1,)](value, BLOCK=64).src.signature))
        return [found, [[each.hex() for each in launch.parameters[:2]] for launch in library.launches()]]

    def constant(value):
        return str(unused[(1,)](tensor(), BLOCK=value).src.constants)

    seen = [launch(Shown((1, 2))), launch(Shown((1, 2)))]
    Shown.__len__, Shown.__iter__, Shown.__getitem__ = lambda _: 1, lambda _: iter((5,)), lambda _self, _at: 5
    seen += [launch(Shown((1, 2))), launch(Shown((1, 2)))]
    seen += [constant(Equal((1, 2))), constant(Equal((1, 2))), constant(Equal((3, 4))), constant(Equal((3, 4)))]
    Equal.__eq__, Equal.__hash__ = lambda _self, _other: True, lambda _: 1
    return [*seen, *[constant(Equal(value)) for value in ((7, 8), (9, 10), (7, 8), (9, 10), (9, 10))]]


class Pair(collections.namedtuple("Pair", ["left", "right"])):
    """A pair that counts how often one is made."""

    made = 0

    def __new__(cls, *values):
        cls.made += 1
        return super().__new__(cls, *values)


def made_tuples(_library):
    seen = []
    for _ in range(4):
        value = Pair(tensor(), 5)
        Pair.made = 0
        pairs[(1,)](value, 3)
        seen.append(Pair.made)
    return seen


def metaclasses(_library):
    """A class of tensors whose metaclass wants no questions."""
    asked = []

    class Shy(type):
        def __getattribute__(cls, name):
            asked.append(name)
            raise RuntimeError(name)

    class Hidden(metaclass=Shy):
        def __init__(self):
            self.dtype = FLOAT

        def data_ptr(self):
            return 4096

    return [outcome(lambda: str(plain[(1,)](Hidden(), 5, BLOCK=64).name)) for _ in range(4)] + asked


def changed_parameters(_library):
    """A parameter that is not to be specialised any more, after the binder was made."""

    def launch(address):
        return str(specialised[(1,)](tensor(address)).src.attrs)

    specialised.warmup(tensor(4096), grid=(1,))
    specialised.warmup(tensor(4104), grid=(1,))
    specialised.params[0].do_not_specialize = True
    return [launch(address) for address in (4096, 4104, 4096, 4104, 4096)]


def dropped_kernels(_library):
    """Whether kernels are gone that were taken out of a function's caches, after one of them was made and launched again."""
    plain.device_caches.clear()
    kernels = [weakref.ref(plain[(1,)](tensor(), 5, BLOCK=block)) for block in (16, 32, 64) for _ in range(3)]
    plain.device_caches[0][0].clear()
    for _ in range(2):
        plain[(1,)](tensor(), 5, BLOCK=16)
    gc.collect()
    return [kernel() is None for kernel in kernels]


def results_of_grids(_library):
    """A grid that gives its kernel a result."""
    kernel, other = (plain[(1,)](tensor(), 5, BLOCK=block) for block in (64, 128))

    def grid(_):
        kernel.result = lambda: other
        return (1,)

    for _ in range(3):
        plain[(1,)](tensor(), 5, BLOCK=64)
    answer = plain[grid](tensor(), 5, BLOCK=64)
    del kernel.result
    return [answer is kernel, answer is other]


def emptied_calls(_library):
    """A tensor that empties the dictionary of the call that it is in."""

    class Emptying:
        on = False

        @property
        def dtype(self):
            if self.on:
                frame = sys._getframe(1)
                for name in ("kwargs", "options"):
                    if name in frame.f_locals:
                        frame.f_locals[name].clear()
            return FLOAT

        def data_ptr(self):
            return 4096

    value = Emptying()
    for _ in range(3):
        plain[(1,)](value, count=[5][0], BLOCK=64)
    value.on = True
    number = 10**30
    return [
        outcome(lambda: plain[(1,)](value, count=number // 10**29 * 1000, BLOCK=64) and "ran")[:1] for _ in range(3)
    ]


PARTS = (
    streams_in_turn, refused, changed_tensors, changed_tuples, made_tuples, metaclasses, changed_parameters, dropped_kernels,
    results_of_grids,
)  # fmt: skip


def main():
    if sys.argv[1:]:
        load_extension(sys.argv[1])
    fake = install()
    report = {part.__name__: part(fake.library) for part in PARTS}
    emptied_calls(fake.library)  # must come to an end; how depends on who empties what
    print(json.dumps(report))


if __name__ == "__main__":
    main()
