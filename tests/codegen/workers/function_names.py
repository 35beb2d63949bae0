"""Call different functions, or one with different constants, that have one name in the base: prints case -> values stored."""

import json
import os
import re

import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton


def returning(value):
    value = tl.constexpr(value)

    @triton.jit
    def function():
        return value

    return function


one, another_one, two = returning(1), returning(1), returning(2)


@triton.jit
def call(F: tl.constexpr):
    return F()


@triton.jit
def call_item(functions):
    return functions[0]()


class Setting:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "Setting"


@triton.constexpr_function
def value_of(setting):
    return setting.value


@triton.jit
def value_in(S: tl.constexpr):
    return value_of(S)


@triton.constexpr_function
def is_text(value):
    return isinstance(value, str)


@tl.core._aggregate
class Mode:
    kind: tl.constexpr

    @triton.constexpr_function
    def __init__(self, kind):
        self.kind = tl.constexpr(kind)

    @triton.jit
    def number(self):
        if is_text(self.kind):
            return 2
        else:
            return 1


@triton.jit(noinline=True)
def store(p, S: tl.constexpr):
    tl.store(p, value_of(S))


FIRST, SECOND = tl.constexpr(Setting(1)), tl.constexpr(Setting(2))


@triton.jit
def functions(p):
    tl.store(p, one())
    tl.store(p, two())
    tl.store(p, one())


@triton.jit
def functions_as_constants(p):
    tl.store(p, call(one))
    tl.store(p, call(two))
    tl.store(p, call(one))


@triton.jit
def functions_in_tuples(p):
    tl.store(p, call_item((one,)))
    tl.store(p, call_item((two,)))
    tl.store(p, call_item((one,)))


@triton.jit
def objects(p):
    tl.store(p, value_in(FIRST))
    tl.store(p, value_in(SECOND))
    tl.store(p, value_in(FIRST))


@triton.jit
def fields(p):
    tl.store(p, Mode(1).number())
    tl.store(p, Mode("1").number())
    tl.store(p, Mode(1).number())


@triton.jit
def same_functions(p):
    tl.store(p, one())
    tl.store(p, another_one())


@triton.jit
def not_inlined(p):
    store(p, FIRST)
    store(p, SECOND)
    store(p, FIRST)


@triton.jit
def first_two(S: tl.constexpr):
    a: tl.constexpr = S[0]
    return 2 if is_text(a) else 1


@triton.jit
def tuples(p):
    ONE: tl.constexpr = (1, 2)
    TEXT: tl.constexpr = ("1", 2)
    tl.store(p, first_two(ONE))
    tl.store(p, first_two(TEXT))
    tl.store(p, first_two(ONE))


@triton.constexpr_function
def length(text):
    return len(text)


@triton.jit
def dots(S: tl.constexpr):
    return 1 if length(S) == 2 else 2


@triton.jit
def texts_with_points(p):
    tl.store(p, dots(".d"))
    tl.store(p, dots("_d_d"))
    tl.store(p, dots(".d"))


SHAPE = tl.constexpr((8, 16))
NOT_A_NUMBER = tl.constexpr(float("nan"))


@triton.jit
def second(S: tl.constexpr):
    return S[1]


@triton.jit
def of_any(S):
    return S[0]


@triton.jit
def count(S: tl.constexpr):
    return len(S)


@triton.jit
def constant_tuples(p, F: tl.constexpr):
    S: tl.constexpr = (8, 8)
    tl.store(p, tl.sum(tl.reshape(tl.zeros(S, tl.int32), (64,))) + second(S))
    EMPTY: tl.constexpr = ()
    tl.store(p, count(EMPTY))
    NESTED: tl.constexpr = ((1, 2), (3, (4, 5)))
    tl.store(p, second(NESTED)[0])
    tl.store(p, second(tl.constexpr((0, 1))))
    if F:
        CHOSEN: tl.constexpr = (5, 6)
    else:
        CHOSEN: tl.constexpr = (7, 8)
    tl.store(p, second(CHOSEN))
    tl.store(p, of_any(CHOSEN))
    tl.store(p, of_any(SHAPE))
    tl.store(p, second(SHAPE))


@triton.jit
def is_number(x: tl.constexpr):
    return 1 if x == x else 2


@triton.jit
def not_numbers(p):
    tl.store(p, is_number(float("nan")))
    tl.store(p, is_number(NOT_A_NUMBER))


class Remembering:
    """An object that fills as it is asked."""

    def __init__(self):
        self.known = {}

    def __repr__(self):
        return "Remembering()"


@triton.constexpr_function
def remembered(table, number):
    return table.known.setdefault(number, len(table.known) + 1)


TABLE = tl.constexpr(Remembering())


@triton.jit
def look(T: tl.constexpr, n: tl.constexpr):
    return remembered(T, n)


@triton.jit
def memories(p):
    tl.store(p, look(TABLE, 10))
    tl.store(p, look(TABLE, 20))
    tl.store(p, look(TABLE, 10))


class Hostile:
    """Raises an error of its own where it is asked for what it does not have."""

    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        raise ValueError(f"do not ask for {name}")

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return "Hostile"


ONE_HOSTILE, TWO_HOSTILE = tl.constexpr(Hostile(1)), tl.constexpr(Hostile(2))


@triton.jit
def hostile_objects(p):
    tl.store(p, value_in(ONE_HOSTILE))
    tl.store(p, value_in(TWO_HOSTILE))
    tl.store(p, value_in(ONE_HOSTILE))


def compiled(kernel, **constants):
    signature = {"p": "*i32", **dict.fromkeys(constants, "constexpr")}
    return triton.compile(ASTSource(kernel, signature, constants, {}), target=GPUTarget("cuda", 90, 32)).asm


def stored(kernel):
    return [int(value) for value in re.findall(r"tt\.store %\w+, %c(\d+)_i32", compiled(kernel)["ttir"])]


def text(kernel, **constants):
    """Give the first IR with names and locations, or what is wrong."""
    try:
        source = ASTSource(kernel, {"p": "*i32", **dict.fromkeys(constants, "constexpr")}, constants, {})
        target = GPUTarget("cuda", 90, 32)
        backend = triton.compiler.make_backend(target)
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        options = backend.parse_options({})
        generators = backend.get_codegen_implementation(options)
        text = str(source.make_ir(target, options, generators, backend.get_module_map(), context))
        return text.replace(os.path.dirname(triton.__file__), "")
    except triton.CompilationError as error:
        return f"{error!r}: {error.__cause__!r}"


def main():
    kernels = (
        functions,
        functions_as_constants,
        functions_in_tuples,
        objects,
        fields,
        same_functions,
        tuples,
        texts_with_points,
        hostile_objects,
    )
    answer = {kernel.fn.__name__: stored(kernel) for kernel in kernels}
    called = re.findall(r"call\.uni ([\w$]+)", compiled(not_inlined)["ptx"])
    answer["not_inlined"] = [called.index(name) + 1 for name in called]
    answer["texts"] = {
        "constant_tuples": [text(constant_tuples, F=choice) for choice in (True, False)],
        "not_numbers": text(not_numbers),
        "memories": text(memories),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
