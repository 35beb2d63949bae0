"""Each correction can be switched off by itself, and all at once: the fault of the base is back, and no other one.

``tests/semantics/test_rebound_cells.py`` and ``test_key_threads.py`` see the same of their corrections.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Worker
from tests.cache.test_keys import CASES

ALL = "TRITON_FORK_FIXES"
KEYS = {
    "TRITON_FORK_FIX_KEY_HOLDS_EVERY_VALUE": {
        "closure_hides_global",
        "data_type_in_closure",
        "constant_in_module",
        "number_in_module",
        "default_of_called",
        "assigned_in_a_branch",
        "function_named_like_builtin",
        "number_or_text",
        "fields_of_aggregate",
        "member_that_is_asked_anything",
    },
    "TRITON_FORK_FIX_KEY_OF_CYCLES": {"cycle_entered_elsewhere_before", "after_an_error"},
    "TRITON_FORK_FIX_KEY_OF_CONSTANTS": {"number_or_text_argument", "words_run_together", "functions_in_tuple"},
    ALL: set(CASES),
    "TRITON_FORK": set(CASES),
}


@pytest.fixture(scope="module")
def base(run: Worker, base_python: Path) -> dict[str, Any]:
    result: dict[str, Any] = run(base_python, "keys")
    return result


@pytest.mark.parametrize("switch", KEYS)
def test_keys(switch: str, base: dict[str, Any], run: Worker, fork_python: Path) -> None:
    off = run(fork_python, "keys", **{switch: "0"})
    for case in CASES:
        first, second = base[case]["alone"]
        assert off[case]["alone"] == [first, second]
        assert (off[case]["shared"] == base[case]["shared"] == [first, first]) is (case in KEYS[switch]), case
    if "cycle_entered_elsewhere_before" in KEYS[switch]:
        assert {name: off[name] for name in ("deadlock", "child")} == {"deadlock": True, "child": base["child"]}


@pytest.mark.parametrize("switch", [ALL, "TRITON_FORK"])
def test_without_corrections_keys_are_the_base_s(
    switch: str, run: Worker, base_python: Path, fork_python: Path
) -> None:
    base, fork, off = (
        run(base_python, "key_texts"),
        run(fork_python, "key_texts"),
        run(fork_python, "key_texts", **{switch: "0"}),
    )
    assert off["keys"] == base["keys"]
    assert off["sources"] == base["sources"]
    assert fork["keys"] != base["keys"]
    # What is wrong in the cache then does not reach those that have the corrections on.
    assert off["installation"] != fork["installation"]


@pytest.mark.parametrize(
    ("switch", "apart"),
    [
        ("TRITON_FORK_FIX_CACHE_DAMAGED", False),
        ("TRITON_FORK_FIX_EQUAL_CONSTANTS", False),
        ("TRITON_FORK_FIX_KEY_OF_CONSTANTS", True),
        ("TRITON_FORK_FIX_CALLED_FUNCTIONS_TOLD_APART", True),
    ],
)
def test_entries_without_a_correction_of_code_are_apart(
    switch: str, apart: bool, run: Worker, fork_python: Path
) -> None:
    keys = [run(fork_python, "key_texts", **{switch: value})["installation"] for value in ("1", "0")]
    assert (keys[0] != keys[1]) is apart
    key = run(fork_python, "key_texts", **{switch: "0", "TRITON_FORK_INSTALLATION_KEY": "0"})["installation"]
    assert key.endswith(f"-without-{switch}") is apart


@pytest.mark.parametrize("switch", ["TRITON_FORK_FIX_EQUAL_CONSTANTS", ALL])
def test_equal_constants(switch: str, run: Worker, base_python: Path, fork_python: Path) -> None:
    base, off = run(base_python, "launch_keys"), run(fork_python, "launch_keys", **{switch: "0"})
    shared = off["pairs"].keys() & base["pairs"].keys()  # NumPy may be in one of the environments alone
    assert len(shared) > 20
    assert all(off["pairs"][name]["shared"] == base["pairs"][name]["shared"] for name in shared)
    assert off["texts"] == base["texts"]


@pytest.mark.parametrize("switch", ["TRITON_FORK_FIX_CACHE_NOT_WRITABLE", ALL])
def test_a_cache_that_cannot_be_written(switch: str, run: Worker, fork_python: Path) -> None:
    assert run(fork_python, "storage", "mkdir", "EROFS", **{switch: "0"})["first"].startswith("raised OSError")
    assert run(fork_python, "storage", "rmdir", "EBUSY", **{switch: "0"})["first"].startswith("raised OSError")
    as_it_is = run(fork_python, "storage", "as-it-is", "-", **{switch: "0"})
    assert as_it_is["hits"] == [True, True]
    assert as_it_is["leftovers"] == as_it_is["said"] == []


@pytest.mark.parametrize("switch", ["TRITON_FORK_FIX_CACHE_DAMAGED", ALL])
def test_a_damaged_entry(switch: str, run: Worker, base_python: Path, fork_python: Path) -> None:
    base = run(base_python, "damage", "empty", "flip", "missing")
    off = run(fork_python, "damage", "empty", "flip", "missing", **{switch: "0"})
    # Which of its characters is changed depends on the text of the metadata, which holds the key.
    assert off.keys() == base.keys()
    assert {name: off[name] for name in off if name != "kernel.json flip"} == {
        name: base[name] for name in base if name != "kernel.json flip"
    }
    assert base["__grp__kernel.json empty"]["first"].startswith("raised JSONDecodeError")
    assert base["kernel.cubin flip"]["first"]["kernel"] is False


@pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("clang")), reason="needs a C compiler")
@pytest.mark.parametrize("switch", ["TRITON_FORK_FIX_CACHE_DAMAGED_LIBRARIES", ALL])
def test_a_damaged_library(switch: str, run: Worker, base_python: Path, fork_python: Path) -> None:
    # It is taken as it is: here the process has loaded the whole one before.
    base, off = (run(python, "others", "library", "empty", **{switch: "0"}) for python in (base_python, fork_python))
    assert off == base == {"first": ["tiny", 1], "again": ["tiny", 0], "said": 0, "third": ["tiny", 0]}
    assert run(fork_python, "others", "library", "empty")["again"] == ["tiny", 1]


@pytest.mark.parametrize("switch", ["TRITON_FORK_FIX_CACHE_DAMAGED_TIMINGS", ALL])
@pytest.mark.parametrize("damage", ["empty", "cut", "other_json", "directory"])
def test_damaged_timings(switch: str, damage: str, run: Worker, fork_python: Path) -> None:
    with pytest.raises(AssertionError, match="ended with"):
        run(fork_python, "others", "timings", damage, **{switch: "0"})
