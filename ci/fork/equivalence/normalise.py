"""Set aside what may differ between two installations that generate the same code: locations.

They differ once a patch moves the lines of a library function. Kernels are compiled with ``TRITON_DISABLE_LINE_INFO=1``, so that
LLIR, PTX, amdgcn and the binaries hold no line tables at all (no ``!DI`` metadata, ``.loc``, ``.file``) and are compared whole,
byte by byte. What TTIR and TTGIR still hold, names of values, is cut out here; since MLIR prints a value under its name,
values are numbered afresh where the texts differ. (``--locations`` sets none of this aside.)

The folder in which Triton is installed needs no setting aside: see :func:`fork.equivalence.worker.main`.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import re

__all__ = ["number_values", "strip_locations"]

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_LOCATION_ALIAS = re.compile(r"^#loc\d* = loc\(.*\)\n", re.MULTILINE)
_VALUE = re.compile(rf"{_QUOTED}|%[\w.$-]+|\btt\.func\b")
_TOKEN = re.compile(rf"{_QUOTED}|[()]")
_LOCATION = re.compile(rf"{_QUOTED}| loc\(")


def strip_locations(text: str) -> str:
    """Cut the locations out of MLIR's textual form.

    :param text: A module of TTIR or TTGIR.
    :returns: The module without ``loc(...)`` and without the aliases that they use; strings are left alone.
    """
    text = _LOCATION_ALIAS.sub("", text)
    kept, position = [], 0
    while match := _LOCATION.search(text, position):
        if match.group().startswith('"'):
            kept.append(text[position : match.end()])
            position = match.end()
        else:
            kept.append(text[position : match.start()])
            position = _after_parenthesis(text, match.end())
    return "".join(kept) + text[position:]


def _after_parenthesis(text: str, position: int) -> int:
    """Find the end of a parenthesis that was opened before ``position``."""
    depth = 1
    for match in _TOKEN.finditer(text, position):
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    raise ValueError("a location without an end")


def number_values(text: str) -> str:
    """Replace the names of values by numbers, in the order in which they appear in a function.

    Two texts that become equal differ in names alone: different values keep different numbers.

    :param text: A module of TTIR or TTGIR.
    """
    numbers: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        name = match.group()
        if name == "tt.func":
            numbers.clear()
        return numbers.setdefault(name, f"%{len(numbers)}") if name.startswith("%") else name

    return _VALUE.sub(replace, text)
