"""Results of benchmarks as a document and as a table."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from rich.table import Table

from fork.bench.program import Program
from fork.bench.quantity import BASE, FORK, Quantity
from fork.bench.runner import Measured

__all__ = ["document", "machine", "number", "quantities_of", "table"]


def machine() -> dict[str, Any]:
    """Describe the machine: processor, cores, system, and how busy it is."""
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    load = [round(value, 1) for value in os.getloadavg()]
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform(), "load": load}


def document(program: Program, results: Mapping[str, Measured]) -> dict[str, Any]:
    """Put results together as a document for machines.

    :param results: Release of Python -> what was measured with it.
    """
    return {
        "name": program.name,
        "title": program.title,
        "headline": program.headline,
        "date": date.today().isoformat(),
        "machine": machine(),
        "results": {
            release: {
                "faults": measured.faults,
                "quantities": [quantity.as_json() for quantity in measured.quantities],
            }
            for release, measured in results.items()
        },
    }


def table(results: Mapping[str, Measured]) -> Table:
    """Lay results out for a terminal: medians, median ratio to the base with quartiles; a dash where a peer has none."""
    peers = list(dict.fromkeys(side for measured in results.values() for side in _peers(measured)))
    view = Table("python", "quantity", "unit", box=None, pad_edge=False)
    for heading in ("base", "fork", "fork/base", "quartiles", *(h for peer in peers for h in (peer, "/base"))):
        view.add_column(heading, justify="right")
    for release, measured in results.items():
        for quantity in (quantity for quantity in measured.quantities if not quantity.detail):
            spread = quantity.spread()
            view.add_row(
                release,
                quantity.name,
                quantity.unit,
                number(quantity.median(BASE)),
                number(quantity.median(FORK)),
                number(quantity.ratio()),
                "-" if spread is None else f"{number(spread[0])} to {number(spread[1])}",
                *(cell for peer in peers for cell in (number(quantity.median(peer)), number(quantity.ratio(peer)))),
            )
    return view


def number(value: float | None) -> str:
    """Write a number with three significant digits, large ones in full; a dash for none."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _peers(measured: Measured) -> list[str]:
    sides = [side for quantity in measured.quantities for side in quantity.values]
    return [side for side in dict.fromkeys([*sides, *measured.faults]) if side not in (BASE, FORK)]


def quantities_of(content: Mapping[str, Any]) -> dict[str, list[Quantity]]:
    """Read the quantities of a document: release of Python -> quantities."""
    return {
        release: [Quantity.from_json(quantity) for quantity in measured["quantities"]]
        for release, measured in content["results"].items()
    }
