"""Print the keys of one program whose objects hold what differs in every process: hashes, times, the rank, the process.

An argument changes what the code of the kernels depends on, which must change their keys.
"""

import dataclasses
import os
import sys
import time
import types

import common
import triton.language as tl
from triton.compiler import ASTSource

import triton

START, RANK = time.time(), int(os.environ.get("RANK", "0"))
SIZE = int(sys.argv[1])


class Lazy:
    """Works its hash out when it is asked for it."""

    def __init__(self, size):
        self.size, self.name, self._hash = size, "lazy", None
        hash(self)

    def __eq__(self, other):
        return self.size == other.size and self.name == other.name

    def __hash__(self):
        if self._hash is None:
            self._hash = hash((self.size, self.name))
        return self._hash

    def __repr__(self):
        return f"Lazy({self.size})"


class Eager:
    """Compares the hashes first."""

    def __init__(self, size):
        self.size, self.name = size, "eager"
        self._hash = hash((size, self.name))

    def __eq__(self, other):
        return self._hash == other._hash and self._key() == other._key()

    def _key(self):
        return self.size, self.name

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f"Eager({self.size})"


@dataclasses.dataclass(frozen=True)
class Frozen:
    size: int
    created: float = dataclasses.field(compare=False, repr=False, default=START)

    def __hash__(self):
        object.__setattr__(self, "known_hash", hash(("frozen", self.size)))
        return self.known_hash


class Stamped:
    """Says what it is in its text."""

    def __init__(self, size):
        self.size = size
        self.created, self.rank, self.process = time.time(), RANK, os.getpid()

    def __repr__(self):
        return f"Stamped({self.size})"

    def age(self):
        return START - self.created


class Compared(Stamped):
    """Holds the same, and is compared."""

    def __eq__(self, other):
        return isinstance(other, Compared) and self.size == other.size

    def __hash__(self):
        return hash(self.size)


class Printing:
    """Has methods for people."""

    def __init__(self, size):
        self.size = size

    def __repr__(self):
        return f"Printing({self.size})"

    def log(self):
        print(RANK, START, self.size)


class Remembering:
    """Fills as the program runs."""

    def __init__(self, size):
        self.size, self.known, self.uses = size, {time.time(): RANK}, os.getpid()

    def __eq__(self, other):
        return self.size == other.size

    def __hash__(self):
        return hash(self.size)

    def __repr__(self):
        return f"Remembering({self.size})"


KINDS = (Lazy, Eager, Frozen, Stamped, Compared, Printing, Remembering)
settings = types.ModuleType("settings")


@triton.constexpr_function
def size_of(holder):
    return holder.size


@triton.jit
def uses(p, N: tl.constexpr):
    tl.store(p, size_of(N))


def named(specialization):
    """Name a kernel, and say so to people."""
    if RANK < 0 or START < 0:
        print(RANK, START)
    return f"kernel_{specialization.constants['N']}"


@triton.jit(repr=named)
def renamed(p, N: tl.constexpr):
    tl.store(p, N)


def reading(value):
    constant = tl.constexpr(value)

    @triton.jit
    def reads(p):
        tl.store(p, size_of(constant))

    return reads


def key(kernel, **constants):
    signature = {"p": "*i32", **dict.fromkeys(constants, "constexpr")}
    return ASTSource(kernel, signature, constants).hash()


if __name__ == "__main__":
    keys = {"renamed": key(renamed, N=SIZE)}
    for kind in KINDS:
        keys[f"constant {kind.__name__}"] = key(uses, N=kind(SIZE))
        keys[f"in a tuple {kind.__name__}"] = key(uses, N=(kind(SIZE), 1))
        keys[f"captured {kind.__name__}"] = key(reading(kind(SIZE)))
    common.report(keys)
