"""Arguments that mean no good: of wrong kinds, beyond limits, lying, raising, and doing something behind the caller's back."""
# mypy: ignore-errors

import gc
import types
import weakref

from tests.fake_driver.tensors import DtypeLike, TensorLike

EXCEPTIONS = [
    TypeError,
    ValueError,
    KeyError,
    AttributeError,
    RecursionError,
    MemoryError,
    StopIteration,
    KeyboardInterrupt,
]
EXCEPTIONS += [SystemExit, OverflowError, SystemError, TimeoutError]
DTYPES = [DtypeLike("float32"), DtypeLike("float16")]
DEEPEST = 3


class Integer(int):
    """An integer that lies."""

    def __index__(self):
        return 7

    def __int__(self):
        raise TypeError

    def __eq__(self, other):
        raise ValueError

    __hash__ = int.__hash__


class Text(str):
    __slots__ = ()

    def __eq__(self, other):
        raise ValueError

    __hash__ = str.__hash__


class Real(float):
    def __float__(self):
        raise KeyError


class Row(tuple):
    __slots__ = ()

    def __len__(self):
        return 10**6

    def __getitem__(self, index):
        raise LookupError

    def __iter__(self):
        return iter(range(10**6))


class Endless:
    """Endlessly deep. Of one that is endlessly long the base makes a list as well, until the memory is full."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        if index >= 10**5:
            raise IndexError
        return self


class Short:
    """A sequence that is shorter when it is looked at."""

    def __len__(self):
        return 5

    def __getitem__(self, index):
        raise IndexError

    def keys(self):
        return [1]


def deep(levels):
    made = ()
    for _ in range(levels):
        made = (made,)
    return made


def looped():
    made = [1]
    made.append(made)
    return made


def dead_proxy():
    class Gone:
        pass

    return weakref.proxy(Gone())


class Hostile:
    """Makes values; `chaos` is what they do when they are looked at.

    :ivar mischief: functions that chaos chooses from, besides its own
    """

    def __init__(self, random):
        self.random, self.depth, self.mischief, self.kept = random, 0, [], []

    def chaos(self):
        """Do something that code under a caller's feet may do."""
        random = self.random
        chosen = random.random()
        if chosen < 0.5 or self.depth >= DEEPEST:
            return
        if chosen < 0.65:
            raise random.choice(EXCEPTIONS)("chaos")
        if chosen < 0.7:
            gc.collect(0)
        elif chosen < 0.75:
            self.kept.clear()
        elif self.mischief:
            self.depth += 1
            try:
                random.choice(self.mischief)()
            finally:
                self.depth -= 1

    def integer(self):
        random = self.random
        edge = random.choice([0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 65, 200, 5000])
        return random.choice([1, -1]) * (1 << edge) + random.choice([-1, 0, 0, 1])

    def answer(self):
        """What a method that is to answer a number answers."""
        return self.random.choice([64, -1, 1 << 64, True, None, "64", 1.5, Integer(3), (), self.integer()])

    def indexed(self):
        hostile = self

        class Indexed:
            def __index__(self):
                hostile.chaos()
                return hostile.answer()

            def __float__(self):
                hostile.chaos()
                return hostile.random.choice([1.5, float("nan"), 10**400, "1", Real(2)])

            def __bool__(self):
                hostile.chaos()
                return hostile.random.choice([True, False, 2])

            def __len__(self):
                hostile.chaos()
                return hostile.answer()

            def __getitem__(self, index):
                hostile.chaos()
                return hostile.answer()

            def __call__(self, *arguments):
                hostile.chaos()
                return hostile.value()

            def __hash__(self):
                hostile.chaos()
                return 1

            def __eq__(self, other):
                hostile.chaos()
                return hostile.value()

            def __ne__(self, other):
                hostile.chaos()
                return hostile.value()

        return Indexed()

    def attributed(self):
        """An object all of whose attributes run code."""
        hostile = self

        class Attributed:
            def __getattribute__(self, name):
                hostile.chaos()
                return hostile.value()

        return Attributed()

    def pointer(self):
        hostile = self

        class Pointer(TensorLike):
            def data_ptr(self):
                hostile.chaos()
                if hostile.random.random() < 0.1:
                    self.__dict__.clear()
                return hostile.answer() if hostile.random.random() < 0.3 else 4096

        return Pointer(4096, self.random.choice(DTYPES))

    def sequence(self):
        made = [self.value() for _ in range(self.random.randrange(4))]
        kind = self.random.choice([tuple, list, Row, types.MappingProxyType, iter])
        return kind(dict(enumerate(made))) if kind is types.MappingProxyType else kind(made)

    def value(self):
        """Make any value."""
        random = self.random
        makers = [self.integer] * 4 + [
            self.indexed,
            self.pointer,
            self.sequence,
            self.attributed,
            self.fixed,
            self.fixed,
            self.fixed,
        ]
        self.depth += 1
        try:
            made = random.choice(makers if self.depth < DEEPEST else [self.integer, self.fixed])()
        finally:
            self.depth -= 1
        if random.random() < 0.2:
            self.kept.append(made)
        return made

    def fixed(self):
        random = self.random
        if self.kept and random.random() < 0.2:
            return random.choice(self.kept)
        return random.choice(
            [
                None, True, False, 0, 1, 1.5, float("nan"), float("inf"), 1e-320, -0.0, "", "text", "\udc80", "a\0b", b"", b"12",
                bytearray(3), memoryview(b"1"), 1j, ..., {}, {1: 2}, set(), object(), int, type, len, Integer(5), Text("data_ptr"),
                Real(1.5), Row((1, 2)), Endless(), Short(), deep(3), deep(2000), looped(), types, lambda *_: None, range(3),
                dead_proxy(), NotImplemented, slice(1), types.SimpleNamespace(dtype=1, data_ptr=2), TensorLike(4096, DTYPES[0]),
                TensorLike(0xBAD0 << 48, DTYPES[0]), TensorLike(0xBAD1 << 48, DTYPES[1]), TensorLike(-1, DTYPES[0]),
            ]
        )  # fmt: skip
