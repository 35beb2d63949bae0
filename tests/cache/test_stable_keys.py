"""The same program gives the same keys in every process, whatever the hash seed, where the base's text holds no address."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.cache.conftest import Worker

SEEDS = range(20)
#: What the base gives another key in another process.
UNSTABLE_IN_THE_BASE = {
    "caller",
    "set",
    "object",
    "method",
    "function",
    "dataclass",
    "nested",
    "global_object",
    "global_set",
    "asked",
}

#: Of these, what a description can be told to say all of.
PLAIN_DATA = {"caller"}
#: Functions and objects with an address in their text, and sets, with an order that code can read: the base's text stays in the key.
WITH_MORE_TO_READ = UNSTABLE_IN_THE_BASE - PLAIN_DATA


def keys_of(run: Worker, python: Path, seeds: Iterable[int]) -> dict[str, set[str]]:
    keys = defaultdict(set)
    for seed in seeds:
        for name, key in run(python, "stable_keys", str(seed), PYTHONHASHSEED=str(seed)).items():
            keys[name].add(key)
    return keys


def test_twenty_hash_seeds_give_one_key_each(run: Worker, fork_python: Path) -> None:
    keys = keys_of(run, fork_python, SEEDS)
    assert {name for name, found in keys.items() if len(found) > 1} <= WITH_MORE_TO_READ
    constants = {"word", "set", "object", "method", "function", "dataclass", "enumeration", "nested", "class", "type"}
    assert len(set.union(*(keys[name] for name in constants))) >= len(constants)


def test_the_base_gives_several(run: Worker, base_python: Path) -> None:
    keys = keys_of(run, base_python, SEEDS[:4])
    assert {name for name, found in keys.items() if len(found) > 1} == UNSTABLE_IN_THE_BASE


def test_what_a_description_leaves_out_is_told_apart_as_in_the_base(
    run: Worker, base_python: Path, fork_python: Path
) -> None:
    for python in (base_python, fork_python):
        keys = run(python, "incomplete_texts")
        assert [name for name, (one, other) in keys.items() if one == other] == []


def test_a_changed_method_changes_the_key(run: Worker, fork_python: Path, tmp_path: Path) -> None:
    here = Path(__file__).parent / "workers"
    for name in ("common.py", "stable_keys.py"):
        (tmp_path / name).write_text((here / name).read_text())
    changed = (tmp_path / "stable_keys.py").read_text().replace("2 * self.rows", "3 * self.rows")
    (tmp_path / "stable_keys.py").write_text(changed)
    # The worker is named by its path: joined to the folder of the workers, an absolute path stays what it is.
    before = run(fork_python, "stable_keys", "0")
    after = run(fork_python, str(tmp_path / "stable_keys"), "0")
    # No kernel names the method of the other objects.
    different = {name for name in before if before[name] != after[name]}
    assert {"class", "items", "method", "asked"} <= different <= {"class", "items"} | WITH_MORE_TO_READ


def test_ordinary_constants_keep_the_text_of_the_base(fork_python: Path) -> None:
    code = (
        "import triton.language as tl; from triton.fork.cache_key.value_texts import constant_text as text\n"
        "assert [text(v) for v in (1, 1.5, True, None, 'relu', tl.float16, tl.constexpr(3))] == "
        "['1', '1.5', 'True', 'None', 'relu', 'fp16', 'constexpr[3]']"
    )
    subprocess.run([fork_python, "-c", code], check=True)
