"""What the tool shows while it works: on standard error, so that standard output stays for results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn, TransferSpeedColumn

__all__ = ["byte_progress", "steps"]


@contextmanager
def steps(console: Console, title: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done right now.

    :param console: Where; a terminal gets a spinner, a log gets one line a step.
    :param title: What the steps belong to.
    :returns: A function that is told each step.
    """
    if not console.is_terminal:
        yield lambda step: console.print(f"{title}: {step}", highlight=False, soft_wrap=True)
        return
    with console.status(title) as status:
        yield lambda step: status.update(f"{title}: {step}")


def byte_progress(console: Console) -> Progress:
    """Make a progress display for transfers that are counted in bytes; a log gets none."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
