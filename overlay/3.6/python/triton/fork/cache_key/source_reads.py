"""Which names a function's source reads, in the order in which ``DependenciesFinder`` meets them.

The syntax tree is gone through once, without the calls that ``ast.NodeVisitor`` makes for every field of every node; what is
found depends on nothing but the tree, so it is kept with it.

Mirrors python/triton/runtime/jit.py: DependenciesFinder.visit_Name, DependenciesFinder.visit_Tuple,
DependenciesFinder.visit_Attribute, DependenciesFinder.visit_FunctionDef, DependenciesFinder.visit_arguments,
DependenciesFinder.visitAssnTarget, DependenciesFinder.visit_Assign, DependenciesFinder.visit_AnnAssign,
DependenciesFinder.visit_For
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any

from triton.fork.cache_key.free_variables import reads_by_name

__all__ = ["Read", "Reads", "reads_of"]

_NAME, _STORE = ast.Name, ast.Store
# Fields without reads in them.
_SKIPPED = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "name", "names", "kind", "type_comment", "type_ignores"})


#: What is read in one place or, in the same way, in several: the name of a variable; the attributes read from it, from left to
#: right; whether the source assigns it before, so that it is read only where the assignment is in a branch not taken; and
#: whether it is read for the default of a parameter.
Read = tuple[str, tuple[str, ...], bool, bool]

#: What a source reads: each read once; and the index of every read, in the order of the visit.
Reads = tuple[list[Read], list[int]]


class _UnusualError(Exception):
    """The tree holds what ``DependenciesFinder`` treats in a way that is not followed here."""


def reads_of(tree: ast.Module) -> Reads | None:
    """Find what the source of a function reads.

    :param tree: A module that holds a function definition. It is not changed.
    :returns: ``None`` where only ``DependenciesFinder`` itself can tell.
    """
    (definition,) = tree.body
    if type(definition) is not ast.FunctionDef:
        return None
    try:
        return _Walk(definition).reads()
    except (_UnusualError, RecursionError):
        return None


class _Walk:
    def __init__(self, definition: ast.FunctionDef) -> None:
        arguments = definition.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        self._parameters = frozenset(argument.arg for argument in named if argument is not None)
        self._assigned: set[str] = set()
        self._in_default = False
        self._numbers: dict[Read, int] = {}
        self._order: list[int] = []
        _below(ast.FunctionDef)(self, definition)

    def reads(self) -> Reads:
        return list(self._numbers), self._order

    def _go(self, value: Any) -> None:
        _VISITS[type(value)](self, value)

    def _all(self, values: Iterable[Any]) -> None:
        parameters = self._parameters
        for value in values:
            kind = type(value)
            if kind is not _NAME or value.id not in parameters:  # most of what is met
                _VISITS[kind](self, value)

    def _nothing(self, _: object) -> None:
        pass

    def _unusual(self, node: ast.AST) -> None:
        raise _UnusualError(type(node).__name__)

    def _name(self, node: ast.Name, attributes: tuple[str, ...] = ()) -> None:
        name = node.id
        if name in self._parameters or type(node.ctx) is _STORE:
            return
        read = (
            (name, (), True, self._in_default)
            if name in self._assigned
            else (name, attributes, False, self._in_default)
        )
        numbers = self._numbers
        number = numbers.get(read)
        if number is None:
            number = numbers[read] = len(numbers)
        self._order.append(number)

    def _attribute(self, node: ast.Attribute) -> None:
        attributes = [node.attr]
        inner = node.value
        while type(inner) is ast.Attribute:
            attributes.append(inner.attr)
            inner = inner.value
        if type(inner) is ast.Name:
            self._name(inner, tuple(reversed(attributes)))
        elif type(inner) is ast.Tuple:
            self._unusual(inner)
        else:
            self._go(inner)

    def _arguments(self, node: ast.arguments) -> None:
        self._all([*node.posonlyargs, *node.args, node.vararg, *node.kwonlyargs])
        self._defaults(node.kw_defaults)
        self._go(node.kwarg)
        self._defaults(node.defaults)

    def _defaults(self, defaults: list[Any]) -> None:
        if self._in_default:
            raise _UnusualError("a function in the default of another one")
        self._in_default = True
        self._all(defaults)
        self._in_default = False

    def _target(self, node: ast.expr) -> None:
        """Visit the target of an assignment, whose names are hidden from there on."""
        if type(node) is _NAME:
            self._assigned.add(node.id)
            return
        self._go(node)
        for target in node.elts if type(node) is ast.Tuple else [node]:
            if type(target) is _NAME:
                self._assigned.add(target.id)
            elif type(target) is ast.Tuple or (type(target) is ast.Attribute and not self._is_local(target)):
                self._unusual(target)
        self._go(node)  # as the finder does, now with the names hidden

    def _is_local(self, node: ast.Attribute) -> bool:
        inner: ast.expr = node
        while type(inner) is ast.Attribute:
            inner = inner.value
        return type(inner) is not ast.Name or inner.id in self._parameters or inner.id in self._assigned

    def _call(self, node: ast.Call) -> None:
        if reads_by_name(node, self._parameters | self._assigned):
            self._unusual(node)
        self._go(node.func)
        self._all(node.args)
        for keyword in node.keywords:
            self._go(keyword.value)

    def _operation(self, node: ast.BinOp) -> None:
        self._all((node.left, node.right))

    def _subscript(self, node: ast.Subscript) -> None:
        self._all((node.value, node.slice))

    def _value(self, node: ast.Expr | ast.Return) -> None:
        self._go(node.value)

    def _parameter(self, node: ast.arg) -> None:
        self._go(node.annotation)

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            self._unusual(node)
        self._target(node.targets[0])
        self._go(node.value)

    def _assign_with_type(self, node: ast.AnnAssign) -> None:
        self._target(node.target)
        self._all((node.annotation, node.value))

    def _for(self, node: ast.For) -> None:
        self._target(node.target)
        self._go(node.iter)
        self._all(node.body)
        self._all(node.orelse)


def _below(kind: type) -> Callable[[_Walk, Any], None]:
    """Make what visits the fields of a kind of node; of anything else that a field may hold there is nothing to visit."""
    fields = [field for field in kind._fields if field not in _SKIPPED] if issubclass(kind, ast.AST) else []
    if not fields:
        return _Walk._nothing
    if len(fields) == 1:
        get_one = operator.attrgetter(*fields)
        return lambda walk, node: walk._go(get_one(node))
    get_all = operator.attrgetter(*fields)
    return lambda walk, node: walk._all(get_all(node))


class _Visits(dict[type, Callable[[_Walk, Any], None]]):
    """What visits a value in a syntax tree, by its type."""

    def __missing__(self, kind: type) -> Callable[[_Walk, Any], None]:
        visit = self[kind] = _below(kind)
        return visit


_VISITS = _Visits(
    {
        list: _Walk._all,
        type(None): _Walk._nothing,
        ast.Name: _Walk._name,
        ast.Attribute: _Walk._attribute,
        ast.Constant: _Walk._nothing,
        ast.arguments: _Walk._arguments,
        ast.Call: _Walk._call,
        ast.BinOp: _Walk._operation,
        ast.Subscript: _Walk._subscript,
        ast.Expr: _Walk._value,
        ast.Return: _Walk._value,
        ast.arg: _Walk._parameter,
        ast.Assign: _Walk._assign,
        ast.AnnAssign: _Walk._assign_with_type,
        ast.For: _Walk._for,
        ast.FunctionDef: _Walk._unusual,
    }
)
