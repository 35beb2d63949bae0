"""Programs of launches are compared, made short and told apart; the environments themselves are in tests/integration."""

from __future__ import annotations

from typing import Any

from tests.launch_sequences.__main__ import parser
from tests.launch_sequences.comparison import differences
from tests.launch_sequences.examples import EXAMPLES, launch
from tests.launch_sequences.features import features, is_explained
from tests.launch_sequences.programs import Program
from tests.launch_sequences.shortening import shorten

GRID = ["grid", ["pointer"]]
ASKED, ASKED_TYPE = ["?data_ptr", "t0"], ["?dtype", "t0"]


def outcome(seen: list[Any] | None = None, answer: Any = None, launches: list[Any] | None = None) -> dict[str, Any]:
    return {"answer": answer, "launches": launches or [], "loaded": 0, "seen": seen or []}


def differ(base: list[Any], fork: list[Any], *, questions: bool = False) -> bool:
    return bool(differences([outcome(base)], [outcome(fork)], questions=questions))


def test_events_have_an_order_and_a_number() -> None:
    assert not differ([GRID, ["exit"]], [GRID, ["exit"]])
    assert differ([GRID, ["exit"]], [["exit"], GRID])
    assert differ([GRID], [GRID, GRID])


def test_questions_must_be_asked_between_the_same_events() -> None:
    base = [ASKED, GRID, ASKED]
    assert not differ(base, [ASKED_TYPE, ASKED, ASKED, GRID, ASKED])
    assert differ(base, [ASKED, GRID])
    assert differ(base, [ASKED, ASKED, GRID, ASKED], questions=True)


def test_each_part_is_compared() -> None:
    for changed in (outcome(answer=1), outcome(launches=[["kernel"]]), {**outcome(), "loaded": 1}):
        assert len(differences([outcome()], [changed])) == 1
        assert not differences([outcome()], [changed], parts=["seen"])


def test_what_the_fork_documents_is_no_difference() -> None:
    raised = [outcome(answer=["raised", name, ""]) for name in ("TypeError", "KeyboardInterrupt", "ValueError")]
    assert not differences(raised[:1], raised[1:2])
    assert differences(raised[1:2], raised[:1])
    assert differences(raised[:1], raised[2:])


def test_a_crash_of_the_fork_alone_is_a_difference() -> None:
    assert differences([outcome()], [{"crash": -11}])
    assert not differences([{"crash": -11}], [outcome()])


def test_shorten_keeps_what_is_needed() -> None:
    needed = {"do": "move", "name": "t0", "address": 64}
    noise: Program = [launch(times=3), {"do": "collect"}] * 5
    program = [*noise, launch(times=4, during=[["grid", {"do": "thread", "step": needed}], ["exit", needed]]), *noise]

    def differs(candidate: Program) -> bool:
        moments = [item for step in candidate for item in step.get("during", [])]
        return any(moment == "grid" and "move" in str(step) for moment, step in moments)

    assert shorten(program, differs) == [launch(during=[["grid", needed]])]


def test_features_tell_known_programs() -> None:
    known = [features(EXAMPLES["address after the grid"])]
    longer = [*EXAMPLES["address after the grid"], {"do": "collect"}]
    assert is_explained(longer, known)
    assert not is_explained([launch(), {"do": "collect"}], known)
    assert not is_explained(EXAMPLES["address after the allocator"], known)


def test_the_command_line_says_how() -> None:
    text = parser().format_help()
    assert "--replay" in text
    assert "Exit code" in text
