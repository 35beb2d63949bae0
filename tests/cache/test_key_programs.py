"""Programs made by chance: equal keys mean equal code, and what a program does not mention is not in its keys."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cache.conftest import WORKERS, worker_environment

NAMES = ("A", "B", "C")
VALUES = ("1", "True", "1.0", "0.0", "-0.0", "2", "'a'", "(1, 2)", "(True, 2)", "tl.float32", "None")
PLACES = ("module", "settings", "outer", "inner")
#: What a statement mentions of the variables, and what of the module of settings.
OF_VARIABLES, OF_SETTINGS = {"name", "local", "not_taken"}, {"setting", "item", "by_name"}
Program = dict[str, Any]


class Answers:
    """A process that answers one description of a program after another."""

    def __init__(self, python: Path, cache: Path, **environment: str) -> None:
        command = [str(python), str(WORKERS / "key_programs.py")]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=cache.parent,
            env=worker_environment(cache, **environment),
        )

    def ask(self, program: Program, order: list[int], code: bool) -> Any:
        """Have the keys worked out in an order, and the code of each function if it is wanted."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**program, "order": order, "code": code}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@pytest.fixture(scope="module")
def processes(fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Answers]]:
    found = [
        Answers(fork_python, tmp_path_factory.mktemp("one") / "cache", PYTHONHASHSEED="1"),
        Answers(fork_python, tmp_path_factory.mktemp("two") / "cache", PYTHONHASHSEED="2", TRITON_FORK_SOURCE_KEYS="0"),
    ]
    yield found
    for one in found:
        one.close()


values = st.sampled_from(VALUES)
names = st.sampled_from(NAMES)


def statements(count: int) -> st.SearchStrategy[list[Any]]:
    read = st.tuples(st.sampled_from(sorted(OF_VARIABLES | OF_SETTINGS)), names)
    call = st.tuples(st.sampled_from(["call", "called_by_value"]), st.integers(0, count - 1))
    return st.lists(st.one_of(read, call, st.just(("default", ""))), max_size=4)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    count = draw(st.integers(1, 4))
    everywhere = st.fixed_dictionaries(dict.fromkeys(NAMES, values))
    somewhere = st.dictionaries(names, values, max_size=2)
    bodies = draw(st.lists(st.tuples(names, statements(count)), min_size=count, max_size=count))
    module, in_settings, outer, inner = (draw(place) for place in (everywhere, everywhere, somewhere, somewhere))
    return {"module": module, "settings": in_settings, "outer": outer, "inner": inner, "bodies": bodies}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Program, Program, str, str]:
    """Give two programs that differ in one value, the place of it, and its name."""
    program = draw(programs())
    place = draw(st.sampled_from([place for place in PLACES if program[place]]))
    name = draw(st.sampled_from(sorted(program[place])))
    value = draw(values.filter(lambda value: value != program[place][name]))
    return program, {**program, place: {**program[place], name: value}}, place, name


def is_mentioned(program: Program, place: str, name: str) -> bool:
    kinds = OF_SETTINGS if place == "settings" else OF_VARIABLES
    in_default = place != "settings" and any(default == name for default, _ in program["bodies"])
    return in_default or any(
        [kind, what] in ([k, name] for k in kinds) for _, b in program["bodies"] for kind, what in b
    )


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(pair=pairs(), orders=st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=4, max_size=4))
def test_equal_keys_mean_equal_code(
    processes: list[Answers], pair: tuple[Program, Program, str, str], orders: list[list[int]]
) -> None:
    *both, place, name = pair
    first, second = (processes[0].ask(program, order, code=True) for program, order in zip(both, orders, strict=False))
    again = [processes[1].ask(program, order, code=False) for program, order in zip(both, orders[2:], strict=False)]
    assert [first["keys"], second["keys"]] == [answer["keys"] for answer in again], "another process has other keys"
    for keys, codes in zip(*(zip(first[what], second[what], strict=True) for what in ("keys", "code")), strict=True):
        assert codes[0] == codes[1] or keys[0] != keys[1], "one key for two codes"
    if not is_mentioned(both[0], place, name):
        assert first["keys"] == second["keys"], "a value that nothing reads is in a key"
