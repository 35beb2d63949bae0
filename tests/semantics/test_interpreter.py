"""Interpreter mode computes what numpy computes."""

from tests.fake_driver.programs import Both

# Largest difference allowed; whole numbers must be exact.
TOLERANCE = {
    "add": 1e-6,
    "softmax": 1e-6,
    "multiply": 1e-4,
    "reductions": 1e-5,
    "running sum": 0.0,
    "choose": 0.0,
    "atomic": 0.0,
    "while": 0.0,
    "transpose": 0.0,
    "polynomial": 1e-4,
    "bits": 0.0,
}


def test_interpreter(run_both: Both) -> None:
    base, fork = run_both("interpreted.py", TRITON_INTERPRET="1")
    assert fork == base
    assert base.keys() == TOLERANCE.keys()
    for name, result in base.items():
        assert result["written"], name
        assert result["difference"] <= TOLERANCE[name], name
