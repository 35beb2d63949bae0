"""A launch raises when a global that went into the kernel has changed since, and only then."""

from tests.fake_driver.programs import Both


def changed(name: str, before: object, after: object) -> list[str]:
    return [
        "RuntimeError",
        f"Global variable {name} has changed since we compiled this kernel, from {before} to {after}",
    ]


def test_changed_globals_raise(run_both: Both) -> None:
    base, fork = run_both("changed_globals.py")
    assert fork == base
    fine = dict.fromkeys(["number", "known", "inner", "default", "closure"], 1)
    assert base["before"] == base["unrelated"] == base["restored"] == fine
    assert base["changed"] == {
        "number": changed("NUMBER", "constexpr[1]", "constexpr[2]"),
        "known": changed("INNER", "constexpr[1]", "constexpr[2]"),
        # The base takes over the globals of a callee before it has looked for them, unless someone asked for the
        # callee's key earlier. So it does not see this change.
        "inner": 1,
        "default": 1,
        # The base looks at a copy of the closure's values, so it does not see that one change; test_rebound_cells.py does.
        "closure": 1,
    }
    assert base["deleted"] == ["RuntimeError", "Global variable NUMBER has changed since we compiled this kernel"]
