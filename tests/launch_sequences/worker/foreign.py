"""Objects of other software: tensors, constants, numbers and grids that tell a watcher what they are asked."""
# mypy: ignore-errors

import collections
import enum

from tests.fake_driver.tensors import TensorLike, dtype_named

Pair = collections.namedtuple("Pair", ["left", "right"])


class Level(enum.IntEnum):
    SEVEN = 7


class Integer(int):
    pass


class Real(float):
    pass


class Text(str):
    __slots__ = ()


class Items(tuple):
    __slots__ = ()


class Tensor:
    """A tensor that tells a watcher what it is asked.

    :param watcher: has ``asked(question, name)``
    """

    def __init__(self, watcher, name, address, dtype, shape=(64, 64)):
        self.watcher, self.name, self.address, self.element, self.shape = watcher, name, address, dtype, shape
        self.fresh = False

    def data_ptr(self):
        self.watcher.asked("data_ptr", self.name)
        answer = self.address
        self.watcher.asked("answered data_ptr", self.name)
        return answer

    @property
    def dtype(self):
        self.watcher.asked("dtype", self.name)
        # A text that nobody else holds, as wrappers of arrays make it, or the one object for the type, as torch has it.
        return "".join(["torch.", self.element]) if self.fresh else dtype_named(self.element)

    def stride(self, dimension=None):
        strides = (self.shape[-1], 1)
        return strides if dimension is None else strides[dimension]


class OtherTensor(Tensor):
    pass


class Silent(TensorLike):
    """A tensor that tells nobody, with plain attributes."""

    @property
    def element(self):
        return self.dtype.name

    @element.setter
    def element(self, name):
        self.dtype = dtype_named(name)


class OtherSilent(Silent):
    pass


class Proxy:
    """A tensor that has nothing itself and hands everything on."""

    def __init__(self, tensor):
        self.__dict__["_tensor"] = tensor

    def __getattr__(self, name):
        return getattr(self.__dict__["_tensor"], name)

    def __setattr__(self, name, value):
        setattr(self.__dict__["_tensor"], name, value)


class Loud(type):
    """A metaclass that tells of questions to the class, and refuses the unusual ones."""

    def __getattribute__(cls, name):
        if name in {"__eq__", "__hash__", "fresh"}:
            raise LookupError(name)
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, instance):
        raise LookupError("instance check")

    def __eq__(cls, other):
        raise LookupError("equality of classes")

    __hash__ = type.__hash__


class LoudTensor(Tensor, metaclass=Loud):
    pass


class Pretender(Tensor):
    """A tensor that says it is of another class."""

    @property
    def __class__(self):
        return Silent


def watched_number(watcher, name, number):
    """Make an integer of a class of its own that tells what it is asked."""

    class Number(int):
        def __index__(self):
            watcher.asked("index", name)
            return int.__index__(self)

        def __eq__(self, other):
            watcher.asked("eq", name)
            return int.__eq__(self, other)

        def __bool__(self):
            watcher.asked("bool", name)
            return int.__bool__(self)

        def __mod__(self, other):
            watcher.asked("mod", name)
            return int.__mod__(self, other)

        __hash__ = int.__hash__

    return Number(number)


class Constant:
    """A constant with an equality of its own; ``uses`` is no part of it.

    :cvar watcher: has ``asked(question, name)``; not an attribute of each constant, through which all else would be found
    """

    watcher = None

    def __init__(self, name, size):
        self.name, self.size, self.uses = name, size, 0

    def __eq__(self, other):
        self.watcher.asked("eq", self.name)
        return isinstance(other, Constant) and self.size == other.size

    def __hash__(self):
        self.watcher.asked("hash", self.name)
        return hash(self.size)

    def __repr__(self):
        return f"Constant({self.size})"


class Extents:
    """A grid that is a sequence of a class of its own."""

    def __init__(self, watcher, extents):
        self.watcher, self.extents = watcher, extents

    def __len__(self):
        self.watcher.happened("len of grid")
        return len(self.extents)

    def __getitem__(self, dimension):
        self.watcher.happened("item of grid", dimension)
        return self.extents[dimension]


TENSORS = {
    "watched": Tensor,
    "fresh": Tensor,
    "other": OtherTensor,
    "loud": LoudTensor,
    "pretender": Pretender,
    "proxy": Tensor,
    "silent": Silent,
    "other silent": OtherSilent,
}


def make_tensor(watcher, name, kind, address, dtype):
    """Make a tensor of one of the kinds above."""
    if kind.endswith("silent"):
        return TENSORS[kind](address, dtype_named(dtype), (64, 64))
    made = TENSORS[kind](watcher, name, address, dtype)
    if kind == "fresh":
        made.fresh = True
    return Proxy(made) if kind == "proxy" else made


SUBCLASSES = {"int": Integer, "float": Real, "str": Text, "tuple": Items}


def numpy_number(kind, number):
    """Make a scalar of NumPy."""
    import numpy

    return getattr(numpy, kind)(number)
