"""Runs a program with the fake driver active: ``python -m tests.fake_driver program.py [arguments]``."""

import runpy
import sys
from pathlib import Path

from .nvidia import install

if __name__ == "__main__":
    install()
    del sys.argv[0]
    sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
