"""A measured quantity: its values on each side, and their ratios with the spread."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["BASE", "FORK", "Quantity"]

BASE, FORK = "base", "fork"


@dataclass(frozen=True)
class Quantity:
    """One measured quantity.

    :param name: What was measured.
    :param unit: Its unit, such as ``ns`` or ``calls``.
    :param values: Side -> one value a round, in the same order for every side. A peer that cannot do it is missing.
    :param detail: Whether it is for JSON only.
    """

    name: str
    unit: str
    values: Mapping[str, tuple[float, ...]]
    detail: bool = False

    def median(self, side: str) -> float | None:
        """Give the median of a side, or ``None`` where it has no values."""
        values = self.values.get(side)
        return statistics.median(values) if values else None

    def ratios(self, side: str = FORK, reference: str = BASE) -> list[float]:
        """Give a side's value by the reference's, for each round, in ascending order; rounds where that is 0 are left out."""
        values, references = self.values.get(side, ()), self.values.get(reference, ())
        if not values or not references:
            return []
        return sorted(value / other for value, other in zip(values, references, strict=True) if other)

    def ratio(self, side: str = FORK) -> float | None:
        """Give the median of the ratios to the base; ``None`` where there are none."""
        ratios = self.ratios(side)
        return statistics.median(ratios) if ratios else None

    def spread(self, side: str = FORK) -> tuple[float, float] | None:
        """Give first and third quartile of the ratios; the extremes where there are fewer than four."""
        ratios = self.ratios(side)
        if not ratios:
            return None
        if len(ratios) < 4:
            return ratios[0], ratios[-1]
        quartiles = statistics.quantiles(ratios, n=4, method="inclusive")
        return quartiles[0], quartiles[2]

    def as_json(self) -> dict[str, Any]:
        """Give it as an object for machines."""
        return {
            "name": self.name,
            "unit": self.unit,
            "detail": self.detail,
            "sides": {
                side: {
                    "values": [float(f"{value:.10g}") for value in values],
                    "ratio": self.ratio(side),
                    "spread": self.spread(side),
                }
                for side, values in self.values.items()
            },
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Quantity:
        """Make it of what :meth:`as_json` gave."""
        values = {side: tuple(measured["values"]) for side, measured in content["sides"].items()}
        return cls(content["name"], content["unit"], values, content["detail"])
