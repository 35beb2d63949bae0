"""Finds in torch's sources, without importing them, which names of Triton they use."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

# Kernels that inductor writes are text in its sources: `tl.load(...)`, `triton.jit`, `libdevice.exp`.
IN_TEXT = re.compile(r"(?<![\w.])(tl|triton)((?:\.[A-Za-z_]\w*)+)")
TEXT_ROOTS = {"tl": "triton.language", "triton": "triton"}


def names_in_wheel(wheel: Path) -> set[str]:
    """Collect dotted names of Triton from all Python files of a torch wheel.

    :param wheel: the wheel
    :returns: names such as ``triton.language.core.dtype``
    """
    names: set[str] = set()
    with ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.startswith("torch/") and member.endswith(".py"):
                source = archive.read(member).decode()
                if "triton" in source:
                    names |= names_in_source(source)
    return names


def names_in_source(source: str) -> set[str]:
    """Collect dotted names of Triton from one file.

    :param source: text of the file
    :returns: the names
    """
    tree = ast.parse(source)
    imports = [found for node in ast.walk(tree) for found in _imports(node)]
    names = {name for _, name in imports}
    # `import triton.compiler` binds `triton`.
    aliases = {alias or "triton": name if alias else "triton" for alias, name in imports}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            root, _, rest = _dotted(node).partition(".")
            if root in aliases and rest:
                names.add(f"{aliases[root]}.{rest}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= {TEXT_ROOTS[root] + rest for root, rest in IN_TEXT.findall(node.value)}
    return names


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Give the local name, empty for a plain import, and the full name of all of Triton that a statement imports."""
    if isinstance(node, ast.Import):
        for name in node.names:
            if name.name.split(".")[0] == "triton":
                yield name.asname or "", name.name
    elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "triton" and not node.level:
        for name in node.names:
            yield name.asname or name.name, f"{node.module}.{name.name}"


def _dotted(node: ast.AST) -> str:
    """Give an attribute chain as text; empty where its root is no plain name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        root = _dotted(node.value)
        return f"{root}.{node.attr}" if root else ""
    return ""
