"""The packages of the tool depend on each other in one direction."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.environments import repository

TOOL = repository / "ci" / "fork"


def room(parts: tuple[str, ...]) -> str:
    """Name the package or top-level module that a module belongs to."""
    return Path(parts[0]).stem


def imported(file: Path, tool: Path) -> set[str]:
    """Name the rooms that a file imports from, also within functions and for type checkers alone."""
    rooms = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith(f"{tool.name}.")}
    return rooms


def circle(tool: Path) -> list[str]:
    """Give rooms that import each other in a circle, the first one once more at the end; empty where there are none."""
    graph: dict[str, set[str]] = {}
    for file in sorted(tool.rglob("*.py")):
        here = room(file.relative_to(tool).parts)
        graph.setdefault(here, set()).update(imported(file, tool) - {here})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_tool_has_no_circles() -> None:
    assert circle(TOOL) == []


@pytest.mark.parametrize(
    "text", ["import fork.b.y", "from fork.b import y", "from fork import b", "def f():\n    from fork.b.y import z"]
)
def test_a_circle_is_found(tmp_path: Path, text: str) -> None:
    for name, content in {"a/x.py": text, "b/y.py": "from fork.c import z", "c.py": "from fork.a.x import z"}.items():
        file = tmp_path / "fork" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    assert set(circle(tmp_path / "fork")) == {"a", "b", "c"}


def test_commands_are_imported_by_the_command_line_alone() -> None:
    users = {room(file.relative_to(TOOL).parts) for file in TOOL.rglob("*.py") if "commands" in imported(file, TOOL)}
    assert users - {"commands"} == {"cli"}
