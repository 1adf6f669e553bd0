"""What the dashboard's pages are told, asked over HTTP: the command line's verdicts and answers, in typed documents."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.conftest import Skilldelta, pair_rows, skilldelta  # noqa: F401
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.gate import Question
from skilldelta.serve import skill_page
from skilldelta.serve.gate_service import GateService

testclient = pytest.importorskip("fastapi.testclient", reason="the server needs the extra serve")


@pytest.fixture
def client(gate: GateService) -> Iterator[Any]:
    from skilldelta.serve.http_api import gate_app

    with testclient.TestClient(gate_app(gate), base_url="http://127.0.0.1:7345") as opened:
        yield opened


def read(client: Any, path: str, **query: str) -> Any:
    answer = client.get(f"/v1/dashboard/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_overview_has_the_verdicts_of_the_command_line(
    client: Any,
    bank_path: Path,
    skilldelta: Skilldelta,  # noqa: F811
) -> None:
    told = read(client, "overview")
    (panel,) = json.loads(skilldelta("skills", "--bank", str(bank_path), "--json").out)["panels"]
    expected = {one["skill"]: one for one in panel["skills"]}
    assert {one["skill"] for one in told["skills"]} == set(expected)
    for line in told["skills"]:
        wanted = expected[line["skill"]]
        assert line["verdict"] == wanted["verdict"]
        assert f"{line['verdict']}: {line['sentence']}" == wanted["sentence"]
        assert line["gain"] == pytest.approx(wanted["corrected"]["gain"])
        assert (line["helped"], line["harmed"]) == (wanted["helped"], wanted["harmed"])
        assert line["recorded"] is not None
    assert [one["gain"] for one in told["skills"]] == sorted((one["gain"] for one in told["skills"]), reverse=True)


def test_the_overview_names_the_bank_without_its_place(client: Any, bank_path: Path) -> None:
    told = client.get("/v1/dashboard/overview").text
    assert '"bank":"toy.bank"' in told
    assert str(bank_path.parent) not in told


def test_the_log_is_counted_by_skill_and_tokens_are_those_that_the_skill_adds(client: Any, gate: GateService) -> None:
    for skill in ("units-skill", "dates-skill", "dates-skill"):
        gate.decide(Question("convert four miles to metres", skill))
    told = read(client, "overview")
    assert told["log"]["decisions"] == 3
    for line in told["skills"]:
        log, extra = line["log"], line["gate"]["extra_tokens"]
        assert log["decisions"] == {"units-skill": 1, "dates-skill": 2}[line["skill"]]
        assert log["saved_tokens"] == (None if extra is None else (log["skipped"] + log["abstained"]) * extra)


def test_a_grown_bank_is_shown_at_once(client: Any, bank_path: Path, tmp_path: Path) -> None:
    before = read(client, "overview")
    rows = [{**row, "task_id": f"more-{at}", "skill": "third-skill"} for at, row in enumerate(pair_rows())]
    path = tmp_path / "more.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Bank.open(bank_path) as bank:
        bank.add(read_source(path))
    after = read(client, "overview")
    assert len(after["skills"]) == len(before["skills"]) + 1
    assert after["panel"]["pairs"] == 2 * before["panel"]["pairs"]


def test_a_skills_page_agrees_with_its_line_and_lists_what_it_harmed(client: Any) -> None:
    told = read(client, "skill", skill="dates-skill")
    assert told["line"] == next(one for one in read(client, "overview")["skills"] if one["skill"] == "dates-skill")
    assert len(told["harmed"]) == told["line"]["harmed"] == 2
    assert all(one["gain"] < 0 for one in told["harmed"])
    assert sum(one["pairs"] for one in told["families"]) == told["line"]["pairs"]
    assert [one["is_current"] for one in told["versions"]] == [True]


def test_a_sweep_runs_from_always_on_to_always_off(client: Any) -> None:
    told = read(client, "sweep", skill="dates-skill")
    gate = read(client, "skill", skill="dates-skill")["line"]["gate"]
    assert told["use_rates"][0] == 1.0
    assert told["use_rates"][-1] == 0.0
    assert told["success"][0] == pytest.approx(gate["on"])
    assert told["success"][-1] == pytest.approx(gate["off"])
    assert told["success"][told["default"]] == pytest.approx(gate["success"])
    assert max(told["success"]) == pytest.approx(told["success"][told["best"]])


def test_a_long_sweep_is_thinned_without_losing_what_the_page_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skill_page, "POLICIES", 10)
    kept = skill_page._thinned(1_000, (123, 456))
    assert set(kept.tolist()) >= {0, 123, 456, 999}
    assert len(kept) <= 12
    assert skill_page._thinned(5, (1, 2)).tolist() == [0, 1, 2, 3, 4]


def test_a_recorded_task_that_is_tried_stands_on_its_own_point(client: Any) -> None:
    point = read(client, "map", skill="units-skill")["points"][1]
    asked = {"task": point["text"], "skill": "units-skill", "task_id": point["task_id"]}
    told = client.post("/v1/dashboard/try", json=asked).json()
    assert np.allclose([told["place"]["x"], told["place"]["y"]], [point["x"], point["y"]], atol=1e-5)
    assert point["task_id"] not in [one["task_id"] for one in told["nearest"]]


def test_a_trial_is_the_gates_own_answer_and_is_not_recorded(client: Any) -> None:
    asked = {"task": "convert four miles to metres", "skill": "units-skill"}
    told = client.post("/v1/dashboard/try", json={**asked, "threshold": 0.25}).json()
    decided = client.post("/v1/decide", json={**asked, "record": False, "explain": True, "policy": {"threshold": 0.25}})
    expected = {name: value for name, value in decided.json().items() if name != "repeated"}
    assert told["decision"] == expected
    assert told["familiarity"]
    assert told["would_change"]
    assert {one["task_id"] for one in told["nearest"]} == {one["task_id"] for one in expected["neighbors"]}
    assert client.get("/v1/decisions").json()["decisions"] == []


def test_the_family_that_would_turn_a_decision_is_named_and_turns_it(client: Any) -> None:
    asked = {"task": "convert four miles to metres", "skill": "units-skill"}
    told = client.post("/v1/dashboard/try", json=asked).json()
    for one in told["families"]:
        again = client.post("/v1/dashboard/try", json={**asked, "family": one["family"]}).json()
        assert again["decision"]["action"] == one["action"]
        assert again["decision"]["gain"] == pytest.approx(one["gain"])
        named = any(one["family"] in sentence for sentence in told["would_change"])
        assert named == (one["action"] != told["decision"]["action"])


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("overview", {"agent": "nobody"}, "unknown agent 'nobody'"),
        ("overview", {"suite": "nowhere"}, "unknown suite 'nowhere'"),
        ("skill", {"skill": "unit-skill"}, "did you mean units-skill"),
        ("sweep", {"skill": ""}, "skill"),
        ("map", {}, "skill"),
    ],
)
def test_a_bad_name_is_a_problem_that_says_what_to_do(
    client: Any, path: str, query: dict[str, str], words: str
) -> None:
    answer = client.get(f"/v1/dashboard/{path}", params=query)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_an_empty_bank_has_an_overview_and_nothing_else(tmp_path: Path) -> None:
    from skilldelta.serve.http_api import gate_app

    gate = GateService.open(tmp_path / "empty.bank", create=True)
    with testclient.TestClient(gate_app(gate), base_url="http://127.0.0.1:7345") as client:
        told = read(client, "overview")
        assert (told["panel"], told["skills"], told["gate"]) == (None, [], None)
        answer = client.get("/v1/dashboard/sweep", params={"skill": "any"})
        assert answer.status_code == 422
        assert "no complete pair yet" in answer.json()["detail"]


def test_several_panels_are_never_pooled_and_the_largest_comes_first(
    client: Any, bank_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "other.jsonl"
    rows = [{**row, "agent": "other"} for row in pair_rows()[:3]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Bank.open(bank_path) as bank:
        bank.add(read_source(path))
    told = read(client, "overview")
    assert [one["pairs"] for one in told["panels"]] == [8, 3]
    assert told["panel"] == told["panels"][0]
    assert read(client, "overview", agent="other")["panel"]["pairs"] == 3


def test_the_page_and_its_modules_come_with_a_strict_policy(client: Any) -> None:
    page = client.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    for name in ("app.js", "shared.css", "dashboard.css", "theme.js", "mark.svg"):
        file = client.get(f"/assets/{name}")
        assert file.status_code == 200
        assert file.headers["content-security-policy"] == policy
        assert client.get(f"/assets/{name}", headers={"If-None-Match": file.headers["etag"]}).status_code == 304


@pytest.mark.parametrize("name", ["..%2fgate_service.py", "nothing.js", "%2e%2e/serve/http_api.py"])
def test_no_other_file_can_be_had(client: Any, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_reality_counts_outcomes_as_they_arrive_and_forgets_removed_ones(client: Any, gate: GateService) -> None:
    assert read(client, "reality")["outcomes"] == 0
    ids = [gate.decide(Question(f"convert {at} miles to metres", "units-skill")).decision_id for at in range(2, 12)]
    for decision_id in ids[:4]:
        client.post("/v1/outcomes", json={"decision_id": decision_id, "success": 1})
    first = read(client, "reality")
    assert (first["outcomes"], first["whole"]["outcomes"], first["shown"]) == (4, 4, 4)
    for decision_id in ids[4:]:
        client.post("/v1/outcomes", json={"decision_id": decision_id, "success": 0, "tokens": 5})
    client.post("/v1/outcomes", json={"decision_id": ids[0], "tokens": 7})  # a report without a success changes nothing
    second = read(client, "reality")
    assert second["mark"] != first["mark"]
    assert (second["outcomes"], second["whole"]["observed"]) == (10, pytest.approx(0.4))
    assert [one["skill"] for one in second["skills"]] == ["units-skill"]
    assert sum(one["number"] for one in second["periods"]) == 10
    assert read(client, "reality", skill="dates-skill")["shown"] == 0
    assert read(client, "reality", skill="dates-skill")["whole"]["outcomes"] == 10
    gate.read(lambda bank: bank.forget_decisions())
    client.post("/v1/outcomes", json={"decision_id": ids[0], "success": 1})
    assert read(client, "reality")["outcomes"] == 0


def test_a_spreadsheet_takes_no_name_for_a_formula(client: Any, gate: GateService) -> None:
    from skilldelta.bank import RecordedOutcome

    hostile = '=HYPERLINK("http://x","y")'
    decision_id = gate.decide(Question("convert nine miles", "units-skill", task_id=hostile)).decision_id or 0
    gate.read(lambda bank: bank.record_outcome(RecordedOutcome(decision_id, 0.0, success=1)))
    answer = client.get("/v1/dashboard/reality.csv", params={"skill": "units-skill"})
    assert answer.headers["content-type"].startswith("text/csv")
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert row["task"] == "'" + hostile
    assert (row["time"], row["skill"], row["success"]) == ("1970-01-01T00:00:00+00:00", "units-skill", "1")
