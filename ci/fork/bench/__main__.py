"""``python -m fork.bench FOLDER``: draw the plots of all results in a folder.

A process of its own since matplotlib is in the environment of the tests, not in that of the tool.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fork.bench.plots import plot, plot_summary

__all__ = ["main"]

ORDER = (
    "warm-start",
    "warm-start-cold-pages",
    "cold-start",
    "ast-to-ttir",
    "gluon-attention",
    "launch",
    "capture-scope",
)
"""Programs in the summary, from the start of a process on. Those that count are not in it: their units are not time."""


def main(folder: Path) -> list[Path]:
    """Draw one plot for each file of results and Python, and a summary for each Python.

    :param folder: Holds what ``bench --store`` wrote.
    :returns: The files written.
    """
    contents = {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))}
    written: list[Path] = []
    releases = list(dict.fromkeys(release for content in contents.values() for release in content["results"]))
    for name, content in contents.items():
        for release in content["results"]:
            suffix = "" if len(content["results"]) == 1 else f"-{release}"
            written += plot(content, release, folder / f"{name}{suffix}")
    summarised = [contents[name] for name in ORDER if name in contents]
    for release in releases if summarised else ():
        suffix = "" if len(releases) == 1 else f"-{release}"
        written += plot_summary(summarised, release, folder / f"summary{suffix}")
    return written


if __name__ == "__main__":
    for path in main(Path(sys.argv[1])):
        print(path.name)  # noqa: T201 (a command)
