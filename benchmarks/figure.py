"""A measured figure: its name, unit and direction, what it means, and the peer that was measured in the same run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["s", "ms", "µs", "per s", "MB", "GB", "kB", "×", "%", "points"]


@dataclass(frozen=True, slots=True)
class Peer:
    """What a figure is held against: the same work done by other means, in the unit of the figure."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. Compare ratios between runs: seconds and rates belong to one machine at one moment."""

    name: str
    value: float
    unit: Unit
    better: Literal["lower", "higher"]
    meaning: str
    peer: Peer | None = None

    @property
    def ratio(self) -> float | None:
        """The figure over its peer; None without one, or where the peer is zero."""
        return self.value / self.peer.value if self.peer and self.peer.value else None
