"""Load a folder of modules with tables of kernels.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

from fork.equivalence.cases import Case

__all__ = ["load_module", "module_names"]

#: The package that the modules of a corpus become, in every interpreter: its name is part of the names of inner functions.
_PACKAGE = "corpus"


def module_names(folder: Path) -> list[str]:
    """List the modules of a corpus; those that begin with an underscore hold what the others share.

    :param folder: The corpus.
    :returns: Names without suffix, sorted.
    """
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def load_module(folder: Path, name: str) -> list[Case]:
    """Import one module of a corpus and return its table.

    :param folder: The corpus; one a process.
    :param name: One of :func:`module_names`.
    :raises ValueError: The module has no table, or two rows with one name.
    """
    if _PACKAGE not in sys.modules:
        package = types.ModuleType(_PACKAGE)
        package.__path__ = [str(folder)]
        sys.modules[_PACKAGE] = package
    table = getattr(importlib.import_module(f"{_PACKAGE}.{name}"), "CASES", None)
    if not isinstance(table, list) or not all(isinstance(case, Case) for case in table):
        raise ValueError(f"the module '{name}' has no list CASES of Case")
    names = [case.name for case in table]
    if len(set(names)) != len(names):
        raise ValueError(f"the module '{name}' names a case twice: {sorted({n for n in names if names.count(n) > 1})}")
    return table
