"""Mistakes that users make: what the language refuses, and with which words, is compared too."""

from __future__ import annotations

from tests.fuzz.kernels.module import Context

__all__ = ["spoil"]

_LINES = (
    "wrong = not_defined",
    "wrong = tl.zeros((3,), tl.float32)",
    "wrong = tl.arange(0, 8) + tl.arange(0, 4)",
    "wrong = n + 'a'",
    "wrong = p0 * 2",
    "wrong = tl.load(n)",
    "tl.static_assert(1 == 2, 'wrong')",
    "tl.static_assert(n == 2)",
    "K: tl.constexpr = 1\nK: tl.constexpr = 2",
    "if tl.arange(0, 8) > 2:\n    pass",
    "for i in range(n):\n    n = 1.0",
    "for i in range(n):\n    return",
    "for i in [1, 2]:\n    pass",
    "for i in range(1.5):\n    pass",
    "wrong = [x for x in range(3)]",
    "wrong = {1: 2}",
    "wrong = lambda: 1",
    "wrong = 1 < n < 3",
    "wrong = n in (1, 2)",
    "with n:\n    pass",
    "def inner():\n    pass",
    "del n",
    "try:\n    pass\nexcept ValueError:\n    pass",
    "raise ValueError('wrong')",
    "n[0] = 1",
    "wrong = tl.nothing_of_the_kind(n)",
    "wrong = n.nothing",
    "wrong = tl.sum(n)",
    "wrong = f'{n}'",
    "wrong, other = n",
    "wrong = settings",
    "wrong = dataclasses",
    "wrong = tl.full((8,), n, tl.float32)[0]",
    "wrong = (1, 2)[5]",
    "wrong = tl.program_id(7)",
    "tl.device_print(n)",
    "while True:\n    pass",
    "if n > 1:\n    both = 1\nelse:\n    both = 1.5",
    "wrong = (1 if n > 1 else 1.5)",
    "wrong = tl.cat(n)",
    "tl.arange(0, 8).nothing()",
    "break",
    "global n",
    "import math",
    "wrong = tl.dot(n, n)",
    "wrong = None + 1",
)


def spoil(context: Context, lines: list[str]) -> list[str]:
    """Put something wrong into a kernel.

    :param context: What is known at its end.
    :param lines: Its statements, not indented.
    """
    outer = [at for at, line in enumerate(lines) if not line.startswith((" ", "elif", "else"))]
    at = context.choices.pick([*outer, len(lines)])
    return [*lines[:at], *context.choices.pick(_LINES).split("\n"), *lines[at:]]
