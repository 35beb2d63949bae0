"""A benchmark program: a file of ``benchmarks/`` and what it asks of the runner.

A program prints one JSON object, quantity -> ``[value, unit]`` or ``[value, unit, "detail"]``; details are kept in JSON and left
out of tables and plots. What it asks for it states as constants at the top level, which are read without running it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Program", "find_programs"]


@dataclass(frozen=True)
class Program:
    """One program.

    :param path: Its file.
    :param title: First line of its docstring, without the full stop.
    :param keeps_cache: ``KEEPS_CACHE``: the runs of a side share a cache, which an unmeasured first run fills.
    :param drops_pages: ``DROPS_PAGES``: what the interpreter's environment and the cache hold is dropped from the system's page
        cache before each measured run.
    :param headline: ``HEADLINE``: the quantity that stands for the program in a summary; the first one otherwise.
    :param most_pairs: ``MOST_PAIRS``: how many pairs at most, for quantities that are the same in every run.
    """

    path: Path
    title: str
    keeps_cache: bool = False
    drops_pages: bool = False
    headline: str | None = None
    most_pairs: int | None = None

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.path.stem.replace("_", "-")

    @classmethod
    def read(cls, path: Path) -> Program:
        """Read what a program states at its top level.

        :raises ValueError: A constant is not a literal.
        """
        module = ast.parse(path.read_text("utf-8"))
        settings = _constants(module.body)
        headline, most_pairs = settings.get("HEADLINE"), settings.get("MOST_PAIRS")
        return cls(
            path,
            (ast.get_docstring(module) or path.stem).splitlines()[0].rstrip("."),
            bool(settings.get("KEEPS_CACHE")),
            bool(settings.get("DROPS_PAGES")),
            headline if isinstance(headline, str) else None,
            most_pairs if isinstance(most_pairs, int) else None,
        )


def find_programs(folder: Path) -> dict[str, Program]:
    """Find the programs of a folder.

    :returns: Name on the command line -> program.
    """
    return {program.name: program for program in map(Program.read, sorted(folder.glob("[a-z]*.py")))}


def _constants(body: Sequence[ast.stmt]) -> dict[str, object]:
    names = ("KEEPS_CACHE", "DROPS_PAGES", "HEADLINE", "MOST_PAIRS")
    return {
        target.id: ast.literal_eval(statement.value)
        for statement in body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id in names
    }
