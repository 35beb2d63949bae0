"""Errors say what they said and point at the same place of the source, and so do the locations in the IR."""

from typing import Any

import pytest

from tests.fake_driver.programs import TESTS, Both

COMPILATION = "CompilationError"

# Kind of the error, and line and column in the function's source: of the error, then of what it happened in.
EXPECTED: dict[str, tuple[str, list[list[int]]]] = {
    "unknown_name": (COMPILATION, [[2, 16]]),
    "unknown_attribute": (COMPILATION, [[2, 16]]),
    "ordinary_global": (COMPILATION, [[2, 16]]),
    "ordinary_function": ("RuntimeError", []),
    "no_power_of_two": (COMPILATION, [[2, 17]]),
    "shapes": (COMPILATION, [[4, 20]]),
    "static_assertion": ("CompileTimeAssertionFailure", [[2, 4]]),
    "try_statement": ("UnsupportedLanguageConstruct", [[2, 4]]),
    "constexpr_again": (COMPILATION, [[3, 4]]),
    "wrong_keyword": (COMPILATION, [[2, 4]]),
    "few_arguments": (COMPILATION, [[2, 4]]),
    "in_callee": (COMPILATION, [[2, 16], [3, 11], [2, 15]]),
    "nested": (COMPILATION, [[3, 16]]),
    "loop_changes_type": (COMPILATION, [[3, 4]]),
    "branches_differ": (COMPILATION, [[2, 4]]),
    "break_statement": ("UnsupportedLanguageConstruct", [[4, 8]]),
    "two_returns": (COMPILATION, [[4, 4]]),
    "decorated": (COMPILATION, [[9, 12]]),
    "called": ("RuntimeError", []),
    "no grid": ("AssertionError", []),
    "unknown option": ("KeyError", []),
    "unknown parameter": ("TypeError", []),
    "no source": ("ValueError", []),
}

Answers = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def answers(run_both: Both) -> Answers:
    return run_both("errors.py")


@pytest.mark.parametrize("name", EXPECTED)
def test_error(answers: Answers, name: str) -> None:
    base, fork = (answer["errors"][name] for answer in answers)
    assert fork == base
    assert (base["type"], base["positions"]) == EXPECTED[name]


def test_every_error_is_checked(answers: Answers) -> None:
    assert answers[0]["errors"].keys() == EXPECTED.keys()


def test_message_shows_the_source_up_to_the_error(answers: Answers) -> None:
    assert answers[0]["errors"]["shapes"]["message"].splitlines() == [
        "at 4:20:",
        "def shapes(p):",
        "    x = tl.arange(0, 16)",
        "    y = tl.arange(0, 32)",
        "    tl.store(p + x, x + y)",
        "                    ^",
        "ValueError('Cannot make_shape_compatible: incompatible dimensions at index 0: 16 and 32')",
    ]


def test_locations_in_the_ir(answers: Answers) -> None:
    base, fork = (answer["locations"] for answer in answers)
    assert fork == base
    lines = (TESTS / "semantics" / "programs" / "errors.py").read_text().splitlines()
    store = "    tl.store(p + tl.arange(0, size), total)"
    place = [lines.index(store) + 1, store.rindex("total")]
    assert ["ttir", *place] in base
    # LLVM counts columns from 1.
    assert ["llir", place[0], place[1]] in base or ["llir", place[0], place[1] + 1] in base
