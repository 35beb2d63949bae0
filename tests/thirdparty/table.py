"""The stored signatures as a corpus for ``ci/fork.sh equivalence``.

:func:`write_corpus` runs in the tool and writes one module a package; :func:`cases` is what those modules call, inside the
interpreters under comparison.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fork.equivalence.cases import Case
from tests.thirdparty.loading import load
from tests.thirdparty.signatures import case_parts, decode

__all__ = ["TARGETS", "StoredCase", "cases", "write_corpus"]

_ROOT = Path(__file__).resolve().parents[2]
#: What a sample is compiled for.
TARGETS = ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942")
_MODULE = """import sys

sys.path += {paths}
from tests.thirdparty.table import cases

CASES = cases({folder}, {table})
"""


def write_corpus(place: Path, folders: Mapping[str, Path], tables: Path, site: Path) -> None:
    """Write a corpus.

    :param place: An empty folder for it.
    :param folders: Where packages are unpacked, by the name of their module.
    :param tables: The folder of the signatures.
    :param site: Where torch is.
    """
    for name, folder in folders.items():
        text = _MODULE.format(
            paths=[str(site), str(_ROOT)], folder=repr(str(folder)), table=repr(str(tables / f"{name}.json"))
        )
        (place / f"{name}.py").write_text(text)


@dataclass(frozen=True)
class StoredCase(Case):
    """A kernel of a package with a stored signature; the package is imported when it is compiled.

    :param folder: Where the package is unpacked.
    :param label: The kernel's.
    :param words: Its signature.
    """

    folder: str = ""
    label: str = ""
    words: str = ""

    def resolved(self) -> Case:
        """Import the package and give the case with its kernel.

        :raises LookupError: The kernel is not found.
        """
        kernels, failures = _kernels(self.folder)
        if self.label not in kernels:
            raise LookupError(f"no kernel {self.label}; {failures}")
        function = kernels[self.label]
        parts = case_parts(function.arg_names, decode(self.words))
        return Case(self.name, function, **parts, targets=self.targets)


def cases(folder: str, table: str) -> list[StoredCase]:
    """Make the cases of a package: one for each signature.

    :param folder: Where the package is unpacked.
    :param table: Its signatures.
    """
    return [
        StoredCase(f"{label}:{number}", None, {}, targets=TARGETS, folder=folder, label=label, words=words)
        for label, found in json.loads(Path(table).read_text())["kernels"].items()
        for number, words in enumerate(found)
    ]


@functools.cache
def _kernels(folder: str) -> tuple[dict[str, Any], dict[str, str]]:
    loaded = load(Path(folder))
    return {kernel.label: kernel.jitted for kernel in loaded.kernels}, loaded.failures
