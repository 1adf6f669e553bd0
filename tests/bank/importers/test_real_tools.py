"""Files that the tools themselves write, with agents that need no network. `make test-importers` installs the tools.

Inspect is installed with the project; its logs are in `test_inspect_logs`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skilldelta.bank.importers import Defaults, Reading, read_any

from .layouts import SKILL_MD, write_tree
from .tool_environments import executable


def program(tool: str, name: str) -> str:
    path = executable(tool, name)
    if not path.exists():
        pytest.skip(f"{tool} is not installed: make test-importers")
    return str(path)


def run(command: list[str], folder: Path, *, codes: tuple[int, ...] = (0,), **variables: str) -> str:
    home = {"HOME": str(folder), "PROMPTFOO_CONFIG_DIR": str(folder / "home"), "PROMPTFOO_DISABLE_TELEMETRY": "1"}
    ran = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **home, "PROMPTFOO_DISABLE_UPDATE": "1", **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode in codes, f"{command}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    return ran.stdout


def summary(reading: Reading) -> list[tuple[str, float, float, int, int]]:
    return sorted((p.task_id, p.y0, p.y1, p.r0, p.r1) for p in reading.pairing().pairs)


AGENT = """\
module.exports = class {
  constructor(options) { this.config = options.config || {} }
  id() { return 'fake-agent:m1' }
  async callApi(prompt) {
    if (prompt.includes('boom')) throw new Error('the provider is down')
    const output = this.config.skill || prompt.includes('easy') ? '42' : '41'
    return { output, tokenUsage: { prompt: 10, completion: 5, total: 15 }, cost: 0.001 }
  }
}
"""
PROMPTFOO_CONFIG = """\
prompts: ["{{question}}"]
providers:
  - {id: "file://agent.js", label: with-skill, config: {skill: true}}
  - {id: "file://agent.js", label: without-skill, config: {skill: false}}
tests:
  - {description: hard, vars: {question: "hard 40+2?"}, assert: [{type: contains, value: "42"}]}
  - {description: easy, vars: {question: "easy 40+2?"}, assert: [{type: contains, value: "42"}]}
  - {description: broken, vars: {question: "boom"}, assert: [{type: contains, value: "42"}]}
"""


def test_promptfoo(tmp_path: Path) -> None:
    promptfoo = program("promptfoo", "promptfoo")
    write_tree(tmp_path, {"agent.js": AGENT, "promptfooconfig.yaml": PROMPTFOO_CONFIG})
    options = ["--repeat", "2", "--no-cache", "--no-progress-bar", "-o", "out.json", "-o", "out.jsonl"]
    run([promptfoo, "eval", "-c", "promptfooconfig.yaml", *options], tmp_path, codes=(0, 100))
    for name in ("out.json", "out.jsonl"):
        reading = read_any(tmp_path / name, Defaults(skill="adding"))
        assert reading.format == "promptfoo"
        assert [pair[1:] for pair in summary(reading)] == [(1.0, 1.0, 2, 2), (0.0, 1.0, 2, 2)]
        assert {one.reason: len(one) for one in reading.left_out} == {"the call ended in an error": 4}
        assert {run.tokens for run in reading.executions if run.success is not None} == {15.0}
        assert {run.agent.name for run in reading.executions} == {"fake-agent:m1"}


SKILLEVALUATION = """\
cases:
- name: sum
  prompt: What is 40 + 2?
  validators:
  - {label: answered, cmd: "grep -q with-skill response.txt", expect_exit_code: 0}
- name: easy
  prompt: What is 1 + 1?
  validators:
  - {label: answered, cmd: "test -s response.txt", expect_exit_code: 0}
"""


def test_skillevaluation(tmp_path: Path) -> None:
    skillevaluation = program("skillevaluation", "skillevaluation")
    write_tree(tmp_path, {"adding/SKILL.md": SKILL_MD, "adding/eval.yaml": SKILLEVALUATION})
    options = ["--adapter", "mock", "--no-cache", "--emit-attestation", "attestation.json", "-o", "results.json"]
    run([skillevaluation, "run", ".", "--runs", "2", *options], tmp_path / "adding")
    reading = read_any(tmp_path / "adding" / "results.json")

    assert reading.format == "skillevaluation"
    assert summary(reading) == [("easy", 1.0, 1.0, 1, 1), ("sum", 0.0, 1.0, 1, 1)]
    assert {task.task_id: task.text for task in reading.tasks}["sum"] == "What is 40 + 2?"
    assert any("over 2 runs, and the cases hold the first run only" in note for note in reading.notes)
    assert {run.tokens for run in reading.executions} == {400.0, 900.0}
    attested = read_any(tmp_path / "adding" / "attestation.json", Defaults(agent="me", skill="adding"))
    assert summary(attested) == summary(reading)


SUITE = """\
schema_version: 1
skill_id: adding
eval_suite_version: 0.1.0
cases:
- id: sum
  title: Sum
  skill_id: adding
  task: {user_prompt: "Add 40 and 2."}
  trials: 2
  graders:
  - {id: right, type: regex, config: {pattern: "42"}}
  - {id: loaded, type: skill_invocation, config: {required_skills: [adding]}}
"""
SKILL_EVAL_AGENT = """\
import json, os
answer = "41" if os.environ["AGENT_MODE"] == "no_skill" else "42"
print(json.dumps({"final_output": answer, "token_usage": {"input": 30, "output": 10, "total": 40}}))
"""


def test_agent_skill_evals(tmp_path: Path) -> None:
    skill_eval = program("agent-skill-evals", "skill-eval")
    write_tree(tmp_path, {"adding/SKILL.md": SKILL_MD, "agent.py": SKILL_EVAL_AGENT})
    run([skill_eval, "init", "adding"], tmp_path)
    command = f"{sys.executable} {tmp_path / 'agent.py'}"
    runner = {"type": "custom", "command": command, "model": "m1", "parser": {"name": "json_stdout"}}
    evals = {"adding/evals/eval.yaml": SUITE, "adding/evals/runner.yaml": {"schema_version": 1, "runner": runner}}
    write_tree(tmp_path, evals)
    run([skill_eval, "run", "adding", "--conditions", "no_skill,with_skill"], tmp_path)
    (run_id,) = [path.name for path in (tmp_path / "adding" / "evals" / "runs").iterdir()]
    run([skill_eval, "grade", "adding", "--run-id", run_id], tmp_path, codes=(0, 1))
    reading = read_any(tmp_path / "adding")

    assert reading.format == "agent-skill-evals"
    assert summary(reading) == [("sum", 0.0, 1.0, 2, 2)]
    assert {(run.agent.name, run.tokens) for run in reading.executions} == {("skill-eval:custom@m1", 40.0)}
    assert reading.tasks[0].text == "Add 40 and 2."
    assert reading.skill_texts[0].text == "Add from the right."


HARBOR = """\
import json, sys, uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from harbor.models.agent.context import AgentContext
from harbor.models.task.id import LocalTaskId
from harbor.models.trial.config import AgentConfig, TaskConfig, TrialConfig
from harbor.models.trial.result import AgentInfo, ExceptionInfo, ModelInfo, TimingInfo, TrialResult
from harbor.models.verifier.result import VerifierResult

now = datetime(2026, 5, 1, tzinfo=timezone.utc)
for job, skills, reward, error in (("on", ["/s/adding"], 1.0, ""), ("off", [], 0.0, ""), ("off", [], 0.0, "DaytonaError")):
    name = f"sum__{uuid.uuid4().hex[:7]}"
    config = TrialConfig(
        task=TaskConfig(path="tasks/sum"),
        trial_name=name,
        agent=AgentConfig(name="claude-code", model_name="anthropic/m1", skills=skills),
    )
    exception = ExceptionInfo(
        exception_type=error, exception_message="m", exception_traceback="t", occurred_at=now
    ) if error else None
    trial = TrialResult(
        task_name="sum",
        trial_name=name,
        trial_uri="file:///trial",
        task_id=LocalTaskId(path=Path("tasks/sum")),
        task_checksum="c1",
        config=config,
        agent_info=AgentInfo(name="claude-code", version="1", model_info=ModelInfo(name="m1", provider="anthropic")),
        agent_result=AgentContext(n_input_tokens=100, n_cache_tokens=60, n_output_tokens=20, cost_usd=0.5),
        verifier_result=VerifierResult(rewards={"reward": reward}),
        exception_info=exception,
        started_at=now,
        agent_execution=TimingInfo(started_at=now, finished_at=now + timedelta(seconds=30)),
    )
    folder = Path("jobs") / job / name
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(trial.model_dump_json(indent=4))
"""


def test_harbor(tmp_path: Path) -> None:
    python = program("harbor", "python")
    write_tree(tmp_path, {"write.py": HARBOR})
    run([python, "write.py"], tmp_path)
    reading = read_any(tmp_path / "jobs")

    assert reading.format == "harbor"
    assert summary(reading) == [("sum@c1", 0.0, 1.0, 1, 1)]
    assert {one.reason for one in reading.left_out} == {"the trial ended in DaytonaError"}
    use = next(run for run in reading.executions if run.condition == "use")
    assert (use.agent.name, use.skill_id, use.tokens, use.seconds) == (
        "claude-code@anthropic/m1",
        "adding",
        120.0,
        30.0,
    )
    assert json.loads(next((tmp_path / "jobs" / "on").rglob("result.json")).read_text())["task_checksum"] == "c1"
