"""Several skills on offer: each is answered for itself, and an answer that came too late is not what happened."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from starlette.testclient import TestClient

from serve.hooks.fake_gate import dialect_of
from skilldelta.bank import Bank
from skilldelta.bank.skill_versions import add_skill_text
from skilldelta.encoders import load_encoder
from skilldelta.gate import Question
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.records import text_digest
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.hooks.bank_answer import answer_from
from skilldelta.serve.hooks.hook_run import HookSettings, answer

ASKED = Question("convert four miles to metres", "units-skill")
UNKNOWN = [f"new-skill-{number}" for number in range(13)]


def test_skills_without_evidence_are_left_alone_and_the_others_decided(gate: GateService) -> None:
    names = [*UNKNOWN, "units-skill", "dates-skill"]
    chosen = gate.choose([replace(ASKED, skill=name) for name in names])
    assert chosen.choice == "units-skill"
    documents = [reply.to_dict() for reply in chosen.answers]
    assert [document["skill"] for document in documents] == names
    assert {document["action"] for document in documents[:13]} == {"abstain"}
    assert all(document["fallback"] for document in documents[:13])
    assert "no evidence about new-skill-0" in documents[0]["reason"]
    assert gate.read(lambda bank: len(bank.decisions())) == 1  # the log has decisions, not their absence
    nothing = gate.choose([replace(ASKED, skill=name) for name in UNKNOWN])
    assert (nothing.choice, len(nothing.answers)) == (None, 13)


def test_over_http_too_and_each_version_is_checked(client: TestClient, bank_path: Path) -> None:
    with Bank.open(bank_path) as bank:
        add_skill_text(bank, "units-skill", "as measured")
    body: dict[str, Any] = {"task": ASKED.text, "skills": [*UNKNOWN, "units-skill"]}
    same = client.post("/v1/choose", json={**body, "skill_digests": {"units-skill": text_digest("as measured")}})
    assert same.status_code == 200, same.text
    edited = client.post("/v1/choose", json={**body, "skill_digests": {"units-skill": text_digest("edited")}}).json()
    assert (same.json()["choice"], edited["choice"]) == ("units-skill", "units-skill")
    assert "carried over from version" in edited["decisions"][-1]["reason"]
    paper = {**body, "skill_digests": {"units-skill": text_digest("edited")}, "gate": {"paper": True}}
    assert client.post("/v1/choose", json=paper).json()["choice"] is None


def test_over_mcp_too(gate: GateService) -> None:
    client = pytest.importorskip("mcp.client", reason="the extra mcp is not installed")
    from mcp import Client

    from skilldelta.serve.mcp_tools import mcp_server

    assert client

    async def use() -> None:
        async with Client(mcp_server(gate)) as opened:
            offered = {"task": ASKED.text, "skills": [*UNKNOWN, "units-skill"]}
            result = await opened.call_tool("skilldelta_choose", offered)
            assert not result.is_error
            assert (result.structured_content or {})["choice"] == "units-skill"

    anyio.run(use)


def prompt(session: str) -> bytes:
    event = {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": ASKED.text}
    return json.dumps(event).encode()


def test_a_hook_offers_25_skills_of_which_13_are_new_and_checks_every_version(
    gate: GateService, bank_path: Path, tmp_path: Path
) -> None:
    text = (
        "Find both units. Look up the factor between them. Multiply, and keep the digits. Say the unit. Feet and miles."
    )
    gate.read(lambda bank: add_skill_text(bank, "units-skill", text))

    def injected(text: str, session: str) -> str:
        file = tmp_path / "units.md"
        file.write_text(text)
        skills = (*(OfferedSkill(name) for name in UNKNOWN), OfferedSkill("units-skill", file))
        settings = HookSettings("claude-code", dialect_of("claude-code"), skills, ask="bank", state=tmp_path / "state")
        result = answer(settings, prompt(session), ask_bank=lambda path, body: answer_from(gate, path, body))
        assert result.failure == ""
        return result.output

    assert text in injected(text, "s1")
    assert f"{text} And yards." in injected(f"{text} And yards.", "s2")  # edited: carried over
    assert "Something" not in injected("Something that was written anew from the first word to the last.", "s3")
    call = {"hook_event_name": "PreToolUse", "tool_name": "Skill", "tool_input": {"skill": UNKNOWN[0]}}
    settings = HookSettings("claude-code", dialect_of("claude-code"), (), ask="bank", state=tmp_path / "state")
    event = json.dumps({"session_id": "s1", **call}).encode()
    assert answer(settings, event, ask_bank=lambda path, body: {}).output == ""  # nothing known, nothing denied


class SlowEncoder:
    """The real one, a second late."""

    def __init__(self, bank: Bank) -> None:
        self._encoder = load_encoder()
        self.identity = self._encoder.identity
        self.is_slow = False

    def encode(self, texts: list[str]) -> np.ndarray:
        time.sleep(1.0 if self.is_slow and len(texts) == 1 else 0)
        return np.asarray(self._encoder.encode(texts))


@contextmanager
def serving(gate: GateService) -> Iterator[int]:
    uvicorn = pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    from skilldelta.serve.http_api import gate_app

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(gate_app(gate), log_level="critical"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)


def test_an_answer_that_came_too_late_is_logged_as_not_applied(bank_path: Path) -> None:
    encoders: list[SlowEncoder] = []

    def make(bank: Bank) -> SlowEncoder:
        encoders.append(SlowEncoder(bank))
        return encoders[-1]

    gate = GateService.open(bank_path, encoder=make)  # type: ignore[arg-type]
    gate.warm_up()
    with serving(gate) as port:
        body = json.dumps({"task": "a task of its own", "skill": "units-skill", "conversation": "c"}).encode()
        head = f"POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        for encoder in encoders:
            encoder.is_slow = True
        with socket.create_connection(("127.0.0.1", port)) as impatient:
            impatient.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            time.sleep(0.3)
        with Bank.open(bank_path, readonly=True) as bank:
            for _ in range(100):
                if bank.decisions():
                    break
                time.sleep(0.05)
        (late,) = gate.decisions(5)["decisions"]
        assert (late["applied"], late["in_conversation"]) == (False, False)
        again = gate.decide(Question("a task of its own", "units-skill", conversation="c"))
        assert again.repeated is False  # the conversation was never told the late answer
        assert [row["applied"] for row in gate.decisions(5)["decisions"]] == [True, False]
