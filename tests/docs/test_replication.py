"""The replication's page says what its recorded outcomes say, and its texts are there for every family."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "local_model" / "replication"
MODELS = {"0.5B": "qwen2.5-coder-0.5b-instruct", "1.5B": "qwen2.5-coder-1.5b-instruct"}
SUITES = {"LogicBench": "logicbench", "MedCalc-Bench": "medcalc"}


def pairs(model: str, suite: str) -> list[dict[str, object]]:
    lines = (STUDY / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if (row["agent"], row["suite"]) == (MODELS[model], SUITES[suite])]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("suite", SUITES)
def test_the_page_counts_what_the_outcomes_hold(model: str, suite: str) -> None:
    rows = pairs(model, suite)
    effects = Counter((row["y0"], row["y1"]) for row in rows)
    off, on = (100 * sum(float(str(row[arm])) for row in rows) / len(rows) for arm in ("y0", "y1"))
    families = len({row["family"] for row in rows})
    counts = [effects[0.0, 1.0], effects[1.0, 0.0], effects[1.0, 1.0], effects[0.0, 0.0]]
    line = f"| {model} | {suite} | {len(rows)} | {families} | {off:.1f}% | {on:.1f}% | {' | '.join(map(str, counts))} |"
    assert line in (ROOT / "docs" / "replication.md").read_text(encoding="utf-8").splitlines()


def test_the_outcomes_hold_no_text_of_a_benchmark() -> None:
    keys = {key for model in MODELS for suite in SUITES for row in pairs(model, suite) for key in row}
    assert keys == {"agent", "suite", "task_id", "family", "skill", "y0", "y1", "tokens0", "tokens1"}


def test_every_family_of_the_study_has_a_skill_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "local_model"))
    sys.modules.pop("replicate", None)
    from replicate import PARTS, SKILLS  # type: ignore[import-not-found]

    for part in PARTS:
        texts = {path.stem: path.read_text(encoding="utf-8") for path in (SKILLS / part.suite).glob("*.md")}
        assert set(texts) == set(part.families)
        assert all(f"name: {name}\n" in text and len(text) > 150 for name, text in texts.items())
        assert {
            row["skill"]
            for model in MODELS
            for row in pairs(model, next(k for k, v in SUITES.items() if v == part.suite))
        } <= set(texts)
