"""Rows for fork.toml, from what a package index has."""

from __future__ import annotations

import tomllib
from pathlib import Path

from fork.cli import main
from fork.index.writing import write_index
from tests.support.local_index import LocalIndex
from tests.support.tiny_wheel import make_wheel, pin


def test_the_rows_are_what_the_pin_reads(tmp_path: Path, capsys) -> None:
    made = pin(make_wheel(tmp_path, "3.8.0", tag="cp312-abi3-manylinux_2_35_x86_64"))
    write_index(tmp_path)
    with LocalIndex(tmp_path) as index:
        assert main(["pin", "3.8.0", "--lane", "3.8", "--index-url", index.url]) == 0
        rows = tomllib.loads(capsys.readouterr().out)["lane"]["3.8"]["wheel"]
        assert rows == [{"file": made.filename, "size": made.size, "sha256": made.sha256}]
        assert main(["pin", "3.9.0", "--lane", "3.9", "--index-url", index.url]) == 31
    assert main(["pin", "newest", "--lane", "3.9"]) == 2
