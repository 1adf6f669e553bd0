"""Rows 7, 26 and 35 on real paired executions: a panel frozen before its outcomes, and what its bank cost."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from skilldelta.encoders import load_encoder
from skilldelta.estimators.base import Target
from skilldelta.evaluation.accounting import account
from skilldelta.evaluation.prospective.auditing import audit, split_outcomes
from skilldelta.evaluation.prospective.freezing import freeze
from skilldelta.evaluation.prospective.frozen_rule import HISTORICAL, FrozenRule
from skilldelta.evaluation.prospective.seal import read_sealed, write_sealed
from skilldelta.evaluation.prospective.tampering import SealBrokenError
from skilldelta.predictor import predict_each
from skilldelta.records import CONDITIONS, Agent, Execution
from skilldelta.support import Support

KNOWN = 20  # of each family, as in the paper's scale panel


def some_families(folder: Path) -> tuple[list[dict[str, object]], Support]:
    """Sixty tasks of each of four families, encoded."""
    wanted = ("boolean_expressions", "causal_judgement", "date_understanding", "navigate")
    lines = [json.loads(line) for line in (folder / "bbh_cot" / "pairs.jsonl").read_text().splitlines()]
    rows = [row for family in wanted for row in [x for x in lines if x["family"] == family][:60]]
    encoder = load_encoder("wordllama")
    texts = [str(row["question"]) for row in rows]
    support = Support.from_arrays(
        task_ids=[row["task_id"] for row in rows],
        families=[row["family"] for row in rows],
        skills=[row["skill"] for row in rows],
        vectors=encoder.encode(texts),
        y0=[np.mean(row["y0"]) for row in rows],
        y1=[np.mean(row["y1"]) for row in rows],
        tokens0=[np.mean(row["tokens0"]) for row in rows],
        tokens1=[np.mean(row["tokens1"]) for row in rows],
        texts=texts,
        encoder=encoder.identity,
        agent="code-davinci-002",
        suite="bbh",
    )
    return rows, support


@pytest.fixture(scope="module")
def real(shared_data: Path) -> tuple[list[dict[str, object]], Support]:
    return some_families(shared_data)


def known_rows(panel: Support) -> np.ndarray:
    return np.concatenate([block[:KNOWN] for block in panel.blocks("family")])


def targets_of(panel: Support) -> list[Target]:
    unseen = np.setdiff1d(np.arange(len(panel)), known_rows(panel))
    return [
        Target(
            panel.vectors[i],
            text=panel.texts[i],
            family=str(panel.families[i]),
            skill=str(panel.skills[i]),
            task_id=str(panel.task_ids[i]),
        )
        for i in unseen
    ]


@pytest.mark.parametrize(
    "rule",
    [
        HISTORICAL["toolqa"],
        HISTORICAL["medcalc"],
        FrozenRule(k=None, threshold="prevalence"),
        FrozenRule(k=None, elsewhere=240, threshold="balanced_accuracy"),
    ],
    ids=["toolqa", "medcalc", "bigcode_scale", "bigcode_natural"],
)
def test_real_tasks_are_predicted_before_their_outcomes_and_audited_after(
    rule: FrozenRule, real: tuple[list[dict[str, object]], Support], tmp_path: Path
) -> None:
    panel = real[1]
    known = panel.rows(np.sort(known_rows(panel)))
    write_sealed(freeze(known, targets_of(panel), rule=rule, created="2026-01-01"), tmp_path / "panel.json")
    sealed = read_sealed(tmp_path / "panel.json")
    result = audit(sealed, *split_outcomes(sealed, panel), rule=rule)
    assert (result.known, result.targets, result.evaluated) == (80, 160, 160)
    assert result.auroc is not None
    assert result.balanced_accuracy is not None
    assert result.token_saving is not None
    assert 0 < result.use_rate < 1
    assert result.success_gain > 0


def test_a_support_that_grew_after_freezing_is_refused(real: tuple[list[dict[str, object]], Support]) -> None:
    panel = real[1]
    rows = np.sort(known_rows(panel))
    sealed = freeze(panel.rows(rows[1:]), targets_of(panel), rule=FrozenRule(), created="2026-01-01")
    with pytest.raises(SealBrokenError, match="evidence of task 'bbh/boolean_expressions/000' was added"):
        audit(sealed, *split_outcomes(sealed, panel))


def test_a_real_bank_pays_for_itself_after_a_number_of_tasks(real: tuple[list[dict[str, object]], Support]) -> None:
    rows, panel = real
    agent = Agent("code-davinci-002")
    executions = [
        Execution(agent, "bbh", str(row["task_id"]), condition, i, float(y), str(row["skill"]), tokens=float(tokens))
        for row in rows
        for condition, arm in zip(CONDITIONS, "01", strict=True)
        for i, (y, tokens) in enumerate(zip(row[f"y{arm}"], row[f"tokens{arm}"], strict=True))  # type: ignore[call-overload]
    ]
    use = predict_each(panel, "family").gains > 0
    found = account(panel, use, executions)
    tokens = found.of("tokens")
    assert tokens.bank == sum(float(execution.tokens or 0) for execution in executions)
    assert tokens.saving is not None
    assert tokens.saving > 0
    assert tokens.break_even is not None
    assert tokens.break_even * tokens.saving >= tokens.bank > (tokens.break_even - 1) * tokens.saving
    assert found.of("usd").break_even is None
