"""Whole collections through the command line: caps, errors, resume, A/A, self-judge, logs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import Endpoint, completion, serving
from collect.suites import SKILL, solve, write_suite
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from skilldelta.records import Execution
from skilldelta.redaction import redacted


def collect(suite: Path, endpoint: Endpoint | str, *options: str) -> int:
    url = endpoint if isinstance(endpoint, str) else endpoint.url
    bank = str(suite.parent / "b.bank")
    return run(["collect", str(suite), "--base-url", url, "--model", "m", "--bank", bank, "--retries", "0", *options])


def executions(suite: Path) -> list[Execution]:
    with Bank.open(suite.parent / "b.bank") as bank:
        return list(bank.executions())


def statuses(suite: Path) -> Counter[str]:
    return Counter(one.status for one in executions(suite))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "suite", tasks=4)


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The single error line; no traceback."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    return lines[0]


def test_a_dry_run_prints_the_plan_and_calls_nothing(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--dry-run", "--repetitions", "2", "--price", "1", "2", "--json") == 0
        assert endpoint.bodies == []
    plan = json.loads(capsys.readouterr().out)
    assert (plan["tasks"], plan["executions"], len(plan["plan"])) == (4, 16, 16)
    assert plan["largest"]["tokens"] > 16 * 1024
    assert 0 < plan["largest"]["usd"] < 1
    assert not (suite.parent / "b.bank").exists()


def test_what_the_bank_has_is_not_run_again(suite: Path) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint) == 0
        assert collect(suite, endpoint) == 0
        assert len(endpoint.bodies) == 8
        assert collect(suite, endpoint, "--repetitions", "2") == 0
        assert len(endpoint.bodies) == 16


def test_no_more_executions_run_at_once_than_asked(suite: Path) -> None:
    with serving(solve, delay=0.05) as endpoint:
        assert collect(suite, endpoint, "--concurrency", "3") == 0
    assert endpoint.most_open == 3


def test_a_reached_cap_ends_the_run_and_a_raised_one_goes_on(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--max-calls", "3", "--concurrency", "1") == 1
        assert "stopped with 5 executions left: the cap of 3 calls is reached" in capsys.readouterr().err
        assert len(endpoint.bodies) == len(executions(suite)) == 3
        assert collect(suite, endpoint, "--max-calls", "3") == 1
        assert len(endpoint.bodies) == 3
        assert collect(suite, endpoint, "--max-calls", "8") == 0
    assert len(endpoint.bodies) == len(executions(suite)) == 8


def test_dollars_are_booked_with_every_execution(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--price", "1000", "5000", "--max-usd", "50", "--json") == 0
    assert {one.cost_usd for one in executions(suite)} == {10 * 0.001 + 2 * 0.005}
    assert json.loads(capsys.readouterr().out)["spend"]["usd"] == pytest.approx(8 * 0.02)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-calls", "0"], "a cap of 0 calls allows no call"),
        (["--max-usd", "1"], "--max-usd needs prices"),
        (["--solver", "no_such_solver"], "unknown solver 'no_such_solver'"),
        (["--task", "t9"], "unknown task 't9'; did you mean"),
        (["--base-url", "nowhere"], "must be an http or https URL"),
        (["--model", ""], "no agent named"),
        (["--command", "no-such-program"], "the command 'no-such-program' is not on this machine"),
        (["--tool-sandbox", "local", "--base-url", "", "--model", "x/y"], "unprotected"),
        (["--base-url", "", "--model", "nosuch/model"], "model 'nosuch/model' cannot be used"),
    ],
)
def test_bad_options_are_one_line_and_nothing_is_called(
    suite: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, *options) == 2
        assert said in one_line(capsys)
        assert endpoint.bodies == []


def test_an_endpoint_that_is_down_is_one_line_and_leaves_no_execution(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(solve) as endpoint:
        pass
    assert collect(suite, endpoint) == 2
    assert "nothing answers at" in one_line(capsys)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, b'{"error": {"message": "no key"}}'), "refused the key (HTTP 401: no key)"),
        ((404, b'{"error": {"message": "no such model"}}'), "does not know model 'm'"),
        ((200, b"not json"), "not a chat completion"),
        ((503, b"busy"), "HTTP 503: busy"),
    ],
)
def test_an_endpoint_that_never_answers_properly_stops_the_run_with_nothing_recorded(
    suite: Path, capsys: pytest.CaptureFixture[str], answer: tuple[int, bytes], said: str
) -> None:
    with serving(lambda request: answer) as endpoint:
        assert collect(suite, endpoint) == 2
    assert said in one_line(capsys)
    assert executions(suite) == []


def test_another_model_than_asked_stops_the_run(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(solve, model="someone-else") as endpoint:
        assert collect(suite, endpoint) == 2
    assert "asked for model 'm', the endpoint answered as 'someone-else'" in one_line(capsys)
    assert executions(suite) == []


def test_a_transport_error_is_recorded_as_such_and_tried_again_by_the_next_start(suite: Path) -> None:
    broken = True

    def reply(request: dict[str, Any]) -> Any:
        return (502, b"gone") if broken and "Compute 2" in str(request["messages"]) else solve(request)

    with serving(reply) as endpoint:
        assert collect(suite, endpoint, "--concurrency", "1") == 0
        assert statuses(suite) == {"completed": 6, "transport_error": 2}
        with Bank.open(suite.parent / "b.bank") as bank:
            pairing = bank.pairing(agent=bank.resolve_agent(None))
        assert [pair.task_id for pair in pairing.pairs] == ["t0", "t1", "t3"]
        broken = False
        assert collect(suite, endpoint) == 0
        assert len(endpoint.bodies) == 10
    with Bank.open(suite.parent / "b.bank") as bank:
        assert len(bank.pairing(agent=bank.resolve_agent(None)).pairs) == 4


def test_many_errors_in_a_row_stop_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = write_suite(tmp_path / "suite", tasks=40)
    with serving(lambda request: solve(request) if "Compute 0" in str(request) else (502, b"gone")) as endpoint:
        assert collect(suite, endpoint, "--concurrency", "1") == 2
        assert "20 executions in a row came to nothing" in one_line(capsys)
    assert len(endpoint.bodies) <= 23


def test_a_grader_that_crashes_is_a_grader_error_and_no_failure(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2, settings="")
    (suite / "suite.yaml").write_text("name: small\ngrader: {type: python, function: 'g.py:grade'}\n")
    (suite / "g.py").write_text("def grade(answer, task):\n    return 1 / int(task['text'].split()[-1]) == 1\n")
    with serving(solve) as endpoint:
        assert collect(suite, endpoint) == 0
        crashed = [one for one in executions(suite) if one.task_id == "t0"]
        assert [(one.status, one.success) for one in crashed] == [("grader_error", None)] * 2
        assert collect(suite, endpoint) == 0
        assert len(endpoint.bodies) == 4
        (suite / "g.py").write_text("def grade(answer, task):\n    return True\n")
        assert collect(suite, endpoint, "--retry-errors", "--accept-changes") == 0
        assert len(endpoint.bodies) == 6


def test_an_edited_suite_is_refused_with_the_difference(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--task", "t0") == 0
        capsys.readouterr()
        write_suite(suite, tasks=4, skill="Another text.")
        assert collect(suite, endpoint) == 2
        assert "skill 'arith' changed" in one_line(capsys)
        assert len(endpoint.bodies) == 2
        # Going on keeps the no-skill runs and runs the new version of the skill.
        assert collect(suite, endpoint, "--task", "t0", "--accept-changes") == 0
        assert len(endpoint.bodies) == 3


def test_a_second_collector_of_the_same_run_is_kept_out(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import threading

    with serving(solve, delay=0.5) as endpoint:
        first = threading.Thread(target=_in_child, args=(suite, endpoint))
        first.start()
        while not endpoint.bodies:
            time.sleep(0.01)
        assert collect(suite, endpoint) == 2
        assert "is at work in" in one_line(capsys)
        first.join()
    assert len(executions(suite)) == 8


def _in_child(suite: Path, endpoint: Endpoint) -> None:
    start(suite, endpoint).communicate()


def start(suite: Path, endpoint: Endpoint) -> subprocess.Popen[str]:
    options = ["--model", "m", "--bank", str(suite.parent / "b.bank"), "--concurrency", "2", "--retries", "0"]
    command = [sys.executable, "-m", "skilldelta", "collect", str(suite), "--base-url", endpoint.url, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_stops_at_once_and_the_next_start_goes_on(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=10)
    with serving(solve, delay=0.1) as endpoint:
        process = start(suite, endpoint)
        while len(endpoint.bodies) < 6:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "stopped; run the same command to go on" in said
        assert "Traceback" not in said
        done = len(executions(suite))
        assert 0 < done < 20
        assert collect(suite, endpoint) == 0
    assert len(executions(suite)) == 20
    ledger = next(tmp_path.glob("b.bank.collect/*/ledger.jsonl")).read_text()
    assert ledger.count('"reserved"') == ledger.count('"settled"')


def test_an_aa_run_measures_the_noise_of_one_condition(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def moody(request: dict[str, Any]) -> str:
        number = int(request["messages"][-1]["content"].split()[-1])
        return str(2 * number + 1) if request["seed"] == 1 and number < 2 else "wrong"

    with serving(moody) as endpoint:
        assert collect(suite, endpoint, "--aa", "--send-seed") == 0
        assert all(SKILL.encode() not in body for body in endpoint.bodies)
    assert Counter((one.condition, one.repetition) for one in executions(suite)) == {("skip", 0): 4, ("skip", 1): 4}
    assert "without skill twice on 4 tasks: difference +0.500, changed outcomes 50.0%" in capsys.readouterr().out


def test_self_judgements_are_asked_once_and_stored_with_their_tokens(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = {
        "Compute 0": "USE_SKILL",
        "Compute 1": "no_skill",
        "Compute 2": "USE_SKILL or NO_SKILL?",
        "Compute 3": "",
    }

    def reply(request: dict[str, Any]) -> str:
        text = request["messages"][0]["content"]
        if "USE_SKILL" not in text:
            return solve(request)
        assert SKILL in text
        return next(said for task, said in replies.items() if task in text)

    with serving(reply) as endpoint:
        assert collect(suite, endpoint, "--self-judge") == 2
        assert "collect without --self-judge first" in one_line(capsys)
        assert collect(suite, endpoint) == 0
        capsys.readouterr()
        assert collect(suite, endpoint, "--self-judge", "--json") == 0
        assert collect(suite, endpoint, "--self-judge") == 0
        assert len(endpoint.bodies) == 8 + 4
    with Bank.open(suite.parent / "b.bank") as bank:
        stored = {one.task_id: (one.use, one.tokens) for one in bank.judgements(bank.resolve_agent(None), "small")}
    assert stored == {"t0": (True, 12.0), "t1": (False, 12.0), "t2": (False, 12.0), "t3": (False, 12.0)}
    assert json.loads(capsys.readouterr().out.partition("\n}\n")[0] + "\n}")["unclear"] == 2


def test_a_dry_run_of_self_judgements_plans_them_and_calls_nothing(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def reply(request: dict[str, Any]) -> str:
        return "USE_SKILL" if "USE_SKILL" in str(request["messages"]) else solve(request)

    with serving(reply) as endpoint:
        assert collect(suite, endpoint, "--self-judge", "--dry-run", "--price", "1", "2") == 0
        shown = capsys.readouterr()
        assert "4 calls to m, one per task, at most" in shown.out
        assert "Nothing was called." in shown.out
        assert "collect without --self-judge first" in shown.err
        assert endpoint.bodies == []
        assert not (suite.parent / "b.bank").exists()
        assert collect(suite, endpoint) == 0
        assert collect(suite, endpoint, "--self-judge", "--task", "t0") == 0
        calls = len(endpoint.bodies)
        capsys.readouterr()
        assert collect(suite, endpoint, "--self-judge", "--dry-run", "--price", "1", "2", "--json") == 0
        assert len(endpoint.bodies) == calls
    plan = json.loads(capsys.readouterr().out)
    assert (plan["model"], plan["judgements"], plan["in_bank"], plan["calls"]) == ("m", 4, 1, 3)
    assert [one["task_id"] for one in plan["plan"]] == ["t1", "t2", "t3"]
    assert plan["expected_tokens"] == 3 * 12
    assert plan["largest"]["tokens"] > 3 * 512
    assert 0 < plan["largest"]["usd"] < 0.1


def test_a_command_cannot_be_asked_for_its_judgement_not_even_in_a_plan(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["collect", str(suite), "--command", "cat", "--self-judge", "--dry-run"]) == 2
    assert "cannot be asked for its own judgement" in one_line(capsys)


def test_the_logs_open_in_inspect(suite: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    with serving(lambda request: (502, b"gone") if "Compute 3" in str(request) else solve(request)) as endpoint:
        assert collect(suite, endpoint, "--concurrency", "1") == 0
    (path,) = suite.parent.glob("b.bank.collect/*/*.eval")
    header = log_module.read_eval_log(str(path), header_only=True)
    assert (header.status, header.eval.task, header.results.total_samples) == ("success", "small", 8)
    metrics = {name: metric.value for name, metric in header.results.scores[0].metrics.items()}
    assert metrics == {"mean": 0.5, "with_skill": 1.0, "without_skill": 0.0}
    log = log_module.read_eval_log(str(path))
    samples = {sample.id: sample for sample in log.samples}
    used = samples["t1/use/0"]
    assert [message.role for message in used.messages] == ["system", "user", "assistant"]
    assert (used.scores["success"].value, used.output.completion, used.output.usage.total_tokens) == (1.0, "3", 12)
    assert "HTTP 502" in samples["t3/skip/0"].error.message
    assert len(log_module.read_eval_log_sample_summaries(str(path))) == 8


def test_every_execution_has_its_conversation_in_the_transcript(suite: Path) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint) == 0
    (path,) = suite.parent.glob("b.bank.collect/*/transcript.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert {row["sample"] for row in rows} == {f"t{i}/{arm}/0" for i in range(4) for arm in ("skip", "use")}
    assert all(row["messages"][-1]["content"].startswith("Compute") and row["reply"] for row in rows)


def test_an_agent_is_another_one_when_model_prompt_or_settings_change(suite: Path) -> None:
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--task", "t0") == 0
        assert collect(suite, endpoint, "--task", "t0", "--temperature", "0.5") == 0
        assert len(endpoint.bodies) == 4
    with Bank.open(suite.parent / "b.bank") as bank:
        assert len(bank.agents()) == 2


def test_the_settings_of_an_agent_are_in_its_manifest_and_its_key_is_nowhere(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLDELTA_API_KEY", "sk-very-secret")
    with serving(solve) as endpoint:
        assert collect(suite, endpoint) == 0
    assert endpoint.headers[0]["authorization"] == "Bearer sk-very-secret"
    written = b"".join(path.read_bytes() for path in suite.parent.rglob("*") if path.is_file())
    assert b"sk-very-secret" not in written
    (path,) = suite.parent.glob("b.bank.collect/*/manifest.json")
    assert json.loads(path.read_text())["settings"]["model"] == "m"


def test_an_endpoint_without_token_counts_leaves_tokens_unknown(suite: Path) -> None:
    def reply(request: dict[str, Any]) -> tuple[int, bytes]:
        answer = json.loads(completion(solve(request), model="m"))
        del answer["usage"]
        return 200, json.dumps(answer).encode()

    with serving(reply) as endpoint:
        assert collect(suite, endpoint) == 0
    assert {one.tokens for one in executions(suite)} == {None}


def test_what_is_written_down_holds_no_password_of_an_address() -> None:
    command = "skilldelta collect s --bank postgresql+psycopg://me:secret@db/x --base-url https://a:b@host/v1"
    assert redacted(command) == (
        "skilldelta collect s --bank postgresql+psycopg://me:***@db/x --base-url https://a:***@host/v1"
    )
