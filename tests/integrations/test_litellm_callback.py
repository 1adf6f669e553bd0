"""The callback of a LiteLLM proxy: the same decision and the same place at every step of a conversation."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk

pytest.importorskip("litellm", reason="litellm is not installed; make test-frameworks runs this")

from harnesses.fake_models import fake_models
from skilldelta.integrations.litellm_callback import SkillDeltaCallback

TOOLS = [{"type": "function", "function": {"name": "stock"}}]


def sent(desk: Desk, data: dict[str, Any], call_type: str = "acompletion", **options: Any) -> dict[str, Any]:
    callback = SkillDeltaCallback(desk.gate(), **options)
    return asyncio.run(callback.async_pre_call_hook(None, None, data, call_type))


def chat(*more: dict[str, Any]) -> dict[str, Any]:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TASK}, *more]
    return {"model": "m", "messages": messages, "tools": TOOLS}


def test_the_skill_stands_at_the_same_place_at_every_step() -> None:
    desk = Desk("use")
    callback = SkillDeltaCallback(desk.gate())
    steps = [chat(), chat({"role": "assistant", "content": "?"}, {"role": "user", "content": "And in 4?"})]
    first, second = (asyncio.run(callback.async_pre_call_hook(None, None, step, "acompletion")) for step in steps)
    assert first["messages"] == second["messages"][:3]
    assert first["messages"][1] == {"role": "system", "content": SKILL_TEXT}
    assert len(desk.asked) == 1


def test_a_skipped_skill_leaves_the_request_as_it_is() -> None:
    data = chat()
    assert sent(Desk("skip"), data) is data


def test_calls_without_tools_are_side_calls() -> None:
    data = {**chat(), "tools": []}
    desk = Desk("use")
    assert sent(desk, data) is data
    assert desk.asked == []
    assert sent(Desk("use"), data, only_with_tools=False)["messages"][1]["content"] == SKILL_TEXT


def test_anthropic_requests_have_the_skill_in_their_system_blocks() -> None:
    data = {"system": "Be brief.", "messages": [{"role": "user", "content": TASK}], "tools": TOOLS}
    system = sent(Desk("use"), data, "anthropic_messages")["system"]
    assert [block["text"] for block in system] == ["Be brief.", SKILL_TEXT]


@pytest.mark.parametrize("given", [TASK, [{"role": "user", "content": [{"type": "input_text", "text": TASK}]}]])
def test_responses_requests_have_the_skill_in_their_instructions(given: Any) -> None:
    desk = Desk("use")
    data = {"input": given, "instructions": "Be brief.", "tools": TOOLS}
    assert sent(desk, data, "aresponses")["instructions"] == f"Be brief.\n\n{SKILL_TEXT}"
    assert desk.asked[0]["text"] == TASK


@pytest.mark.parametrize("data", [{}, {"messages": None}, {"messages": [None, 3]}, {"input": 7}])
def test_a_request_that_is_not_understood_passes_unchanged(data: dict[str, Any]) -> None:
    request = {**data, "tools": TOOLS}
    assert sent(Desk("use"), request) is request


GATE_MODULE = """
from integrations.gates import Desk
from skilldelta.integrations.litellm_callback import SkillDeltaCallback

callback = SkillDeltaCallback(Desk("use").gate())
"""


def test_a_real_proxy_sends_the_skill_to_the_model(tmp_path: Path) -> None:
    pytest.importorskip(
        "litellm.proxy.proxy_server", reason="litellm[proxy] is not installed; make test-frameworks runs this"
    )
    (tmp_path / "my_gate.py").write_text(GATE_MODULE)
    with fake_models() as models, proxy(tmp_path, models.url) as url:
        body = {"model": "any", "messages": [{"role": "user", "content": TASK}], "tools": TOOLS}
        answer = post(f"{url}/v1/chat/completions", body)
        assert answer["choices"][0]["message"]["content"]
    assert [message["role"] for message in models.requests[-1].body["messages"]] == ["system", "user"]
    assert models.requests[-1].body["messages"][0]["content"] == SKILL_TEXT


@contextmanager
def proxy(folder: Path, upstream: str) -> Iterator[str]:
    """A LiteLLM proxy on loopback with the callback of the folder."""
    config = {
        "model_list": [
            {
                "model_name": "any",
                "litellm_params": {"model": "openai/fake", "api_base": f"{upstream}/v1", "api_key": "none"},
            }
        ],
        "litellm_settings": {"callbacks": "my_gate.callback", "drop_params": True},
        "general_settings": {"master_key": "sk-test-1234"},
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    port = free_port()
    paths = [str(folder), str(Path(__file__).resolve().parents[1])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "NO_PROXY": "127.0.0.1",
    }
    command = [str(Path(sys.executable).with_name("litellm")), "--config", "config.yaml", "--host", "127.0.0.1"]
    with open(folder / "proxy.log", "wb") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_for(port, process, folder / "proxy.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()[-2000:]
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    raise AssertionError(log.read_text()[-2000:])


def post(url: str, body: dict[str, Any]) -> Any:
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test-1234"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as response:
        return json.load(response)
