"""The evaluation once more, in plain Python loops over lists: slow, obvious, and sharing no line with the package."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skilldelta.support import Support


@dataclass
class Row:
    task: str
    family: str
    vector: list[float]
    y0: float
    y1: float

    @property
    def gain(self) -> float:
        return self.y1 - self.y0


def rows_of(support: Support) -> list[Row]:
    return [
        Row(
            str(support.task_ids[i]),
            str(support.families[i]),
            support.vectors[i].tolist(),
            support.y0[i],
            support.y1[i],
        )
        for i in range(len(support))
    ]


def neighbors(rows: list[Row], target: Row, k: int) -> list[tuple[float, Row]]:
    """(weight, row) of the k nearest other tasks of the family, weights adding up to one."""
    length = math.sqrt(math.fsum(x * x for x in target.vector))
    found = []
    for place, row in enumerate(rows):
        if row.family == target.family and row.task != target.task:
            dot = math.fsum(a * b for a, b in zip(row.vector, target.vector, strict=True))
            cosine = dot / (length * math.sqrt(math.fsum(x * x for x in row.vector)))
            found.append((cosine, -place, row))
    found.sort(key=lambda entry: (entry[0], entry[1]), reverse=True)
    kept = [(max(0.0, cosine), row) for cosine, _, row in found[:k]]
    total = math.fsum(weight for weight, _ in kept)
    if total == 0:
        return [(1 / len(kept), row) for _, row in kept]
    return [(weight / total, row) for weight, row in kept]


def paper_scores(rows: list[Row], k: int = 6) -> list[float]:
    return [math.fsum(w * n.gain for w, n in neighbors(rows, row, k)) for row in rows]


def with_skill_scores(rows: list[Row], k: int = 6) -> list[float]:
    return [math.fsum(w * n.y1 for w, n in neighbors(rows, row, k)) for row in rows]


def family_scores(rows: list[Row]) -> list[float]:
    scores = []
    for row in rows:
        others = [other.gain for other in rows if other.family == row.family and other.task != row.task]
        scores.append(math.fsum(others) / len(others) if others else 0.0)
    return scores


def decide(scores: list[float], threshold: float = 0.0) -> list[bool]:
    """Strictly above; a sum that differs from zero by rounding only is zero."""
    return [score - threshold > 1e-12 for score in scores]


def success(rows: list[Row], actions: list[bool]) -> float:
    return math.fsum(row.y1 if use else row.y0 for row, use in zip(rows, actions, strict=True)) / len(rows)


def advantage(rows: list[Row], actions: list[bool]) -> float:
    """Against flipping the same coin for every task."""
    rate = sum(actions) / len(actions)
    coin = math.fsum(rate * row.y1 + (1 - rate) * row.y0 for row in rows) / len(rows)
    return success(rows, actions) - coin


def within(rows: list[Row], actions: list[bool]) -> float:
    """Against flipping each family's own coin."""
    rates = {}
    for family in {row.family for row in rows}:
        members = [use for row, use in zip(rows, actions, strict=True) if row.family == family]
        rates[family] = sum(members) / len(members)
    coins = math.fsum(rates[row.family] * row.y1 + (1 - rates[row.family]) * row.y0 for row in rows) / len(rows)
    return success(rows, actions) - coins


def auroc(scores: list[float], positive: list[bool]) -> float:
    """Every positive against every other task; scores nearer than 1e-12 are equal."""
    won = 0.0
    for score, is_positive in zip(scores, positive, strict=True):
        if is_positive:
            for other, other_positive in zip(scores, positive, strict=True):
                if not other_positive:
                    won += 0.5 if abs(score - other) <= 1e-12 else float(score > other)
    return won / (sum(positive) * (len(positive) - sum(positive)))
