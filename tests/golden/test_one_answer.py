"""Every entry point gives the recorded answer: the predictor, its batch form, the estimator, the advisor, the command.

`decisions.json` holds the answers of the paper's rule and of the blend to a few questions on a bank of eight pairs. A
change to any of them must be intended, and then the file is rewritten by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.conftest import Skilldelta, pair_rows, skilldelta  # noqa: F401
from skilldelta import Advisor, Gate, Question, load_encoder, open_bank
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.predictor import predict, predict_each

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parent / "decisions.json").read_text())
EXACTLY: dict[str, Any] = {"rel": 0, "abs": 1e-12}


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pair_rows()))
    with open_bank(tmp_path / "golden.bank", create=True) as opened:
        opened.add(read_source(path))
        yield opened


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["text"])
def test_the_advisor_gives_the_recorded_answer(bank: Bank, golden: dict[str, Any]) -> None:
    advisor = Advisor(bank, load_encoder(), agent=bank.resolve_agent(None), gate=Gate(estimator="paper"))
    asked = {name: golden[name] for name in ("text", "skill", "family", "task_id")}
    decision = advisor.ask(Question(**asked)).decision
    assert decision.action == golden["action"]
    assert decision.gain == pytest.approx(golden["gain"], **EXACTLY)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["text"])
def test_the_command_gives_the_recorded_answer(
    bank: Bank,
    golden: dict[str, Any],
    skilldelta: Skilldelta,  # noqa: F811
) -> None:
    words = ["--bank", bank.location, "--paper", "--json", "--skill", golden["skill"]]
    words += ["--family", golden["family"]] if golden["family"] else []
    words += ["--task-id", golden["task_id"]] if golden["task_id"] else []
    found = skilldelta("predict", *words, golden["text"]).document
    assert found["action"] == golden["action"]
    assert found["gain"] == pytest.approx(golden["gain"], **EXACTLY)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["text"])
def test_predictor_and_estimator_give_the_recorded_answer(bank: Bank, golden: dict[str, Any]) -> None:
    encoder = load_encoder()
    support = bank.support(encoder, agent=bank.resolve_agent(None))
    query = encoder.encode([golden["text"]])[0]
    in_scope = np.flatnonzero(support.skills == golden["skill"])
    own = np.flatnonzero(support.task_ids[in_scope] == golden["task_id"])
    direct = predict(query, support.vectors[in_scope], support.gains[in_scope], excluded=own)
    target = Target(query, text=golden["text"], skill=golden["skill"], task_id=golden["task_id"])
    fitted = PaperRule(scope="skill").fit(support).score(target)
    assert direct.gain == pytest.approx(golden["gain"], **EXACTLY)
    assert fitted.gain == pytest.approx(golden["gain"], **EXACTLY)


def test_leave_one_out_gives_the_recorded_answers_of_recorded_tasks(bank: Bank) -> None:
    support = bank.support(load_encoder(), agent=bank.resolve_agent(None))
    gains = dict(zip(support.task_ids.tolist(), predict_each(support, "skill").gains.tolist(), strict=True))
    recorded = [golden for golden in GOLDEN if golden["task_id"]]
    assert recorded
    for golden in recorded:
        assert gains[golden["task_id"]] == pytest.approx(golden["gain"], **EXACTLY)


# The blend learns by iteration, so its last digits are the machine's own.


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["text"])
def test_advisor_and_estimator_give_the_recorded_answer_of_the_blend(bank: Bank, golden: dict[str, Any]) -> None:
    encoder = load_encoder()
    agent = bank.resolve_agent(None)
    asked = {name: golden[name] for name in ("text", "skill", "family", "task_id")}
    decision = Advisor(bank, encoder, agent=agent).ask(Question(**asked)).decision
    fitted = Blend().fit(bank.support(encoder, agent=agent))
    direct = fitted.score(Target(encoder.encode([golden["text"]])[0], **asked))
    assert decision.action == golden["blend_action"]
    assert decision.gain == pytest.approx(golden["blend_gain"], abs=1e-6)
    assert direct.gain == pytest.approx(golden["blend_gain"], abs=1e-6)


@pytest.mark.parametrize("golden", GOLDEN[:2], ids=lambda golden: golden["text"])
def test_the_command_gives_the_recorded_answer_of_the_blend(
    bank: Bank,
    golden: dict[str, Any],
    skilldelta: Skilldelta,  # noqa: F811
) -> None:
    words = ["--bank", bank.location, "--json", "--skill", golden["skill"]]
    words += ["--family", golden["family"]] if golden["family"] else []
    found = skilldelta("predict", *words, golden["text"]).document
    assert found["action"] == golden["blend_action"]
    assert found["gain"] == pytest.approx(golden["blend_gain"], abs=1e-6)
