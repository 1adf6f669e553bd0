"""The MCP server as a client sees it, in memory, over standard input and output, and over HTTP."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the package mcp is not installed")

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from cli.conftest import Skilldelta, pairs_file, skilldelta, toy_bank  # noqa: F401
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.mcp_tools import mcp_server

QUESTION = {"task": "convert seven miles to feet", "skill": "units-skill"}


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    return found.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    found = await client.call_tool(tool, arguments)
    assert found.is_error
    return str(getattr(found.content[0], "text", ""))


def test_every_tool_has_a_title_a_schema_and_honest_annotations(toy_bank: str) -> None:  # noqa: F811
    async def look() -> None:
        with GateService.open(toy_bank) as service:
            async with Client(mcp_server(service)) as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == [f"skilldelta_{verb}" for verb in ("choose", "explain", "inspect", "record", "route")]
        for tool in tools.values():
            assert tool.title
            assert tool.description
            assert tool.output_schema
            assert tool.annotations is not None
            assert tool.annotations.destructive_hint is False
            assert tool.annotations.open_world_hint is False
        reads = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
        assert reads == {"skilldelta_explain", "skilldelta_inspect"}

    anyio.run(look)


def test_a_task_is_routed_explained_and_its_outcome_recorded(toy_bank: str) -> None:  # noqa: F811
    async def use() -> None:
        with GateService.open(toy_bank) as service:
            async with Client(mcp_server(service)) as client:
                routed = await call(client, "skilldelta_route", **QUESTION, conversation="c1")
                assert (routed["action"], routed["repeated"]) == ("use", False)
                again = await call(client, "skilldelta_route", **QUESTION | {"task": "else"}, conversation="c1")
                assert (again["decision_id"], again["repeated"]) == (routed["decision_id"], True)
                decision = {"decision_id": routed["decision_id"]}
                first = await call(client, "skilldelta_record", **decision, success=1, tokens=120)
                same = await call(client, "skilldelta_record", **decision, success=1, tokens=120)
                assert (first["is_new"], same["is_new"]) == (True, False)
                explained = await call(client, "skilldelta_explain", **decision)
                assert [outcome["tokens"] for outcome in explained["outcomes"]] == [120]
                chosen = await call(
                    client, "skilldelta_choose", task=QUESTION["task"], skills=["dates-skill", "units-skill"]
                )
                assert chosen["choice"] == "units-skill"
                inspected = await call(client, "skilldelta_inspect")
                assert (inspected["skills"], inspected["decisions"]) == (["units-skill", "dates-skill"], 2)
                unrecorded = await call(client, "skilldelta_route", **QUESTION, record=False)
                assert unrecorded["decision_id"] is None

    anyio.run(use)


def test_errors_say_what_to_do(toy_bank: str) -> None:  # noqa: F811
    async def use() -> None:
        with GateService.open(toy_bank) as service:
            async with Client(mcp_server(service)) as client:
                assert "did you mean units-skill" in await refusal(client, "skilldelta_route", task="x", skill="units")
                assert "at least 1 character" in await refusal(client, "skilldelta_route", task="", skill="units-skill")
                assert "no decision 77" in await refusal(client, "skilldelta_explain", decision_id=77)
                assert "no decision 1000000" in await refusal(client, "skilldelta_explain", decision_id=10**20)
                assert "no decision 1000000" in await refusal(
                    client, "skilldelta_record", decision_id=10**20, success=1
                )
                assert "at least one of success" in await refusal(client, "skilldelta_record", decision_id=77)
                assert "less than or equal to 1" in await refusal(client, "skilldelta_record", decision_id=1, success=2)
                assert "unknown agent" in await refusal(client, "skilldelta_route", **QUESTION, agent="nobody")
                with pytest.raises(MCPError, match="did you mean units-skill"):
                    await client.read_resource("skilldelta://skills/units")
                with pytest.raises(MCPError):
                    await client.read_resource("skilldelta://skills/..%2F..%2Fetc%2Fpasswd")

    anyio.run(use)


def test_the_bank_and_its_skills_are_resources(toy_bank: str) -> None:  # noqa: F811
    async def look() -> None:
        with GateService.open(toy_bank) as service:
            async with Client(mcp_server(service)) as client:
                listed = {str(one.uri) for one in (await client.list_resources()).resources}
                assert listed == {"skilldelta://bank", "skilldelta://skills"}
                assert (await _read(client, "skilldelta://bank"))["tasks"] == 8
                assert await _read(client, "skilldelta://skills") == ["units-skill", "dates-skill"]
                assert (await _read(client, "skilldelta://skills/units-skill"))["skill"] == "units-skill"
                routed = await call(client, "skilldelta_route", **QUESTION)
                kept = await _read(client, f"skilldelta://decisions/{routed['decision_id']}")
                assert kept["reason"] == routed["reason"]

    anyio.run(look)


async def _read(client: Client, uri: str) -> Any:
    return json.loads(getattr((await client.read_resource(uri)).contents[0], "text", ""))


def test_standard_output_holds_the_protocol_and_nothing_else(toy_bank: str, tmp_path: Path) -> None:  # noqa: F811
    async def use() -> None:
        words = ["-m", "skilldelta", "mcp", "--bank", str(tmp_path / toy_bank)]
        async with Client(StdioServerParameters(command=sys.executable, args=words, cwd=tmp_path)) as client:
            assert (await call(client, "skilldelta_route", **QUESTION))["action"] == "use"
            assert "did you mean" in await refusal(client, "skilldelta_route", task="x", skill="units")

    anyio.run(use)


@contextmanager
def served(bank: Path, *words: str) -> Iterator[int]:
    command = [sys.executable, "-m", "skilldelta", "mcp", "--http", "--port", "0", "--bank", str(bank), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=bank.parent)
    assert process.stderr is not None
    try:
        said = process.stderr.readline()  # the address, once the socket is bound; soon after it is listened to
        port = int(said.rpartition("/mcp")[0].rpartition(":")[2])
        for _ in range(300):
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), timeout=30):
                break
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=60)
        assert out == ""


def status(port: int, method: str = "POST", **headers: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}} if method == "POST" else None
    told = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    connection.request(method, "/mcp", json.dumps(asked) if asked else None, told)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def test_over_http_no_page_of_a_browser_is_answered(toy_bank: str, tmp_path: Path) -> None:  # noqa: F811
    async def use(port: int) -> None:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            assert (await call(client, "skilldelta_route", **QUESTION))["action"] == "use"

    with served(tmp_path / toy_bank) as port:
        anyio.run(use, port)
        assert status(port, Host="evil.example") == 403
        assert status(port, Host="127.0.0.1.evil.example") == 403
        assert status(port, Origin="http://evil.example") == 403
        assert status(port, **{"Sec-Fetch-Site": "cross-site"}) == 403
        assert status(port, "GET", Origin="http://evil.example") == 403
        assert status(port, **{"Content-Type": "text/plain"}) == 415
        assert status(port, **{"Content-Length": str(1 << 30)}) == 413


def test_where_tokens_are_asked_for_nothing_is_answered_without_one(
    toy_bank: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    from skilldelta.serve.access_tokens import TokenFile

    tokens = TokenFile(tmp_path / "tokens.json")
    write = tokens.create("a writer", "write", now=time.time())
    read = tokens.create("a reader", "read", now=time.time())
    with served(tmp_path / toy_bank, "--require-token", "--tokens", str(tmp_path / "tokens.json")) as port:
        assert status(port) == 401
        assert status(port, "GET") == 401
        assert status(port, Authorization="Bearer wrong") == 401
        assert status(port, Authorization=f"Bearer {read}") == 403
        assert status(port, Authorization=f"Bearer {write}") not in (401, 403)


def test_another_address_needs_tokens(skilldelta: Skilldelta, toy_bank: str, tmp_path: Path) -> None:  # noqa: F811
    words = ["--http", "--host", "0.0.0.0", "--tokens", tmp_path / "none.json"]
    ran = skilldelta("mcp", "--bank", toy_bank, *words)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "skilldelta token create" in ran.err


def test_every_setting_of_a_gate_is_an_argument(toy_bank: str) -> None:  # noqa: F811
    from skilldelta.gate_settings import GATE_SETTINGS

    async def use() -> None:
        with GateService.open(toy_bank) as service:
            async with Client(mcp_server(service)) as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                for name in ("skilldelta_route", "skilldelta_choose"):
                    schema = json.dumps(tools[name].input_schema)
                    assert all(f'"{setting.name}"' in schema for setting in GATE_SETTINGS)
                gate = {"estimator": "paper", "rule": "three-way", "interval": "exact", "k": 2}
                routed = await call(client, "skilldelta_route", **QUESTION, gate=gate)
                assert (routed["action"], routed["estimator"]) == ("abstain", "paper")
                error = await refusal(client, "skilldelta_route", **QUESTION, gate={"rule": "bold"})
                assert "bold" in error

    anyio.run(use)
