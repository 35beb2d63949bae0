"""Results of benchmarks as a table, as JSON, and as plots."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from rich.table import Table

from fork.bench.runner import Quantity

__all__ = ["document", "machine", "plot", "table"]

_FORK, _BASE = "#1f6feb", "#9aa4af"


def machine() -> dict[str, Any]:
    """Describe the machine: processor, cores, system."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform()}


def document(title: str, results: Mapping[str, Sequence[Quantity]]) -> dict[str, Any]:
    """Put results together as a document for machines.

    :param results: What they were measured with, such as ``3.12.1`` -> quantities.
    """
    return {
        "title": title,
        "date": date.today().isoformat(),
        "machine": machine(),
        "results": {
            setting: [
                {
                    "name": quantity.name,
                    "unit": quantity.unit,
                    "base": list(quantity.base),
                    "fork": list(quantity.fork),
                    "ratio": quantity.ratio,
                    "spread": quantity.spread,
                }
                for quantity in quantities
            ]
            for setting, quantities in results.items()
        },
    }


def table(results: Mapping[str, Sequence[Quantity]]) -> Table:
    """Lay results out for a terminal: median of each side, median ratio with quartiles."""
    view = Table("python", "quantity", "unit", box=None, pad_edge=False)
    for heading in ("base", "fork", "fork/base", "quartiles"):
        view.add_column(heading, justify="right")
    for setting, quantities in results.items():
        for quantity in quantities:
            ratio, spread = quantity.ratio, quantity.spread
            view.add_row(
                setting,
                quantity.name,
                quantity.unit,
                _number(_median(quantity.base)),
                _number(_median(quantity.fork)),
                "" if ratio is None else f"{ratio:.4f}",
                "" if spread is None else f"{spread[0]:.4f} to {spread[1]:.4f}",
            )
    return view


def plot(title: str, quantities: Sequence[Quantity], stem: Path) -> list[Path]:
    """Draw each quantity as a pair of bars, the base's as the whole, and write PNG and SVG.

    :param stem: Path without suffix.
    :returns: The files.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "fork"
    from matplotlib import pyplot

    shown = [quantity for quantity in quantities if quantity.ratio is not None]
    figure, axes = pyplot.subplots(figsize=(8, 0.9 + 0.62 * len(shown)), layout="constrained")
    for row, quantity in enumerate(reversed(shown)):
        ratio = quantity.ratio or 0.0
        axes.barh(row + 0.18, 1.0, height=0.34, color=_BASE)
        axes.barh(row - 0.18, ratio, height=0.34, color=_FORK)
        base = f" base {_number(_median(quantity.base))} {quantity.unit}"
        axes.text(0, row + 0.18, base, va="center", fontsize=8, color="white")
        label = f" fork {_number(_median(quantity.fork))} {quantity.unit}, {ratio:.3g} of the base"
        axes.text(ratio, row - 0.18, label, va="center", fontsize=8)
    axes.set_yticks(range(len(shown)), [quantity.name for quantity in reversed(shown)], fontsize=9)
    axes.set_xlim(0, max([1.0, *(quantity.ratio or 0.0 for quantity in shown)]) * 1.25)
    axes.set_xticks([])
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.set_title(title, fontsize=11, loc="left")
    files = [stem.with_suffix(suffix) for suffix in (".png", ".svg")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None)
    pyplot.close(figure)
    return files


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
