"""A package that is installed beside SkillDelta brings an estimator: the commands know it without being told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Skilldelta, pair_rows
from skilldelta.estimators import registry as policy_table

_CODE = """
import numpy as np
from skilldelta.estimators.base import Score, Scores


class Hunch:
    "A hunch from the length of the question."

    name = "hunch"

    def fit(self, support):
        return self

    def score(self, target):
        return Score(len(target.text) / 100)

    def leave_one_out(self, support):
        return Scores(np.array([len(text) / 100 for text in support.texts]))


class Lengths:
    "Vectors from the lengths of texts."

    identity = "lengths-1/2/unit"

    def encode(self, texts):
        rows = np.array([[len(text), 1.0] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
"""


@pytest.fixture
def package(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed distribution as pip leaves it: its module, its metadata and its entry points."""
    folder = tmp_path_factory.mktemp("site")
    info = folder / "hunches-1.2.dist-info"
    info.mkdir()
    (folder / "hunches.py").write_text(_CODE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hunches\nVersion: 1.2\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[skilldelta.estimators]\nhunch = hunches:Hunch\n[skilldelta.encoders]\nlengths = hunches:Lengths\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(folder)
    policy_table._table.cache_clear()
    yield
    monkeypatch.undo()
    policy_table._table.cache_clear()


@pytest.fixture
def bank(skilldelta: Skilldelta) -> str:
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pair_rows()), encoding="utf-8")
    assert skilldelta("import", "pairs.jsonl", "--bank", "toy.bank").code == 0
    return "toy.bank"


@pytest.mark.usefixtures("package")
def test_an_installed_estimator_is_evaluated_swept_calibrated_reported_and_frozen(
    skilldelta: Skilldelta, bank: str
) -> None:
    evaluated = skilldelta("evaluate", "--bank", bank, "--resamples", 0, "--shuffles", 0, "--json").document
    assert evaluated["panels"][0]["policies"]["hunch"]["use_rate"] == 1.0
    assert skilldelta("evaluate", "--bank", bank, "--resamples", 0, "--shuffles", 0, "--all").out.count("Hunch") >= 1
    swept = skilldelta("sweep", "threshold", "--estimator", "hunch", "--bank", bank, "--json")
    assert swept.code == 0
    goal = ("--use-rate", 0.5, "--estimator", "hunch", "--resamples", 0)
    assert skilldelta("calibrate", *goal, "--bank", bank, "--json").code == 0
    assert skilldelta("report", "--bank", bank, "--gate", "hunch", "--resamples", 0, "--output", "r.html").code == 0
    page = Path("r.html").read_text(encoding="utf-8")
    assert "success with Hunch" in page
    assert "A hunch from the length of the question" in page
    Path("new.jsonl").write_text(
        json.dumps({"task_id": "n", "text": "how far", "family": "units", "skill": "units-skill"}) + "\n"
    )
    frozen = skilldelta("freeze", "new.jsonl", "--estimator", "hunch", "--bank", bank, "--output", "sealed.json")
    assert frozen.code == 0, frozen.err
    sealed = json.loads(Path("sealed.json").read_text(encoding="utf-8"))
    assert sealed["predictions"][0]["gain"] == pytest.approx(0.07)
    assert sealed["settings"]["estimator_version"] == "hunches 1.2"


@pytest.mark.usefixtures("package")
def test_an_installed_estimator_and_encoder_decide_in_predict_a_service_and_a_hook(
    skilldelta: Skilldelta, bank: str
) -> None:
    from skilldelta.gate import Gate, Question
    from skilldelta.serve.gate_service import GateService, GateSettings
    from skilldelta.serve.hooks.bank_answer import answer_from

    words = ("--estimator", "hunch", "--encoder", "lengths", "--skill", "units-skill")
    ran = skilldelta("predict", "--bank", bank, *words, "--json", "convert four miles")
    assert ran.code == 0, ran.err
    asked = Question("convert four miles", "units-skill", record=False)
    document = {"text": asked.text, "skills": [asked.skill], "record": False, "gate": {"estimator": "hunch"}}
    with GateService.open(bank, GateSettings(gate=Gate(estimator="hunch"))) as service:
        by_service = service.decide(asked).to_dict()
        (by_hook,) = answer_from(service, "/v1/choose", document)["decisions"]
    for answer in (ran.document, by_service, by_hook):
        assert (answer["estimator"], answer["action"]) == ("hunch", "use")
        assert answer["gain"] == pytest.approx(0.18)
    evaluated = skilldelta("evaluate", "--bank", bank, *words[:4], "--resamples", 0, "--shuffles", 0, "--json")
    (panel,) = evaluated.document["panels"]
    assert (panel["gate"], panel["policies"]["hunch"]["unlike"]) == ("hunch", 0)


def test_without_the_package_its_name_is_refused_in_one_line(skilldelta: Skilldelta, bank: str) -> None:
    Path("new.jsonl").write_text(
        json.dumps({"task_id": "n", "text": "how far", "family": "units", "skill": "units-skill"}) + "\n"
    )
    for words in (
        ("predict", "--skill", "units-skill", "x"),
        ("sweep", "threshold"),
        ("calibrate", "--best-value"),
        ("freeze", "new.jsonl", "--output", "s.json"),
    ):
        ran = skilldelta(*words, "--estimator", "hunch", "--bank", bank)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "'hunch'" in ran.err
    assert not Path("s.json").exists()
