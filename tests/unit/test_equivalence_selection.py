"""Which cases are compiled for which targets."""

from __future__ import annotations

from fork.equivalence.selection import Selection, Task

ROWS = [
    ("matmul", "plain", ["cuda:80", "cuda:90", "hip:gfx942"]),
    ("matmul", "split_k", ["cuda:80", "cuda:90"]),
    ("scans", "sort", ["cuda:80", "cuda:90", "hip:gfx942"]),
]


def test_all_by_default() -> None:
    tasks = Selection().apply(ROWS)
    assert len(tasks) == 8
    assert tasks[0] == Task("matmul", "plain", "cuda:80")


def test_quick_is_one_target_a_case_and_does_not_depend_on_other_cases() -> None:
    tasks = Selection(quick=True).apply(ROWS)
    assert [task.case for task in tasks] == ["plain", "split_k", "sort"]
    assert Selection(quick=True).apply(ROWS[2:]) == tasks[2:]


def test_quick_meets_every_target_of_a_larger_corpus() -> None:
    rows = [("m", f"case{i}", ["a", "b", "c"]) for i in range(40)]
    assert {task.target for task in Selection(quick=True).apply(rows)} == {"a", "b", "c"}


def test_cases_are_picked_by_pattern() -> None:
    assert {task.case for task in Selection(cases=["s*"]).apply(ROWS)} == {"split_k", "sort"}
    assert {task.case for task in Selection(cases=["matmul/*"]).apply(ROWS)} == {"plain", "split_k"}
    assert Selection(cases=["none"]).apply(ROWS) == []


def test_targets_are_picked_by_name() -> None:
    assert [str(task) for task in Selection(targets=["hip:gfx942"]).apply(ROWS)] == [
        "matmul/plain for hip:gfx942",
        "scans/sort for hip:gfx942",
    ]
