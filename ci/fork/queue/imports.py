"""Whether what patches and overlay import from each other, and from upstream, is there: a lane without its overlay cannot start.

Only text is looked at, nothing is imported. What an ``except ImportError`` stands by for, and what is imported for type checkers
alone, may be missing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fork.errors import ForkError
from fork.git import Git
from fork.layout import Layout
from fork.native import EXTENSION

__all__ = ["ImportsError", "import_faults", "lane_import_faults"]

_PACKAGE = "triton"
_OURS = "triton.fork"
_BY_NAME = frozenset({"import_module", "lazy_module"})
_BINARY_SUFFIXES = (".abi3.so", ".so")


class ImportsError(ForkError):
    """A patched file or an overlay file imports what neither the overlay nor upstream has."""

    exit_code = 28


def lane_import_faults(
    git: Git, layout: Layout, overlay: Mapping[str, bytes], shipped: Collection[str], native: bool
) -> list[str]:
    """Look at the imports of all files that the queue changes and of the overlay.

    :param git: The patched tree: the queue lies between ``base`` and ``HEAD``.
    :param overlay: Our own modules, by path in the wheel.
    :param shipped: Paths in the wheel of everything else that goes into it.
    :param native: Whether the native extension is built.
    :returns: The faults, each a sentence.
    """
    tracked = [name for name in git("ls-files", "-z").split("\0") if name.endswith(".py")]
    places = {place: name for name in tracked if (place := layout.to_wheel(name))}
    sources = {place: (git.folder / name).read_bytes() for place, name in places.items()} | dict(overlay)
    changed = git("diff", "--name-only", "-z", "--no-renames", "base", "HEAD").split("\0")
    looked_at = {place for name in changed if (place := layout.to_wheel(name))} | set(overlay)
    return import_faults(looked_at, sources, {*shipped, *overlay, *([EXTENSION] if native else [])})


def import_faults(looked_at: Collection[str], sources: Mapping[str, bytes], shipped: Collection[str]) -> list[str]:
    """List the imports that cannot work.

    :param looked_at: The files whose imports are to be resolved, by path in the wheel.
    :param sources: Content of the Python files of the wheel, by path.
    :param shipped: All paths in the wheel.
    """
    modules = {_module_name(path): path for path in sorted(shipped) if path.endswith((".py", *_BINARY_SUFFIXES))}
    parsed: dict[str, _Module] = {}
    faults = []
    for path in sorted(path for path in set(looked_at) & set(sources) if path.endswith(".py")):
        try:
            tree = ast.parse(sources[path], path)
        except (SyntaxError, ValueError) as error:
            faults.append(f"'{path}' is not Python: {error}")
            continue
        resolver = _Resolver(modules, sources, parsed)
        faults += [f"'{path}', line {line}: {text}" for line, text in resolver.faults(path, tree)]
    return faults


def _module_name(path: str) -> str:
    suffix = next(each for each in (*_BINARY_SUFFIXES, ".py") if path.endswith(each))
    return path.removesuffix(suffix).removesuffix("/__init__").replace("/", ".")


@dataclass(frozen=True)
class _Module:
    """The names that a module binds at its top."""

    tree: ast.Module

    @cached_property
    def names(self) -> frozenset[str]:
        declared = {name for node in ast.walk(self.tree) if isinstance(node, ast.Global) for name in node.names}
        return (
            frozenset(_bound(self.tree.body))
            | declared
            | {
                "__name__",
                "__doc__",
                "__file__",
                "__path__",
                "__dict__",
                "__spec__",
            }
        )

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether it can have names that its text does not show."""
        calls = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return "__getattr__" in self.names or any(
            isinstance(f, ast.Name) and f.id in ("globals", "vars") for f in calls
        )

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        """The ``from … import *`` in it."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """List what statements bind, those inside ``if``, ``for``, ``with`` and ``try`` included, functions and classes not."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        for field in ("body", "orelse", "finalbody"):
            yield from _bound(getattr(node, field, []))
        for handler in getattr(node, "handlers", []):
            yield from _bound(handler.body)
        for case in getattr(node, "cases", []):
            yield from _bound(case.body)
        yield from (
            each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )


class _Resolver:
    """Resolves the imports of a file.

    :param modules: Name -> path of every module in the wheel.
    :param sources: Content of the Python files, by path.
    :param parsed: Modules read so far, by name; filled here.
    """

    def __init__(self, modules: Mapping[str, str], sources: Mapping[str, bytes], parsed: dict[str, _Module]) -> None:
        self.modules = modules
        self.sources = sources
        self.parsed = parsed

    def faults(self, path: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
        """Give line and text of each fault in a file."""
        package = _module_name(path) if path.endswith("/__init__.py") else _module_name(path).rpartition(".")[0]
        aliases: dict[str, str] = {}
        for node in _unguarded(tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, text) for alias in node.names for text in self._module_fault(alias.name))
            elif isinstance(node, ast.ImportFrom):
                source = _absolute(node, package)
                for text in self._from_faults(source, [alias.name for alias in node.names]):
                    yield node.lineno, text
                aliases |= {a.asname or a.name: f"{source}.{a.name}" for a in node.names if source.startswith(_OURS)}
            elif isinstance(node, ast.Call) and (name := _imported_by_name(node)):
                yield from ((node.lineno, text) for text in self._module_fault(name))
        yield from self._attribute_faults(
            tree, {name: module for name, module in aliases.items() if module in self.modules}
        )

    def _module_fault(self, name: str) -> list[str]:
        inside = name == _PACKAGE or name.startswith(f"{_PACKAGE}.")
        return [f"there is no module '{name}'"] if inside and not self._exists(name) else []

    def _exists(self, name: str) -> bool:
        return name in self.modules or any(other.startswith(f"{name}.") for other in self.modules)

    def _from_faults(self, source: str, names: list[str]) -> list[str]:
        fault = self._module_fault(source)
        if fault or not source.startswith(_PACKAGE):
            return fault
        return [f"'{source}' has no '{name}'" for name in names if name != "*" and not self._has(source, name, set())]

    def _has(self, module: str, name: str, seen: set[str]) -> bool:
        """Tell whether a module has a name; where that cannot be known from its text, it has."""
        if f"{module}.{name}" in self.modules or self._exists(f"{module}.{name}"):
            return True
        if module not in self.modules:
            return False  # a folder without a file of its own
        found = self._read(module)
        if found is None or name in found.names or found.is_dynamic:
            return True
        path = self.modules[module]
        package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
        origins = {_absolute(star, package) for star in found.stars} - seen
        return any(self._has(origin, name, seen | {module}) for origin in origins)

    def _read(self, module: str) -> _Module | None:
        """Read a module; ``None`` where it has no source."""
        path = self.modules.get(module)
        if path is None or path not in self.sources:
            return None
        if module not in self.parsed:
            try:
                self.parsed[module] = _Module(ast.parse(self.sources[path], path))
            except (SyntaxError, ValueError):
                return None  # said of the file itself
        return self.parsed[module]

    def _attribute_faults(self, tree: ast.Module, aliases: Mapping[str, str]) -> Iterator[tuple[int, str]]:
        """Look at ``module.name``, where ``module`` is one of ours and the file gives the name no other meaning."""
        stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        stored |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
                module = aliases.get(node.value.id)
                if module and node.value.id not in stored and not self._has(module, node.attr, set()):
                    yield node.lineno, f"'{module}' has no '{node.attr}'"


def _absolute(node: ast.ImportFrom, package: str) -> str:
    above = package.split(".")[: len(package.split(".")) - (node.level - 1)] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def _imported_by_name(node: ast.Call) -> str | None:
    """Give the module that a call such as ``importlib.import_module("triton.knobs")`` imports, where it is written out."""
    function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0] if node.args else None
    return (
        first.value
        if function in _BY_NAME and isinstance(first, ast.Constant) and isinstance(first.value, str)
        else None
    )


def _unguarded(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, leaving out what may fail to import."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Try) and child in node.body and any(map(_stands_by, node.handlers)):
            continue
        if isinstance(node, ast.If) and child in node.body and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield child
        yield from _unguarded(child)


def _stands_by(handler: ast.ExceptHandler) -> bool:
    caught = "" if handler.type is None else ast.unparse(handler.type)
    return not caught or any(name in caught for name in ("ImportError", "ModuleNotFoundError", "Exception"))
