"""Every way to ask the gate one question, each as a function from a question to the document of its answer."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import anyio

import skilldelta
from skilldelta.cli.hook import ask_bank
from skilldelta.cli.hook import command as hook_command
from skilldelta.cli.main import run
from skilldelta.errors import InputError
from skilldelta.harnesses import claude_code
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.hooks.conversation import Conversation
from skilldelta.serve.hooks.hook_run import HookSettings, WhomToAsk, answer
from skilldelta.serve.hooks.server_client import ServerAddress
from skilldelta.server_proof import known_key

REFUSED: dict[str, Any] = {"action": None}
# What a hook does where the task is not about the skill, or nothing is known of it.
HANDS_OFF: dict[str, Any] = {"action": "abstain"}
"""What stands for an answer to a question that nobody can answer."""
BESIDE_THE_ANSWER = ("applies", "decision_id", "repeated", "skill_text", "would_change")


@dataclass(frozen=True)
class Asked:
    """A question; `gate` by the names of `predict`'s options."""

    text: str
    skill: str
    family: str = ""
    gate: Mapping[str, Any] = field(default_factory=dict)


def by_python(bank: Path, asked: Asked) -> dict[str, Any]:
    gate = skilldelta.Gate.from_settings(asked.gate)
    try:
        return skilldelta.advise(asked.text, asked.skill, bank=bank, family=asked.family, gate=gate).to_dict()
    except InputError:
        return REFUSED


def by_command(bank: Path, asked: Asked, output: Path) -> dict[str, Any]:
    words = ["predict", "--bank", str(bank), "--skill", asked.skill, "--json", "--output", str(output)]
    words += ["--family", asked.family] if asked.family else []
    for name, value in asked.gate.items():
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    code = run([*words, "--", asked.text])
    return json.loads(output.read_text()) if code == 0 else REFUSED


def by_http(port: int, asked: Asked) -> dict[str, Any]:
    body = {"text": asked.text, "skill": asked.skill, "family": asked.family, "record": False}
    status, document = post(port, "/v1/decide", body | ({"gate": dict(asked.gate)} if asked.gate else {}))
    assert status in (200, 404, 422)
    return document if status == 200 else REFUSED


def by_mcp(bank: Path, asked: Asked) -> dict[str, Any]:
    from mcp import Client

    from skilldelta.serve.mcp_tools import mcp_server

    async def ask() -> dict[str, Any]:
        with GateService.open(bank) as service:
            async with Client(mcp_server(service)) as client:
                told = {"text": asked.text, "skill": asked.skill, "record": False, **asked.gate}
                found = await client.call_tool(
                    "skilldelta_route", told | ({"family": asked.family} if asked.family else {})
                )
                return REFUSED if found.is_error else dict(found.structured_content or {})

    return anyio.run(ask)


def by_hook(bank: Path, asked: Asked, state: Path, *, whom: WhomToAsk, server: str = "") -> dict[str, Any]:
    """What a hook keeps of its decision, and whether it injects something; a harness knows no family."""
    settings = HookSettings(
        "claude-code",
        claude_code.DIALECT,
        (OfferedSkill(asked.skill),),
        gate=asked.gate,
        server=ServerAddress(server, timeout=30, key=known_key(state_of(bank))),
        ask=whom,
        state=state,
        record=False,
    )
    options = hook_options("--bank", str(bank))
    event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": asked.text}
    found = answer(settings, json.dumps(event).encode(), ask_bank=lambda *told: ask_bank(options, *told))
    (known,) = Conversation(state / "conversations", "claude-code", "s").known() or (None,)
    if known is None:
        assert found.output == ""
        return HANDS_OFF
    assert ("hookSpecificOutput" in found.output) == (known.action == "use")
    if found.failure:
        assert (known.action, found.output) == ("skip", "")
        return REFUSED
    return {"action": known.action, "gain": known.gain, "reason": known.reason, "skill": known.skill}


def hook_options(*words: str) -> dict[str, Any]:
    """The options of a hook, as it reads them."""
    return hook_command.make_context("hook", ["claude-code", *words]).params


def state_of(bank: Path) -> dict[str, str]:
    """Where the server of a bank and those who ask it have their key."""
    return {"XDG_STATE_HOME": str(bank.parent / "state")}


def by_program(bank: Path, asked: Asked, state: Path, server: str) -> dict[str, Any]:
    """The same with `skilldelta hook` as a harness starts it."""
    words = ["hook", "claude-code", "--skill", asked.skill, "--server", server, "--state", str(state), "--no-record"]
    for name, value in asked.gate.items():
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": asked.text}
    done = subprocess.run(
        [sys.executable, "-m", "skilldelta", *words, "--ask", "server", "--timeout", "30"],
        env={**os.environ, **state_of(bank)},
        input=json.dumps(event),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    (known,) = Conversation(state / "conversations", "claude-code", "s").known() or (None,)
    if known is None:
        assert done.stdout == ""
        return HANDS_OFF
    assert ("hookSpecificOutput" in done.stdout) == (known.action == "use")
    if done.stderr:
        return REFUSED
    return {"action": known.action, "gain": known.gain, "reason": known.reason, "skill": known.skill}


@contextmanager
def served(bank: Path) -> Iterator[int]:
    """A real server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    words = [sys.executable, "-m", "skilldelta", "serve", "--bank", str(bank), "--port", str(port)]
    process = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=bank.parent, env={**os.environ, **state_of(bank)}
    )
    try:
        _wait_until_ready(port, process)
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _wait_until_ready(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None
        try:
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/v1/ready")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server did not get ready within a minute")


def post(port: int, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())
