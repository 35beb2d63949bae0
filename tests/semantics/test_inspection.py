"""What others see of kernels and types when they inspect, wrap, copy, pickle or change them is what they see in the base."""

from pathlib import Path
from typing import Any

import pytest

from tests.fake_driver.programs import Both

DEFERRED = ["arg_names", "params", "signature", "constexprs", "raw_src", "_src", "starting_line_number"]

#: Attributes of the fork's own that kernels still have.
KNOWN = frozenset({"_dispatcher", "_fork_cycle"})


def without_known(seen: Any) -> Any:
    """Leave out what is known to be there besides."""
    if isinstance(seen, dict):
        return {name: without_known(value) for name, value in seen.items() if name not in KNOWN}
    return (
        [without_known(value) for value in seen if not (isinstance(value, str) and value in KNOWN)]
        if isinstance(seen, list)
        else seen
    )


@pytest.fixture(scope="module")
def inspected(run_both: Both) -> tuple[dict[str, Any], dict[str, Any]]:
    base, fork = run_both("inspected.py")
    for answer in (base, fork):
        assert isinstance(answer["tuned, launched"]["values"].pop("bench_time"), str)
    return base, without_known(fork)


def test_kernels_look_like_the_base_s(inspected: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = inspected
    looks = [name for name in base if ", " in name]
    assert len(looks) == 13
    assert base["kernel, fresh"]["vars"][:2] == ["fn", "signature"]
    assert set(DEFERRED) < set(base["kernel, fresh"]["wraps"])
    assert "AttributeError" not in base["kernel, fresh"]["static"]
    for name in looks:
        for way, seen in base[name].items():
            assert fork[name][way] == seen, (name, way)


def test_compiled_kernels_look_like_the_base_s(inspected: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = inspected
    assert "metadata" in base["compiled"][0]
    assert fork["compiled"] == base["compiled"]


def test_a_function_changed_after_it_was_decorated(inspected: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = inspected
    assert base["changed"]["defaults"] == [
        "(p, n, BLOCK: triton.language.core.constexpr = 4)",
        [2],
        ["p", "n", "BLOCK"],
    ]
    assert base["changed"]["code"][:2] == ["(p, n, BLOCK: triton.language.core.constexpr = 4)", ["p", "n", "BLOCK"]]
    assert fork["changed"] == base["changed"]


def test_attributes_assigned_and_deleted_before_the_first_use(
    inspected: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    base, fork = inspected
    assert base["assigned"]["arg_names"] is True
    assert base["assigned"]["arg_names deleted"] == [False, False]
    assert base["assigned"]["signature deleted first"] == [False, "AttributeError"]
    assert fork["assigned"] == base["assigned"]


def test_subclasses(inspected: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = inspected
    assert base["subclasses"]["WithGetattr"][0] == 1
    assert fork["subclasses"] == base["subclasses"]


def test_values_that_the_host_makes(inspected: tuple[dict[str, Any], dict[str, Any]]) -> None:
    base, fork = inspected
    values = [name for name in base if name.startswith("value ")]
    assert len(values) == 6
    assert base["value constant"][0] == {"value": "3", "type": "constexpr_type[3]"}
    assert {name: fork[name] for name in values} == {name: base[name] for name in values}


def test_pickles_of_cleared_kernels(run_both: Both, tmp_path: Path) -> None:
    for _ in ("cold", "everything in the cache"):
        base, fork = run_both("pickled.py", TRITON_CACHE_DIR=str(tmp_path / "cache"))
        # What a launch leaves in a kernel cannot be pickled; inductor launches in another way.
        assert [name for name in base if isinstance(base[name], str)] == ["launched"]
        assert len(base["launches"]) == 6
        assert base["fresh"][0]["fn"] == "None"
        assert base["fresh"][0]["arg_names"] == "['p', 'n', 'BLOCK']"
        assert without_known(fork) == base
