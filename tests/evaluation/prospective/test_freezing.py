"""Freeze, then audit: sealed before outcomes exist, refused with the reason if anything changed."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.paper_rule import FamilyMean
from skilldelta.evaluation.metrics import auroc, balanced_accuracy
from skilldelta.evaluation.prospective.auditing import audit, split_outcomes
from skilldelta.evaluation.prospective.freezing import freeze
from skilldelta.evaluation.prospective.frozen_rule import (
    HISTORICAL,
    FrozenRule,
    best_balanced_accuracy,
    frozen_estimator,
)
from skilldelta.evaluation.prospective.seal import (
    SealedPanel,
    SealedPrediction,
    SealedRow,
    SealedSettings,
    SealedTarget,
    read_sealed,
    seal,
    write_sealed,
)
from skilldelta.evaluation.prospective.tampering import SealBrokenError
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import predict_each
from skilldelta.support import Support
from skilldelta.version import __version__

KNOWN = 40


@pytest.fixture
def panel(rng: np.random.Generator) -> Support:
    """Sixty tasks in four families, of which the first forty are known."""
    return simulate_panel(rng, tasks=60, families=4, kind="family_only", effect=0.6, dimension=16).support


def targets_of(panel: Support) -> list[Target]:
    """The tasks whose outcomes are not known yet."""
    return [
        Target(
            panel.vectors[i],
            text=panel.texts[i],
            family=str(panel.families[i]),
            skill=str(panel.skills[i]),
            task_id=str(panel.task_ids[i]),
        )
        for i in range(KNOWN, len(panel))
    ]


def sealed_from(panel: Support, rule: FrozenRule = HISTORICAL["toolqa"]) -> SealedPanel:
    return freeze(panel.rows(np.arange(KNOWN)), targets_of(panel), rule=rule, created="2026-01-01T00:00:00Z")


def sealed_by(name: str, panel: Support) -> SealedPanel:
    support, estimator = panel.rows(np.arange(KNOWN)), frozen_estimator(name)
    return freeze(support, targets_of(panel), rule=FrozenRule(), created="", estimator=estimator)


def refusal(sealed: SealedPanel, current: Support, **options: object) -> tuple[str, ...]:
    with pytest.raises(SealBrokenError) as caught:
        audit(sealed, *split_outcomes(sealed, current), **options)  # type: ignore[arg-type]
    assert str(caught.value) == "the audit is refused: " + "; ".join(caught.value.changes)
    return caught.value.changes


def change(support: Support, name: str, row: int, value: object) -> Support:
    column = getattr(support, name).copy()
    column[row] = value
    return replace(support, **{name: column})


# What an audit finds


def test_an_audit_evaluates_the_sealed_actions_on_the_outcomes(panel: Support) -> None:
    sealed = sealed_from(panel)
    result = audit(sealed, *split_outcomes(sealed, panel))
    outcomes = panel.rows(np.arange(KNOWN, 60))
    gains = np.array([item.gain for item in sealed.predictions])
    use = np.array([item.action == "use" for item in sealed.predictions])
    assert (result.known, result.targets, result.evaluated, result.missing) == (40, 20, 20, ())
    assert use.tolist() == (gains > 0.25).tolist()
    assert result.success == pytest.approx(np.where(use, outcomes.y1, outcomes.y0).mean())
    assert result.success_gain == pytest.approx(result.success - outcomes.y0.mean())
    assert result.auroc == auroc(gains, outcomes.gains > 0)
    assert result.balanced_accuracy == pytest.approx(balanced_accuracy(use, outcomes.gains > 0))
    spent = np.where(use, outcomes.tokens1, outcomes.tokens0).sum()
    assert result.token_saving == pytest.approx(1 - spent / outcomes.tokens1.sum())
    assert (result.off, result.on) == (outcomes.y0.mean(), outcomes.y1.mean())


def test_sealed_predictions_come_from_the_support_alone(panel: Support) -> None:
    """Outcomes of targets, whatever they turn out to be, cannot reach a prediction."""
    flipped = panel.with_outcomes(
        np.where(np.arange(60) < KNOWN, panel.y0, 1 - panel.y0), np.where(np.arange(60) < KNOWN, panel.y1, 1 - panel.y1)
    )
    assert sealed_from(panel) == sealed_from(flipped)


def test_a_sealed_prediction_names_its_neighbors_and_weights(panel: Support) -> None:
    first = sealed_from(panel).predictions[0]
    gains = dict(zip(panel.task_ids.tolist(), panel.gains.tolist(), strict=True))
    assert len(first.neighbors) == 3
    assert sum(first.weights) == pytest.approx(1)
    expected = sum(w * gains[task] for task, w in zip(first.neighbors, first.weights, strict=True))
    assert first.gain == pytest.approx(expected)


def test_targets_without_outcomes_are_named_and_left_out(panel: Support) -> None:
    sealed = sealed_from(panel)
    result = audit(sealed, *split_outcomes(sealed, panel.rows(np.arange(58))))
    assert (result.evaluated, result.missing) == (18, ("task-58", "task-59"))
    assert "left out, without outcomes under both conditions: 2 targets (task-58, task-59)" in result.notes


def test_no_outcome_at_all_is_said(panel: Support) -> None:
    sealed = sealed_from(panel)
    with pytest.raises(InputError, match="none of the 20 targets has outcomes yet"):
        audit(sealed, *split_outcomes(sealed, panel.rows(np.arange(KNOWN))))


def test_one_class_and_no_tokens_are_null_and_said_in_words(panel: Support) -> None:
    flat = panel.with_outcomes(
        np.where(np.arange(60) < KNOWN, panel.y0, 1.0), np.where(np.arange(60) < KNOWN, panel.y1, 1.0)
    )
    flat = replace(flat, tokens0=np.where(np.arange(60) < KNOWN, panel.tokens0, np.nan))
    sealed = sealed_from(panel)
    result = audit(sealed, *split_outcomes(sealed, flat))
    assert (result.auroc, result.balanced_accuracy, result.tokens, result.token_saving) == (None, None, None, None)
    assert len(result.notes) == 2


def test_intervals_are_made_on_request(panel: Support, rng: np.random.Generator) -> None:
    sealed = sealed_from(panel)
    result = audit(sealed, *split_outcomes(sealed, panel), resamples=200, rng=rng)
    low, high = result.intervals["success"].low, result.intervals["success"].high
    assert low is not None
    assert high is not None
    assert low <= result.success <= high
    assert {"auroc", "success_gain", "token_saving", "balanced_accuracy"} <= set(result.intervals)


@pytest.mark.parametrize("name", list(HISTORICAL))
def test_every_historical_setting_can_be_sealed_and_audited(name: str, panel: Support) -> None:
    sealed = sealed_from(panel, HISTORICAL[name])
    assert audit(sealed, *split_outcomes(sealed, panel), rule=HISTORICAL[name]).evaluated == 20


@pytest.mark.parametrize("rule", ["prevalence", "balanced_accuracy"])
def test_a_threshold_rule_is_resolved_from_the_support_when_sealed(rule: str, panel: Support) -> None:
    frozen = FrozenRule(k=3, threshold=rule)  # type: ignore[arg-type]
    sealed = sealed_from(panel, frozen)
    assert sealed.settings.threshold_rule == rule
    assert sealed.settings.threshold == frozen.resolve_threshold(panel.rows(np.arange(KNOWN)))
    assert audit(sealed, *split_outcomes(sealed, panel), rule=frozen).evaluated == 20


def test_another_estimator_can_be_sealed(panel: Support) -> None:
    support = panel.rows(np.arange(KNOWN))
    sealed = freeze(support, targets_of(panel), rule=FrozenRule(), created="", estimator=FamilyMean())
    assert sealed.settings.estimator == "family_mean"
    family = sealed.targets[0].family
    assert sealed.predictions[0].gain == pytest.approx(support.gains[support.families == family].mean())
    assert audit(sealed, *split_outcomes(sealed, panel)).evaluated == 20


@pytest.mark.parametrize("name", ["blend", "family_mean"])
def test_an_audit_computes_the_predictions_of_an_estimator_again(name: str, panel: Support) -> None:
    sealed = sealed_by(name, panel)
    assert (sealed.settings.estimator, sealed.settings.estimator_version) == (name, __version__)
    result = audit(sealed, *split_outcomes(sealed, panel))
    assert (result.estimator, result.evaluated, result.notes) == (name, 20, ())
    better = (replace(sealed.predictions[0], gain=0.99, action="use"), *sealed.predictions[1:])
    forged = seal(sealed.settings, sealed.support, sealed.targets, better, created=sealed.created)
    assert refusal(forged, panel) == ("sealed with a different prediction than the evidence gives: target 'task-40'",)


def test_the_blend_predicts_for_a_frozen_panel_as_it_does_elsewhere(panel: Support) -> None:
    support = panel.rows(np.arange(KNOWN))
    fitted = Blend().fit(support)
    made = [item.gain for item in sealed_by("blend", panel).predictions]
    assert made == [fitted.score(target).gain for target in targets_of(panel)]


def test_predictions_of_another_version_are_not_computed_again_and_the_audit_says_so(panel: Support) -> None:
    sealed = sealed_by("blend", panel)
    older = replace(sealed.settings, estimator_version="0.0.1")
    shifted = tuple(replace(item, gain=item.gain / 2) for item in sealed.predictions)
    theirs = seal(older, sealed.support, sealed.targets, shifted, created=sealed.created)
    (note,) = audit(theirs, *split_outcomes(theirs, panel)).notes
    assert note.startswith("the predictions of blend were not computed again, only their seal was checked")
    assert f"by SkillDelta 0.0.1, and this is {__version__}" in note
    assert theirs.altered_sections() == ()
    assert replace(theirs, settings=sealed.settings).altered_sections() == ("settings",)


def test_a_threshold_rule_looks_at_the_scores_of_the_estimator_that_is_frozen(panel: Support) -> None:
    support = panel.rows(np.arange(KNOWN))
    rule = FrozenRule(threshold="balanced_accuracy")
    sealed = freeze(support, targets_of(panel), rule=rule, created="", estimator=FamilyMean())
    scores = FamilyMean().leave_one_out(support).values
    assert sealed.settings.threshold == best_balanced_accuracy(scores, support.gains)
    assert audit(sealed, *split_outcomes(sealed, panel)).evaluated == 20


def test_only_estimators_that_predict_gains_can_be_frozen() -> None:
    assert frozen_estimator("paper") is None
    with pytest.raises(InputError, match="unknown estimator 'ridge'"):
        frozen_estimator("ridge")


def test_a_target_in_an_unknown_family_is_skipped_for_want_of_evidence(panel: Support) -> None:
    stranger = replace(targets_of(panel)[0], family="unheard-of")
    sealed = freeze(panel.rows(np.arange(KNOWN)), [stranger], rule=FrozenRule(threshold=-0.5), created="")
    assert (sealed.predictions[0].eligible, sealed.predictions[0].action) == (0, "skip")


def test_without_evidence_in_scope_the_blend_falls_back_like_the_gate(panel: Support) -> None:
    stranger = replace(targets_of(panel)[0], family="unheard-of")
    support = panel.rows(np.arange(KNOWN))
    (made,) = freeze(support, [stranger], rule=FrozenRule(), created="", estimator=Blend()).predictions
    assert (made.gain, made.action) == (0.0, "skip")
    by_skill = FrozenRule(scope="skill")
    (made,) = freeze(support, [stranger], rule=by_skill, created="", estimator=Blend()).predictions
    assert (made.gain, made.eligible > 0) == (Blend().fit(support).score(stranger).gain, True)


# What an audit refuses


def test_added_evidence_is_refused_by_name(panel: Support) -> None:
    sealed = freeze(panel.rows(np.arange(38)), targets_of(panel), rule=HISTORICAL["toolqa"], created="")
    assert refusal(sealed, panel) == ("evidence of 2 tasks (task-38, task-39) was added",)


def test_removed_evidence_is_refused_by_name(panel: Support) -> None:
    (change_found,) = refusal(sealed_from(panel), panel.rows(np.arange(1, 60)))
    assert change_found == "evidence of task 'task-00' was removed"


@pytest.mark.parametrize(
    ("name", "value"), [("y1", 0.5), ("y0", 0.5), ("r1", 9), ("tokens0", 1.0), ("tokens1", np.nan), ("families", "x")]
)
def test_altered_evidence_is_refused_by_name(name: str, value: object, panel: Support) -> None:
    assert refusal(sealed_from(panel), change(panel, name, 3, value)) == ("evidence of task 'task-03' was altered",)


def test_an_altered_vector_is_refused_by_name(panel: Support) -> None:
    moved = change(panel, "vectors", 5, panel.vectors[6])
    assert refusal(sealed_from(panel), moved) == ("the encoding of task 'task-05' was altered",)


def test_another_encoder_is_one_change_and_not_one_a_row(panel: Support) -> None:
    other = replace(panel, vectors=np.ascontiguousarray(panel.vectors[:, ::-1]), encoder="other")
    assert refusal(sealed_from(panel), other) == ("encoder was 'simulated-16' and is 'other'",)


def test_another_order_of_the_support_is_refused(panel: Support) -> None:
    shuffled = panel.rows(np.r_[1, 0, np.arange(2, 60)])
    assert "a different order" in refusal(sealed_from(panel), shuffled)[0]


def test_changed_settings_are_refused_one_by_one(panel: Support) -> None:
    changes = refusal(sealed_from(panel), panel, rule=FrozenRule(k=6, weighting="uniform", threshold=0.0))
    assert changes == (
        "k was 3 and is 6",
        "weighting was 'cosine' and is 'uniform'",
        "threshold was 0.25 and is 0.0",
    )
    assert refusal(sealed_from(panel), replace(panel, agent="new")) == ("agent was 'simulated' and is 'new'",)


def test_reworded_and_regrouped_targets_are_refused_by_name(panel: Support) -> None:
    texts = (*panel.texts[:59], "something else")
    assert refusal(sealed_from(panel), replace(panel, texts=texts)) == (
        "worded differently than when sealed: target 'task-59'",
    )
    assert refusal(sealed_from(panel), change(panel, "families", 59, "x")) == (
        "in a different family than when sealed: target 'task-59'",
    )


def test_foreign_and_repeated_outcomes_are_refused(panel: Support) -> None:
    sealed = sealed_from(panel)
    support, outcomes = split_outcomes(sealed, panel)
    with pytest.raises(SealBrokenError, match="among the outcomes but never sealed: target 'task-00'"):
        audit(sealed, support, panel.rows([0, 59]))
    with pytest.raises(SealBrokenError, match="in the outcomes more than once: target 'task-40'"):
        audit(sealed, support, outcomes.rows([0, 0, 1]))


@pytest.mark.parametrize("section", ["settings", "support", "targets", "predictions"])
def test_an_altered_file_is_refused_with_its_section(section: str, panel: Support, tmp_path: Path) -> None:
    path = tmp_path / "sealed.json"
    write_sealed(sealed_from(panel), path)
    document = json.loads(path.read_text())
    if section == "settings":
        document["settings"]["threshold"] = 0.2
    elif section == "predictions":
        document["predictions"][0]["gain"] += 0.5
    else:
        document[section][0]["family"] = "x"
    path.write_text(json.dumps(document))
    assert f"the sealed file was altered ({section})" in refusal(read_sealed(path), panel)


def test_changed_hashes_break_the_seal(panel: Support) -> None:
    sealed = sealed_from(panel)
    forged = replace(sealed, hashes=dict(sealed.hashes) | {"support": "0" * 64})
    assert forged.altered_sections() == ("support", "seal")
    assert replace(sealed, created="2020-01-01").altered_sections() == ("seal",)


def test_a_file_resealed_with_better_predictions_does_not_follow_from_its_evidence(panel: Support) -> None:
    sealed = sealed_from(panel)
    better = (replace(sealed.predictions[0], gain=0.99, action="use"), *sealed.predictions[1:])
    forged = seal(sealed.settings, sealed.support, sealed.targets, better, created=sealed.created)
    assert forged.altered_sections() == ()
    assert refusal(forged, panel) == ("sealed with a different prediction than the evidence gives: target 'task-40'",)
    assert "not the published" in refusal(forged, panel, published_seal=sealed.seal)[0]


def test_a_file_resealed_with_a_better_threshold_does_not_follow_from_its_rule(panel: Support) -> None:
    sealed = sealed_from(panel, FrozenRule(k=3, threshold="prevalence"))
    tuned = replace(sealed.settings, threshold=-0.9)
    forged = seal(tuned, sealed.support, sealed.targets, sealed.predictions, created=sealed.created)
    assert "the threshold was sealed as -0.9, its rule gives" in refusal(forged, panel)[0]


def test_several_changes_are_all_told(panel: Support) -> None:
    worse = change(change(panel.rows(np.arange(1, 60)), "y1", 4, 0.5), "r0", 10, 7)
    assert refusal(sealed_from(panel), replace(worse, suite="other")) == (
        "suite was 'family_only' and is 'other'",
        "evidence of task 'task-00' was removed",
        "evidence of 2 tasks (task-05, task-11) was altered",
    )


# What cannot be frozen


def test_targets_with_outcomes_cannot_be_frozen(panel: Support) -> None:
    with pytest.raises(InputError, match=r"20 targets .* and 15 more.* already had outcomes in the support"):
        freeze(panel, targets_of(panel), rule=FrozenRule(), created="")


def test_targets_need_an_identity_of_their_own(panel: Support) -> None:
    support, targets = panel.rows(np.arange(KNOWN)), targets_of(panel)
    with pytest.raises(InputError, match="there is no target"):
        freeze(support, [], rule=FrozenRule(), created="")
    with pytest.raises(InputError, match="a target has no task id"):
        freeze(support, [replace(targets[0], task_id="")], rule=FrozenRule(), created="")
    with pytest.raises(InputError, match="target 'task-40' is given twice"):
        freeze(support, [targets[0], targets[0]], rule=FrozenRule(), created="")


# The file


def test_a_sealed_file_is_read_back_as_it_was_written(panel: Support, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sealed.json"
    sealed = sealed_from(panel)
    write_sealed(sealed, path)
    again = read_sealed(path)
    assert asdict(again) == asdict(sealed)
    assert again.altered_sections() == ()
    assert [found.name for found in path.parent.iterdir()] == ["sealed.json"]  # nothing temporary is left


def test_a_file_of_the_first_release_keeps_its_seal(tmp_path: Path) -> None:
    """The seal below was made before estimators had a version."""
    sealed = seal(
        SealedSettings("toy", "small", "wordllama", "skilldelta", "family", 6, "cosine", "gain", None, 0.0, None),
        [SealedRow("known", "s", "f", "0123456789abcdef", "fedcba9876543210")],
        [SealedTarget("new", "s", "f", "convert miles", "00112233445566aa")],
        [SealedPrediction("new", "s", 0.5, "use", 1, ("known",), (1.0,))],
        created="2026-01-01T00:00:00+00:00",
    )
    assert sealed.seal == "f42752be2cd459c1471db328ba4e9689b7d20a0203e267721b6987e50858c94f"
    write_sealed(sealed, tmp_path / "s.json")
    assert "estimator_version" not in (tmp_path / "s.json").read_text()
    assert read_sealed(tmp_path / "s.json").altered_sections() == ()


def test_texts_of_any_language_keep_their_hashes(panel: Support, tmp_path: Path) -> None:
    odd = [replace(t, text="Größe 漢字 🙂 \u2028 \x00") for t in targets_of(panel)]
    sealed = freeze(panel.rows(np.arange(KNOWN)), odd, rule=FrozenRule(), created="")
    write_sealed(sealed, tmp_path / "s.json")
    assert read_sealed(tmp_path / "s.json").altered_sections() == ()


def test_an_existing_file_is_not_replaced_unless_asked(panel: Support, tmp_path: Path) -> None:
    path = tmp_path / "sealed.json"
    path.write_text("precious")
    with pytest.raises(InputError, match="exists already; choose another name, or replace it with --overwrite"):
        write_sealed(sealed_from(panel), path)
    assert path.read_text() == "precious"
    write_sealed(sealed_from(panel), path, overwrite=True)
    assert read_sealed(path).seal == sealed_from(panel).seal


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as a sealed panel"),
        ("[]", "is not a sealed panel"),
        ('{"format": NaN}', "NaN is no number of a sealed panel"),
        ('{"format": "other"}', "is not a sealed panel"),
        ('{"format": "skilldelta-sealed-panel", "version": 99}', "has version 99"),
        ('{"format": "skilldelta-sealed-panel", "version": 1}', "is damaged"),
    ],
)
def test_files_that_are_not_sealed_panels_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_sealed(path)
    with pytest.raises(InputError, match="does not exist"):
        read_sealed(tmp_path / "none.json")


def test_one_panel_has_one_seal(panel: Support) -> None:
    assert sealed_from(panel).seal == sealed_from(panel).seal
    assert sealed_from(panel).seal != sealed_from(panel, HISTORICAL["medcalc"]).seal


def test_freezing_half_a_panel_predicts_like_the_predictor(panel: Support) -> None:
    """One target at a time: the support with the target appended, scored leave-one-out, gives the same gain."""
    sealed = sealed_from(panel, FrozenRule())
    for i, made in enumerate(sealed.predictions):
        together = panel.rows([*range(KNOWN), KNOWN + i])
        assert made.gain == predict_each(together, "family").gains[-1]
