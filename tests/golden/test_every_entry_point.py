"""Python, the command line, HTTP, the hook and MCP give the same answers to the same questions on the demo's bank.

`demo_decisions.json` holds what they answer. A change must be intended, and then the file is rewritten by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from golden import entry_points
from golden.entry_points import BESIDE_THE_ANSWER, HANDS_OFF, REFUSED, Asked
from skilldelta import open_bank
from skilldelta.bank.skill_versions import add_skill_text
from skilldelta.studies.demonstration import add_demo

pytest.importorskip("mcp", reason="the package mcp is not installed")
pytest.importorskip("fastapi", reason="the package fastapi is not installed")

CANS = "How many cans are in 3 pallets and 5 crates of beans?"
UNLIKE = "Translate the second stanza of the ballad into Old Norse and explain the kennings."
QUESTIONS = {
    "blend, use": Asked(CANS, "warehouse-units"),
    "blend, another skill": Asked("What is the date one week from 3/5/1979?", "date-arithmetic"),
    "blend, a skill for other tasks": Asked(CANS, "invoice-numbers"),
    "paper": Asked(CANS, "warehouse-units", gate={"paper": True}),
    "paper, k 3, uniform": Asked(CANS, "price-reductions", gate={"paper": True, "k": 3, "weighting": "uniform"}),
    "a high threshold": Asked(CANS, "warehouse-units", gate={"threshold": 0.9}),
    "three-way": Asked(CANS, "sku-numbers", gate={"rule": "three-way"}),
    "a task unlike all others": Asked(UNLIKE, "warehouse-units"),
    "an empty support": Asked(CANS, "never-run"),
    "an unknown skill": Asked(CANS, "no-such-skill"),
    "a known family": Asked(CANS, "warehouse-units", family="warehouse-units"),
}
GOLDEN: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "demo_decisions.json").read_text())


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    with open_bank(folder / "demo.bank", create=True) as opened:
        add_demo(opened)
        add_skill_text(opened, "never-run", "Nobody has run this one.")
    return folder / "demo.bank"


@pytest.fixture(scope="module")
def port(bank: Path) -> Iterator[int]:
    with entry_points.served(bank) as found:
        yield found


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Equal but for the last digits, and for what the log adds."""
    left, right = (
        {name: value for name, value in told.items() if name not in BESIDE_THE_ANSWER} for told in (one, other)
    )
    assert _rounded(left) == _rounded(right)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6) + 0.0
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items() if one is not None}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_entry_point_gives_the_same_answer(name: str, bank: Path, port: int, tmp_path: Path) -> None:
    asked, golden = QUESTIONS[name], GOLDEN[name]
    told = entry_points.by_python(bank, asked)
    assert told["action"] == golden["action"]
    if told is not REFUSED:
        assert told["gain"] == pytest.approx(golden["gain"], abs=1e-6)
        assert told["reason"] == golden["reason"]
    same(entry_points.by_command(bank, asked, tmp_path / "answer.json"), told)
    same(entry_points.by_http(port, asked), told)
    if set(asked.gate) <= {"paper", "threshold"}:  # the settings that the tool has
        same(entry_points.by_mcp(bank, asked), told)
    if not asked.family:
        server = f"http://127.0.0.1:{port}"
        # A hook asks first whether the task is about the skill.
        body = {"text": asked.text, "skills": [asked.skill], "record": False}
        _, choice = entry_points.post(port, "/v1/choose", body | ({"gate": dict(asked.gate)} if asked.gate else {}))
        (chosen,) = choice["decisions"]
        if chosen["action"] == "abstain" and chosen["fallback"]:
            told = HANDS_OFF
        for whom, place in (("bank", ""), ("server", server)):
            found = entry_points.by_hook(bank, asked, tmp_path / whom, whom=whom, server=place)  # type: ignore[arg-type]
            same(found, {key: told[key] for key in found})
        by_program = entry_points.by_program(bank, asked, tmp_path / "program", server)
        same(by_program, {key: told[key] for key in by_program})


def test_every_entry_point_chooses_the_same_skill(bank: Path, port: int, tmp_path: Path) -> None:
    import anyio
    from mcp import Client

    from skilldelta.cli.hook import ask_bank
    from skilldelta.serve.gate_service import GateService
    from skilldelta.serve.mcp_tools import mcp_server

    skills = ["invoice-numbers", "warehouse-units", "unit-conversion"]
    one_by_one = [entry_points.by_python(bank, Asked(CANS, skill)) for skill in skills]
    best = max((one for one in one_by_one if one["action"] == "use"), key=lambda one: float(one["gain"]))
    question = {"text": CANS, "skills": skills, "record": False}
    _, by_http = entry_points.post(port, "/v1/choose", question)
    by_process = ask_bank(entry_points.hook_options("--bank", str(bank)), "/v1/choose", question)

    async def ask() -> Any:
        with GateService.open(bank) as service:
            async with Client(mcp_server(service)) as client:
                return (await client.call_tool("skilldelta_choose", question)).structured_content

    for chosen in (by_http, by_process, anyio.run(ask)):
        assert chosen["choice"] == best["skill"] == "warehouse-units"
        # Only the skill that the task is about is asked for its gain.
        same(chosen["decisions"][1], one_by_one[1])
        assert [one["action"] for one in chosen["decisions"]] == ["abstain", "use", "abstain"]
        assert chosen["any_applies"] > 0.9
