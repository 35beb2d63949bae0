"""Whatever happens between launches and during them, base and fork launch the same, tell the same, and end the same.

A fixed set of programs; `LAUNCH_PROGRAMS=20000 LAUNCH_SEED=7` with `-m slow` runs as many others as wanted, and
`python -m tests.launch_sequences --help` goes on after what it finds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fake_driver.programs import prepare
from tests.launch_sequences.comparison import differences
from tests.launch_sequences.examples import EXAMPLES
from tests.launch_sequences.programs import programs
from tests.launch_sequences.search import Finding, Pair, Search, side

QUICK = {"cuda": 160, "hip": 80}


@pytest.fixture(scope="module")
def folder(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(base_python, tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="module", params=["cuda", "hip"])
def pair(request: pytest.FixtureRequest, base_python: Path, fork_python: Path, folder: Path) -> Iterator[Pair]:
    backend = request.param
    with (
        side(base_python, folder, folder / f"{backend}_base", backend) as base,
        side(fork_python, folder, folder / f"{backend}_fork", backend) as fork,
    ):
        yield Pair(base, fork)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_agree(pair: Pair, example: str) -> None:
    program = EXAMPLES[example]
    found = pair.run(program)
    assert not found, str(Finding(program, found))


def test_programs_agree(pair: Pair) -> None:
    count = QUICK[pair.base.backend]
    found = Search(pair, programs(pair.base.backend)).find(count, seed=1)
    assert found is None, str(found)
    # The comparison is worth something only where most steps get through and some do not.
    assert pair.seen["launches"] > 4 * count
    assert pair.seen["errors"] > count / 10
    assert pair.seen["crashes of the base"] < 3


def test_programs_agree_without_the_extension(base_python: Path, fork_python: Path, folder: Path) -> None:
    with (
        side(base_python, folder, folder / "cuda_base") as base,
        side(fork_python, folder, folder / "cuda_fork", TRITON_FORK_NATIVE="0") as fork,
    ):
        found = Search(Pair(base, fork), programs()).find(40, seed=2)
    assert found is None, str(found)


@pytest.mark.slow
def test_many_programs_agree(pair: Pair, record_property: Callable[[str, object], None]) -> None:
    count, seed = int(os.environ.get("LAUNCH_PROGRAMS", "3000")), int(os.environ.get("LAUNCH_SEED", "3"))
    found = list(Search(pair, programs(pair.base.backend)).find_all(count, seed))
    for name, number in pair.seen.items():
        record_property(name, number)
    assert not found, "\n\n".join(map(str, found))
    assert pair.seen["launches"] > 4 * count


def test_the_base_agrees_with_itself(base_python: Path, folder: Path) -> None:
    """Each program has one order, threads or not: what is found is of the fork."""
    with side(base_python, folder, folder / "own_1") as one, side(base_python, folder, folder / "own_2") as other:
        found = Search(Pair(one, other, questions=True), programs()).find(40, seed=4)
    assert found is None, str(found)


@pytest.mark.parametrize(("plant", "step"), [("early address", "move"), ("no exit hook", "set_hook")])
def test_planted_faults_are_found_and_made_short(base_python: Path, folder: Path, plant: str, step: str) -> None:
    with (
        side(base_python, folder, folder / "unplanted") as base,
        side(base_python, folder, folder / "planted", plant=plant) as planted,
    ):
        found = Search(Pair(base, planted), programs()).find(400, seed=5)
    assert found is not None
    assert found.reproduced
    assert len(found.program) <= 3
    assert f'"{step}"' in str(found) or "add_hook" in str(found)


def test_a_crash_of_the_fork_alone_is_a_difference() -> None:
    fine = [{"answer": None, "launches": [], "loaded": 0, "seen": []}]
    assert not differences(fine, fine)
    assert differences(fine, [{"crash": -11}])
    assert not differences([{"crash": -11}], fine)
