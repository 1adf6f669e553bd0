"""Panels out of result files, without a bank and without an encoder to load: what `skilldelta skills PATH` judges.

Tasks are near each other by the words that they share, which is enough to group harmed tasks.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.errors import InputError
from skilldelta.pairing import is_counted, pair_executions
from skilldelta.records import Agent, Execution
from skilldelta.studies.compared_side import RecordedRuns, of_one_version
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.support import Support

_DIMENSION = 256


class WordEncoder:
    """Unit rows that count the words of a text, each word in one of a few hundred places."""

    identity = f"words/{_DIMENSION}/l2"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, 256) float32; a text without a word has a place of its own."""
        rows = np.zeros((len(texts), _DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in set(re.findall(r"\w+", text.lower())) or {""}:
                row[zlib.crc32(word.encode("utf-8", "surrogatepass")) % _DIMENSION] += 1
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def file_panels(recorded: RecordedRuns, skill: str | None = None) -> list[LoadedPanel]:
    """A panel for every agent and suite of a source that has a pair; of several versions, the chosen or the newest.

    Examples:
        >>> [(panel.title, len(panel.support)) for panel in file_panels(bank_runs(bank))]
        [('toy on trips', 8)]
    """
    recorded = of_one_version(recorded, skill)
    groups: dict[tuple[Agent, str], list[Execution]] = {}
    for run in recorded.executions:
        groups.setdefault((run.agent, run.suite), []).append(run)
    encoder = WordEncoder()
    panels = []
    for (agent, suite), runs in groups.items():
        families = {key: task.family for key, task in recorded.tasks.items()}
        pairing = pair_executions(runs, families=families, current_digests=recorded.versions)
        if not pairing.pairs:
            continue
        texts = [recorded.tasks[suite, pair.task_id].text for pair in pairing.pairs]
        support = Support.from_pairs(
            pairing.pairs,
            encoder.encode(texts),
            texts=tuple(texts),
            encoder=encoder.identity,
            agent=agent.name,
            suite=suite,
        )
        panels.append(LoadedPanel(agent, suite, support, support, pairing, tuple(runs), tuple(runs), encoder, {}, ()))
    if not panels:
        arms = {run.condition for run in recorded.executions if is_counted(run)}
        there = "with" if arms == {"use"} else "without"
        reason = "both arms must be of the same tasks and agent"
        if not arms:
            reason = "none of its runs has an outcome"
        elif len(arms) == 1:
            reason = f"all its runs that count are {there} the skill"
        raise InputError(f"{recorded.label}: no task has counted runs with and without the skill; {reason}")
    return panels
