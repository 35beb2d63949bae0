"""The root of every error that the tool reports, and the errors that more than one module raises.

An error carries a message that names the thing, a hint that says the way out, and an exit code of its own, so that a nightly job
can tell a lost network from a patch that no longer applies. ``ci/fork.sh --help`` prints the table of codes.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["AccessError", "BusyError", "ConfigError", "DiskFullError", "ForkError", "UsageError", "exit_codes"]


class ForkError(Exception):
    """Something that the user can act on.

    :param message: One sentence that names what is wrong.
    :param hint: What to do about it, or ``None`` where the message says it all.
    """

    exit_code: int = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ForkError):
    """The arguments are wrong."""

    exit_code = 2


class ConfigError(ForkError):
    """``fork.toml`` cannot be read or says something impossible."""

    exit_code = 10


class BusyError(ForkError):
    """Another build works in the same folder."""

    exit_code = 16


class DiskFullError(ForkError):
    """A file system has no room for what must be written."""

    exit_code = 33


class AccessError(ForkError):
    """A file or folder belongs to another user."""

    exit_code = 51


def exit_codes() -> Iterator[tuple[int, str]]:
    """List the exit codes with the first line of the docstring of the error that each stands for.

    :returns: Pairs of code and meaning, in the order of the codes, of all error classes imported so far.
    """
    pending: list[type[ForkError]] = [ForkError]
    seen: dict[int, str] = {}
    while pending:
        error = pending.pop()
        pending.extend(error.__subclasses__())
        seen.setdefault(error.exit_code, (error.__doc__ or "").partition("\n")[0])
    return iter(sorted(seen.items()))
