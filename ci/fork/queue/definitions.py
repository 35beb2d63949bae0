"""Digests of the functions and classes in a source file, which comments, docstrings and line breaks do not change."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["decorated", "definition_digests"]

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_DIGITS = 16
# All that matters for finding where a function of C ends.
_C_PARTS = re.compile(
    r"""
    (?P<comment> /\*.*?\*/ | //[^\n]* )
    | (?P<macro> ^[ \t]*\#(?:\\\n|[^\n])* )
    | (?P<text> "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )
    | (?P<blank> \s+ )
    | [{};]
    | [^{};"'/\s]+
    | .
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_C_MACRO = re.compile(r"\s*#\s*define\s+(\w+)")
_C_FUNCTION = re.compile(r"(\w+)\s*\([^;{}]*\)\s*$")


def definition_digests(path: str, text: str) -> dict[str, str]:
    """Give the digest of each function and class.

    :param path: The path of the file; what ends in ``.py`` is Python, everything else C or C++.
    :param text: Its content.
    :returns: Qualified name, ``JITFunction.run`` or ``outer.inner``, -> 16 hexadecimal digits. Definitions of one name, such as
        overloads, have a digest together. That of a class covers its members.
    :raises SyntaxError: The file is no Python that this Python reads.
    """
    found: dict[str, list[Any]] = {}
    if path.endswith(".py"):
        for name, node in _definitions(ast.parse(text), ""):
            found.setdefault(name, []).append(_shape(node))
    else:
        for name, parts in _c_functions(text):
            found.setdefault(name, []).append(parts)
    return {name: _digest(shapes) for name, shapes in found.items()}


def decorated(text: str, package: str) -> list[str]:
    """List the functions of a Python file with a decorator that comes from a package.

    :param text: The content of the file.
    :param package: The last part of the package's name, ``fork``: what is imported from it or from below it counts.
    :returns: Qualified names.
    """
    tree = ast.parse(text)
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and package in (node.module or "").split(".")
        for alias in node.names
    }
    imported |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == package
    }
    return [
        name
        for name, node in _definitions(tree, "")
        if any(_root(decorator) in imported for decorator in node.decorator_list)
    ]


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            name = f"{prefix}{child.name}"
            yield name, child
            yield from _definitions(child, f"{name}.")
        else:
            yield from _definitions(child, prefix)


def _shape(node: Any) -> Any:
    """Give what a syntax tree says, the same in CPython 3.11 to 3.14: empty fields, some of which are new, do not count."""
    if isinstance(node, list):
        return [_shape(item) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, _Definition) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = node.body[1:]
    filled = {
        name: value for name, value in fields.items() if value not in (None, []) or isinstance(node, ast.Constant)
    }
    return [type(node).__name__, *((name, _shape(value)) for name, value in sorted(filled.items()) if name != "kind")]


def _root(node: ast.expr) -> str | None:
    """Give the name that a decorator begins with."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _c_functions(text: str) -> Iterator[tuple[str, list[str]]]:
    """Give the functions at the level of the file and the macros, each with its parts."""
    parts: list[str] = []
    name, depth = "", 0
    for found in _C_PARTS.finditer(text):
        part = found[0]
        if found["comment"] or found["blank"]:
            parts.append(" ")
            continue
        if found["macro"]:
            if defined := _C_MACRO.match(part):
                yield defined[1], part.split()
            continue
        if part == "{" and depth == 0:
            head = _C_FUNCTION.search("".join(parts))
            name = head[1] if head else ""
        depth += {"{": 1, "}": -1}.get(part, 0)
        parts.append(part)
        if depth == 0 and part in "};":
            if part == "}" and name:
                yield name, [part for part in parts if part != " "]
            parts, name = [], ""


def _digest(shape: Any) -> str:
    return hashlib.sha256(repr(shape).encode()).hexdigest()[:_DIGITS]
