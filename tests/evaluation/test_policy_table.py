"""One table of policies; a package that brings an estimator finds it wherever policies are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.estimators import registry as policy_table
from skilldelta.estimators.base import Score, Scores, Target
from skilldelta.estimators.registry import ORACLE, PolicyEntry, freezable, policies, policy_words
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.prospective.auditing import audit
from skilldelta.evaluation.prospective.freezing import freeze
from skilldelta.evaluation.prospective.frozen_rule import FrozenRule, frozen_estimator
from skilldelta.gate import Gate
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.report.palette import role
from skilldelta.support import Support

SOURCES = Path(__file__).parents[2] / "src" / "skilldelta"


@dataclass(frozen=True)
class HalfGain:
    """Half of the mean gain of all other tasks.

    Only for this test.
    """

    support: Support | None = None
    name: str = "half_gain"

    def leave_one_out(self, support: Support) -> Scores:
        fitted = self.fit(support)
        targets = [Target(v, task_id=str(t)) for v, t in zip(support.vectors, support.task_ids, strict=True)]
        return Scores(np.array([fitted.score(target).gain for target in targets]))

    def fit(self, support: Support) -> HalfGain:
        return HalfGain(support)

    def score(self, target: Target) -> Score:
        assert self.support is not None
        return Score(float(self.support.gains[self.support.task_ids != target.task_id].mean()) / 2)


NOT_CALLABLE = 7
TOLD = PolicyEntry("told", "As told", "says what it was told", lambda *_: HalfGain(), predicts_gain=True)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    yield monkeypatch
    monkeypatch.undo()
    policy_table._table.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    made = [
        metadata.EntryPoint(name, f"{__name__}:{attribute}", policy_table.GROUP) for name, attribute in points.items()
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: [one for one in made if one.group == group])
    policy_table._table.cache_clear()


def small_panel() -> Support:
    return simulate_panel(np.random.default_rng(3), tasks=24).support


def test_a_packages_estimator_is_evaluated_last_and_cut_at_the_threshold(installed: pytest.MonkeyPatch) -> None:
    install(installed, half_gain="HalfGain")
    support = small_panel()
    result = evaluate_panel(support, rng=np.random.default_rng(0), resamples=0, shuffles=0, gate=Gate(threshold=-1.0))
    assert list(result.policies)[-1] == "half_gain"
    assert result.policies["half_gain"].use_rate == 1.0  # every gain lies above -1
    assert policies()["half_gain"].meaning == "Half of the mean gain of all other tasks"
    assert policy_words("half_gain") == "Half gain"
    assert role("half_gain") == role("ink-2")


def test_a_packages_estimator_is_frozen_and_audited_and_another_version_is_not_asked(
    installed: pytest.MonkeyPatch,
) -> None:
    install(installed, half_gain="HalfGain")
    assert "half_gain" in freezable()
    support = small_panel()
    known, new = support.rows(np.arange(20)), support.rows(np.arange(20, 24))
    targets = [
        Target(v, text, str(family), str(skill), str(task))
        for v, text, family, skill, task in zip(
            new.vectors, new.texts, new.families, new.skills, new.task_ids, strict=True
        )
    ]
    sealed = freeze(known, targets, rule=FrozenRule(), created="now", estimator=frozen_estimator("half_gain"))
    assert sealed.predictions[0].gain == pytest.approx(known.gains.mean() / 2)
    assert not [note for note in audit(sealed, known, new).notes if "computed again" in note]
    install(installed)
    assert "does not know that estimator" in audit(sealed, known, new).notes[0]


def test_an_entry_says_more_about_itself_and_is_known_by_its_entry_points_name(installed: pytest.MonkeyPatch) -> None:
    install(installed, spoken="TOLD")
    assert (policies()["spoken"].title, policies()["spoken"].can_freeze) == ("As told", False)
    assert "spoken" not in freezable()


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ({"blend": "HalfGain"}, "'blend', which is taken"),
        ({"oracle": "HalfGain"}, "'oracle', which is taken"),
        ({"half-gain": "HalfGain"}, "'half-gain'; a name is letters"),
        ({"gone": "Gone"}, "cannot be loaded"),
        ({"seven": "NOT_CALLABLE"}, "a int makes no estimator"),
    ],
)
def test_an_entry_point_that_cannot_be_used_is_refused_by_name(
    installed: pytest.MonkeyPatch, points: dict[str, str], words: str
) -> None:
    install(installed, **points)
    with pytest.raises(InputError, match=words):
        policies()


def test_what_can_be_frozen_predicts_gains() -> None:
    assert all(policies()[name].predicts_gain for name in freezable())


def test_every_policy_has_one_title_and_one_meaning() -> None:
    listed = [*policies().values(), ORACLE]
    assert len({entry.title for entry in listed}) == len({entry.meaning for entry in listed}) == len(listed)
    assert policy_words("nobody's") == "nobody's"


def test_no_other_file_has_a_table_of_names() -> None:
    table = re.compile(r'"(tfidf_knn|with_skill_only|random_matched)"[:,]\s+"[A-Z]')
    named = [path.name for path in SOURCES.rglob("*.py") if table.search(path.read_text(encoding="utf-8"))]
    assert named == ["registry.py"]
