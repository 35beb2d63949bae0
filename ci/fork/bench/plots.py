"""Results of benchmarks as plots, PNG and SVG; every bar carries its own label."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fork.bench.quantity import BASE, FORK, Quantity
from fork.bench.report import number, quantities_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot", "plot_summary"]

_COLORS = {BASE: "#8c959f", FORK: "#1f6feb"}
_TEXT = {BASE: "#57606a"}
_PEERS = ("#b87333", "#7a5195", "#3a7d44")
_SUFFIXES = (".png", ".svg")

GAP = 0.7
"""Space between two groups, in bars."""

LONGEST = 2.0
"""Where a bar is cut off, in multiples of the base; its label says the rest."""


def plot(content: Mapping[str, Any], release: str, stem: Path) -> list[Path]:
    """Draw the quantities of a program: a group of bars each, one bar a side, lengths relative to the base.

    :param content: What :func:`fork.bench.report.document` gave.
    :param release: Which Python's results.
    :param stem: Path without suffix.
    :returns: The files.
    """
    shown = [
        quantity for quantity in quantities_of(content)[release] if not quantity.detail and quantity.ratio() is not None
    ]
    rows = [(quantity.name, _bars(quantity)) for quantity in shown]
    return _draw(f"{content['title']}", _caption(content, release), rows, stem)


def plot_summary(contents: Sequence[Mapping[str, Any]], release: str, stem: Path) -> list[Path]:
    """Draw the headline of each program, fork relative to base, peers where they were measured.

    :param contents: Documents, in the order in which they are shown.
    """
    rows = []
    for content in contents:
        found = quantities_of(content).get(release, [])
        headline = next((q for q in found if q.name == content["headline"]), found[0] if found else None)
        if headline is not None and headline.ratio() is not None:
            rows.append((f"{content['name'].replace('-', ' ')}:\n{headline.name}", _bars(headline)))
    title = "Triton 3.6.0 with the fork's patches, relative to the base (shorter is better)"
    return _draw(title, _caption(contents[0], release), rows, stem)


def _bars(quantity: Quantity) -> list[tuple[str, float, str]]:
    """Give side, length and label of each bar."""
    bars = []
    for side in quantity.values:
        median, ratio = quantity.median(side), quantity.ratio(side)
        if ratio is None:
            continue
        name = {BASE: "base 3.6.0", FORK: "fork"}.get(side, side)
        label = f"{name}  {number(median)} {quantity.unit}"
        bars.append((side, ratio, label if side == BASE else f"{label}  ({number(ratio)} of base)"))
    return bars


def _caption(content: Mapping[str, Any], release: str) -> str:
    machine = content["machine"]
    load = machine["load"][0]
    return (
        f"{content['date']}, CPython {release}, {machine['processor']}, {machine['cores']} cores, load {load} when done; "
        "medians of alternating runs, stand-in CUDA driver; a bar is the median ratio to the base"
    )


def _draw(
    title: str, caption: str, rows: Sequence[tuple[str, Sequence[tuple[str, float, str]]]], stem: Path
) -> list[Path]:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "fork"
    mpl.rcParams["svg.fonttype"] = "none"  # text stays text: small, and can be searched
    from matplotlib import pyplot

    lines = textwrap.wrap(title, 92)
    count = sum(len(bars) + GAP for _, bars in rows)
    figure, axes = pyplot.subplots(figsize=(9.5, 0.5 + 0.2 * len(lines) + 0.2 * count), layout="constrained")
    longest = min(LONGEST, max([1.0, *(ratio for _, bars in rows for _, ratio, _ in bars)]))
    ticks = _draw_bars(axes, rows, longest)
    axes.set_yticks([at for at, _ in ticks], [name for _, name in ticks], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, longest)
    axes.set_ylim(GAP - count, GAP)
    axes.set_xticks([])
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    figure.suptitle("\n".join(lines), fontsize=11, x=0.01, ha="left", fontweight="bold")
    figure.supxlabel(caption, fontsize=7, color="#57606a", x=0.01, ha="left")
    files = _save(figure, stem)
    pyplot.close(figure)
    return files


def _draw_bars(
    axes: Axes, rows: Sequence[tuple[str, Sequence[tuple[str, float, str]]]], longest: float
) -> list[tuple[float, str]]:
    """Draw groups of bars downwards.

    :returns: Middle and name of each group.
    """
    peers = sorted({side for _, bars in rows for side, _, _ in bars if side not in _COLORS})  # one color in all plots
    colors = {**_COLORS, **{side: _PEERS[n % len(_PEERS)] for n, side in enumerate(peers)}}
    at, ticks = 0.0, []
    for name, bars in rows:
        ticks.append((at - (len(bars) - 1) / 2, name))
        for side, ratio, label in bars:
            length = min(ratio, longest)
            axes.barh(at, length, height=0.9, color=colors[side])
            inside = length > 0.5 * longest
            axes.text(
                length - 0.01 * longest if inside else length + 0.01 * longest,
                at,
                f"{label} \N{RIGHTWARDS ARROW}" if length < ratio else label,
                ha="right" if inside else "left",
                va="center",
                fontsize=7.5,
                color="white" if inside else _TEXT.get(side, colors[side]),
                fontweight="bold" if side == FORK else "normal",
            )
            at -= 1
        at -= GAP
    return ticks


def _save(figure: Figure, stem: Path) -> list[Path]:
    files = [stem.with_name(stem.name + suffix) for suffix in _SUFFIXES]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=110, metadata={"Date": None} if file.suffix == ".svg" else None)
    return files
