"""Set aside what may differ between two installations that generate the same code.

That is: locations in the source (of Triton's own library functions, whose lines move when a patch adds one), and the folder in
which Triton is installed. Kernels are compiled with ``TRITON_DISABLE_LINE_INFO=1``, so LLIR, PTX, amdgcn and the binaries
hold no line tables at all (no ``!DI`` metadata, ``.loc``, ``.file`` or debug section) and are compared whole, byte by byte. In
TTIR and TTGIR the locations are part of the text and are cut out here. The install folder is replaced by a placeholder *of the
same length*, since it may stand inside a binary (an assertion in a library function names its file): the worker sees to it
that both sides have folders of one length.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import re

__all__ = ["PLACEHOLDER", "strip_locations", "without_prefix"]

#: Fills the place of the install folder.
PLACEHOLDER = b"?"

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_LOCATION_ALIAS = re.compile(r"^#loc\d* = loc\(.*\)\n", re.MULTILINE)
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


def without_prefix(data: bytes, prefix: str) -> bytes:
    """Replace the install folder, keeping the length.

    :param data: An artifact.
    :param prefix: Absolute path of the folder.
    """
    encoded = prefix.encode()
    return data.replace(encoded, PLACEHOLDER * len(encoded))
