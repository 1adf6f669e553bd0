"""Rows 15 to 19, 21, 22, 24 and 27 of the paper's evaluation, on real paired executions."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from skilldelta.encoders import load_encoder
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.results import PanelResult
from skilldelta.support import Support

_PLAIN_POLICIES = ("paper", "with_skill_only", "family_mean")


@lru_cache(maxsize=1)
def _bbh(folder: Path) -> Support:
    """6,511 real pairs in 27 families, one execution an arm, with the default encoder's vectors."""
    lines = (folder / "bbh_cot" / "pairs.jsonl").read_text().splitlines()
    rows = [row for row in map(json.loads, lines) if "task_id" in row]
    texts = [row["question"] for row in rows]
    return Support.from_arrays(
        task_ids=[row["task_id"] for row in rows],
        families=[row["family"] for row in rows],
        skills=[row["skill"] for row in rows],
        vectors=load_encoder().encode(texts),
        y0=[np.mean(row["y0"]) for row in rows],
        y1=[np.mean(row["y1"]) for row in rows],
        tokens0=[np.mean(row["tokens0"]) for row in rows],
        tokens1=[np.mean(row["tokens1"]) for row in rows],
        texts=texts,
        agent="code-davinci-002",
        suite="bbh",
    )


def _sheets(folder: Path) -> dict[str, str]:
    return {path.stem: path.read_text() for path in (folder / "bbh_cot" / "skills").iterdir()}


def _few_families(support: Support, families: int, tasks: int) -> Support:
    """The first tasks of the first families."""
    names = list(dict.fromkeys(support.families.tolist()))[:families]
    return support.rows(np.concatenate([np.flatnonzero(support.families == name)[:tasks] for name in names]))


def test_real_pairs_give_the_known_results(shared_data: Path) -> None:
    support = _bbh(shared_data)
    result = evaluate_panel(support, rng=np.random.default_rng(0), resamples=200, skill_texts=_sheets(shared_data))
    assert result.tasks == 6511
    assert result.families == 27
    assert (result.off, result.on) == pytest.approx((0.523, 0.740), abs=5e-4)
    assert result.oracle == pytest.approx(0.828, abs=5e-4)
    paper = result.policies["paper"]
    assert (paper.success, paper.use_rate, paper.auroc) == pytest.approx((0.730, 0.651, 0.699), abs=2e-3)
    assert result.policies["family_mean"].success == pytest.approx(0.751, abs=1e-3)
    assert result.policies["family_mean"].within_group == pytest.approx(0.0, abs=1e-12)
    assert result.policies["relevance"].use_rate == pytest.approx(0.5, abs=1e-3)
    assert len(result.policies["ridge"].rows) == len(result.policies["dual_ridge"].rows)
    assert sum(counts.pairs for counts in result.counts) == 6511
    assert sum(counts.on < counts.off for counts in result.counts) == 6
    for policy in result.policies.values():
        parts = policy.within_group + policy.between_group
        assert parts == pytest.approx(policy.advantage_vs_random, abs=1e-12)


def test_a_part_of_the_real_pairs_agrees_with_a_plain_implementation(shared_data: Path) -> None:
    support = _few_families(_bbh(shared_data), families=5, tasks=60)
    result = evaluate_panel(support, policies=_PLAIN_POLICIES, rng=np.random.default_rng(0), resamples=0)
    _agrees_with_plain(support, result)


@pytest.mark.slow
def test_all_real_pairs_agree_with_a_plain_implementation(shared_data: Path) -> None:
    support = _bbh(shared_data)
    result = evaluate_panel(support, policies=_PLAIN_POLICIES, rng=np.random.default_rng(0), resamples=0)
    _agrees_with_plain(support, result)


def _agrees_with_plain(support: Support, result: PanelResult) -> None:
    """Scores, success, advantage and decomposition to 1e-9, by loops over lists that share no line with the package."""
    families: dict[str, list[int]] = {}
    for row, family in enumerate(support.families.tolist()):
        families.setdefault(family, []).append(row)
    y0, y1, vectors = support.y0.tolist(), support.y1.tolist(), support.vectors.tolist()
    expected: dict[str, list[float]] = {name: [0.0] * len(y0) for name in _PLAIN_POLICIES}
    for members in families.values():
        for target in members:
            others = [row for row in members if row != target]
            near = sorted(others, key=lambda row: (-_cosine(vectors[row], vectors[target]), row))[:6]
            weights = [max(0.0, _cosine(vectors[row], vectors[target])) for row in near]
            total = math.fsum(weights)
            gains = math.fsum(w * (y1[row] - y0[row]) for w, row in zip(weights, near, strict=True))
            expected["paper"][target] = gains / total
            levels = math.fsum(w * y1[row] for w, row in zip(weights, near, strict=True))
            expected["with_skill_only"][target] = levels / total
            expected["family_mean"][target] = math.fsum(y1[row] - y0[row] for row in others) / len(others)
    for name, scores in expected.items():
        found = result.policies[name]
        assert found.scores is not None
        assert found.scores.tolist() == pytest.approx(scores, abs=1e-9)
        use = [score > (0.5 if name == "with_skill_only" else 1e-12) for score in scores]
        n = len(use)
        success = math.fsum(y1[i] if use[i] else y0[i] for i in range(n)) / n
        rate = sum(use) / n
        coin = math.fsum(rate * y1[i] + (1 - rate) * y0[i] for i in range(n)) / n
        coins = 0.0
        for members in families.values():
            own = sum(use[row] for row in members) / len(members)
            coins += math.fsum(own * y1[row] + (1 - own) * y0[row] for row in members) / n
        assert found.success == pytest.approx(success, abs=1e-9)
        assert found.advantage_vs_random == pytest.approx(success - coin, abs=1e-9)
        assert found.within_group == pytest.approx(success - coins, abs=1e-9)
        assert found.between_group == pytest.approx(coins - coin, abs=1e-9)


def _cosine(a: list[float], b: list[float]) -> float:
    dot, aa, bb = 0.0, 0.0, 0.0
    for x, y in zip(a, b, strict=True):
        dot += x * y
        aa += x * x
        bb += y * y
    return dot / math.sqrt(aa * bb)
