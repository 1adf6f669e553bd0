"""Tasks unlike anything recorded are not answered with confidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Skilldelta, skilldelta  # noqa: F401
from skilldelta import Advisor, Gate, Question, load_encoder, open_bank
from skilldelta.bank import Bank
from skilldelta.demo.bundled import bundled_batch
from skilldelta.errors import InputError

UNLIKE = Question("Refactor this React component to use hooks", "meter-readings")
LIKE = Question("What is the mean of the readings 13, 14 and 15?", "meter-readings")


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    path: Path = tmp_path_factory.mktemp("demo") / "demo.bank"
    with open_bank(path, create=True) as opened:
        opened.add(bundled_batch())
        yield opened


@pytest.fixture(scope="module")
def advisor(bank: Bank) -> Advisor:
    return Advisor(bank, load_encoder())


def test_a_task_unlike_the_recorded_ones_is_skipped_with_the_reason_and_a_wide_interval(advisor: Advisor) -> None:
    found = advisor.ask(UNLIKE, explain=True)
    assert found.familiarity is not None
    assert found.familiarity < 0.001
    assert found.decision.action == "skip"
    assert "unlike the recorded ones" in found.decision.reason
    assert found.to_dict()["support"]["familiarity"] == found.familiarity
    assert found.familiarity_sentence == "The task is unlike the recorded ones"
    assert found.interval is not None
    assert found.interval.low < -0.5
    assert found.interval.high > 0.5
    assert abs(found.decision.gain) < 0.2  # what new families lead to expect, not the harm that the skill did its own
    assert found.explanation is not None
    assert found.explanation.chance is not None
    assert found.explanation.chance.harm < 0.5
    assert found.explanation.shares["new_family"] > 0.9


def test_a_task_like_the_recorded_ones_is_answered_as_before(advisor: Advisor) -> None:
    found = advisor.ask(LIKE)
    assert found.familiarity is not None
    assert found.familiarity > 0.05
    assert found.decision.gain < -0.8
    assert found.interval is not None
    assert found.interval.high < 0
    assert "is below the threshold" in found.decision.reason
    assert found.familiarity_sentence.startswith("The task is like the recorded ones: ")


def test_the_three_way_rule_abstains_from_unlike_tasks(bank: Bank) -> None:
    found = Advisor(bank, load_encoder(), gate=Gate(rule="three-way")).ask(UNLIKE)
    assert found.decision.action == "abstain"
    assert "unlike the recorded ones" in found.decision.reason


def test_the_papers_rule_shows_familiarity_and_acts_on_it_only_when_asked(bank: Bank) -> None:
    plain = Advisor(bank, load_encoder(), gate=Gate(estimator="paper")).ask(UNLIKE)
    assert plain.familiarity is not None
    assert plain.familiarity < 0.001
    assert plain.decision.gain == -1.0
    assert "is below the threshold" in plain.decision.reason
    limited = Gate(estimator="paper", familiarity_limit=0.05)
    assert "unlike" in Advisor(bank, load_encoder(), gate=limited).ask(UNLIKE).decision.reason


def test_both_estimators_find_the_same_familiarity(bank: Bank, advisor: Advisor) -> None:
    paper = Advisor(bank, load_encoder(), gate=Gate(estimator="paper"))
    for question in (LIKE, UNLIKE):
        assert advisor.ask(question).familiarity == pytest.approx(paper.ask(question).familiarity, rel=1e-4)


def test_a_limit_of_zero_switches_it_off(bank: Bank) -> None:
    found = Advisor(bank, load_encoder(), gate=Gate(familiarity_limit=0.0)).ask(UNLIKE)
    assert "unlike" not in found.decision.reason


def test_the_blends_gain_lies_in_its_interval_and_other_intervals_say_why_they_differ(
    bank: Bank, advisor: Advisor
) -> None:
    own = advisor.ask(LIKE)
    assert own.interval is not None
    assert own.interval.method == "blend"
    assert own.interval.low <= own.decision.gain <= own.interval.high
    assert own.interval_sentence == "The interval is for the mean gain of tasks like this one"
    exact = Advisor(bank, load_encoder(), gate=Gate(interval="exact")).ask(LIKE)
    assert "the interval on the 6 nearest pairs alone" in exact.interval_sentence
    paper = Advisor(bank, load_encoder(), gate=Gate(estimator="paper")).ask(LIKE)
    assert paper.interval is not None
    assert paper.interval.method in ("exact", "hoeffding_independent")
    assert paper.interval_sentence == "The interval is for the mean gain of the 6 nearest pairs"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"familiarity_limit": 1.5}, "familiarity_limit must lie between 0 and 1, got 1.5"),
        ({"familiarity_limit": float("nan")}, "familiarity_limit must lie between 0 and 1, got nan"),
        ({"estimator": "paper", "interval": "blend"}, "the interval blend belongs to the blend's gain"),
        ({"interval": "stak"}, "blend"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Gate(**settings)  # type: ignore[arg-type]


def test_the_command_says_that_a_task_is_unlike_and_takes_a_limit(
    bank: Bank,
    skilldelta: Skilldelta,  # noqa: F811
) -> None:
    asked = ("predict", "--bank", bank.location, "--skill", "meter-readings")
    out = " ".join(skilldelta(*asked, UNLIKE.text).out.split())
    assert "The task is unlike the recorded ones (familiarity below 0.001, the limit is 0.01)" in out
    free = skilldelta(*asked, "--familiarity-limit", "0", "--json", UNLIKE.text).document
    assert "unlike" not in free["reason"]
    assert free["support"]["familiarity"] < 0.001
    paper = skilldelta(*asked, "--paper", "--json", UNLIKE.text).document
    assert paper["gain"] == -1.0
    assert "unlike" not in paper["reason"]
    bad = skilldelta(*asked, "--familiarity-limit", "2", UNLIKE.text)
    assert bad.code == 2
    assert "familiarity-limit" in bad.err
    refused = skilldelta(*asked, "--estimator", "paper", "--interval", "blend", UNLIKE.text)
    assert refused.code == 2
    assert "belongs to the blend's gain" in refused.err
