"""What the text of a kernel says on its parameters, for guesses of their types.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Parameter", "Usage", "read"]

_MEMORY = {
    *(
        "load",
        "store",
        "atomic_add",
        "atomic_max",
        "atomic_min",
        "atomic_cas",
        "atomic_xchg",
        "atomic_and",
        "atomic_or",
    ),
    *("make_block_ptr", "make_tensor_descriptor", "_experimental_make_tensor_descriptor"),
}


@dataclass
class Parameter:
    """A parameter and how it is used.

    :param name: Its name.
    :param constant: Whether it is marked as a constant.
    :param default: Its default as Python text, or nothing.
    :param pointer: Whether memory is read or written through it.
    :param stored: What is read through it is a place in other memory, so that it holds integers.
    :param truth: Whether it is asked for its truth.
    :param optional: Whether it is compared with ``None``.
    :param compared: Constants that it is compared with.
    :param dtype: Whether it is used as an element type.
    :param called: Whether it is called.
    :param shape: Whether it is used as an extent.
    :param iterated: Whether it is indexed or gone through.
    """

    name: str
    constant: bool
    default: str = ""
    pointer: bool = False
    stored: bool = False
    truth: bool = False
    optional: bool = False
    compared: list[object] = field(default_factory=list)
    dtype: bool = False
    called: bool = False
    shape: bool = False
    iterated: bool = False


class Usage:
    """The parameters of a kernel.

    :param source: Its text.
    :param called: Gives what is known of a function that the kernel calls, by the name that it has there.
    """

    def __init__(self, source: str, called: Callable[[str], Usage | None] = lambda _name: None) -> None:
        self._called = called
        tree = ast.parse(textwrap.dedent(source))
        self.function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        self.parameters = {parameter.name: parameter for parameter in _parameters(self.function.args)}
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(self.function):
            self._note_assignment(node)
        for node in ast.walk(self.function):
            self._note_use(node)

    def involved(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Say which parameters a statement works with, the nearest first.

        :param places: Line, counted from 1, and column in the text, and in those of the functions called there.
        """
        if not places:
            return list(self.parameters)
        line, column = places[0]
        statements = [n for n in ast.walk(self.function) if isinstance(n, ast.stmt) and n is not self.function]
        around = [n for n in statements if n.lineno <= line <= (n.end_lineno or n.lineno)]
        if not around:
            return []
        statement = max(around, key=lambda n: n.lineno)
        nodes: list[ast.AST] = [statement]
        if isinstance(statement, (ast.If, ast.While)):
            nodes = [statement.test]
        elif isinstance(statement, ast.For):
            nodes = [statement.iter]
        here = [
            n
            for n in ast.walk(nodes[0])
            if getattr(n, "lineno", None) == line and getattr(n, "col_offset", None) == column
        ]
        names: dict[str, None] = {}
        if len(places) > 1:
            calls = [node for node in here if isinstance(node, ast.Call)]
            here = [value for call in calls for value in self._arguments_involved(call, places[1:])] + here
        for start in [*here, *nodes]:
            self._collect(start, names, set())
        return [name for name in names if name in self.parameters]

    def _arguments_involved(self, call: ast.Call, places: Sequence[tuple[int, int]]) -> Iterator[ast.expr]:
        bound = dict(self._bound(call))
        function = self._called(ast.unparse(call.func))
        if function is not None:
            yield from (bound[name] for name in function.involved(places) if name in bound)

    def _bound(self, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        """Join the arguments of a call with the parameters of a function that is known."""
        function = self._called(ast.unparse(call.func))
        if function is not None:
            yield from zip(function.parameters, call.args, strict=False)
            yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg in function.parameters)

    def _note_handed_on(self, call: ast.Call) -> None:
        """Take over what a called function does with its arguments."""
        function = self._called(ast.unparse(call.func))
        for name, value in self._bound(call):
            use = function.parameters[name] if function else Parameter(name, constant=False)
            if use.pointer:
                for root in self._roots(value, set()):
                    root.pointer, root.stored = True, root.stored or use.stored
            for parameter in self._named(value):
                for fact in ("truth", "optional", "dtype", "called", "shape", "iterated"):
                    setattr(parameter, fact, getattr(parameter, fact) or getattr(use, fact))
            for node in ast.walk(value):
                for parameter in self._named(node):
                    parameter.compared += use.compared

    def _collect(self, start: ast.AST, names: dict[str, None], seen: set[str]) -> None:
        pending: list[ast.AST] = [start]
        while pending:
            found = [n.id for n in ast.walk(pending.pop(0)) if isinstance(n, ast.Name)]
            names.update(dict.fromkeys(name for name in found if name in self.parameters))
            for name in found:
                if name not in seen:
                    seen.add(name)
                    pending += self._assigned.get(name, [])

    def _note_assignment(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        self._assigned.setdefault(name.id, []).append(node.value)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and isinstance(node.target, ast.Name) and node.value:
            self._assigned.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            self._assigned.setdefault(node.target.id, []).append(node.iter)

    def _note_use(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self._note_call(node)
        elif isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            self._note_truth(node.test)
        elif isinstance(node, ast.Compare):
            self._note_comparison(node)
        elif isinstance(node, ast.Subscript):
            for parameter in self._named(node.value):
                parameter.iterated = True
        elif isinstance(node, ast.For):
            for parameter in self._named(node.iter):
                parameter.iterated = True

    def _named(self, node: ast.AST | None) -> Iterator[Parameter]:
        if isinstance(node, ast.Name) and node.id in self.parameters:
            yield self.parameters[node.id]

    def _note_truth(self, test: ast.expr) -> None:
        pending = [test]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.BoolOp):
                pending += node.values
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                pending.append(node.operand)
            for parameter in self._named(node):
                parameter.truth = True

    def _note_comparison(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for parameter in [p for side in sides for p in self._named(side)]:
            for side in sides:
                values = side.elts if isinstance(side, (ast.Tuple, ast.List)) else [side]
                for value in values:
                    if isinstance(value, ast.Constant):
                        if value.value is None:
                            parameter.optional = True
                        else:
                            parameter.compared.append(value.value)

    def _note_call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for parameter in self._named(node.func):
            parameter.called = True
        self._note_handed_on(node)
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if name in _MEMORY:
            place = node.args[0] if node.args else keywords.get("pointer", keywords.get("base"))
            if place is not None:
                for root in self._roots(place, set()):
                    root.pointer = True
                self._note_places(place)
        if name in ("to", "cast", "zeros", "full", "pointer_type", "empty_like"):
            for value in [*node.args, *keywords.values()]:
                for parameter in self._named(value):
                    parameter.dtype |= name in ("to", "cast", "pointer_type")
        for parameter in self._named(keywords.get("dtype")):
            parameter.dtype = True
        if name in ("zeros", "full") and len(node.args) > 1:
            for parameter in self._named(node.args[-1]):
                parameter.dtype = True
        if name == "arange":
            for value in node.args:
                for parameter in self._named(value):
                    parameter.shape = True

    def _note_places(self, place: ast.expr) -> None:
        """Mark what is loaded in order to work out a place: ``tl.load(x + tl.load(index))``."""
        pending: list[ast.AST] = [place]
        seen: set[str] = set()
        while pending:
            for node in ast.walk(pending.pop()):
                if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "load" and node.args:
                    for root in self._roots(node.args[0], set()):
                        root.stored = True
                elif isinstance(node, ast.Name) and node.id not in seen:
                    seen.add(node.id)
                    pending += self._assigned.get(node.id, [])

    def _roots(self, node: ast.expr, seen: set[str]) -> Iterator[Parameter]:
        """Find the parameters that an address may begin with."""
        if isinstance(node, ast.Name):
            if node.id in self.parameters:
                yield self.parameters[node.id]
            if node.id not in seen:
                seen.add(node.id)
                for value in self._assigned.get(node.id, []):
                    yield from self._roots(value, seen)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left = list(self._roots(node.left, seen))
            yield from left or self._roots(node.right, seen)
        elif isinstance(node, ast.Call):
            first = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "to" else None
            if first is not None:
                yield from self._roots(first, seen)
            elif node.args and getattr(node.func, "attr", "") in ("multiple_of", "advance", "cast", "max_contiguous"):
                yield from self._roots(node.args[0], seen)
        elif isinstance(node, ast.IfExp):
            yield from self._roots(node.body, seen)
            yield from self._roots(node.orelse, seen)


def read(function: Any, depth: int = 4) -> Usage:
    """Read the text of a kernel, and those of the functions that it calls.

    :param function: What ``triton.jit`` made.
    :param depth: How many calls deep.
    """
    known: dict[str, Usage | None] = {}

    def called(name: str) -> Usage | None:
        if name not in known:
            value: Any = function.fn.__globals__.get(name.partition(".")[0])
            for attribute in name.split(".")[1:]:
                value = getattr(value, attribute, None)
            known[name] = (
                read(value, depth - 1) if depth and hasattr(value, "src") and hasattr(value, "arg_names") else None
            )
        return known[name]

    return Usage(function.src, called)


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    for argument, default in [
        *zip(plain, defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]:
        marked = argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)
        yield Parameter(argument.arg, marked, ast.unparse(default) if default is not None else "")
