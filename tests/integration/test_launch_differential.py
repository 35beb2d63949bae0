"""Base and fork, given the same launches, hand the same bytes to the driver or raise the same type of error.

The quick set runs a fixed set of cases. `LAUNCH_EXAMPLES=5000 LAUNCH_SEED=7 LAUNCH_ROUNDS=20` with `-m slow` runs as many others
as wanted: so many kernels, with two to six calls each, done so often.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from tests.fake_driver.cases import Case, cases, float_value, simple_case
from tests.fake_driver.differential import COMMON, Outcome, Side, compare, compare_many, differences
from tests.fake_driver.programs import prepare

QUICK_EXAMPLES = 80
HIP_EXAMPLES = 40
QUICK = settings(COMMON, max_examples=QUICK_EXAMPLES, derandomize=True)
QUICK_AND_SHORT = settings(QUICK, phases=[Phase.generate, Phase.shrink])


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="module")
def base(base_python: Path, folder: Path) -> Iterator[Side]:
    with Side(base_python, folder, folder / "cache_base") as side:
        yield side


@pytest.fixture(scope="module")
def fork(fork_python: Path, folder: Path) -> Iterator[Side]:
    with Side(fork_python, folder, folder / "cache_fork") as side:
        yield side


def test_launches_agree(base: Side, fork: Side) -> None:
    seen = compare_many(base, fork, cases(), QUICK_AND_SHORT)
    # The comparison is worth something only where most calls get through and some do not.
    assert seen["launches"] > QUICK_EXAMPLES
    assert seen["error"] > 20
    assert seen["crash"] < 5


def test_launches_agree_with_hip(base_python: Path, fork_python: Path, folder: Path) -> None:
    with (
        Side(base_python, folder, folder / "cache_hip_base", backend="hip") as base,
        Side(fork_python, folder, folder / "cache_hip_fork", backend="hip") as fork,
    ):
        seen = compare_many(base, fork, cases("hip"), settings(QUICK_AND_SHORT, max_examples=HIP_EXAMPLES))
    assert seen["launches"] > HIP_EXAMPLES
    assert seen["crash"] < HIP_EXAMPLES / 2  # of the base, which are no comparison


@pytest.mark.slow
def test_many_launches_agree(base: Side, fork: Side, record_property: Callable[[str, object], None]) -> None:
    examples, rounds = int(os.environ.get("LAUNCH_EXAMPLES", "2000")), int(os.environ.get("LAUNCH_ROUNDS", "20"))
    start = int(os.environ.get("LAUNCH_SEED", "1"))
    seen = compare_many(base, fork, cases(rounds=rounds), settings(COMMON, max_examples=examples), start)
    for name, count in seen.items():
        record_property(name, count)
    assert seen["launches"] > examples * rounds
    assert seen["crash"] < examples / 100


@pytest.mark.parametrize(
    ("plant", "case", "unplanted"),
    [
        ("wrong byte", simple_case("tl.bfloat16", float_value(1.5)), simple_case("tl.int16", ["int", "5"])),
        ("missing check", simple_case("tl.int16", ["int", "40000"]), simple_case("tl.bfloat16", float_value(1.5))),
    ],
)
def test_planted_faults_are_caught(
    base_python: Path, base: Side, folder: Path, plant: str, case: Case, unplanted: Case
) -> None:
    with Side(base_python, folder, folder / f"cache_{plant}", plant=plant) as planted:
        compare(base, planted, unplanted)
        with pytest.raises(AssertionError, match=r"call 0: base: .*; fork: "):
            compare(base, planted, case)


def test_generated_cases_find_a_wrong_byte(base_python: Path, base: Side, folder: Path) -> None:
    with Side(base_python, folder, folder / "cache_wrong byte", plant="wrong byte") as planted:

        @settings(QUICK, phases=[Phase.generate])
        @given(cases())
        def run(case: Case) -> None:
            compare(base, planted, case)

        with pytest.raises(AssertionError, match="fork: "):
            run()


def test_a_crash_of_the_fork_alone_is_a_difference() -> None:
    fine: list[Outcome] = [{"launches": []}]
    crash: list[Outcome] = [{"crash": -6}]
    assert differences(fine, crash)
    assert differences(fine * 2, crash)
    assert not differences(crash, fine)
    assert not differences([{"error": "TypeError", "message": "a"}], [{"error": "TypeError", "message": "b"}])
    assert differences([{"error": "TypeError", "message": "a"}], [{"error": "ValueError", "message": "a"}])


def test_an_error_that_the_base_loses_is_no_difference() -> None:
    lost: Outcome = {"launches": [], "asked": [["exit", "kernel", 0]]}
    raised: Outcome = {"error": "RuntimeError", "message": "invalid argument", "asked": [["exit", "kernel", 0]]}
    launched: Outcome = {"launches": [{"function": 1}], "asked": [["exit", "kernel", 0]]}
    assert not differences([lost, raised], [raised, {"again": 0}])
    assert differences([launched, launched], [raised, {"again": 0}])
    assert differences([{"launches": [], "asked": []}], [raised])
    assert differences([raised], [lost])
    assert differences([launched, {"again": 0}], [launched, raised])
