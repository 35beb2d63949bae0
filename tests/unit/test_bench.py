"""Benchmarks: ratios and spread, what the runner refuses, what a report shows."""

from __future__ import annotations

import io
import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fork.bench.pages import drop_pages
from fork.bench.peers import parse_peer
from fork.bench.plots import plot, plot_summary
from fork.bench.program import Program, find_programs
from fork.bench.quantity import BASE, FORK, Quantity
from fork.bench.report import document, number, quantities_of, table
from fork.bench.runner import BenchmarkError, Measured, measure

PEER = "other 1.0"

# Sides share the interpreter: a program knows its side by its folder.
SIDE = (
    "import json, os, sys\nside = os.path.basename(os.environ['BENCH_FOLDER'])\nfolder = os.environ['BENCH_FOLDER']\n"
)


def program(folder: Path, text: str, **constants: object) -> Program:
    path = folder / "measured.py"
    path.write_text('"""What it measures."""\n' + "".join(f"{n} = {v!r}\n" for n, v in constants.items()) + SIDE + text)
    return Program.read(path)


def run(made: Program, *peers: str, pairs: int = 2, **environment: str) -> Measured:
    sides = {side: Path(sys.executable) for side in (BASE, FORK, *peers)}
    return measure(made, sides, pairs=pairs, environment=environment)


def quantity(base: tuple[float, ...], fork: tuple[float, ...], name: str = "time", **more: Any) -> Quantity:
    return Quantity(name, "ms", {BASE: base, FORK: fork}, **more)


def test_ratio_is_the_median_of_pairs_not_the_ratio_of_medians() -> None:
    measured = quantity((1.0, 10.0, 100.0), (2.0, 5.0, 100.0))
    assert measured.ratios() == [0.5, 1.0, 2.0]
    assert measured.ratio() == 1.0
    assert measured.median(BASE) == 10.0
    assert measured.spread() == (0.5, 2.0)


def test_quartiles_from_four_pairs_on() -> None:
    measured = quantity((1.0,) * 5, (1.0, 2.0, 3.0, 4.0, 50.0))
    assert measured.spread() == (2.0, 4.0)
    assert measured.ratio() == 3.0


def test_nothing_to_relate_to() -> None:
    assert quantity((0.0, 0.0), (0.0, 1.0)).ratio() is None
    assert quantity((0.0, 0.0), (0.0, 1.0)).spread() is None
    assert quantity((0.0, 2.0), (0.0, 1.0)).ratio() == 0.5
    assert quantity((1.0,), (1.0,)).ratio(PEER) is None


def test_sides_take_turns(tmp_path: Path) -> None:
    log = tmp_path / "log"
    made = program(tmp_path, "open(os.environ['LOG'], 'a').write(side + ' ')\nprint(json.dumps({'one': [1, 'x']}))\n")
    run(made, PEER, pairs=3, LOG=str(log))
    assert log.read_text() == f"base fork {PEER} {PEER} fork base base fork {PEER} "


def test_a_planted_slow_down_in_a_count_is_caught(tmp_path: Path) -> None:
    made = program(tmp_path, "opened = 0\ndef watch(event, _):\n    global opened\n    opened += event == 'open'\n"
        "sys.addaudithook(watch)\nfor _ in range(9 if side == 'fork' else 6):\n    open(__file__).close()\n"
        "print(json.dumps({'files opened': [opened, 'files']}))\n")  # fmt: skip
    (opened,) = run(made).quantities
    assert opened.values == {BASE: (6.0, 6.0), FORK: (9.0, 9.0)}
    assert opened.ratio() == 1.5
    assert opened.spread() == (1.5, 1.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sys.exit('broken here') if side == 'fork' else print(json.dumps({}))\n", "broken here"),
        ("print('no quantities')\n", "printed no quantities: .*no quantities"),
        ("print(json.dumps({'one': 1}))\n", "printed no quantities"),
        ("pass\n", "printed no quantities"),
        ("print(json.dumps({side: [1, 'x']}))\n", "base, fork on one side only"),
        (
            "print(json.dumps({n: [1, 'x'] for n in ('one', 'two')[:1 + os.path.exists(os.environ['MARK'])]}))\n"
            "if side == 'fork': open(os.environ['MARK'], 'w').close()\n",
            "measured two in some runs of base only",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        run(program(tmp_path, text), MARK=str(tmp_path / "mark"))


def test_a_peer_may_fail_and_may_lack_quantities(tmp_path: Path) -> None:
    text = (
        "if side == 'broken': sys.exit('no such function')\n"
        "print(json.dumps({'one': [2, 'x'], **({} if side == 'poor' else {'two': [3, 'x']})}))\n"
    )
    measured = run(program(tmp_path, text), "poor", "broken")
    assert [sorted(found.values) for found in measured.quantities] == [[BASE, FORK, "poor"], [BASE, FORK]]
    assert list(measured.faults) == ["broken"]
    assert "no such function" in measured.faults["broken"]


def test_a_kept_cache_is_filled_by_a_run_that_does_not_count(tmp_path: Path) -> None:
    text = (
        "cache = os.environ['TRITON_CACHE_DIR']\nknown = os.path.isdir(cache)\nos.makedirs(cache, exist_ok=True)\n"
        "print(json.dumps({'warm': [known, 'x']}))\n"
    )
    assert run(program(tmp_path, text)).quantities[0].values == {BASE: (0.0, 0.0), FORK: (0.0, 0.0)}
    kept = program(tmp_path, text, KEEPS_CACHE=True)
    assert run(kept).quantities[0].values == {BASE: (1.0, 1.0), FORK: (1.0, 1.0)}


def test_variables_of_the_user_s_do_not_change_what_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_FORK", "0")
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    text = "print(json.dumps({'set': [sum(n in os.environ for n in ('TRITON_FORK', 'PYTHONOPTIMIZE')), 'x']}))\n"
    assert run(program(tmp_path, text)).quantities[0].values[BASE] == (0.0, 0.0)


def test_start_is_told(tmp_path: Path) -> None:
    text = "import time\nprint(json.dumps({'ms': [(time.monotonic_ns() - int(os.environ['BENCH_STARTED'])) / 1e6, 'ms']}))\n"
    (started,) = run(program(tmp_path, text)).quantities
    assert all(0 < value < 60_000 for values in started.values.values() for value in values)


def test_programs_state_what_they_ask_for(tmp_path: Path) -> None:
    made = program(tmp_path, "", KEEPS_CACHE=True, HEADLINE="one", MOST_PAIRS=1)
    assert (made.name, made.title) == ("measured", "What it measures")
    assert (made.keeps_cache, made.drops_pages, made.headline, made.most_pairs) == (True, False, "one", 1)
    (tmp_path / "_shared.py").write_text("")
    assert list(find_programs(tmp_path)) == ["measured"]


def test_most_pairs(tmp_path: Path) -> None:
    made = program(tmp_path, "print(json.dumps({'one': [1, 'x']}))\n", MOST_PAIRS=1)
    assert run(made, pairs=3).quantities[0].values == {BASE: (1.0,), FORK: (1.0,)}


def results(peer: bool = True) -> Mapping[str, Measured]:
    quantities = [quantity((10.0, 12.0), (2.0, 2.0)), quantity((5.0, 5.0), (5.0, 6.0), "hidden", detail=True)]
    quantities.append(Quantity("none left", "calls", {BASE: (4.0, 4.0), FORK: (0.0, 0.0)}))
    if peer:
        quantities.append(Quantity("more", "calls", {BASE: (4.0, 4.0), FORK: (2.0, 2.0), PEER: (8.0, 8.0)}))
    return {"3.11.7": Measured(quantities, {"gone 2.0": "it failed"} if peer else {})}


def test_table_shows_a_dash_for_what_a_peer_cannot_do() -> None:
    output = io.StringIO()
    Console(file=output, width=200).print(table(results()))
    head, first, _, second = output.getvalue().splitlines()
    assert PEER in head
    assert "gone 2.0" in head
    assert first.split() == ["3.11.7", "time", "ms", "11", "2", "0.183", "0.167", "to", "0.2", "-", "-", "-", "-"]
    assert second.split()[-4:] == ["8", "2", "-", "-"]


def test_document_keeps_everything(tmp_path: Path) -> None:
    content = json.loads(json.dumps(document(program(tmp_path, "", HEADLINE="more"), results())))
    assert quantities_of(content)["3.11.7"] == results()["3.11.7"].quantities
    assert content["results"]["3.11.7"]["faults"] == {"gone 2.0": "it failed"}
    assert {"date", "machine", "headline"} <= set(content)
    assert {"processor", "cores", "load"} <= set(content["machine"])


def test_plots_label_every_bar(tmp_path: Path) -> None:
    content = document(program(tmp_path, "", HEADLINE="more"), results())
    png, svg = plot(content, "3.11.7", tmp_path / "plot")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    ElementTree.fromstring(text)
    again = plot(content, "3.11.7", tmp_path / "again")[1].read_text()
    assert text == again
    for label in (
        "base 3.6.0  11 ms",
        "fork  2 ms  (0.183 of base)",
        f"{PEER}  8 calls  (2 of base)",
        "fork  0 calls  (0 of base)",
    ):
        assert f">{label}<" in text
    assert "hidden" not in text


def test_summary_shows_headlines(tmp_path: Path) -> None:
    content = document(program(tmp_path, "", HEADLINE="more"), results())
    text = plot_summary([content], "3.11.7", tmp_path / "summary")[1].read_text()
    assert ">more<" in text
    assert ">time<" not in text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.0, "0"), (0.01234, "0.0123"), (12.345, "12.3"), (421421543.0, "421,421,543")]
)
def test_number(value: float | None, text: str) -> None:
    assert number(value) == text


def test_pages_are_dropped_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "nowhere").symlink_to("missing")
    assert drop_pages([tmp_path]) == 1
    assert (tmp_path / "folder" / "file").read_bytes() == b"content"


def test_a_peer_has_a_fixed_version() -> None:
    assert parse_peer("triton==3.9.0") == ("triton", "3.9.0")
    for text in ("triton", "triton>=3", "triton==", "--index==1", "triton == 3"):
        with pytest.raises(BenchmarkError, match="names no peer"):
            parse_peer(text)


def test_programs_of_the_project_are_described() -> None:
    folder = Path(__file__).resolve().parents[2] / "benchmarks"
    programs = find_programs(folder)
    readme = (folder / "README.md").read_text()
    assert {"warm-start", "cold-start", "ast-to-ttir", "gluon-attention", "launch", "start-counts"} <= set(programs)
    assert [name for name in programs if f"| `{name}` |" not in readme] == []
    assert [made.name for made in programs.values() if made.title == made.path.stem] == []
    assert programs["warm-start"].keeps_cache
    assert programs["warm-start-cold-pages"].drops_pages
    assert not programs["cold-start"].keeps_cache
