"""Verdicts on skills: what a reader can check by hand, and how often chance alone finds harm among many families."""

from __future__ import annotations

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
    assert skill_sentence(found).startswith("keep: +72.0 points (95%: ")


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
    assert skill_sentence(found) == (
        f"drop: −40.0 points (95%: {skill_sentence(found).partition('95%: ')[2].partition(')')[0]}), interval excludes 0"
    )


def test_a_skill_that_harms_on_average_and_helps_one_family_is_gated() -> None:
    found = verdict(panel({("s", "bad"): [HARMED] * 40, ("s", "good"): [HELPED] * 12}))
    assert found.ruling == "gate"
    assert "helps only in `good`" in skill_sentence(found)


def test_no_difference_at_more_tokens_is_dropped_and_at_fewer_is_kept() -> None:
    same = {("s", "f"): [SAME] * 300}
    assert skill_sentence(verdict(panel(same))).endswith("no difference at 1.5× the tokens")
    assert verdict(panel(same, tokens=(150, 100))).ruling == "keep"


def test_few_tasks_are_not_enough_and_the_sentence_says_how_many_more() -> None:
    found = verdict(panel({("s", "f"): [HELPED, HELPED, SAME]}))
    assert found.ruling == "not enough evidence"
    assert found.more_tasks is not None
    assert found.more_tasks >= 7
    assert f"about {found.more_tasks} more tasks" in skill_sentence(found)


def test_an_interval_that_excludes_zero_alone_needs_more_tasks_when_many_skills_were_looked_at() -> None:
    alone = {("a", "f"): [HELPED] * 8 + [HARMED] * 1 + [SAME] * 11}
    assert verdict(panel(alone)).ruling == "keep"
    others = {(f"s{i}", "f"): [HELPED] * 5 + [HARMED] * 5 + [SAME] * 10 for i in range(30)}
    first = skill_verdicts(panel(alone | others), rng=np.random.default_rng(0))[0]
    assert first.ruling == "not enough evidence"
    assert "not clear after the correction for many skills" in skill_sentence(first)
    assert (first.more_tasks or 0) > 5


def test_harmed_tasks_are_grouped_with_their_neighbours() -> None:
    found = verdict(panel({("s", "a"): [HARMED] * 5 + [SAME] * 5, ("s", "b"): [HELPED] * 9 + [HARMED]}))
    sizes = {len(group.rows): group.is_isolated for group in found.groups}
    assert sizes == {5: False, 1: True}  # the lone one among helped neighbours is chance, for all one can tell


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
