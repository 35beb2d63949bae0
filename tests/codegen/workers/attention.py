"""Count the calls of Python functions that the IR of the corpus' Gluon attention takes, once everything has been seen."""

import json
import sys
from pathlib import Path

repository = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(repository), str(repository / "ci")]

import triton  # noqa: E402
from benchmarks.support.corpus import FOLDER, Driver, Generation  # noqa: E402
from fork.equivalence.corpus import load_module  # noqa: E402

driver = Driver()
triton.runtime.driver.set_active(driver)
case = next(case for case in load_module(FOLDER, "gluon_attention") if case.name == "attention")
generation = Generation("cuda:100", case, driver)
generation.seconds()
calls = 0


def watch(frame, event, _):
    global calls
    calls += event == "call"


sys.setprofile(watch)
generation.seconds()
sys.setprofile(None)
sys.stdout.write(json.dumps(calls))
