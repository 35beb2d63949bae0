"""Prints what this Triton is: ``python -m triton.fork [--json]``."""

from __future__ import annotations

import argparse
import json
import sys

from triton.fork import info
from triton.fork._description import describe
from triton.fork._switches import SWITCHES


def main() -> int:
    """Run the command line.

    :returns: 0, or 1 where this Triton has no provenance.
    """
    parser = argparse.ArgumentParser(prog="python -m triton.fork", description="Says what this Triton is.")
    parser.add_argument("--json", action="store_true", help="print the whole description as JSON")
    arguments = parser.parse_args()
    try:
        document = info()
    except FileNotFoundError:
        print("this Triton was not installed from a wheel of the fork: it has no provenance.json", file=sys.stderr)
        return 1
    print(json.dumps(document, indent=2) if arguments.json else describe(document, SWITCHES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
