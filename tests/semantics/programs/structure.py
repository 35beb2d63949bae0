"""Prints what the functions and classes that the host may call consist of: code, globals, closure, attributes; see test_structure.py.

Needs no torch: Dynamo traces into these functions, so they must be the base's to the last instruction.
"""
# mypy: ignore-errors

import hashlib
import importlib
import json
import pkgutil
import sys
import types

import triton

# Parts of Triton that Dynamo and users reach from the host; what compiles and launches is in other modules.
ROOTS = ("triton._utils", "triton.language", "triton.experimental.gluon.language", "triton.tools.tensor_descriptor")
SEMANTIC = "triton.experimental.gluon.language._semantic"
jit = triton.runtime.jit
HOST = [
    *(jit.ConstexprFunction, jit.BoundConstexprFunction, jit.constexpr_function, jit.KernelParam, jit.MockTensor),
    *(jit.TensorWrapper, jit.reinterpret, jit.get_full_name, triton.Config),
]


def modules():
    """Import the modules in question: name -> module."""
    found = {}

    def walk(name):
        module = found[name] = importlib.import_module(name)
        for _, inner, _ in pkgutil.iter_modules(getattr(module, "__path__", [])):
            walk(f"{name}.{inner}")

    for root in ROOTS:
        walk(root)
    return found


def of_the_language(value):
    """Tell whether something is Triton's own, and not of the parts that compile or launch, or only imported from these."""
    name = str(getattr(value, "__module__", None))
    elsewhere = ("triton.fork", "triton.runtime", "triton.compiler", "triton.backends", "triton.language.semantic")
    return name.startswith("triton.") and not name.startswith((*elsewhere, SEMANTIC))


class Structure:
    """The functions and classes of modules."""

    def __init__(self):
        self.found = {}
        self._seen = {}

    def visit(self, path, value, host=False):
        """Note a function, a class or a jitted function, each once, under the first name it is found by."""
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if isinstance(value, property):
            for part in ("fget", "fset", "fdel"):
                self.visit(f"{path}.{part}", getattr(value, part), host)
        elif id(value) in self._seen or not (host or of_the_language(value)):
            return
        elif isinstance(value, types.FunctionType):
            self._seen[id(value)] = value
            self.found[path] = of_function(value)
        elif isinstance(value, type):
            self._seen[id(value)] = value
            self.found[path] = sorted(vars(value))
            for name, member in list(vars(value).items()):
                self.visit(f"{path}.{name}", member, host)
        elif isinstance(value, triton.runtime.jit.JITCallable):
            self._seen[id(value)] = value
            self.found[path] = [type(value).__name__, list(vars(value)), of_function(value.fn)]


def of_function(function, active=()):
    """Describe a function with the functions in its closure."""
    if function in active:
        return "itself"
    inside = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            held = cell.cell_contents
        except ValueError:
            held = None
        is_function = isinstance(held, types.FunctionType)
        inside[name] = of_function(held, (*active, function)) if is_function else type(held).__name__
    return {
        "code": hashlib.sha256(text_of(function.__code__).encode()).hexdigest()[:16],
        "globals": function.__globals__["__name__"],
        "defaults": [type(value).__name__ for value in function.__defaults__ or ()],
        "names": [function.__module__, function.__qualname__],
        "attributes": sorted(function.__dict__),
        "closure": inside,
    }


def text_of(code):
    """Write code without its place in the file."""
    constants = [text_of(part) if isinstance(part, types.CodeType) else repr(part) for part in code.co_consts]
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return repr((names, code.co_code.hex(), code.co_argcount, code.co_kwonlyargcount, code.co_flags, constants))


def main():
    structure = Structure()
    for value in HOST:
        structure.visit(value.__qualname__, value, host=True)
    for name, value in vars(triton).items():
        if isinstance(value, jit.JITCallable):
            structure.visit(f"triton.{name}", value, host=True)
    for name, module in sorted(modules().items()):
        for inner, value in list(vars(module).items()):
            structure.visit(f"{name}.{inner}", value)
    json.dump(structure.found, sys.stdout)


if __name__ == "__main__":
    main()
