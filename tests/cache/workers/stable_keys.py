"""Print the keys of one program. The argument decides what may not matter: which of two scopes lies lower in memory, and
which function is asked first."""

import dataclasses
import enum
import sys
import types

import common
import triton.language as tl
from triton.compiler import ASTSource

import triton

turn = int(sys.argv[1]) % 2


class Mode(enum.Enum):
    FAST = "fast"


class Plain:
    def __init__(self, rows):
        self.rows, self.names = rows, {"c", "a", "b"}

    def doubled(self):
        return 2 * self.rows


@dataclasses.dataclass(frozen=True)
class Shape:
    rows: int
    names: frozenset


CONSTANTS = {
    "word": "tf32",
    "set": frozenset({"x", "y", "z", "u", "v"}),
    "object": Plain(3),
    "method": Plain(3).doubled,
    "function": lambda x: x + 1,
    "dataclass": Shape(3, frozenset({"x", "y", "z", "u", "v"})),
    "enumeration": Mode.FAST,
    "nested": (Plain(1), {"k": Plain(2)}, [Mode.FAST]),
    "class": Plain,
    "type": tl.float16,
}


@triton.jit
def called(N: tl.constexpr):
    return N + SIZE


@triton.jit
def caller(p):
    tl.store(p, called(1) + SIZE)


# The same name in two modules; the addresses of the scopes come in one order or in the other.
scopes = sorted(({}, {}), key=id, reverse=bool(turn))
for scope, function, value in zip(scopes, (called, caller), (3, 4)):
    scope.update(vars(sys.modules[__name__]), SIZE=tl.constexpr(value), tl=tl)
    function.__globals__ = scope

if turn:
    called.cache_key
keys = {"caller": caller.cache_key, "called": called.cache_key}
for name, value in CONSTANTS.items():
    keys[name] = ASTSource(common.kernel, {"p": "*i32", "N": "constexpr"}, {"N": value}).hash()

holder = types.SimpleNamespace(object=tl.constexpr(Plain(3)), set=tl.constexpr(frozenset({"x", "y", "z", "u", "v"})))
O, S = holder.object, holder.set


@triton.jit
def names_object(p):
    tl.store(p, O)


@triton.jit
def names_set(p):
    tl.store(p, S)


settings = types.ModuleType("settings")
settings.items = [object(), Plain(3), {"f": lambda x: x}, frozenset({"x", "y", "z"})]
settings.environment = __import__("os").environ


@triton.jit
def reads_items(p, unset=settings.items[0], environment=settings.environment):
    tl.store(p, len(settings.items) + len(settings.environment))


keys["items"] = reads_items.cache_key


@triton.constexpr_function
def doubled_of(holder):
    return holder.doubled()


@triton.jit
def asks(p, N: tl.constexpr):
    tl.store(p, doubled_of(N))


keys["asked"] = ASTSource(asks, {"p": "*i32", "N": "constexpr"}, {"N": Plain(3)}).hash()
keys.update(global_object=names_object.cache_key, global_set=names_set.cache_key)
common.report(keys)
