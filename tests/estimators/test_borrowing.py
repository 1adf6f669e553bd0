"""What other agents' evidence says about a task, and how tasks of different agents are matched."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from skilldelta.arrays import Floats
from skilldelta.encoders import load_encoder
from skilldelta.errors import InputError
from skilldelta.estimators.base import Target, target_of
from skilldelta.estimators.borrowing import EvidenceSource, OthersEvidence
from skilldelta.evaluation.metrics import auroc
from skilldelta.support import Support

SKILLSBENCH = Path(__file__).parents[3] / "shared" / "data" / "skillsbench" / "pairs.jsonl"


def panel(gains: Floats | list[float], *, start: int = 0, skill: str = "units", prefix: str = "task") -> Support:
    """One row per gain; rows of equal number have equal texts in every panel."""
    numbers = range(start, start + len(gains))
    vectors = np.array([np.random.default_rng(i).normal(size=8) for i in numbers])
    return Support.from_arrays(
        task_ids=[f"{prefix}-{i}" for i in numbers],
        families=["all"] * len(gains),
        skills=[skill] * len(gains),
        vectors=vectors,
        y0=np.clip(-np.asarray(gains), 0, 1),
        y1=np.clip(np.asarray(gains), 0, 1),
        texts=tuple(f"the text of number {i}" for i in numbers),
    )


def test_a_task_is_the_same_by_its_text_whatever_its_id() -> None:
    others = OthersEvidence([EvidenceSource.of("b", panel([1, 1, 0, 0], prefix="other"))])
    about = others.about(target_of(panel([0]), 0))
    assert about.agents == 1
    assert about.departure != 0


def test_the_same_id_with_another_text_is_another_task() -> None:
    others = OthersEvidence([EvidenceSource.of("b", panel([1, 1, 0, 0]))])
    target = Target(np.ones(8, np.float32) / np.sqrt(8), "another text", "all", "units", "task-0")
    assert others.about(target).agents == 0
    assert others.about(target).departure == 0


def test_the_same_text_under_another_skill_is_another_task() -> None:
    others = OthersEvidence([EvidenceSource.of("b", panel([1, 1, 0, 0], skill="dates"))])
    assert others.about(target_of(panel([0]), 0)).agents == 0


def test_what_is_shared_by_agents_is_estimated_and_moves_more_with_more_of_them() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 0.3, 200)

    def sources(count: int, shared: float) -> list[EvidenceSource]:
        gains = [shared * truth + rng.normal(0, 0.3, 200) for _ in range(count)]
        return [EvidenceSource.of(f"agent {i}", panel(gain)) for i, gain in enumerate(gains)]

    alike, unlike = OthersEvidence(sources(6, 1.0)), OthersEvidence(sources(6, 0.0))
    assert alike.variances[0] == pytest.approx(0.09, abs=0.03)
    assert unlike.variances[0] < 0.01
    # A departure is a shrunk distance: of six agents alike most of it is believed, of agents unlike little.
    believed = [np.abs(e.departures).sum() / np.abs(e.means - e.trends).sum() for e in (alike, unlike)]
    assert believed[0] > 0.7
    assert believed[1] < 0.35


def test_a_task_never_reaches_the_trend_of_its_own_text() -> None:
    gains = np.random.default_rng(1).normal(0, 0.3, 60)
    flipped = gains.copy()
    flipped[7] = -np.sign(gains[7])
    before, after = (OthersEvidence([EvidenceSource.of("b", panel(g))]).trends for g in (gains, flipped))
    assert before[7] == after[7]
    assert (before != after).any()


def test_agents_that_ran_different_tasks_are_borrowed_from_together() -> None:
    others = OthersEvidence([EvidenceSource.of("b", panel([1] * 10)), EvidenceSource.of("c", panel([1] * 10, start=5))])
    assert others.pairs == 20
    assert [int(others.has_run[:, agent].sum()) for agent in (0, 1)] == [10, 10]
    assert len(others.means) == 15
    assert others.at(0).agents == 1
    assert others.at(7).agents == 2


def test_nothing_to_borrow_from_is_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match="collect or import pairs"):
        OthersEvidence([EvidenceSource.of("b", panel([1]).rows([]))])


def test_a_source_needs_a_digest_for_every_pair() -> None:
    with pytest.raises(InputError, match="2 pairs and 1 digests"):
        EvidenceSource("b", panel([1, 0]), ("x",))


@pytest.mark.skipif(not SKILLSBENCH.exists(), reason="the shared data are not here")
def test_others_alone_tell_real_agents_apart_from_chance() -> None:
    rows = [json.loads(line) for line in SKILLSBENCH.read_text().splitlines()]
    by_agent = defaultdict(list)
    for row in rows:
        by_agent[row["agent"]].append(row)
    texts = sorted({row["question"] for row in rows})
    vectors = dict(zip(texts, load_encoder().encode(texts), strict=True))
    panels = {
        agent: Support.from_arrays(
            task_ids=[row["task_id"] for row in of_agent],
            families=[row["family"] for row in of_agent],
            skills=[row["skill"] for row in of_agent],
            vectors=np.array([vectors[row["question"]] for row in of_agent]),
            y0=[float(np.mean(row["y0"])) for row in of_agent],
            y1=[float(np.mean(row["y1"])) for row in of_agent],
            r0=[len(row["y0"]) for row in of_agent],
            r1=[len(row["y1"]) for row in of_agent],
            texts=tuple(row["question"] for row in of_agent),
        )
        for agent, of_agent in by_agent.items()
    }
    ranks, errors = [], []
    for agent, support in panels.items():
        others = OthersEvidence([EvidenceSource.of(name, rest) for name, rest in panels.items() if name != agent])
        gains = np.array([others.about(target_of(support, row)).gain for row in range(len(support))])
        rank = auroc(gains, support.gains > 0)
        assert rank is not None
        ranks.append(rank)
        errors.append(float(((gains - support.gains) ** 2).mean()))
    assert np.mean(ranks) >= 0.74
    assert np.mean(errors) <= 0.115
