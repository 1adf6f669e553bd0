"""The families of a panel with their rows and a label each that no other family has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.arrays import Ints
from skilldelta.evaluation.results import FamilyCounts, PanelResult
from skilldelta.report.numbers import shorten

LABEL_WIDTH = 60
NO_FAMILY = "no family recorded"


@dataclass(frozen=True, slots=True, eq=False)
class FamilyRows:
    """One family: its counts, its rows of the panel, its name in plots and lists."""

    counts: FamilyCounts
    rows: Ints
    label: str


def groups(panel: PanelResult) -> list[FamilyRows]:
    """Families in order of first appearance, as the evaluation counts them; rows without a family group by skill."""
    blocks = sorted(panel.support.blocks("family"), key=lambda block: int(block[0]))
    labels = distinct_labels([shorten(counts.family or NO_FAMILY, LABEL_WIDTH) for counts in panel.counts])
    return [FamilyRows(counts, block, label) for counts, block, label in zip(panel.counts, blocks, labels, strict=True)]


def distinct_labels(labels: Sequence[str]) -> list[str]:
    """Labels that shortening made equal get a number, so that they stay separate rows."""
    seen: dict[str, int] = {}
    distinct = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        distinct.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return distinct
