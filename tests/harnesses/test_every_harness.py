"""What holds in every harness, end to end: the real program, the real server, a fake model on loopback."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

import pytest

from harnesses.conftest import POEM, UNITS, WAREHOUSE, Gate, free_port
from harnesses.fake_models import ANSWER, FakeModels, ModelRequest
from harnesses.harness_runs import HarnessRun

pytestmark = pytest.mark.slow
HARNESSES = ("dsh", "claude-code", "codex", "gemini", "opencode", "pi")
Start = Callable[..., HarnessRun]


@pytest.mark.parametrize("name", HARNESSES)
def test_a_skill_that_helps_is_in_the_first_model_request_once_and_stays_there(
    name: str, start: Start, models: FakeModels, gate: Gate
) -> None:
    run = start(name)
    assert ANSWER in run.ask(WAREHOUSE)
    assert WAREHOUSE in models.steps[0].text
    assert models.steps[0].text.count(UNITS) == 1
    if name == "opencode":  # orders parts by their ids
        assert models.steps[0].text.index(WAREHOUSE) < models.steps[0].text.index(UNITS)
    (decision, *_) = gate.decisions("units")
    assert (decision["action"], decision["source"]) == ("use", name)
    if name == "dsh":
        return  # its headless profile has no second prompt; tests/plugins has two turns
    run.ask("And in 4 pallets?", again=True)
    assert "And in 4 pallets?" in models.steps[-1].text
    assert WAREHOUSE in models.steps[-1].text
    assert models.steps[-1].text.count(UNITS) == 1


@pytest.mark.parametrize("name", HARNESSES)
def test_a_skill_that_does_not_help_is_nowhere(name: str, start: Start, models: FakeModels) -> None:
    assert ANSWER in start(name).ask(POEM)
    assert POEM in models.steps[0].text
    assert all("pallet" not in request.text for request in models.requests)


@pytest.mark.parametrize("name", HARNESSES)
def test_a_skipped_skill_leaves_the_request_as_it_is_without_the_plugin(
    name: str, start: Start, models: FakeModels
) -> None:
    start(name, place="gated").ask(POEM)
    gated = models.steps[0]
    models.requests.clear()
    start(name, place="plain", plugin=False).ask(POEM)
    assert _without_ids(gated) == _without_ids(models.steps[0])


def _without_ids(request: ModelRequest) -> str:
    """What the model reads, without what differs between any two conversations: places, ids, times."""
    read = {name: value for name, value in request.body.items() if name not in ("metadata", "client_metadata")}
    text = json.dumps(read, sort_keys=True, ensure_ascii=False)
    for pattern in (
        r"[/-][^\s\"<>]*[/-](gated|plain)",
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r"\b(ses|msg)_\w+",
    ):
        text = re.sub(pattern, "", text)
    return re.sub(r"\d\d:\d\d(:\d\d)?|\d{10,}|cch=\w+|(?<=cc_version=)[\w.]+", "", text)


@pytest.mark.parametrize("name", HARNESSES)
def test_a_stopped_server_costs_nothing_but_the_skill(name: str, start: Start, models: FakeModels) -> None:
    run = start(name, server=f"http://127.0.0.1:{free_port()}")
    assert ANSWER in run.ask(WAREHOUSE)
    assert UNITS not in models.steps[0].text


@pytest.mark.parametrize("name", HARNESSES)
def test_tokens_are_recorded_when_the_harness_is_done(name: str, start: Start, models: FakeModels, gate: Gate) -> None:
    start(name).ask(WAREHOUSE)
    (decision, *_) = gate.decisions("units")
    for _ in range(50):
        outcomes = gate.get(f"/v1/decisions/{decision['decision_id']}")["outcomes"]
        if outcomes:
            break
        time.sleep(0.1)
    assert [outcome["tokens"] for outcome in outcomes] == [107]
    assert outcomes[0]["success"] is None


HOSTILE = "How many cans?\n\"quotes\" 'and' `ticks` $(touch owned) ; rm -rf . & | > < \\ %s {} \t é 漢 \U0001f642"


@pytest.mark.parametrize("name", HARNESSES)
def test_no_character_of_a_prompt_is_special(name: str, start: Start, models: FakeModels, gate: Gate) -> None:
    run = start(name)
    assert ANSWER in run.ask(f"{HOSTILE} {WAREHOUSE}")
    assert "$(touch owned)" in models.steps[0].text
    assert not (run.project / "owned").exists()
    assert gate.decisions("units")[0]["source"] == name


@pytest.mark.parametrize("name", HARNESSES)
def test_a_prompt_of_a_hundred_kilobytes_gets_a_decision(
    name: str, start: Start, models: FakeModels, gate: Gate
) -> None:
    latest = gate.decisions()[:1]
    assert ANSWER in start(name).ask(f"{WAREHOUSE} {'x y z ' * 17_000}")
    assert gate.decisions()[:1] != latest
    assert gate.decisions()[0]["source"] == name
