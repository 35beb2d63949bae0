"""The module that is being written, and what is known at a place in a function of it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.fuzz.kernels.choices import Choices
from tests.fuzz.kernels.kinds import Constant, Kind, Tensor
from tests.fuzz.kernels.program import Holes

__all__ = ["ANY", "AggregateClass", "Context", "Function", "Module", "Parameter"]

#: The dimension of a function that takes blocks and scalars of every shape.
ANY = "*"
_HEAD = """\
import dataclasses
import enum
import types
from typing import NamedTuple

{languages}
from triton.language.core import _aggregate as aggregate

settings = types.ModuleType("settings")


@triton.constexpr_function
def number_of(value):
    import zlib

    return zlib.crc32(f"{{type(value).__name__}} {{value!r}}".encode()) % 97


@triton.jit
def noted(p, value: tl.constexpr):
    tl.store(p, number_of(value))
"""
_TRITON = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice"
#: Gluon is written with the same names.
_GLUON = "from triton.experimental import gluon as triton\nfrom triton.experimental.gluon import language as tl"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function of the program.

    :param default: The text of its default.
    """

    name: str
    kind: Kind
    default: str | None = None


@dataclass(frozen=True)
class Function:
    """A function that others may call.

    :param name: How it is named where it is called.
    :param parameters: What it takes.
    :param result: What it gives; ``None`` for nothing.
    :param pure: Whether it neither reads nor writes memory nor looks at where it runs.
    :param apart: Whether it is marked ``noinline``: only scalars can be passed to it.
    """

    name: str
    parameters: Sequence[Parameter]
    result: Kind | None
    pure: bool = False
    apart: bool = False


@dataclass(frozen=True)
class AggregateClass:
    """An aggregate of the program's own.

    :param name: The class.
    :param fields: Names and types of its fields.
    :param methods: Its methods; the first parameter is the instance.
    """

    name: str
    fields: tuple[tuple[str, Kind], ...]
    methods: Sequence[Function] = ()


class Module:
    """A module that is being written.

    :param choices: The decisions.
    :param gluon: Whether it is written in Gluon.
    """

    def __init__(self, choices: Choices, *, gluon: bool = False) -> None:
        self.choices = choices
        self.gluon = gluon
        self.holes = Holes()
        self.lines = [_HEAD.format(languages=_GLUON if gluon else _TRITON)]
        #: The layouts of blocks in Gluon, by their dimensions.
        self.layouts: dict[tuple[str, ...], str] = {}
        #: The sizes of the dimensions, by name.
        self.sizes: dict[str, int] = {}
        #: Constants that every function can read, and how.
        self.readable: list[tuple[Constant, str]] = []
        #: Those of the texts that give a value as Python has it.
        self.raw: set[str] = set()
        self.functions: list[Function] = []
        self.aggregates: list[AggregateClass] = []
        #: Named tuples that functions give: the class and its fields.
        self.named_tuples: list[tuple[str, tuple[str, ...]]] = []
        #: The data types that the kernel has pointers to.
        self.pointers: list[str] = []
        #: How many more expressions the program may have.
        self.budget = 200
        self._numbers = itertools.count()

    def name(self, prefix: str) -> str:
        """Make a name that nothing else has."""
        return f"{prefix}{next(self._numbers)}"

    def add(self, text: str) -> None:
        """Append lines to the module."""
        self.lines.append(text)

    def hole(self, options: Sequence[str], place: str, wider: Sequence[str] = ()) -> str:
        """Choose one of several texts that may be exchanged for each other.

        :param options: What may stand here.
        :param place: What kind of place it is.
        :param wider: What it may be exchanged for besides.
        """
        return self.holes.add(self.choices.pick(options), [*options, *wider], place)


@dataclass
class Context:
    """What is known at a place in a function.

    :param module: The module.
    :param variables: The variables by name.
    :param constants: Constants that only this function can read, and how.
    :param fixed: Variables that may not be assigned.
    :param pure: Whether memory is out of reach, see :class:`Function`.
    :param loops: How many loops are around the place.
    :param unrolled: Whether one of them is a static one.
    :param depth: How many blocks are around the place.
    """

    module: Module
    variables: dict[str, Kind] = field(default_factory=dict)
    constants: list[tuple[Constant, str]] = field(default_factory=list)
    fixed: set[str] = field(default_factory=set)
    pure: bool = False
    loops: int = 0
    unrolled: bool = False
    depth: int = 1

    @property
    def choices(self) -> Choices:
        """The decisions of the program."""
        return self.module.choices

    def inner(self, **changes: object) -> Context:
        """Give the context of a block: what it defines is not known outside."""
        copied = replace(self, variables=dict(self.variables), constants=list(self.constants), fixed=set(self.fixed))
        copied.depth += 1
        for name, value in changes.items():
            setattr(copied, name, value)
        return copied

    def named(self, kind: Kind, *, assignable: bool = False) -> list[str]:
        """Give the variables of a type."""
        return [n for n, k in self.variables.items() if k == kind and not (assignable and n in self.fixed)]

    def tensors(self) -> list[tuple[str, Tensor]]:
        """Give the variables that are numbers of run time."""
        return [(n, k) for n, k in self.variables.items() if isinstance(k, Tensor) and not k.dtype.startswith("*")]

    def spend(self) -> bool:
        """Use up a part of the size that the program may have; say whether there was something left."""
        self.module.budget -= 1
        return self.module.budget > 0
