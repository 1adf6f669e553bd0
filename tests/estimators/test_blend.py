from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from skilldelta.arrays import Flags, Floats
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend import Blend
from skilldelta.evaluation.metrics import auroc
from skilldelta.paper.simulation.simulated_panel import SimulatedPanel, simulate_panel
from skilldelta.support import Support


@pytest.fixture
def panel(rng: np.random.Generator) -> SimulatedPanel:
    return simulate_panel(rng, tasks=160, families=4, kind="mixed", r0=2, r1=2)


def target_of(support: Support, row: int, *, task_id: str = "", family: bool = True) -> Target:
    return Target(
        support.vectors[row],
        text=support.texts[row],
        family=str(support.families[row]) if family else "",
        skill=str(support.skills[row]),
        task_id=task_id,
    )


def test_flipping_a_tasks_outcomes_never_moves_its_own_score(panel: SimulatedPanel) -> None:
    support = panel.support
    before = Blend().leave_one_out(support).values
    for row in range(0, len(support), 60):  # test_blend_leaks has every third row of another panel
        y0, y1 = support.y0.copy(), support.y1.copy()
        y0[row], y1[row] = (0.0, 1.0) if support.gains[row] <= 0 else (1.0, 0.0)
        after = Blend().leave_one_out(support.with_outcomes(y0, y1)).values
        assert after[row] == before[row]
        assert not np.array_equal(after, before)  # the flip did reach the others


def test_a_task_under_two_skills_is_left_out_under_both(panel: SimulatedPanel) -> None:
    support = panel.support
    twice = replace(
        support.rows(np.r_[np.arange(len(support)), 0]),
        skills=np.append(support.skills, "another-skill"),
    )
    before = Blend().leave_one_out(twice).values
    y1 = twice.y1.copy()
    y1[-1] = 1 - y1[-1]
    after = Blend().leave_one_out(twice.with_outcomes(twice.y0, y1)).values
    assert after[0] == before[0]
    assert after[-1] == before[-1]


def test_a_task_of_the_support_is_scored_as_if_it_had_never_been_there(panel: SimulatedPanel) -> None:
    support = panel.support
    name = str(support.task_ids[5])
    others = support.rows(support.task_ids != name)
    known = Blend().fit(support).score(target_of(support, 5, task_id=name))
    assert known == Blend().fit(others).score(target_of(support, 5))


def test_scores_of_new_targets_follow_the_truth(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=400, families=4, kind="mixed", r0=3, r1=3)
    support = panel.support
    known, new = support.rows(np.arange(300)), np.arange(300, 400)
    fitted = Blend().fit(known)
    scores = np.array([fitted.score(target_of(support, row)).gain for row in new.tolist()])
    assert np.corrcoef(scores, panel.tau[new])[0, 1] > 0.6


def test_components_and_shares_add_up_to_the_gain(panel: SimulatedPanel) -> None:
    score = Blend().fit(panel.support).score(target_of(panel.support, 3))
    assert sum(score.shares.values()) == pytest.approx(1)
    assert all(share >= 0 for share in score.shares.values())
    assert sum(score.shares[name] * gain for name, gain in score.components.items()) == pytest.approx(
        score.gain, abs=1e-8
    )


def test_an_evaluation_says_what_its_scores_are_made_of(panel: SimulatedPanel) -> None:
    (note,) = Blend().leave_one_out(panel.support).notes
    shares = [int(share) for share in re.findall(r"(\d+)%", note)]
    assert note.startswith("weights, on average: level of the family ")
    assert "trend over meaning" in note
    assert sum(shares) == pytest.approx(100, abs=3)  # each is rounded


def test_an_unknown_family_falls_back_to_the_skill_and_an_unknown_skill_to_the_suite(panel: SimulatedPanel) -> None:
    support = panel.support
    fitted = Blend().fit(support)
    without_family = fitted.score(target_of(support, 3, family=False))
    assert len(without_family.components) > 1
    new = fitted.score(Target(support.vectors[3], support.texts[3], "new-family", "new-skill"))
    assert abs(new.gain) <= np.abs(support.gains).mean()
    assert sum(new.shares.values()) <= 1 + 1e-9


def test_where_a_skill_has_one_family_the_family_need_not_be_named(panel: SimulatedPanel) -> None:
    fitted, support = Blend().fit(panel.support), panel.support
    for row in (0, 5, 11):
        named = Target(support.vectors[row], support.texts[row], str(support.families[row]), str(support.skills[row]))
        assert fitted.model is not None
        assert fitted.model.score(replace(named, family="")).gain == fitted.model.score(named).gain


def test_a_tiny_bank_stays_near_zero(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=3, families=1, kind="always_helps", effect=0.9)
    support = panel.support.with_outcomes(np.zeros(3), np.ones(3))
    gain = Blend().fit(support).score(target_of(support, 0)).gain
    assert 0 < gain < 0.7


def test_new_rows_join_without_learning_anew(panel: SimulatedPanel) -> None:
    support = panel.support
    most = support.rows(np.arange(150))
    fitted = Blend().fit(most)
    grown = fitted.grown(support)
    assert grown.model is not None
    assert fitted.model is not None
    assert grown.model.extractor is fitted.model.extractor
    assert len(grown.support) == 160
    whole, later = Blend().fit(support), target_of(support, 3)
    assert grown.score(later).gain == pytest.approx(whole.score(later).gain, abs=0.25)
    shrunk = fitted.grown(support.rows(np.arange(100)))  # a tenth fewer: learn again
    assert shrunk.model is not None
    assert shrunk.model.extractor is not fitted.model.extractor


def test_without_texts_the_vectors_alone_are_enough(panel: SimulatedPanel) -> None:
    bare = replace(panel.support, texts=())
    assert np.isfinite(Blend().leave_one_out(bare).values).all()
    assert np.isfinite(Blend().fit(bare).score(Target(bare.vectors[0], "", "family-000", "skill-000")).gain)


def _auroc(scores: Floats, positive: Flags) -> float:
    found = auroc(scores, positive)
    assert found is not None
    return found


def test_shuffled_gains_cannot_be_ranked(rng: np.random.Generator) -> None:
    found = []
    for _ in range(6):
        support = simulate_panel(rng, tasks=400, families=8, kind="mixed").support
        order = rng.permutation(len(support))
        shuffled = support.with_outcomes(support.y0[order], support.y1[order])
        found.append(_auroc(Blend().leave_one_out(shuffled).values, shuffled.gains > 0))
    # In small families a level without the task leans against its own outcome, so a little below a half is no leak.
    assert 0.42 <= np.mean(found) <= 0.52


@pytest.mark.slow
def test_on_real_pairs_the_blend_beats_the_papers_rule_and_finds_nothing_in_shuffled_gains(
    shared_data: object, rng: np.random.Generator, bbh: Support
) -> None:
    scores = Blend().leave_one_out(bbh).values
    gains = bbh.gains
    assert np.where(scores > 0, bbh.y1, bbh.y0).mean() >= 0.749
    assert _auroc(scores, gains > 0) >= 0.73
    assert ((scores - gains) ** 2).mean() <= 0.294
    across, within = [], []
    for _ in range(3):
        order = rng.permutation(len(bbh))
        shuffled = bbh.with_outcomes(bbh.y0[order], bbh.y1[order])
        across.append(_auroc(Blend().leave_one_out(shuffled).values, shuffled.gains > 0))
        order = np.arange(len(bbh))
        for block in bbh.blocks("family"):
            order[block] = rng.permutation(block)
        shuffled = bbh.with_outcomes(bbh.y0[order], bbh.y1[order])
        found = Blend().leave_one_out(shuffled).values
        ranks = [auroc(found[block], shuffled.gains[block] > 0) for block in bbh.blocks("family")]
        within.append(np.mean([rank for rank in ranks if rank is not None]))
    assert np.mean(across) == pytest.approx(0.5, abs=0.02)
    assert np.mean(within) == pytest.approx(0.5, abs=0.02)


@pytest.fixture(scope="module")
def bbh(shared_data: object, tmp_path_factory: pytest.TempPathFactory) -> Support:
    from pathlib import Path

    from skilldelta import load_encoder, open_bank
    from skilldelta.bank.importers import read_source

    with open_bank(tmp_path_factory.mktemp("bbh") / "bbh.bank", create=True) as bank:
        bank.add(read_source(Path(str(shared_data)) / "bbh_cot" / "pairs.jsonl"))
        return bank.support(load_encoder(), agent=bank.resolve_agent(None))
