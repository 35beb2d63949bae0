"""What a build may change in an index, and what takes a step of its own."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fork.cli import main
from fork.index.checking import check_index
from fork.index.promotion import PromotionError, yanked
from fork.index.writing import promote, write_index
from tests.support.tiny_wheel import make_wheel

FIRST, SECOND = "3.6.0+fork.1.q11111111", "3.6.0+fork.1.q22222222"
LATER = "3.6.0+fork.2.q00000000"
TAGS = [
    f"cp{version}-cp{version}-manylinux_2_28_{machine}" for version in (311, 312) for machine in ("x86_64", "aarch64")
]


def add(folder: Path, version: str, tags: list[str] = TAGS) -> None:
    for tag in tags:
        make_wheel(folder, version, tag=tag)


def listed(folder: Path) -> dict[str, str]:
    """Version -> why it is yanked."""
    entries = json.loads((folder / "simple/triton/index.json").read_bytes())["files"]
    return {entry["filename"].split("-")[1]: entry.get("yanked", "") for entry in entries}


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    folder = tmp_path / "wheelhouse"
    add(folder, FIRST)
    write_index(folder)
    return folder


def test_the_first_build_is_offered(wheelhouse: Path) -> None:
    assert listed(wheelhouse) == {FIRST: ""}
    assert (wheelhouse / "promoted.versions").read_text().split()[1:] == [FIRST]
    assert check_index(wheelhouse) == []


@pytest.mark.parametrize("version", [SECOND, LATER, "3.6.0+fork.1.q00000000"])
def test_a_partial_build_withdraws_nothing_and_is_offered_to_nobody(wheelhouse: Path, version: str) -> None:
    add(wheelhouse, version, TAGS[:1])
    report = write_index(wheelhouse)
    assert report.yanked == {version: "not promoted"}
    assert listed(wheelhouse) == {FIRST: "", version: "not promoted"}
    assert "not promoted" in (wheelhouse / "simple/triton/index.html").read_text()
    assert check_index(wheelhouse) == []


def test_a_partial_build_is_not_promoted(wheelhouse: Path) -> None:
    add(wheelhouse, SECOND, TAGS[:1])
    write_index(wheelhouse)
    before = {path: path.read_bytes() for path in wheelhouse.rglob("*") if path.is_file()}
    with pytest.raises(PromotionError, match="lacks 3 of the wheels") as caught:
        promote(wheelhouse)
    assert all(tag in caught.value.message for tag in TAGS[1:])
    assert {path: path.read_bytes() for path in wheelhouse.rglob("*") if path.is_file()} == before


def test_a_whole_build_is_promoted_and_can_be_taken_back(wheelhouse: Path) -> None:
    add(wheelhouse, SECOND)
    write_index(wheelhouse)
    assert promote(wheelhouse)[0] == SECOND
    assert listed(wheelhouse) == {FIRST: f"superseded by {SECOND}", SECOND: ""}
    write_index(wheelhouse)
    assert listed(wheelhouse) == {FIRST: f"superseded by {SECOND}", SECOND: ""}
    assert promote(wheelhouse, "q11111111")[0] == FIRST
    assert listed(wheelhouse) == {FIRST: "", SECOND: f"superseded by {FIRST}"}
    lines = (wheelhouse / "promoted.versions").read_text().splitlines()
    assert [line.split()[1] for line in lines] == [FIRST, SECOND, FIRST]
    promote(wheelhouse, FIRST)
    assert (wheelhouse / "promoted.versions").read_text().splitlines() == lines


def test_a_later_revision_leaves_the_earlier_for_those_who_resolve_as_of_a_date(wheelhouse: Path) -> None:
    add(wheelhouse, LATER)
    promote(wheelhouse, LATER)
    assert listed(wheelhouse) == {FIRST: "", LATER: ""}
    promote(wheelhouse, FIRST)
    assert listed(wheelhouse) == {FIRST: "", LATER: f"superseded by {FIRST}"}


def test_a_python_is_given_up_only_by_name(wheelhouse: Path) -> None:
    add(wheelhouse, LATER, [tag for tag in TAGS if "cp312" in tag and "x86_64" in tag])
    with pytest.raises(PromotionError, match="lacks 3"):
        promote(wheelhouse)
    with pytest.raises(PromotionError, match="lacks 1"):
        promote(wheelhouse, without=["cp311"])
    promote(wheelhouse, without=["cp311", "aarch64"])
    assert listed(wheelhouse)[LATER] == ""


def test_which_build_is_meant_must_be_clear(wheelhouse: Path) -> None:
    with pytest.raises(PromotionError, match="no builds in the wheelhouse were never promoted"):
        promote(wheelhouse)
    add(wheelhouse, SECOND)
    add(wheelhouse, LATER)
    with pytest.raises(PromotionError, match="2 builds in the wheelhouse were never promoted") as caught:
        promote(wheelhouse)
    assert SECOND in (caught.value.hint or "")
    with pytest.raises(PromotionError, match="no builds in the wheelhouse are named 'q99999999'"):
        promote(wheelhouse, "q99999999")


def test_two_builds_in_a_folder_without_an_index_are_not_guessed_at(tmp_path: Path) -> None:
    add(tmp_path, FIRST)
    add(tmp_path, SECOND)
    with pytest.raises(PromotionError, match="none was promoted"):
        write_index(tmp_path)
    assert not (tmp_path / "simple").exists()
    promote(tmp_path, FIRST)
    assert listed(tmp_path) == {FIRST: "", SECOND: "not promoted"}


def test_an_index_of_revision_1_keeps_what_it_offers(wheelhouse: Path) -> None:
    """It had no record of promotions, and listed as yanked what was built before."""
    add(wheelhouse, SECOND)
    promote(wheelhouse)
    (wheelhouse / "promoted.versions").unlink()
    (wheelhouse / "published.times").unlink()
    write_index(wheelhouse)
    assert listed(wheelhouse) == {FIRST: "not promoted", SECOND: ""}


def test_a_release_of_which_nothing_is_offered_is_a_fault(wheelhouse: Path) -> None:
    add(wheelhouse, SECOND)
    write_index(wheelhouse)
    for wheel in wheelhouse.glob(f"triton-{FIRST}-*.whl"):
        wheel.unlink()
    write_index(wheelhouse)
    assert any("no build of 3.6.0+fork is offered" in fault for fault in check_index(wheelhouse))
    promote(wheelhouse)
    assert check_index(wheelhouse) == []


def test_versions_of_others_are_never_withheld() -> None:
    assert yanked(["3.6.0", "3.6.0+cu130", "3.7.0.dev1"], [FIRST]) == {}


def moment(day: int) -> datetime:
    return datetime(2026, 11, day, 12, 30, 15, 999, tzinfo=UTC)


def test_the_time_of_first_publication_is_kept(tmp_path: Path) -> None:
    add(tmp_path, FIRST, TAGS[:1])
    write_index(tmp_path, now=lambda: moment(1))
    add(tmp_path, FIRST, TAGS[:2])
    write_index(tmp_path, now=lambda: moment(2))
    for lost in ("published.times", "simple/triton/index.json"):
        (tmp_path / lost).unlink()
        write_index(tmp_path, now=lambda: moment(3))
        entries = json.loads((tmp_path / "simple/triton/index.json").read_bytes())["files"]
        times = {entry["filename"].split("-", 2)[2].removesuffix(".whl"): entry["upload-time"] for entry in entries}
        assert times == {TAGS[0]: "2026-11-01T12:30:15Z", TAGS[1]: "2026-11-02T12:30:15Z"}
    assert (tmp_path / "published.times").read_text().splitlines()[
        1
    ] == f"2026-11-01T12:30:15Z  triton-{FIRST}-{TAGS[0]}.whl"


def test_a_file_published_before_times_were_kept_has_that_of_its_file(wheelhouse: Path) -> None:
    (wheelhouse / "published.times").unlink()
    page = wheelhouse / "simple/triton/index.json"
    document = json.loads(page.read_bytes())
    for entry in document["files"]:
        del entry["upload-time"]
    page.write_text(json.dumps(document))
    assert any("no time of publication" in fault for fault in check_index(wheelhouse))
    write_index(wheelhouse, now=lambda: datetime(2100, 1, 1, tzinfo=UTC))
    entries = json.loads(page.read_bytes())["files"]
    assert all(entry["upload-time"] < "2100" for entry in entries)


def test_the_command_promotes(wheelhouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(wheelhouse, SECOND, TAGS[:1])
    assert main(["index", str(wheelhouse)]) == 0
    assert f"{SECOND} is installed only where it is named: not promoted" in capsys.readouterr().out
    assert main(["index", str(wheelhouse), "--promote"]) == 37
    assert "lacks 3 of the wheels" in capsys.readouterr().err
    assert main(["index", str(wheelhouse), "--without", "cp312"]) == 2
    assert main(["index", str(wheelhouse), "--promote", "--without", "cp312", "--without", "aarch64"]) == 0
    assert f"Installers take {SECOND} from now on." in capsys.readouterr().out
    assert main(["index", str(wheelhouse), "--check"]) == 0
