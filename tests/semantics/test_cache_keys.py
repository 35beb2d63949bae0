"""A cache key changes when what is compiled changes, and only then."""

from typing import Any

import pytest

from tests.fake_driver.programs import Both

# Variants in one set must share a key; sets must differ from each other.
SOURCES = [
    {"plain", "plain again", "code after it"},
    {"other body"},
    {"comment"},
    {"other line"},
    {"global 1", "global 1, unused 2"},
    {"global 2"},
    {"closure 1", "closure 1, unused 2"},
    {"closure 2"},
    {"callee", "uncalled changed"},
    {"callee changed"},
    {"callee noinline"},
    {"closed callee plus"},
    {"closed callee minus"},
    {"constexpr function 2"},
    {"constexpr function 3"},
]
# triton-lang/triton#11224: the base looks a free variable up among the globals first, so a global of the same name hides
# the value that counts. The second kernel then runs the code of the first.
WRONG_IN_THE_BASE = [{"shadowed 1", "shadowed 2"}]
RIGHT = [{"shadowed 1"}, {"shadowed 2"}]

CALLS = [
    {"call", "other address", "other n", "num_warps 4"},
    {"unaligned address"},
    {"divisible n"},
    {"n is one"},
    {"wide n"},
    {"float n"},
    {"other constexpr"},
    {"boolean constexpr"},
    {"num_warps 8"},
    {"num_stages 2"},
    {"maxnreg 64"},
    {"no fusion"},
    {"debug"},
    {"pdl"},
]

VARIABLES = [
    {"no variable", "NOBODY_READS_THIS"},
    {"DISABLE_LLVM_OPT"},
    {"TRITON_DISABLE_LINE_INFO"},
    {"DISABLE_PTXAS_OPT"},
    {"capability 80"},
]


@pytest.fixture(scope="module")
def answers(run_both: Both) -> tuple[dict[str, Any], dict[str, Any]]:
    return run_both("cache_keys.py", PYTHONHASHSEED="1")


def partition(groups: dict[str, int]) -> set[frozenset[str]]:
    return {frozenset(name for name, group in groups.items() if group == number) for number in groups.values()}


def sets(*parts: list[set[str]]) -> set[frozenset[str]]:
    return {frozenset(members) for part in parts for members in part}


@pytest.mark.parametrize("which", ["sources", "compilations"])
def test_key_of_a_source(answers: tuple[dict[str, Any], dict[str, Any]], which: str) -> None:
    base, fork = (partition(answer[which]) for answer in answers)
    assert base == sets(SOURCES, WRONG_IN_THE_BASE)
    assert fork in (base, sets(SOURCES, RIGHT))


def test_key_of_a_call(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = (partition(answer["calls"]) for answer in answers)
    assert base == sets(CALLS)
    assert fork == base


def test_key_under_environment_variables(answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = (partition(answer["variables"]) for answer in answers)
    assert base == sets(VARIABLES)
    assert fork == base


def test_keys_do_not_depend_on_the_process(run_both: Both, answers: tuple[dict[str, Any], dict[str, Any]]) -> None:
    again = run_both("cache_keys.py", PYTHONHASHSEED="2")
    for first, second in zip(answers, again, strict=True):
        assert first["keys"] == second["keys"]


def test_equal_constants_are_told_apart(run_both: Both) -> None:
    base, fork = run_both("equal_constants.py")
    assert fork == dict.fromkeys(base, 0)
    assert {pair for pair, wrong in base.items() if not wrong} == {"different integers", "different words"}
