"""The server of one arm answers its adapter, and nothing that an agent sends it disturbs the collection."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import pytest

from skilldelta.harnesses.forced_arm import forced_arm
from skilldelta.serve.hooks.server_client import ServerAddress, ask_server


def test_it_answers_with_its_arm_and_keeps_what_it_is_told() -> None:
    with forced_arm("use", "the text") as arm:
        address = ServerAddress(arm.url, timeout=5.0, key=arm.key)
        choice = ask_server(address, "/v1/choose", {"text": "t", "skills": ["s"], "include_skill_text": True})
        (answer,) = choice["decisions"]
        ask_server(address, "/v1/outcomes", {"decision_id": answer["decision_id"], "tokens": 12})
        event = {"hook_event_name": "prompt", "prompt": "t", "skills": [{"name": "s"}]}
        adapter = ask_server(address, "/v1/hooks/pi", event)
    assert choice["choice"] == "s"
    assert (answer["action"], answer["skill_text"], arm.asked, arm.tokens) == ("use", "the text", 2, 12.0)
    assert (adapter["skill"], adapter["text"], adapter["denied"]) == ("s", "the text", {})


@pytest.mark.parametrize(
    "request_text",
    [
        "POST /v1/choose HTTP/1.0\r\nContent-Length: x\r\n\r\n",
        "POST /v1/choose HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n",
        "POST /v1/choose HTTP/1.0\r\nContent-Length: 3\r\n\r\n{{{",
        "POST /v1/choose HTTP/1.0\r\nContent-Length: 90000\r\n\r\n" + "[" * 90000,
    ],
)
def test_garbage_is_refused_and_printed_nowhere(request_text: str, capfd: pytest.CaptureFixture[str]) -> None:
    with forced_arm("skip", "") as arm:
        url = urlsplit(arm.url)
        with socket.create_connection((url.hostname, url.port), timeout=5) as peer:
            peer.sendall(request_text.encode())
            assert b" 400 " in peer.recv(100)
        assert arm.asked == 0
    assert capfd.readouterr() == ("", "")
