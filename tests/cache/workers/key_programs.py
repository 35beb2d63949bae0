"""Makes programs from descriptions, one a line of standard input, and answers each with the keys and the code of its functions.

A description says what names are bound to in the module, in two closures around the functions and in a module of settings, what
each function does, and in which order the keys are asked for.
"""

import importlib.util
import json
import os
import re
import sys
import tempfile
import zlib

import common
import triton.language as tl
from triton._C.libtriton import ir
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

import triton

NAMES = ("A", "B", "C")
HEAD = """
import sys, types
import triton
import triton.language as tl
number_of = sys.modules["__main__"].number_of
settings = types.ModuleType("settings")
"""


def text(value):
    if isinstance(value, tl.constexpr):
        value = value.value
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(text, value))})"
    return f"{type(value).__name__} {value!r}"


def number(value):
    return zlib.crc32(text(value).encode())


@triton.constexpr_function
def number_of(value):
    import __main__ as module  # a kernel may not name an ordinary function

    return module.number(value)


def bindings(values, indent, form):
    return "".join(f"{indent}{form.format(name=name, value=value)}\n" for name, value in sorted(values.items()))


def statement(kind, what):
    """Give the lines of one thing that a function does."""
    read = "tl.store(p, number_of({}))"
    lines = {
        "name": [read.format(what)],
        "setting": [read.format(f"settings.{what}")],
        "item": [read.format(f"settings.items_{what}[0]")],
        "by_name": [read.format(f"getattr(settings, '{what}')")],
        "local": [f"{what}: tl.constexpr = 7", read.format(what)],
        "not_taken": ["if D > 99:", f"    {what}: tl.constexpr = 7", read.format(what)],
        "default": [read.format("X")],
        "call": ["if D > 0:", f"    f{what}(p, D - 1)"],
        "called_by_value": ["if D > 0:", f"    settings.functions[{what}](p, D - 1)"],
    }
    return lines[kind]


def function(index, body):
    """Give the source of one function; its default is what a name means where it is defined."""
    default, statements = body
    lines = [line for entry in statements for line in statement(*entry)] or ["pass"]
    head = f"        @triton.jit\n        def f{index}(p, D: tl.constexpr, X: tl.constexpr = {default}):\n"
    return head + "".join(f"            {line}\n" for line in lines)


def source(program):
    names = [f"f{index}" for index in range(len(program["bodies"]))]
    parts = [HEAD, bindings(program["module"], "", "{name} = tl.constexpr({value})")]
    parts += [bindings(program["settings"], "", "settings.{name} = {value}")]
    parts += [bindings(program["settings"], "", "settings.items_{name} = [{value}]")]
    parts += [
        "def outer():\n",
        bindings(program["outer"], "    ", "{name} = tl.constexpr({value})"),
        "    def inner():\n",
    ]
    parts += [bindings(program["inner"], "        ", "{name} = tl.constexpr({value})")]
    parts += [function(index, body) for index, body in enumerate(program["bodies"])]
    parts += [
        f"        return [{', '.join(names)}]\n",
        "    return inner()\n",
        "functions = settings.functions = outer()\n",
    ]
    return "".join(parts)


def load(program, folder, count):
    path = os.path.join(folder, f"program{count}", "program.py")
    os.makedirs(os.path.dirname(path))
    with open(path, "w") as stream:
        stream.write(source(program))
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.functions


def code(kernel, depth):
    """Give the first IR, which is all that depends on what the source reads."""
    backend = make_backend(common.TARGET)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    described = ASTSource(kernel, {"p": "*i64", "D": "constexpr", "X": "constexpr"}, {"D": depth, "X": 3})
    generators, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    return re.sub(r"loc\(.*\)|#loc.*", "", str(described.make_ir(common.TARGET, options, generators, modules, context)))


def answer(program, folder, count):
    functions = load(program, folder, count)
    for index in program["order"]:
        functions[index % len(functions)].cache_key
    keys = [function.cache_key for function in functions]
    return {
        "keys": keys,
        "code": [common.outcome(lambda f=f: code(f, 3)) for f in functions] if program["code"] else None,
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for count, line in enumerate(sys.stdin):
            print(json.dumps(answer(json.loads(line), folder, count)), flush=True)
