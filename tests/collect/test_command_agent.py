from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from collect.suites import SKILL, write_suite
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from skilldelta.collect.agents.base import Attempt
from skilldelta.collect.agents.command_agent import CommandAgent, OutputFields
from skilldelta.collect.agents.program_agent import USUAL_VARIABLES
from skilldelta.collect.budget import Budget
from skilldelta.collect.execution_errors import IncompleteError
from skilldelta.collect.ledger import Ledger
from skilldelta.collect.plan import Selection, make_plan
from skilldelta.collect.suite import load_suite
from skilldelta.errors import InputError
from skilldelta.records import Condition

ECHO = """\
import json, os, pathlib, sys
text = sys.stdin.read()
files = sorted(str(path) for path in pathlib.Path(".").rglob("*") if path.is_file())
print(json.dumps({"result": "ok", "args": sys.argv[1:], "stdin": text, "files": files, "usage": {"in": 5, "out": 2}, "cost": 0.5, "model": "m"}))
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "agent.py"
    path.write_text(ECHO)
    return f"{sys.executable} {path}"


def attempt(tmp_path: Path, condition: Condition) -> Attempt:
    suite = load_suite(write_suite(tmp_path / "suite", tasks=1))
    planned = next(one for one in make_plan(suite, Selection(), seed=0) if one.condition == condition)
    workdir = tmp_path / condition / "work"
    workdir.mkdir(parents=True, exist_ok=True)
    return Attempt(planned, SKILL if condition == "use" else "", 0, workdir)


def seen(tmp_path: Path, agent: CommandAgent, condition: Condition) -> dict[str, Any]:
    """What the program was given in one arm."""

    async def main() -> str:
        budget = Budget(Ledger(tmp_path / "ledger.jsonl"))
        try:
            return (await agent.run(attempt(tmp_path, condition), budget)).reply
        finally:
            await budget.close()

    given: dict[str, Any] = json.loads(asyncio.run(main()))
    return given


def test_the_task_goes_to_stdin_with_the_skill_before_it_in_the_use_arm_only(tmp_path: Path, program: str) -> None:
    agent = CommandAgent("a", program)
    assert seen(tmp_path, agent, "skip")["stdin"] == "Compute 0"
    assert seen(tmp_path, agent, "use")["stdin"] == f"{SKILL}\n\nCompute 0"


def test_the_task_can_be_an_argument_and_nothing_of_it_is_read_by_a_shell(tmp_path: Path, program: str) -> None:
    agent = CommandAgent("a", f"{program} --prompt {{task}} --more", task_as="argument")
    assert seen(tmp_path, agent, "skip")["args"] == ["--prompt", "Compute 0", "--more"]
    last = CommandAgent("a", program, task_as="argument")
    assert seen(tmp_path, last, "skip")["args"] == ["Compute 0"]


def test_the_skill_can_be_a_file_that_the_skip_arm_does_not_have(tmp_path: Path, program: str) -> None:
    agent = CommandAgent("a", program, skill_as="file:.agent/skills/{skill_name}/SKILL.md")
    assert seen(tmp_path, agent, "use")["files"] == [".agent/skills/arith/SKILL.md"]
    assert seen(tmp_path, agent, "skip")["files"] == []


def test_the_skill_can_be_arguments_that_the_skip_arm_does_not_have(tmp_path: Path, program: str) -> None:
    agent = CommandAgent("a", f"{program} -x", skill_as="args:--system {skill}", task_as="argument")
    assert seen(tmp_path, agent, "use")["args"] == ["-x", "--system", SKILL, "Compute 0"]
    assert seen(tmp_path, agent, "skip")["args"] == ["-x", "Compute 0"]


def test_a_skill_file_given_by_path_stays_outside_the_working_folder(tmp_path: Path, program: str) -> None:
    agent = CommandAgent("a", program, skill_as="args:--skill {skill_file}")
    given = seen(tmp_path, agent, "use")
    assert Path(given["args"][1]).read_text() == SKILL
    assert given["files"] == []


@pytest.mark.parametrize("skill_as", ["nonsense", "file:", "file:/etc/x", "file:../x", "args:--no-placeholder"])
def test_a_way_to_give_the_skill_that_cannot_be_is_refused(program: str, skill_as: str) -> None:
    with pytest.raises(InputError, match="the skill can be given as"):
        CommandAgent("a", program, skill_as=skill_as)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit('broke down')", "exit code 1: broke down"),
        ("print('no json')", "printed no JSON"),
        ("print('{\"other\": 1}')", "has no field 'result'"),
        ("import time; time.sleep(60)", "took more than 1 s"),
    ],
)
def test_a_run_without_a_usable_output_is_incomplete(tmp_path: Path, code: str, said: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(code)
    agent = CommandAgent("a", f"{sys.executable} {path}", output=OutputFields(), timeout=1 if "sleep" in code else 60)
    with pytest.raises(IncompleteError) as caught:
        seen(tmp_path, agent, "skip")
    assert said in str(caught.value)


def test_the_fingerprint_holds_command_version_and_skill_way(program: str) -> None:
    plain = identified(CommandAgent("a", program))
    assert plain.version == f"Python {sys.version.split()[0]}"
    assert plain.identity != identified(CommandAgent("a", program, skill_as="file:SKILL.md")).identity
    assert plain.identity != identified(CommandAgent("a", program, version="2")).identity
    assert plain.identity == identified(CommandAgent("a", program)).identity


def identified(agent: CommandAgent) -> CommandAgent:
    asyncio.run(agent.identify())
    return agent


def test_a_command_agent_is_collected_with_its_tokens_and_costs(tmp_path: Path, program: str) -> None:
    rows = [{"task_id": "t", "text": "x", "skill": "arith", "answer": "ok"}]
    suite = write_suite(tmp_path / "suite", rows=rows)
    fields = [
        "--answer-field",
        "result",
        "--tokens-field",
        "usage.in",
        "--tokens-field",
        "usage.out",
        "--cost-field",
        "cost",
    ]
    options = ["--command", program, "--model", "m", "--model-field", "model", *fields]
    assert run(["collect", str(suite), "--bank", str(tmp_path / "b.bank"), *options]) == 0
    with Bank.open(tmp_path / "b.bank") as bank:
        found = [(one.condition, one.success, one.tokens, one.cost_usd) for one in bank.executions()]
    assert sorted(found) == [("skip", 1.0, 7.0, 0.5), ("use", 1.0, 7.0, 0.5)]


def test_a_command_that_answers_with_another_model_stops_the_run(
    tmp_path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    options = ["--command", program, "--model", "other", "--model-field", "model", "--answer-field", "result"]
    assert run(["collect", str(suite), "--bank", str(tmp_path / "b.bank"), *options]) == 2
    assert "asked for model 'other'" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_working_copy_is_graded_by_a_command_after_the_agent_worked_in_it(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text(
        "import pathlib; p = pathlib.Path('n.txt'); p.write_text(str(int(p.read_text()) + 1)); print('done')\n"
    )
    rows = [
        {
            "task_id": "t",
            "text": "Add one",
            "skill": "arith",
            "files": "start",
            "grader": {"type": "command", "run": "grep -q 42 n.txt"},
        }
    ]
    suite = write_suite(tmp_path / "suite", rows=rows)
    (suite / "start").mkdir()
    (suite / "start" / "n.txt").write_text("41")
    assert (
        run(["collect", str(suite), "--bank", str(tmp_path / "b.bank"), "--command", f"{sys.executable} {path}"]) == 0
    )
    with Bank.open(tmp_path / "b.bank") as bank:
        assert [one.success for one in bank.executions()] == [1.0, 1.0]
    assert (suite / "start" / "n.txt").read_text() == "41"


PRINT_VARIABLES = "import json, os; print(json.dumps(dict(os.environ)))\n"


def collected_variables(tmp_path: Path, *options: str, settings: str = "") -> dict[str, str]:
    """What the command saw, from the transcript; and nothing of it is anywhere else."""
    path = tmp_path / "agent.py"
    path.write_text(PRINT_VARIABLES)
    suite = write_suite(tmp_path / "suite", tasks=1, settings=settings)
    bank = tmp_path / "b.bank"
    assert run(["collect", str(suite), "--bank", str(bank), "--command", f"{sys.executable} {path}", *options]) == 0
    transcript = next(bank.with_name("b.bank.collect").rglob("transcript.jsonl"))
    seen: dict[str, str] = json.loads(json.loads(transcript.read_text().splitlines()[0])["answer"])
    return seen


def test_a_command_gets_the_usual_variables_and_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "canary-77aa")
    seen = collected_variables(tmp_path)
    assert "PATH" in seen
    assert set(seen) <= {*USUAL_VARIABLES, "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    everything = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"canary-77aa" in content for content in everything)


def test_a_command_gets_the_variables_that_option_and_suite_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "one")
    monkeypatch.setenv("MY_REGION", "two")
    monkeypatch.setenv("OTHER", "three")
    seen = collected_variables(tmp_path, "--pass-env", "MY_API_KEY", settings="agent: {environment: [MY_REGION]}\n")
    assert (seen["MY_API_KEY"], seen["MY_REGION"]) == ("one", "two")
    assert "OTHER" not in seen


def test_a_named_variable_that_is_not_set_is_refused(
    tmp_path: Path, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    options = ["--bank", str(tmp_path / "b.bank"), "--command", program, "--pass-env", "NOT_SET_HERE"]
    assert run(["collect", str(suite), *options]) == 2
    assert "the variable 'NOT_SET_HERE' that the command is to get is not set" in capsys.readouterr().err


def test_variables_are_for_commands_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    options = ["--bank", str(tmp_path / "b.bank"), "--base-url", "http://127.0.0.1:9/v1", "--model", "m"]
    assert run(["collect", str(suite), *options, "--pass-env", "PATH"]) == 2
    assert "--pass-env belongs to a --command" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["MY_KEY", "[1]", "['A=b']", "{A: b}"])
def test_a_suite_names_variables_and_never_holds_their_values(tmp_path: Path, value: str) -> None:
    with pytest.raises(InputError, match="environment must be a list of names of variables"):
        load_suite(write_suite(tmp_path / "suite", tasks=1, settings=f"agent: {{environment: {value}}}\n"))


def test_the_variables_are_no_part_of_the_fingerprint(program: str) -> None:
    assert CommandAgent("a", program, environment={"KEY": "1"}).identity == CommandAgent("a", program).identity
    assert "KEY" not in repr(CommandAgent("a", program, environment={"KEY": "1"}))
