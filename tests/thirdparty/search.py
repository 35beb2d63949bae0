"""Find signatures with which kernels compile, by trying.

A guess is compiled to the first IR. Where that fails, the error names a line; the parameters that this line works with get their
next guesses one at a time, and the search goes on from whatever gets the compiler furthest.

Runs inside the interpreters under comparison, in the base's.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.thirdparty.guesses import guesses
from tests.thirdparty.loading import Kernel, jit_function
from tests.thirdparty.signatures import Constant, Word, case_parts, encode
from tests.thirdparty.usage import Usage, read

__all__ = ["Search"]

_TRIES = 250
#: Of processor time.
_SECONDS = 45.0
#: Types in messages, which say the same of another type.
_TYPE = re.compile(r"pointer<[^>]*>|triton\.language\.\w+|\b(?:u?int\d+|[bf]p?f?\d+\w*)\b")


@dataclass(frozen=True)
class _Outcome:
    """What a try gave.

    :param reached: How far it got: lines and columns of the nested calls; larger is further.
    :param message: What the compiler said.
    """

    reached: tuple[tuple[int, int], ...]
    message: str = ""

    @property
    def works(self) -> bool:
        return not self.message


@dataclass
class _State:
    """A place of the search: a signature, what became of it, and what is still to be tried from there."""

    outcome: _Outcome
    words: list[Word]
    changes: Iterator[list[Word]]


class Search:
    """The search for signatures of one kernel.

    :param kernel: The kernel.
    :param generate: Generates the first IR of a source for the target, or raises.
    """

    def __init__(self, kernel: Kernel, generate: Any) -> None:
        self.kernel, self.function = kernel, jit_function(kernel.function)
        self.usage: Usage = read(self.function)
        self.names = list(self.function.arg_names)
        self._generate = generate
        self._known: dict[tuple[Word, ...], _Outcome] = {}
        self._end = time.process_time() + _SECONDS
        self._fixed = self._configured()
        self.message = ""

    def signatures(self) -> list[list[Word]]:
        """Search.

        :returns: A signature, and where there is one, another with truths the other way round and optional arguments left out;
            empty where nothing was found, with the furthest error in ``message``.
        """
        first = None
        for floating in ("*fp32", "*fp16", "*bf16"):
            first = self._climb(floating)
            if first is not None:
                break
        if first is None:
            return []
        second = self._turned(first)
        return [first] if second == first else [first, second]

    def _configured(self) -> dict[str, Word]:
        """Take the constants of the first configuration of an autotuned kernel."""
        value = self.kernel.function
        found: dict[str, Word] = {}
        while value is not self.function:
            for config in getattr(value, "configs", [])[:1]:
                found = {k: Constant(v) for k, v in config.kwargs.items() if isinstance(v, (bool, int, float, str))}
            value = value.fn
        return found

    def _choices(self, name: str, floating: str) -> list[Word]:
        words = guesses(self.usage.parameters[name], floating)
        return list(dict.fromkeys([self._fixed[name], *words])) if name in self._fixed else words

    def _climb(self, floating: str) -> list[Word] | None:
        """Change one guess at a time, always from the state that is furthest."""
        choices = {name: self._choices(name, floating) for name in self.names}
        words = [choices[name][0] for name in self.names]
        outcome = self._try(words)
        states = [_State(outcome, words, self._changes(words, outcome, choices))]
        seen = {(outcome.reached, outcome.message)}
        furthest: tuple[tuple[int, int], ...] = ()
        while not outcome.works and states and not self._spent():
            state = max(states, key=lambda state: state.outcome.reached)  # the first of several
            if state.outcome.reached > furthest:
                furthest = state.outcome.reached
                self.message = f"line {furthest[0][0]}: {state.outcome.message} with {encode(state.words)}"
            changed = next(state.changes, None)
            if changed is None:
                states.remove(state)
                continue
            words, outcome = changed, self._try(changed)
            if (outcome.reached, outcome.message) not in seen:
                seen.add((outcome.reached, outcome.message))
                states.append(_State(outcome, words, self._changes(words, outcome, choices)))
        return words if outcome.works else None

    def _changes(self, words: list[Word], outcome: _Outcome, choices: dict[str, list[Word]]) -> Iterator[list[Word]]:
        involved = self.usage.involved(outcome.reached)
        switches = [p.name for p in self.usage.parameters.values() if p.constant and (p.truth or p.compared)]
        near = [name for name in involved if name in self.names][:8]
        far = [name for name in switches if name in self.names and name not in near]
        floats = [i for i, word in enumerate(words) if word in ("*fp32", "*fp16", "*bf16", "*i8")]
        for depth in range(20):
            for name in [*near, *(far if depth in range(1, 4) else [])]:
                if depth < len(choices[name]):
                    at = self.names.index(name)
                    changed = [*words[:at], choices[name][depth], *words[at + 1 :]]
                    if changed != words:
                        yield changed
            if depth == 2 and floats:
                for kind in ("*fp16", "*bf16", "*fp32", "*i8"):
                    yield [kind if i in floats else word for i, word in enumerate(words)]

    def _spent(self) -> bool:
        return len(self._known) >= _TRIES or time.process_time() > self._end

    def _turned(self, words: list[Word]) -> list[Word]:
        """Turn truths round and leave optional arguments out, all at once or else one by one."""
        turned: dict[int, Word] = {}
        for at, (name, word) in enumerate(zip(self.names, words, strict=True)):
            if isinstance(word, Constant) and isinstance(word.value, bool):
                turned[at] = Constant(not word.value)
            elif isinstance(word, str) and self.usage.parameters[name].optional:
                turned[at] = Constant(None)
        everything = [turned.get(at, word) for at, word in enumerate(words)]
        if not turned or self._try(everything).works:
            return everything
        current = list(words)
        for at, word in turned.items():
            changed = [*current[:at], word, *current[at + 1 :]]
            if not self._spent() and self._try(changed).works:
                current = changed
        return current

    def _try(self, words: list[Word]) -> _Outcome:
        key = tuple(words)
        if key not in self._known:
            self._known[key] = self._outcome(words)
        return self._known[key]

    def _outcome(self, words: list[Word]) -> _Outcome:
        try:
            self._generate(self.function, case_parts(self.names, words))
        except Exception as error:
            places, inner = _places(error)
            message = _TYPE.sub("...", f"{type(inner).__name__}: {str(inner)[-300:]}")
            return _Outcome(places, message)
        return _Outcome(((1 << 30, 0),))


def _places(error: BaseException) -> tuple[tuple[tuple[int, int], ...], BaseException]:
    """Follow an error to its cause; give the places of the nested calls, and the cause."""
    kind = importlib.import_module("triton.compiler.errors").CompilationError
    places: list[tuple[int, int]] = []
    seen = error
    while True:
        if isinstance(seen, kind) and seen.node is not None:
            places.append((seen.node.lineno, seen.node.col_offset))
        following = seen.__cause__ or seen.__context__
        if following is None or len(places) > 8:
            return tuple(places), seen
        seen = following
