"""Tell of which nodes no operation can get the location.

A location that is set when a node has been visited is lost when the next node is visited before anything is built. Which nodes
these are is seen from the tree: the left side of an operation, all arguments but the last, all statements of a block but the last.
The marks count as long as the nodes around are visited by the base's methods.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from triton.fork.state.attached import fork_state

__all__ = ["ALWAYS", "BUILDS_LATE", "MARKERS", "RELIED_ON", "UNLESS_VALUE"]

#: The location does not matter.
ALWAYS = 1

#: The location does not matter when the node's value is a module or an aggregate: taking an attribute of these builds nothing.
UNLESS_VALUE = 2

#: Kinds of nodes whose methods visit a part before they build anything.
BUILDS_LATE = frozenset(
    {
        ast.Assign,
        ast.Attribute,
        ast.BinOp,
        ast.Call,
        ast.Compare,
        ast.Expr,
        ast.List,
        ast.Return,
        ast.Subscript,
        ast.Tuple,
        ast.UnaryOp,
        ast.keyword,
    }
)

#: The methods whose order of visits, and whose building of operations, is relied on.
RELIED_ON = (
    *sorted(f"visit_{kind.__name__}" for kind in BUILDS_LATE),
    "_apply_binary_method",
    "assignTarget",
    "call_Function",
    "call_Method",
    "execute_static_assert",
    "get_Attribute",
    "visit_For",
    "visit_FunctionDef",
    "visit_If",
    "visit_Subscript_Load",
    "visit_While",
    "visit_With",
    "visit_compound_statement",
)


def _mark_left(node: Any) -> None:
    fork_state(node.left).location = ALWAYS


def _mark_value(node: Any) -> None:
    fork_state(node.value).location = ALWAYS


def _mark_attribute(node: Any) -> None:
    if node.attr != "T":
        fork_state(node.value).location = UNLESS_VALUE


def _mark_items(node: Any) -> None:
    for item in node.elts:
        fork_state(item).location = ALWAYS


def _mark_targets(node: Any) -> None:
    for target in node.targets:
        fork_state(target).location = ALWAYS


def _mark_arguments(node: Any) -> None:
    for part in [node.func, *node.keywords, *node.args][:-1]:
        # Of a starred argument, what it stars is visited.
        if not isinstance(part, ast.Starred):
            fork_state(part).location = ALWAYS


def _mark_statements(node: Any) -> None:
    for block in (node.body, getattr(node, "orelse", [])):
        for statement in block[:-1]:
            # What follows a return is not visited.
            if not isinstance(statement, ast.Return):
                fork_state(statement).location = ALWAYS


#: Kind of a node -> how to mark the parts after which nothing is built before another node's location is set. Loops and ``with``
#: visit the parts of a call themselves, in another order: such a call is never visited, so nor are its parts marked.
MARKERS: dict[type, Callable[[Any], None]] = {
    ast.Assign: _mark_targets,
    ast.Attribute: _mark_attribute,
    ast.BinOp: _mark_left,
    ast.Call: _mark_arguments,
    ast.Compare: _mark_left,
    ast.Expr: _mark_value,
    ast.For: _mark_statements,
    ast.FunctionDef: _mark_statements,
    ast.If: _mark_statements,
    ast.List: _mark_items,
    ast.Subscript: _mark_value,
    ast.Tuple: _mark_items,
    ast.While: _mark_statements,
    ast.With: _mark_statements,
    ast.keyword: _mark_value,
}
