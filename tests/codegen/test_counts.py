"""Counted quantities of code generation: filters, signatures, parses, names; and what each switch restores."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.conftest import Worker

# A kernel that calls a function of its own and reductions, compiled for three sizes; the first is counted for parses only.
BASE = {"parses": 34, "functions": 16, "filters": 514, "signatures": 22, "bindings": 18, "types": 310, "names": 310}


def test_the_base_does_everything_again(run: Worker, base_python: Path) -> None:
    assert run(base_python, "counts", "calls") == BASE


def test_the_fork_does_it_once(run: Worker, fork_python: Path) -> None:
    # Finding the lines of a function parses them too, where the base runs a tokenizer: set aside here.
    counts = run(fork_python, "counts", "calls", TRITON_FORK_DEFERRED_SOURCE="0")
    assert counts["filters"] == counts["functions"] == BASE["functions"]
    assert counts["parses"] < BASE["parses"] / 3
    assert "signatures" not in counts
    assert "bindings" not in counts
    assert counts["names"] == 0


@pytest.mark.parametrize(
    ("switch", "restored"),
    [
        ("TRITON_FORK_VISIT", "filters"),
        ("TRITON_FORK_SIGNATURES", "signatures"),
        ("TRITON_FORK_PARSE", "parses"),
        ("TRITON_FORK_LAZY_TYPES", "names"),
    ],
)
def test_each_switch_restores_the_work_of_the_base(run: Worker, fork_python: Path, switch: str, restored: str) -> None:
    # Set aside as above.
    kept = {"TRITON_FORK_DEFERRED_SOURCE": "0"}
    on, off = run(fork_python, "counts", "calls", **kept), run(fork_python, "counts", "calls", **kept, **{switch: "0"})
    assert off[restored] > 2 * on.get(restored, 0)
    assert {name: count for name, count in off.items() if name not in {restored, "bindings", "types"}} == {
        name: count for name, count in on.items() if name != restored and name != "types"
    }


def test_behaviour_is_kept(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "behaviour"), run(fork_python, "behaviour")
    depths, base_depths = fork.pop("depths"), base.pop("depths")
    assert fork == base
    assert all(depths[kind] >= base_depths[kind] for kind in base_depths)


def test_member_functions_that_are_jitted_get_no_signature(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "signatures"), run(fork_python, "signatures")
    assert base["jitted"] > 10
    assert fork == {**base, "jitted": 0}


def test_the_switch_makes_signatures_for_them(run: Worker, base_python: Path, fork_python: Path) -> None:
    assert run(fork_python, "signatures", TRITON_FORK_SIGNATURES="0") == run(base_python, "signatures")
