"""Collections on Inspect AI: its providers, its solvers and agents, its logs, under our budget and into our bank."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import Endpoint, completion, serving
from collect.suites import SKILL, solve, write_suite
from skilldelta.bank import Bank
from skilldelta.cli.main import run

pytest.importorskip("inspect_ai")

TWO_CALLS = """\
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.solver import solver

@solver
def twice(question="Compute 9"):
    async def solve(state, generate):
        await get_model().generate([ChatMessageUser(content=question)])
        return await generate(state)
    return solve
"""


def collect(suite: Path, endpoint: Endpoint, *options: str) -> int:
    bank = str(suite.parent / "b.bank")
    return run(
        ["collect", str(suite), "--base-url", endpoint.url, "--model", "m", "--bank", bank, "--retries", "0", *options]
    )


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = write_suite(tmp_path / "suite", tasks=2, settings="agent: {system: Be exact.}")
    (folder / "mine.py").write_text(TWO_CALLS)
    return folder


def test_a_solver_from_a_file_runs_in_both_arms_with_every_call_on_the_ledger(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(solve) as endpoint:
        options = ["--solver", "mine.py@twice", "--solver-arg", "question=Compute 8", "--json"]
        assert collect(suite, endpoint, *options) == 0
        assert collect(suite, endpoint, *options) == 0
    assert len(endpoint.bodies) == 4 * 2
    with Bank.open(suite.parent / "b.bank") as bank:
        found = sorted((one.task_id, one.condition, one.success, one.tokens) for one in bank.executions())
    assert found == [("t0", "skip", 0, 24), ("t0", "use", 1, 24), ("t1", "skip", 0, 24), ("t1", "use", 1, 24)]
    spend = json.loads(capsys.readouterr().out.partition("\n}\n")[0] + "\n}")["spend"]
    assert (spend["calls"], spend["tokens"]) == (8, 96)


def test_the_arms_sent_through_inspect_differ_by_the_skill_message_and_nothing_else(suite: Path) -> None:
    with serving(solve) as endpoint:
        assert (
            collect(
                suite, endpoint, "--solver", "mine.py@twice", "--repetitions", "2", "--concurrency", "1", "--send-seed"
            )
            == 0
        )
    tasks = [body for body in endpoint.bodies if b"Compute 9" not in body]
    with_skill = {body for body in tasks if SKILL.encode() in body}
    assert len(with_skill) == 4
    assert {_without_skill(body) for body in with_skill} == set(tasks) - with_skill
    assert {json.loads(body)["seed"] for body in endpoint.bodies} == {0, 1}


def _without_skill(body: bytes) -> bytes:
    for space in (b"", b" "):
        message = b'{"role":' + space + b'"system","content":' + space + json.dumps(SKILL).encode() + b"}," + space
        if message in body:
            return body.replace(message, b"", 1)
    raise AssertionError(body)


def test_an_inspect_log_holds_every_execution_with_its_success(suite: Path) -> None:
    from inspect_ai.log import read_eval_log

    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--solver", "mine.py@twice") == 0
    logs = [path for path in suite.parent.glob("b.bank.collect/*/*.eval") if "transcript" not in path.name]
    log = read_eval_log(str(logs[0]))
    assert log.samples is not None
    scores = {str(sample.id): sample.scores["success"].value for sample in log.samples if sample.scores}
    assert scores == {"t0/use/0": 1.0, "t0/skip/0": 0.0, "t1/use/0": 1.0, "t1/skip/0": 0.0}


def test_self_judgements_of_an_inspect_agent_are_planned_without_a_call(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--solver", "mine.py@twice", "--self-judge", "--dry-run", "--json") == 0
        assert endpoint.bodies == []
    plan = json.loads(capsys.readouterr().out)
    assert (plan["model"], plan["calls"]) == ("openai-api/skilldelta/m", 2)
    assert plan["largest"]["tokens"] > 2 * 512


def test_a_cap_stops_inspect_between_two_calls(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--solver", "mine.py@twice", "--max-calls", "3", "--concurrency", "1") == 1
        assert len(endpoint.bodies) == 3
    assert "the cap of 3 calls is reached" in capsys.readouterr().err
    with Bank.open(suite.parent / "b.bank") as bank:
        assert len(list(bank.executions())) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [((401, b'{"error": {"message": "no key"}}'), "refused the key"), ((500, b"{}"), "fix the endpoint")],
)
def test_a_provider_that_refuses_or_is_silent_stops_the_run(
    suite: Path, capsys: pytest.CaptureFixture[str], answer: tuple[int, bytes], said: str
) -> None:
    with serving(lambda request: answer) as endpoint:
        assert collect(suite, endpoint, "--solver", "mine.py@twice", "--concurrency", "1") == 2
    assert said in capsys.readouterr().err.strip().splitlines()[-1]
    with Bank.open(suite.parent / "b.bank") as bank:
        assert list(bank.executions()) == []


def test_another_model_than_asked_stops_the_run(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(solve, model="someone-else") as endpoint:
        assert collect(suite, endpoint, "--solver", "mine.py@twice", "--concurrency", "1") == 2
    assert "the endpoint answered as 'someone-else'" in capsys.readouterr().err


def test_a_solver_that_breaks_is_recorded_as_incomplete(suite: Path) -> None:
    (suite / "mine.py").write_text(TWO_CALLS.replace("return await generate(state)", "raise KeyError('bug')"))
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--solver", "mine.py@twice") == 1
    with Bank.open(suite.parent / "b.bank") as bank:
        assert {(one.status, one.success) for one in bank.executions()} == {("incomplete", None)}


@pytest.mark.slow
def test_one_of_inspects_own_agents_can_be_named(suite: Path) -> None:
    def submit(request: dict[str, Any]) -> tuple[int, bytes]:
        call = {"id": "1", "type": "function", "function": {"name": "submit", "arguments": '{"answer": "1"}'}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        answer = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
        return 200, json.dumps(answer).encode()

    with serving(submit) as endpoint:
        assert collect(suite, endpoint, "--solver", "react", "--task", "t0") == 0
    with Bank.open(suite.parent / "b.bank") as bank:
        assert [one.success for one in bank.executions()] == [1.0, 1.0]
    assert all(json.loads(body)["tools"] for body in endpoint.bodies)


def test_an_endpoint_without_token_counts_leaves_tokens_unknown_and_asks_no_tokenizer(suite: Path) -> None:
    def reply(request: dict[str, Any]) -> tuple[int, bytes]:
        answer = json.loads(completion(solve(request), model="m"))
        del answer["usage"]
        return 200, json.dumps(answer).encode()

    with serving(reply) as endpoint:
        assert collect(suite, endpoint, "--solver", "mine.py@twice", "--task", "t0") == 0
    with Bank.open(suite.parent / "b.bank") as bank:
        assert {one.tokens for one in bank.executions()} == {None}
        assert {one.status for one in bank.executions()} == {"completed"}


@pytest.mark.slow
def test_ctrl_c_stops_an_inspect_evaluation_and_the_next_start_goes_on(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=6)
    (suite / "mine.py").write_text(TWO_CALLS)
    options = ["--model", "m", "--bank", str(tmp_path / "b.bank"), "--concurrency", "2", "--solver", "mine.py@twice"]
    with serving(solve, delay=0.2) as endpoint:
        command = [sys.executable, "-m", "skilldelta", "collect", str(suite), "--base-url", endpoint.url, *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while len(endpoint.bodies) < 8 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert (process.returncode, "Traceback" in said) == (130, False), said
        endpoint.delay = 0.0
        assert collect(suite, endpoint, *options[4:]) == 0
    with Bank.open(tmp_path / "b.bank") as bank:
        keys = [(one.task_id, one.condition) for one in bank.executions()]
    assert len(keys) == len(set(keys)) == 12
