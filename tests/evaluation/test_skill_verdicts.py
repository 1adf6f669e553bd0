"""Verdicts on skills: what a reader can check by hand, and how often chance alone finds harm among many families."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skilldelta.arrays import unit_rows
from skilldelta.evaluation.skill_verdicts import SkillVerdict, skill_verdicts
from skilldelta.report.skill_list import skill_sentence
from skilldelta.support import Support


def panel(
    outcomes: dict[tuple[str, str], list[tuple[float, float]]], tokens: tuple[float, float] = (100, 150)
) -> Support:
    """Outcomes without and with the skill, by skill and family; tasks of a family point the same way."""
    rows = [(skill, family, y0, y1) for (skill, family), pairs in outcomes.items() for y0, y1 in pairs]
    n, families = len(rows), sorted({family for _, family, _, _ in rows})
    vectors = np.full((n, len(families) + 1), 0.01)
    vectors[np.arange(n), [families.index(family) for _, family, _, _ in rows]] = 1.0
    return Support(
        task_ids=np.array([f"t{i}" for i in range(n)]),
        families=np.array([family for _, family, _, _ in rows]),
        skills=np.array([skill for skill, _, _, _ in rows]),
        vectors=unit_rows(vectors),
        y0=np.array([y0 for _, _, y0, _ in rows], float),
        y1=np.array([y1 for _, _, _, y1 in rows], float),
        r0=np.ones(n, np.int64),
        r1=np.ones(n, np.int64),
        tokens0=np.full(n, float(tokens[0])),
        tokens1=np.full(n, float(tokens[1])),
    )


HELPED, HARMED, SAME = (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)


def verdict(support: Support) -> SkillVerdict:
    (found,) = skill_verdicts(support, rng=np.random.default_rng(0))
    return found


def test_a_skill_that_helps_almost_everywhere_is_kept() -> None:
    found = verdict(panel({("s", f"f{i}"): [HELPED] * 4 + [SAME] for i in range(9)} | {("s", "f9"): [SAME] * 5}))
    assert found.ruling == "keep"
    assert skill_sentence(found).endswith("helps in 9 of 10 families")
    assert skill_sentence(found).startswith("keep: +69.")  # 36 of 50 tasks, pulled a little towards zero


def test_a_skill_that_harms_one_family_is_gated_and_says_what_skipping_buys() -> None:
    found = verdict(panel({("s", "good"): [HELPED] * 20, ("s", "meter-readings"): [HARMED] * 10 + [SAME] * 2}))
    assert found.ruling == "gate"
    assert skill_sentence(found).startswith("gate: harms `meter-readings`; ")
    assert found.skip_harmed is not None
    assert found.skip_harmed.tasks == 12
    assert found.skip_harmed.success == pytest.approx(10 / 32)
    assert found.skip_harmed.tokens == pytest.approx(12 * 50 / 32)
    assert found.skip_by_family.success == found.skip_by_neighbors.success == pytest.approx(10 / 32)


def test_a_skill_that_harms_is_dropped() -> None:
    found = verdict(panel({("s", "f"): [HARMED] * 12 + [SAME] * 18}))
    assert found.ruling == "drop"
    assert skill_sentence(found).startswith("drop: −3")
    assert skill_sentence(found).endswith("), harms 12 of 30 tasks, helps 0")
    assert found.effect.high < 0


def test_a_skill_that_harms_on_average_and_helps_one_family_is_gated() -> None:
    found = verdict(panel({("s", "bad"): [HARMED] * 40, ("s", "good"): [HELPED] * 12}))
    assert found.ruling == "gate"
    assert "helps only in `good`" in skill_sentence(found)


def test_no_difference_at_more_tokens_is_no_effect_and_at_fewer_is_kept() -> None:
    same = {("s", "f"): [SAME] * 300}
    found = verdict(panel(same))
    assert (found.ruling, found.certainty) == ("no effect", "sure")
    assert skill_sentence(found).endswith("100% likely to lie within 5 points of zero at 1.5× the tokens")
    assert verdict(panel(same, tokens=(150, 100))).ruling == "keep"


@pytest.mark.parametrize(("tasks", "runs"), [(2, 3), (6, 1), (3, 2)])
def test_twelve_equal_runs_are_evidence_of_no_effect(tasks: int, runs: int) -> None:
    repeated = np.full(tasks, runs)
    found = verdict(replace(panel({("s", "f"): [SAME] * tasks}), r0=repeated, r1=repeated))
    assert (found.ruling, found.certainty, found.more_tasks) == ("no effect", "leaning", None)
    assert (found.interval.high or 1.0) < 0.4  # not "-100 to +100"


def test_a_gate_that_beats_always_using_the_skill_on_unseen_tasks_needs_no_families() -> None:
    support = panel({("s", ""): [HELPED] * 30 + [HARMED] * 10})
    uses = np.tile(np.repeat([1.0, 0.0], [30, 10]), (4, 1))
    (found,) = skill_verdicts(support, rng=np.random.default_rng(0), uses=uses)
    assert (found.ruling, found.reason) == ("gate", "held out")
    assert found.gate is not None
    assert found.gate.vs_always_on == pytest.approx(10 / 40)
    assert "beats always using it by +25.0 points" in skill_sentence(found)
    (without,) = skill_verdicts(support, rng=np.random.default_rng(0))
    assert without.ruling == "keep"


def test_a_gate_that_only_ever_skips_a_harmful_skill_is_a_reason_to_drop_it() -> None:
    support = panel({("s", ""): [HARMED] * 12 + [SAME] * 18})
    (found,) = skill_verdicts(support, rng=np.random.default_rng(0), uses=np.zeros((4, 30)))
    assert found.ruling == "drop"


def test_a_library_without_any_effect_gets_no_false_gate(rng: np.random.Generator) -> None:
    outcomes = {(f"s{i}", ""): [(float(a), float(b)) for a, b in rng.random((12, 2)) < 0.5] for i in range(40)}
    support = panel(outcomes)
    found = skill_verdicts(support, rng=rng, uses=(rng.random((4, len(support))) < 0.5).astype(float), draws=0)
    assert sum(verdict.ruling in ("gate", "keep", "drop") for verdict in found) <= 1


def test_points_are_counted_per_thousand_tokens_that_the_skill_adds() -> None:
    found = verdict(panel({("s", "f"): [HELPED] * 200}, tokens=(100, 600)))
    assert found.points_per_1000_tokens == pytest.approx(100 * found.effect.gain / 0.5)
    assert verdict(panel({("s", "f"): [HELPED] * 20}, tokens=(600, 100))).points_per_1000_tokens is None


def test_few_tasks_are_not_enough_and_the_sentence_says_how_many_more() -> None:
    found = verdict(panel({("s", "f"): [HELPED, HELPED, SAME]}))
    assert found.ruling == "not enough evidence"
    assert found.more_tasks is not None
    assert found.more_tasks >= 2
    assert f"about {found.more_tasks} more tasks" in skill_sentence(found)


def test_an_interval_that_excludes_zero_alone_needs_more_tasks_when_many_skills_were_looked_at() -> None:
    alone = {("a", "f"): [HELPED] * 10 + [HARMED] * 1 + [SAME] * 9}
    assert verdict(panel(alone)).ruling == "keep"
    others = {(f"s{i}", "f"): [HELPED] * 5 + [HARMED] * 5 + [SAME] * 10 for i in range(30)}
    first = skill_verdicts(panel(alone | others), rng=np.random.default_rng(0))[0]
    assert first.ruling == "not enough evidence"
    assert "clear by itself but not beside the other skills" in skill_sentence(first)
    assert (first.more_tasks or 0) > 5


def test_harmed_tasks_are_grouped_with_their_neighbors() -> None:
    found = verdict(panel({("s", "a"): [HARMED] * 5 + [SAME] * 5, ("s", "b"): [HELPED] * 9 + [HARMED]}))
    sizes = {len(group.rows): group.is_isolated for group in found.groups}
    assert sizes == {5: False, 1: True}  # the lone one among helped neighbors is chance, for all one can tell


def test_votes_on_equal_runs_decide_the_sign_test() -> None:
    support = panel({("s", "f"): [HARMED] * 12})
    (found,) = skill_verdicts(support, rng=np.random.default_rng(0), votes=np.zeros(12))
    assert found.families[0].p == 1.0


def test_chance_alone_finds_harm_in_at_most_five_of_a_hundred_panels() -> None:
    rng, panels, found = np.random.default_rng(7), 150, 0
    for _ in range(panels):
        rates = rng.beta(1, 1, 240)
        drawn = [[(float(a), float(b))] for a, b in zip(*(rng.random((2, 240)) < rates), strict=True)]
        pairs = [pair for one in drawn for pair in one]
        support = panel({("s", f"f{i}"): pairs[20 * i : 20 * i + 20] for i in range(12)})
        found += any(one.effect != "unclear" for one in skill_verdicts(support, rng=rng, draws=100)[0].families)
    assert found / panels <= 0.08  # 5% in expectation, less for a discrete test


@pytest.mark.parametrize(("tasks", "panels"), [(15, 80), pytest.param(40, 600, marks=pytest.mark.slow)])
def test_chance_alone_rules_on_one_of_ten_skills_in_at_most_five_of_a_hundred_panels(tasks: int, panels: int) -> None:
    rng, ruled = np.random.default_rng(3), 0
    for _ in range(panels):
        outcomes = {}
        for skill in range(10):
            off, on = rng.random((2, tasks)) < rng.beta(1, 1, tasks)
            outcomes[f"s{skill}", "f"] = [(float(a), float(b)) for a, b in zip(off, on, strict=True)]
        found = skill_verdicts(panel(outcomes), rng=rng, draws=400)
        ruled += any(one.reason not in ("too little", "no difference", "saves tokens") for one in found)
    assert ruled / panels <= 0.08  # 5% in expectation
