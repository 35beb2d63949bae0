"""Prints what this Triton is, or checks it: ``python -m triton.fork [--json | --require VERSION]``."""

from __future__ import annotations

import argparse
import json
import signal
import sys

from triton.fork import info
from triton.fork.description import describe
from triton.fork.requirement import EXAMPLES, parse, unmet
from triton.fork.settings import SWITCHES

import triton


def main() -> int:
    """Run the command line.

    :returns: 0, or 1 where this Triton has no provenance or is not the one that is required.
    """
    parser = argparse.ArgumentParser(
        prog="python -m triton.fork",
        description="Says what this Triton is, or checks that it is the one that is required.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--json", action="store_true", help="print the whole description as JSON")
    action.add_argument("--require", metavar="VERSION", help="check for this version; see the examples")
    arguments = parser.parse_args()
    try:
        required = parse(arguments.require) if arguments.require is not None else None
    except ValueError as error:
        parser.error(str(error))
    try:
        document = info()
    except FileNotFoundError:
        print("this Triton was not installed from a wheel of the fork: it has no provenance.json", file=sys.stderr)
        return 1
    if required:
        reason = unmet(required, document["version"], getattr(triton, "__version__", "unknown"))
        print(
            f"not met: {reason}" if reason else f"met: triton is {document['version']}",
            file=sys.stderr if reason else None,
        )
        return 1 if reason else 0
    print(
        json.dumps(document, indent=2)
        if arguments.json
        else describe(document, {name: switch.part for name, switch in SWITCHES.items()})
    )
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it as it ends other programs
    sys.exit(main())
