"""Signatures of kernels as text: one word a parameter, in the order of the parameters.

A word without ``=`` is the type of an argument of run time, as Triton writes it. A word with ``=`` is a constant: ``=`` and a value
in JSON, where ``{"dtype": "fp32"}`` stands for ``tl.float32`` and a list for a tuple. Blanks in either are left out or escaped.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Sequence
from typing import Any

__all__ = ["Constant", "Word", "case_parts", "decode", "encode", "value_of"]


class Constant:
    """A parameter that is known when compiling.

    :param value: Its value as JSON has it.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and json.dumps(self.value) == json.dumps(other.value)

    def __hash__(self) -> int:
        return hash(json.dumps(self.value))

    def __repr__(self) -> str:
        return "=" + json.dumps(self.value, separators=(",", ":")).replace(" ", "\\u0020")


#: A type, or a constant.
Word = str | Constant


def encode(words: Sequence[Word]) -> str:
    """Write a signature.

    :param words: One for each parameter.
    """
    return " ".join(word.replace(" ", "") if isinstance(word, str) else repr(word) for word in words)


def decode(text: str) -> list[Word]:
    """Read a signature.

    :param text: What :func:`encode` wrote.
    """
    return [Constant(json.loads(word[1:])) if word.startswith("=") else word for word in text.split()]


def case_parts(names: Sequence[str], words: Sequence[Word]) -> dict[str, Any]:
    """Turn a signature into arguments of :class:`fork.equivalence.cases.Case`.

    Pointers are stated to be aligned, as those of torch's allocator are.

    :param names: Names of the parameters.
    :param words: One for each.
    :raises ValueError: There are more or fewer words than parameters.
    """
    pairs = list(zip(names, words, strict=True))
    return {
        "signature": {name: _types(word) for name, word in pairs if isinstance(word, str)},
        "constants": {name: value_of(word.value) for name, word in pairs if isinstance(word, Constant)},
        "attributes": {
            name: [("tt.divisibility", 16)] for name, word in pairs if isinstance(word, str) and word.startswith("*")
        },
    }


def _types(word: str) -> Any:
    """Read a type; ``(i32,*fp32)`` is a tuple."""
    if word.startswith("("):
        return tuple(part for part in re.split(r",(?![^\[]*\])", word[1:-1]) if part)
    return word


def value_of(value: Any) -> Any:
    """Make a constant of what JSON has of it.

    :param value: A value of :class:`Constant`.
    """
    if isinstance(value, list):
        return tuple(value_of(item) for item in value)
    return importlib.import_module("triton.language").dtype(value["dtype"]) if isinstance(value, dict) else value
