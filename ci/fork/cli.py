"""The command line: arguments in, messages and exit codes out."""

from __future__ import annotations

import argparse
import errno
import os
import pwd
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from rich.console import Console

from fork.commands import bench, build, equivalence, inspect, mirrors, pin, queue, rebase
from fork.commands.context import Context
from fork.errors import AccessError, DiskFullError, ForkError, exit_codes
from fork.project import Project

__all__ = ["main"]

_INTERRUPTED = 130
_BROKEN_PIPE = 141  # what a shell gives a program that such a pipe ends
_OTHER_CODES = {
    0: "All is well.",
    2: "The arguments are wrong.",
    20: "Base and fork generate different code.",
    52: "There is no Python that the tool can run with.",
    53: "What the tool needs cannot be installed.",
    _BROKEN_PIPE: "Whoever read the output stopped reading.",
    _INTERRUPTED: "Interrupted.",
}
_VERBS = (build, queue, rebase, mirrors, pin, inspect, equivalence, bench)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool.

    :param arguments: What follows the program's name; ``None`` takes those of the process.
    :returns: The exit code.
    """
    parsed = _parser().parse_args(arguments)
    messages = Console(stderr=True)
    with _reported(messages) as outcome:
        outcome.code = parsed.run(parsed, Context(Project.here(), messages, _Results()))
        sys.stdout.flush()
    return outcome.code


def _parser() -> argparse.ArgumentParser:
    meanings = dict(exit_codes()) | _OTHER_CODES
    codes = "\n".join(
        f"  {code:3}  {meaning}" for code, meaning in sorted(meanings.items()) if code != ForkError.exit_code
    )
    parser = argparse.ArgumentParser(
        prog="ci/fork.sh",
        description="Turns a pinned Triton and a patch queue into wheels and a package index.",
        epilog=f"exit codes:\n{codes}\n\n`ci/fork.sh VERB --help` shows examples.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(metavar="VERB", required=True)
    for verb in _VERBS:
        verb.add_parser(subparsers)
    return parser


class _Results(Console):
    """Standard output, where a reader who stops reading ends the program as it ends others."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class _Outcome:
    code = 1


@contextmanager
def _reported(messages: Console) -> Iterator[_Outcome]:
    """Turn errors into a message and an exit code, and a polite kill into an orderly end."""
    outcome = _Outcome()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield outcome
    except ForkError as error:
        outcome.code = _report(messages, error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        outcome.code = _BROKEN_PIPE
    except PermissionError as error:
        outcome.code = _report(messages, _access_error(error))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = f" for '{error.filename}'" if error.filename else ""
        hint = "make room (a wheel takes about 200 MB), or choose another folder with --out or --cache"
        outcome.code = _report(messages, DiskFullError(f"the disk is full{where}", hint))
    except KeyboardInterrupt:
        messages.print("interrupted; nothing was published", style="yellow")
        outcome.code = _INTERRUPTED


def _access_error(error: PermissionError) -> AccessError:
    place = Path(os.fsdecode(error.filename or os.curdir)).absolute()
    for there in (place, *place.parents):
        try:
            number = there.stat().st_uid
            break
        except OSError:
            continue  # it is not there, or lies where this user may not look
    try:
        owner = pwd.getpwuid(number).pw_name
    except KeyError:
        owner = str(number)
    return AccessError(
        f"cannot write or read '{place}': '{there}' belongs to the user {owner}",
        "work in a clone of your own, or name folders of your own with --out and --cache",
    )


def _report(messages: Console, error: ForkError) -> int:
    messages.print(f"error: {error.message}", style="bold red", markup=False, highlight=False, soft_wrap=True)
    if error.hint:
        messages.print(f"  hint: {error.hint}", markup=False, highlight=False, soft_wrap=True)
    return error.exit_code


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
