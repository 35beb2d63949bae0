"""The packages of the tool, and the rooms of the overlay, depend on each other in one direction."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.environments import repository

TOOL = repository / "ci" / "fork"
OVERLAYS = sorted(repository.glob("overlay/*/python/triton/fork"))
#: Modules that belong to no room: the command line, and what every room may import.
OF_NO_ROOM = {"__init__", "__main__", "description", "requirement", "settings"}


def room(parts: tuple[str, ...]) -> str:
    """Name the package or top-level module that a module belongs to."""
    return Path(parts[0]).stem


def imported(file: Path, package: str) -> set[str]:
    """Name the rooms that a file imports from, also within functions and for type checkers alone."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.removeprefix(f"{package}.").split(".")[0] for name in names if name.startswith(f"{package}.")}
    return found


def circle(folders: list[Path], package: str) -> list[str]:
    """Give rooms that import each other in a circle, the first one once more at the end; empty where there are none.

    :param folders: Which hold the package together.
    :param package: Its name, as imports have it.
    """
    graph: dict[str, set[str]] = {}
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            here = room(file.relative_to(folder).parts)
            graph.setdefault(here, set()).update(imported(file, package) - {here})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_tool_has_no_circles() -> None:
    assert circle([TOOL], "fork") == []


def test_folders_of_the_extension_use_those_above_them_alone() -> None:
    sources = repository / "native" / "src"
    index = (repository / "native" / "README.md").read_text("utf-8")
    order = re.findall(r"^\| `(\w+)/` \|", index, flags=re.MULTILINE)
    assert set(order) == {folder.name for folder in sources.iterdir() if folder.is_dir()}
    for place, folder in enumerate(order):
        for file in (sources / folder).iterdir():
            used = set(re.findall(r'^#include "(?:(\w+)/)?', file.read_text("utf-8"), flags=re.MULTILINE))
            assert used <= set(order[: place + 1]), file


def test_the_overlay_has_no_circles() -> None:
    assert circle(OVERLAYS, "triton.fork") == []


def test_each_module_of_the_overlay_is_in_a_room_that_says_what_it_is_for() -> None:
    at_the_top = {file.stem for folder in OVERLAYS for file in folder.glob("*.py")}
    assert at_the_top == OF_NO_ROOM
    rooms = {file.parent.name for folder in OVERLAYS for file in folder.glob("*/*.py")}
    said = {file.parent.name for folder in OVERLAYS for file in folder.glob("*/__init__.py") if file.read_text("utf-8")}
    assert rooms == said
    index = (repository / "overlay" / "README.md").read_text("utf-8")
    assert {name for name in rooms if f"| `{name}/` |" not in index} == set()


@pytest.mark.parametrize(
    "text", ["import fork.b.y", "from fork.b import y", "from fork import b", "def f():\n    from fork.b.y import z"]
)
def test_a_circle_is_found(tmp_path: Path, text: str) -> None:
    for name, content in {"a/x.py": text, "b/y.py": "from fork.c import z", "c.py": "from fork.a.x import z"}.items():
        file = tmp_path / "fork" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    assert set(circle([tmp_path / "fork"], "fork")) == {"a", "b", "c"}


def test_commands_are_imported_by_the_command_line_alone() -> None:
    users = {room(file.relative_to(TOOL).parts) for file in TOOL.rglob("*.py") if "commands" in imported(file, "fork")}
    assert users - {"commands"} == {"cli"}
