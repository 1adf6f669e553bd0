"""Headline outcomes from the first runs of each arm, while the curves over repetitions use every run.

The paper's tables count one execution of each arm for two of its agents, and its evidence curves three of the same panels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skilldelta.errors import InputError, unknown_name
from skilldelta.pairing import Arm, arms_of
from skilldelta.studies.loaded_panel import LoadedPanel


@dataclass(frozen=True, slots=True)
class HeadlineRuns:
    """How many runs of each arm the tables count: by suite or agent, the last that fits; an empty name fits all."""

    counts: tuple[tuple[str, int], ...] = ()

    @classmethod
    def parse(cls, texts: Sequence[str]) -> HeadlineRuns:
        """From texts such as `1`, `logicbench=3` and `deepseek-v4-flash=3`."""
        counts = []
        for text in texts:
            name, equals, number = text.rpartition("=")
            if not number.isascii() or not number.isdigit() or int(number) < 1 or (equals and not name.strip()):
                raise InputError(f"headline runs must be like 1 or logicbench=3, got {text[:60]!r}")
            counts.append((name.strip(), int(number)))
        return cls(tuple(counts))

    def check(self, panels: Sequence[LoadedPanel]) -> None:
        """Refuse a name that no panel has: mistyped, it would change nothing in silence."""
        names = sorted({name for panel in panels for name in (panel.suite, panel.agent.name)})
        for name, _ in self.counts:
            if name and name not in names:
                raise unknown_name("suite or agent", name, names)

    def of(self, panel: LoadedPanel) -> int | None:
        """The number of runs that count on a panel; None is all of them."""
        fitting = [count for name, count in self.counts if name in ("", panel.suite, panel.agent.name)]
        return fitting[-1] if fitting else None

    def note(self, panels: Sequence[LoadedPanel]) -> str:
        """What a reader of the tables must know; empty where every run counts."""
        counts = {panel.title: self.of(panel) for panel in panels}
        parts = [f"{_first_in_words(count)} of each arm on {name}" for name, count in counts.items() if count]
        if not parts:
            return ""
        if len(parts) == len(counts) and len(set(counts.values())) == 1:
            parts = [parts[0].partition(" on ")[0]]
        return f"outcomes of {', '.join(parts)}; evidence curves use every run"


def headline_panels(panels: Sequence[LoadedPanel], runs: HeadlineRuns) -> list[LoadedPanel]:
    """The panels with outcomes and tokens of their first runs alone."""
    runs.check(panels)
    return [panel if (count := runs.of(panel)) is None else first_runs(panel, count) for panel in panels]


def first_runs(panel: LoadedPanel, count: int) -> LoadedPanel:
    """The panel with the means of the first runs of each arm, by repetition and then by arrival.

    Every pair stays: an arm with fewer runs counts with what it has.
    """
    arms = {(arm.task_id, arm.skill_id, arm.digest): arm for arm in arms_of(panel.versioned)}
    pairs = []
    for pair in panel.pairing.pairs:
        arm = arms[pair.task_id, pair.skill_id, pair.skill_digest]
        first = replace(arm, skip=_first(arm.skip, count), use=_first(arm.use, count))
        pairs.append(first.pair(pair.family))
    support = replace(
        panel.support,
        y0=np.array([pair.y0 for pair in pairs], float),
        y1=np.array([pair.y1 for pair in pairs], float),
        r0=np.array([pair.r0 for pair in pairs], np.int64),
        r1=np.array([pair.r1 for pair in pairs], np.int64),
        tokens0=np.array([np.nan if pair.tokens0 is None else pair.tokens0 for pair in pairs], float),
        tokens1=np.array([np.nan if pair.tokens1 is None else pair.tokens1 for pair in pairs], float),
    )
    return replace(panel, support=support, pairing=replace(panel.pairing, pairs=tuple(pairs)))


def _first_in_words(count: int) -> str:
    return "the first run" if count == 1 else f"the first {count} runs"


def _first(arm: Arm, count: int) -> Arm:
    return sorted(arm, key=lambda run: run.repetition)[:count]
