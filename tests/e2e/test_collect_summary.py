"""What a collection says about itself: exit codes, reasons, the whole after a resume, unknown against zero, progress."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import completion, serving
from collect.suites import solve, write_suite
from skilldelta.bank import Bank
from skilldelta.cli import collect_display
from skilldelta.cli.main import run
from skilldelta.collect.collection_progress import CollectionProgress

Said = Callable[[], tuple[str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    return lambda: tuple(capsys.readouterr())  # type: ignore[return-value]


def collect(suite: Path, *options: str) -> int:
    return run(["collect", str(suite), "--bank", str(suite.parent / "b.bank"), "--retries", "0", *options])


def agent(folder: Path, code: str, name: str = "agent.py") -> str:
    path = folder / name
    path.write_text(code)
    return f"{sys.executable} {path}"


def test_a_collection_in_which_everything_fails_says_why_and_is_no_success(tmp_path: Path, said: Said) -> None:
    suite = write_suite(tmp_path / "suite", tasks=3)
    command = agent(tmp_path, "import sys\nsys.exit('no licence' if 'Always' in sys.stdin.read() else 'no key')\n")
    options = ["--command", command, "--agent-version", "1"]
    (suite / "skills" / "arith" / "SKILL.md").write_text("---\nname: arith\ndescription: d\n---\nAlways.\n")
    assert collect(suite, *options) == 1
    _, errors = said()
    assert "not counted: 6 incomplete; no execution has a result" in errors
    assert "  3 × the command ended with exit code 1: no key" in errors
    assert "  3 × the command ended with exit code 1: no licence" in errors
    assert "--retry-errors" in errors
    # The rerun runs nothing, and does not look like a success either.
    assert collect(suite, *options) == 1
    out, errors = said()
    assert "6 of 6 executions in the bank, 0 run now" in out
    assert "6 calls, tokens unknown." in out, "what a failed command used is not known"
    assert "  3 × the command ended with exit code 1: no key" in errors
    assert "--retry-errors" in errors
    assert collect(suite, *options, "--json") == 1
    document = json.loads(said()[0])
    assert document["errors"] == {"incomplete": 6}
    assert sorted((one["count"], one["reason"][-6:]) for one in document["reasons"]) == [(3, "icence"), (3, "no key")]
    agent(tmp_path, "print('1')\n")
    assert collect(suite, *options, "--retry-errors") == 0
    assert "not counted" not in said()[1]


def test_one_start_in_which_everything_fails_is_no_success_either(tmp_path: Path, said: Said) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2)
    command = agent(tmp_path, "import sys\nprint('1') if '0' in sys.stdin.read() else sys.exit('broken')\n")
    options = ["--command", command, "--agent-version", "1"]
    assert collect(suite, *options, "--task", "t0") == 0
    assert collect(suite, *options) == 1
    assert "not counted: 2 incomplete\n" in said()[1]


def test_grader_errors_of_different_tasks_are_one_reason(tmp_path: Path, said: Said) -> None:
    suite = write_suite(tmp_path / "suite", tasks=3)
    (suite / "suite.yaml").write_text("name: small\ngrader: {type: python, function: 'g.py:grade'}\n")
    (suite / "g.py").write_text("def grade(answer, task):\n    raise OSError('no table')\n")
    with serving(solve) as endpoint:
        assert collect(suite, "--base-url", endpoint.url, "--model", "m") == 1
    assert "  6 × grader of a task: OSError: no table" in said()[1]


def test_after_a_resume_the_whole_collection_is_shown_with_this_start_beside_it(tmp_path: Path, said: Said) -> None:
    suite = write_suite(tmp_path / "suite", tasks=4)
    right = True

    def reply(request: dict[str, Any]) -> str:
        return solve(request) if right else "wrong"

    with serving(reply) as endpoint:
        options = ["--base-url", endpoint.url, "--model", "m"]
        assert collect(suite, *options, "--task", "t0", "--task", "t1", "--task", "t2") == 0
        said()
        right = False
        assert collect(suite, *options, "--json") == 0
        document = json.loads(said()[0])
        assert document["arms"]["use"] == {"counted": 4, "success": 0.75, "tokens": 12.0}
        assert document["arms"]["skip"]["success"] == 0.0
        assert document["now"]["arms"]["use"] == {"counted": 1, "success": 0.0, "tokens": 12.0}
        assert (document["planned"], document["before"], document["finished"], document["left"]) == (8, 6, 2, 0)
        assert collect(suite, *options, "--repetitions", "2") == 0
        shown = said()[0]
    assert "16 of 16 executions in the bank, 8 run now" in shown
    (row,) = [line.split() for line in shown.splitlines() if line.strip().startswith("with skill")]
    assert row == ["with", "skill", "8", "37.5%", "12", "4", "0.0%"]
    assert max(map(len, shown.splitlines()[:8])) <= 80


def test_a_dry_run_starts_nothing_of_a_command_and_later_knows_its_last_version(tmp_path: Path, said: Said) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2)
    marker = tmp_path / "started"
    code = (
        f"import pathlib, sys\npathlib.Path({str(marker)!r}).open('a').write('x')\n"
        "print('v7') if '--version' in sys.argv else print('1')\n"
    )
    path = tmp_path / "agent"
    path.write_text(f"#!{sys.executable}\n{code}")
    path.chmod(0o755)
    options = ["--command", str(path)]
    assert collect(suite, *options, "--dry-run") == 0
    shown, _ = said()
    assert not marker.exists()
    assert "not started, not even for its version" in shown
    assert "What the bank has of this command is not known" in shown
    assert collect(suite, *options, "--dry-run", "--json") == 0
    document = json.loads(said()[0])
    assert (document["agent"]["fingerprint"], document["in_bank"], document["largest"]) == (
        None,
        None,
        {"tokens": None, "usd": None},
    )
    assert collect(suite, *options, "--task", "t0") == 0
    runs = marker.read_text()
    assert len(runs) == 3, "one version and two executions"
    said()
    assert collect(suite, *options, "--dry-run") == 0
    assert marker.read_text() == runs
    shown, _ = said()
    assert "its version was 'v7' at the last start" in shown
    assert "In the bank: 2. The other 2: tokens unknown" in shown


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_relative_command_is_found_from_where_the_person_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    (tmp_path / "here").mkdir()
    script = tmp_path / "here" / "agent.sh"
    script.write_text("#!/bin/sh\ncat > seen.txt\necho 1\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.chdir(tmp_path / "here")
    assert collect(suite, "--command", "./agent.sh") == 0
    with Bank.open(tmp_path / "b.bank") as bank:
        assert [one.success for one in bank.executions()] == [1.0, 1.0]
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["agent.sh"], "it ran in folders of its own"


def test_an_estimate_takes_each_arm_at_its_own_average(tmp_path: Path, said: Said) -> None:
    suite = write_suite(tmp_path / "suite", tasks=4)

    def reply(request: dict[str, Any]) -> tuple[int, bytes]:
        tokens = 1000 if len(request["messages"]) > 1 else 10
        return 200, completion(solve(request), model="m", tokens_in=tokens, tokens_out=0)

    with serving(reply) as endpoint:
        options = ["--base-url", endpoint.url, "--model", "m", "--price", "1", "1"]
        # One arm has more left than the other: two runs without the skill, one with it.
        assert collect(suite, *options, "--aa", "skip", "--task", "t0") == 0
        assert collect(suite, *options, "--task", "t0") == 0
        said()
        assert collect(suite, *options, "--repetitions", "2", "--dry-run", "--json") == 0
    document = json.loads(said()[0])
    assert document["in_bank"] == 3
    assert document["expected_tokens"] == 6 * 10 + 7 * 1000
    assert document["expected_usd"] == pytest.approx((6 * 10 + 7 * 1000) / 1e6)


def test_unknown_tokens_and_prices_are_unknown_and_still_bounded_by_a_cap(tmp_path: Path, said: Said) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2)

    def silent(request: dict[str, Any]) -> tuple[int, bytes]:
        answer = json.loads(completion(solve(request), model="m"))
        del answer["usage"]
        return 200, json.dumps(answer).encode()

    with serving(silent) as endpoint:
        options = ["--base-url", endpoint.url, "--model", "m", "--concurrency", "1"]
        assert collect(suite, *options, "--json") == 0
        document = json.loads(said()[0])
        assert document["arms"]["use"]["tokens"] is None
        assert (document["spend"]["tokens"], document["spend"]["usd"]) == (None, None)
        assert (document["spend"]["calls_without_tokens"], document["spend"]["calls_without_price"]) == (4, 4)
        assert collect(suite, *options) == 0
        assert "4 calls, tokens unknown." in said()[0]
        (ledger,) = tmp_path.glob("b.bank.collect/*/ledger.jsonl")
        settled = [json.loads(line) for line in ledger.read_text().splitlines() if "settled" in line]
        assert all(one["settled"] == {"tokens": None, "usd": None} for one in settled)
        # Without counts the cap holds by what the calls can have taken at most, also after a restart.
        assert collect(suite, *options, "--repetitions", "2", "--max-tokens", "4000") == 1
        assert "cap of 4,000 tokens has no room" in said()[1]
        assert len(endpoint.bodies) == 4
    with Bank.open(tmp_path / "b.bank") as bank:
        assert {(one.tokens, one.cost_usd) for one in bank.executions()} == {(None, None)}


def test_the_tokens_that_are_shown_never_fall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = write_suite(tmp_path / "suite", tasks=10)
    seen: list[float] = []

    def watch() -> Callable[[CollectionProgress], None]:
        return lambda progress: seen.append(progress.spend.tokens)

    monkeypatch.setattr(collect_display, "_lines", watch)
    with serving(solve, delay=0.01) as endpoint:
        assert collect(suite, "--base-url", endpoint.url, "--model", "m", "--concurrency", "8") == 0
    assert seen == sorted(seen)
    assert seen[-1] == 20 * 12
    assert seen[0] <= 8 * 12, "calls in flight are not spent yet"


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    advance = collect_display._lines()
    progress = CollectionProgress(planned=1000, before=0)
    for second in range(1, 101):
        progress.seconds = float(second)
        progress.finished = second // 4  # slow: the time decides
        advance(progress)
    assert len(capsys.readouterr().err.splitlines()) == 3
    for second in range(101, 121):
        progress.seconds = float(second)
        progress.finished = min(1000, progress.finished + 50)  # fast: the share decides, but not every second
        advance(progress)
    lines = capsys.readouterr().err.splitlines()
    assert 3 <= len(lines) <= 5
    assert lines[-1].startswith("1000/1000 ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--timeout", "0"], "the timeout must be a number of seconds above 0, got 0"),
        (["--timeout", "nan"], "the timeout must be"),
        (["--timeout", "inf"], "the timeout must be"),
        (["--temperature", "-1"], "--temperature must be a number of at least 0, got -1"),
        (["--temperature", "nan"], "--temperature must be"),
        (["--output-tokens", "0"], "--output-tokens must be at least 1"),
        (["--max-usd", "nan", "--price", "1", "1"], "a cap of nan usd could never bind"),
        (["--max-usd", "inf", "--price", "1", "1"], "a cap of inf usd could never bind"),
        (["--max-usd", "-1", "--price", "1", "1"], "a cap of -1.0 usd allows no call"),
        (["--max-tokens", "nan"], "a cap of nan tokens could never bind"),
        (["--max-seconds", "-inf"], "a cap of -inf seconds could never bind"),
        (["--price", "nan", "1"], "a price must be a number of dollars of at least 0, got nan"),
        (["--price", "1", "-2"], "a price must be"),
        (["--base-url", "http://127.0.0.1:99999/v1"], "must be an http or https URL"),
        (["--base-url", "http://127.0.0.1:99999/v1", "--solver", "react"], "must be an http or https URL"),
        (["--base-url", "http://a:secret@127.0.0.1/v1"], "must not hold a user or key"),
        (["--judge-model", "j", "--judge-base-url", "http://h:port"], "must be an http or https URL"),
    ],
)
def test_bad_numbers_and_addresses_are_one_line_before_anything_runs(
    tmp_path: Path, said: Said, options: list[str], words: str
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    with serving(solve) as endpoint:
        assert collect(suite, "--base-url", endpoint.url, "--model", "m", *options) == 2
        assert endpoint.bodies == []
    out, errors = said()
    assert out == ""
    assert words in errors
    assert "secret" not in errors
    assert len(errors.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [suite]


@pytest.mark.parametrize("option", [["--timeout", "nan"], ["--temperature", "nan"]])
def test_a_bad_number_is_refused_with_a_command_too(tmp_path: Path, option: list[str]) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    started = tmp_path / "started"
    command = agent(tmp_path, f"open({str(started)!r}, 'w')\n")
    assert collect(suite, "--command", command, *option) == 2
    assert not started.exists()


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
    tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    monkeypatch.setenv("SKILLDELTA_API_KEY", "ключ")
    with serving(solve) as endpoint:
        assert collect(suite, "--base-url", endpoint.url, "--model", "m") == 2
    errors = said()[1]
    assert "no HTTP header can carry" in errors
    assert "ключ" not in errors


def test_empty_answers_are_counted_and_a_stop_names_the_bound_of_the_rest(tmp_path: Path, said: Said) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2)
    asked = []

    def mute(request: dict[str, Any]) -> tuple[int, bytes]:
        asked.append(request)
        return 200, completion("" if len(asked) == 1 else solve(request), model="m")

    with serving(mute) as endpoint:
        options = ["--base-url", endpoint.url, "--model", "m", "--concurrency", "1"]
        collect(suite, *options, "--max-calls", "3")
        out, errors = said()
        assert "1 answer is empty, and counted as a failure" in out
        assert "The other 1 execution: at most " in out
        assert "stopped with 1 execution left" in errors
        assert collect(suite, *options, "--json") == 0
        assert json.loads(said()[0])["empty_answers"] == 1
