"""Copies of kernels: what works in the base works in the fork and does the same; what fails there may work here."""

from tests.fake_driver.programs import Both

KERNELS = ["kernel", "other name", "heuristics", "autotune"]
LOCKED = {
    "kernel": "PicklingError",
    "other name": "TypeError",
    "heuristics": "PicklingError",
    "autotune": "AttributeError",
}


def test_copies(run_both: Both) -> None:
    base, fork = run_both("copies.py")
    for again in ("", " again"):
        for name in KERNELS:
            assert base[f"{name}{again}, copy"] == ["made", False, True]
            # The lock of 3.6.0 can neither be copied nor pickled (pytorch/pytorch#161618).
            assert base[f"{name}{again}, deepcopy"] == ["error", "TypeError"]
            # CPython 3.14 has another name for the error of the autotuner's.
            assert base[f"{name}{again}, pickle"] in (["error", LOCKED[name]], ["error", "PicklingError"])
    # In the base a copy made before the first launch lacks what that launch sets on the original.
    assert base["fresh, copy"] == ["made", False, "AttributeError"]
    assert base["constexpr function, copy"] == [3]
    for way in ("copy", "deepcopy", "pickle"):
        assert fork[f"launcher, {way}"] == base[f"launcher, {way}"]
        assert len(base[f"launcher, {way}"]) == 1
    assert fork.keys() == base.keys()
    for name, outcome in base.items():
        assert fork[name] == outcome or (fork[name][0] == "made" and fork[name][2] is True), name


def test_a_copy_launches_what_the_original_launches(run_both: Both) -> None:
    # The program must be able to tell: with a copy that launches another value, it does.
    base, fork = run_both("copies.py", "wrong value")
    assert base["kernel, copy"] == fork["kernel, copy"] == ["made", False, False]
