"""Both arms of a collection as the endpoint sees them, byte by byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from collect.endpoint import Endpoint, serving
from collect.suites import SKILL, solve, write_suite
from skilldelta.bank import Bank
from skilldelta.cli.main import run


def collect(suite: Path, bank: Path, endpoint: Endpoint, *options: str, model: str = "m") -> int:
    return run(
        [
            "collect",
            str(suite),
            "--base-url",
            endpoint.url,
            "--model",
            model,
            "--bank",
            str(bank),
            "--concurrency",
            "1",
            *options,
        ]
    )


def by_arm(endpoint: Endpoint) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Requests by task text: without and with the skill."""
    arms: tuple[dict[str, bytes], dict[str, bytes]] = ({}, {})
    for body in endpoint.bodies:
        request = json.loads(body)
        task = next(message["content"] for message in request["messages"] if message["role"] == "user")
        arms[SKILL.encode() in body][f"{task}/{request.get('seed', 0)}"] = body
    return arms


@pytest.mark.parametrize("system", ["", 'agent: {system: "Be exact.", temperature: 0.3, max_tokens: 9}'])
def test_the_requests_of_both_arms_differ_by_the_skill_message_and_nothing_else(tmp_path: Path, system: str) -> None:
    suite = write_suite(tmp_path / "suite", settings=system)
    with serving(solve) as endpoint:
        assert collect(suite, tmp_path / "b.bank", endpoint, "--repetitions", "2", "--send-seed") == 0
    without, with_skill = by_arm(endpoint)
    assert len(without) == len(with_skill) == 6
    inserted = json.dumps({"role": "system", "content": SKILL}, separators=(",", ":")).encode() + b","
    for task, body in with_skill.items():
        assert body.replace(inserted, b"", 1) == without[task]
        assert body.count(SKILL.encode()) == 1


def test_the_headers_of_both_arms_are_the_same_but_for_the_length(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    with serving(solve) as endpoint:
        assert collect(suite, tmp_path / "b.bank", endpoint) == 0
    first, second = ({k: v for k, v in headers.items() if k != "content-length"} for headers in endpoint.headers)
    assert first == second


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed, and the answers are run")
def test_the_code_solvers_arms_differ_by_the_skill_message_and_nothing_else(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2, settings="agent: {solver: code, system: Write solve().}")
    with serving(lambda request: "    return 1") as endpoint:
        assert collect(suite, tmp_path / "b.bank", endpoint) == 0
    without, with_skill = by_arm(endpoint)
    inserted = json.dumps({"role": "system", "content": SKILL}, separators=(",", ":")).encode() + b","
    assert {task: body.replace(inserted, b"", 1) for task, body in with_skill.items()} == without
    for body in without.values():
        assert [message["role"] for message in json.loads(body)["messages"]] == ["system", "user", "assistant"]


def test_what_was_collected_is_in_the_bank_as_pairs(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite")
    with serving(solve) as endpoint:
        assert collect(suite, tmp_path / "b.bank", endpoint) == 0
    with Bank.open(tmp_path / "b.bank") as bank:
        agent = bank.resolve_agent(None)
        pairs = bank.pairing(agent=agent, suite="small").pairs
    assert agent.name == "m"
    assert [(pair.task_id, pair.y0, pair.y1) for pair in pairs] == [
        ("t0", 0.0, 1.0),
        ("t1", 0.0, 1.0),
        ("t2", 0.0, 1.0),
    ]
    assert [(pair.tokens0, pair.tokens1) for pair in pairs] == [(12.0, 12.0)] * 3


def test_no_seed_is_sent_unless_asked(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    with serving(solve) as endpoint:
        assert collect(suite, tmp_path / "b.bank", endpoint, "--seed", "40") == 0
    assert all("seed" not in request for request in endpoint.requests)


def test_thinking_and_further_fields_reach_every_request_of_both_arms(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    extra = ["--no-thinking", "--extra-body", '{"top_k": 1}']
    with serving(solve) as endpoint:
        assert collect(suite, tmp_path / "b.bank", endpoint, *extra, model="qwen3-8b") == 0
        assert collect(suite, tmp_path / "c.bank", endpoint, "--reasoning-effort", "low", *extra) == 0
    first, second = endpoint.requests[:2], endpoint.requests[2:]
    assert {request["chat_template_kwargs"]["enable_thinking"] for request in first} == {False}
    assert all(request["top_k"] == 1 for request in endpoint.requests)
    assert {request["reasoning_effort"] for request in second} == {"low"}
    assert all("chat_template_kwargs" not in request for request in second)


def test_a_repetition_sends_another_sampling_seed_and_both_arms_the_same(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    with serving(solve) as endpoint:
        options = ("--repetitions", "3", "--seed", "40", "--send-seed")
        assert collect(suite, tmp_path / "b.bank", endpoint, *options) == 0
    assert [request["seed"] for request in endpoint.requests] == [40, 40, 41, 41, 42, 42]
