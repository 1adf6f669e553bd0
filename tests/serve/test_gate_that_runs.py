"""On a server with settings of its own, every page describes the gate that answers: with `/v1/decide` as the witness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from skilldelta.bank import Bank
from skilldelta.demo.bundled import bundled_batch
from skilldelta.gate import Gate

from .browser import Visitor, running_browser, running_server, visiting

# The settings that are not the default ones.
GATES: dict[str, dict[str, Any]] = {
    "plain": {"estimator": "paper", "threshold": 0.3, "k": 3},
    "three-way": {
        "estimator": "paper",
        "rule": "three-way",
        "interval": "betting",
        "level": 0.5,
        "familiarity_limit": 0.1,
    },
    "costs": {"estimator": "paper", "success_worth": 0.05, "price": 10.0},
}
SKILL = "date-arithmetic"


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "demo.bank"
    with Bank.open(path, create=True) as opened:
        opened.add(bundled_batch())
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("uvicorn", reason="the server needs the extra serve")
    with running_browser() as opened:
        yield opened


@pytest.fixture(scope="module", params=GATES)
def gate(request: pytest.FixtureRequest) -> Gate:
    return Gate.from_settings(GATES[request.param])


@pytest.fixture(scope="module")
def address(browser: Any, bank: Path, gate: Gate) -> Iterator[str]:
    with running_server(bank, gate=gate) as at:
        yield at


@pytest.fixture
def visitor(browser: Any, address: str) -> Iterator[Visitor]:
    with visiting(browser, address) as opened:
        yield opened


@pytest.fixture(scope="module")
def decided(address: str, bank: Path, gate: Gate) -> dict[str, str]:
    """The action for every recorded task of the skill, each asked about as a recorded one."""
    with Bank.open(bank, readonly=True) as opened:
        recorded = {e.task_id for e in opened.executions() if e.skill_id == SKILL and e.condition == "use"}
        texts = {task.task_id: task.text for task in opened.tasks() if task.task_id in recorded}
    actions = {}
    with httpx.Client(base_url=address, timeout=60) as client:
        for task_id, text in texts.items():
            asked = {"text": text, "skill": SKILL, "task_id": task_id, "record": False}
            answer = client.post("v1/decide", json=asked).raise_for_status().json()
            assert (answer["estimator"], answer["k"]) == ("paper", gate.k)
            actions[task_id] = answer["action"]
    expected = {"use", "skip", "abstain"} if gate.rule == "three-way" else {"use", "skip"}
    assert set(actions.values()) == expected, "a skill that is always used shows nothing"
    return actions


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def test_every_page_and_health_print_the_settings_that_run(visitor: Visitor, address: str, gate: Gate) -> None:
    own = next(settings for settings in GATES.values() if Gate.from_settings(settings) == gate)
    for place in ("#/", f"#/skill/{SKILL}", "#/try", "#/decisions", "#/evaluation", "#/import"):
        page = visitor.open(place)
        printed = page.locator("#gate .setting").evaluate_all(
            "all => Object.fromEntries(all.map(each => [each.dataset.setting, each.querySelector('b').innerText]))"
        )
        changed = page.locator("#gate .changed").evaluate_all("all => all.map(each => each.dataset.setting)")
        assert set(changed) == set(own)
        assert {name: printed[name] for name in own} == {
            name: str(value).removesuffix(".0") for name, value in own.items()
        }
        assert (printed["scope"], printed["rule"]) == (gate.scope, gate.rule)
    assert httpx.get(f"{address}v1/health").json()["gate"] == asdict(gate)


def test_overview_and_skill_page_show_what_decide_does(visitor: Visitor, decided: dict[str, str]) -> None:
    rate = sum(action == "use" for action in decided.values()) / len(decided)
    page = visitor.open()
    row = page.locator(f"table.skills tbody tr:has-text('{SKILL}')")
    assert percent(rate) in row.inner_text()
    document = httpx.get(f"{visitor.address}v1/dashboard/skill", params={"skill": SKILL}, timeout=60).json()
    assert document["line"]["gate"]["use_rate"] == pytest.approx(rate)
    assert sum(family["used"] for family in document["families"]) == sum(a == "use" for a in decided.values())
    assert {one["task_id"]: one["used"] for one in document["harmed"]} == {
        one["task_id"]: decided[one["task_id"]] == "use" for one in document["harmed"]
    }
    sweep = httpx.get(f"{visitor.address}v1/dashboard/sweep", params={"skill": SKILL}, timeout=60).json()
    assert sweep["use_rates"][sweep["default"]] == pytest.approx(rate)


def test_try_decides_as_decide_does(visitor: Visitor, decided: dict[str, str], gate: Gate) -> None:
    page = visitor.open(f"#/try?skill={SKILL}")
    assert float(page.locator("#threshold").input_value()) == gate.threshold
    points = httpx.get(f"{visitor.address}v1/dashboard/map", params={"skill": SKILL}, timeout=60).json()["points"]
    known = {point["text"]: point["task_id"] for point in points}
    suggestions = page.locator(".suggestions button")
    assert suggestions.count() == 3
    for number in range(3):
        suggestion = suggestions.nth(number)
        task_id = known[suggestion.get_attribute("title")]
        suggestion.click()
        page.wait_for_selector(f".result:not([aria-busy]) .overline:has-text('Decision: {decided[task_id]}')")


def test_an_evaluation_is_of_the_gate_that_runs(visitor: Visitor, gate: Gate) -> None:
    page = visitor.open("#/evaluation")
    page.select_option("#resamples", "200")
    page.click("button.primary:has-text('Evaluate')")
    page.wait_for_selector("table.policies tr.own", timeout=240_000)
    assert "Paper" in page.locator("table.policies tr.own th").inner_text()
    (job,) = httpx.get(f"{visitor.address}v1/jobs").json()["jobs"]
    assert (job["options"]["k"], job["options"]["threshold"]) == (gate.k, gate.threshold)
    result = httpx.get(f"{visitor.address}v1/jobs/{job['job_id']}").json()["result"]
    overview = httpx.get(f"{visitor.address}v1/dashboard/overview", timeout=60).json()
    assert result["panels"][0]["policies"]["paper"]["use_rate"] == pytest.approx(overview["gate"]["use_rate"])
