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

GATE = Gate(estimator="paper", threshold=0.3, k=3)
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


@pytest.fixture(scope="module")
def address(browser: Any, bank: Path) -> Iterator[str]:
    with running_server(bank, gate=GATE) as at:
        yield at


@pytest.fixture
def visitor(browser: Any, address: str) -> Iterator[Visitor]:
    with visiting(browser, address) as opened:
        yield opened


@pytest.fixture(scope="module")
def decided(address: str, bank: Path) -> dict[str, str]:
    """The action for every recorded task of the skill, each asked about as a recorded one."""
    with Bank.open(bank, readonly=True) as opened:
        recorded = {e.task_id for e in opened.executions() if e.skill_id == SKILL and e.condition == "use"}
        texts = {task.task_id: task.text for task in opened.tasks() if task.task_id in recorded}
    actions = {}
    with httpx.Client(base_url=address, timeout=60) as client:
        for task_id, text in texts.items():
            asked = {"text": text, "skill": SKILL, "task_id": task_id, "record": False}
            answer = client.post("v1/decide", json=asked).raise_for_status().json()
            assert (answer["threshold"], answer["estimator"], answer["k"]) == (0.3, "paper", 3)
            actions[task_id] = answer["action"]
    assert len(set(actions.values())) > 1, "a skill that is always used shows nothing"
    return actions


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def test_every_page_and_health_print_the_settings_that_run(visitor: Visitor, address: str) -> None:
    for place in ("#/", f"#/skill/{SKILL}", "#/try", "#/decisions", "#/evaluation", "#/import"):
        page = visitor.open(place)
        printed = {
            name: page.locator(f"#gate [data-setting={name}] b").inner_text()
            for name in ("estimator", "threshold", "k", "scope", "rule")
        }
        assert printed == {"estimator": "paper", "threshold": "0.3", "k": "3", "scope": GATE.scope, "rule": "plain"}
        changed = page.locator("#gate .changed").evaluate_all("all => all.map(one => one.dataset.setting)")
        assert sorted(changed) == ["estimator", "k", "threshold"]
    assert httpx.get(f"{address}v1/health").json()["gate"] == asdict(GATE)


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


def test_try_decides_as_decide_does(visitor: Visitor, decided: dict[str, str]) -> None:
    page = visitor.open(f"#/try?skill={SKILL}")
    assert page.locator("#threshold").input_value() == "0.3"
    points = httpx.get(f"{visitor.address}v1/dashboard/map", params={"skill": SKILL}, timeout=60).json()["points"]
    known = {point["text"]: point["task_id"] for point in points}
    suggestions = page.locator(".suggestions button")
    assert suggestions.count() == 3
    for number in range(3):
        suggestion = suggestions.nth(number)
        task_id = known[suggestion.get_attribute("title")]
        suggestion.click()
        page.wait_for_selector(f".result:not([aria-busy]) .overline:has-text('Decision: {decided[task_id]}')")


def test_an_evaluation_is_of_the_gate_that_runs(visitor: Visitor) -> None:
    page = visitor.open("#/evaluation")
    page.select_option("#resamples", "200")
    page.click("button.primary:has-text('Evaluate')")
    page.wait_for_selector("table.policies tr.own", timeout=240_000)
    assert "Paper" in page.locator("table.policies tr.own th").inner_text()
    (job,) = httpx.get(f"{visitor.address}v1/jobs").json()["jobs"]
    assert (job["options"]["k"], job["options"]["threshold"]) == (3, 0.3)
    result = httpx.get(f"{visitor.address}v1/jobs/{job['job_id']}").json()["result"]
    overview = httpx.get(f"{visitor.address}v1/dashboard/overview", timeout=60).json()
    assert result["panels"][0]["policies"]["paper"]["use_rate"] == pytest.approx(overview["gate"]["use_rate"])
