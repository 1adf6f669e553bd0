"""Collecting in a harness: both arms go through the adapter that is deployed.

`make test-harnesses` does this with the real harnesses. Here a small program stands in for Claude Code: it reads the
settings of its home and runs the hooks that it finds there, as Claude Code does.
"""

from __future__ import annotations

import json
import stat
import sys
from collections import Counter
from pathlib import Path

import pytest

from collect.suites import SKILL, write_suite
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from skilldelta.records import Execution

_CLAUDE = """#!{python}
import json, os, subprocess, sys
if "--version" in sys.argv:
    print("9.9.9 (stand-in)"); sys.exit()
home = os.environ["CLAUDE_CONFIG_DIR"]
prompt, added = sys.stdin.read(), ""
path = os.path.join(home, "settings.json")
settings = json.load(open(path)) if {runs_hooks} and os.path.exists(path) else {{}}
for group in settings.get("hooks", {{}}).get("UserPromptSubmit", []):
    for hook in group["hooks"]:
        event = {{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": os.getcwd()}}
        done = subprocess.run(hook["command"], shell=True, input=json.dumps(event), capture_output=True, text=True)
        said = json.loads(done.stdout) if done.stdout.strip() else {{}}
        added += said.get("hookSpecificOutput", {{}}).get("additionalContext", "")
number = int(prompt.split()[-1])
mark = os.path.join(home, "mark")
left = os.path.exists(mark)
open(mark, "w").close()
listed = os.path.join(home, "skills", "arith", "SKILL.md")
sessions, calls = os.path.join(home, "projects", "p"), []
if os.path.exists(listed) and number % 2:
    calls.append({{"type": "tool_use", "name": "Skill", "input": {{"skill": "arith"}}}})
    added += open(listed).read()
os.makedirs(sessions, exist_ok=True)
with open(os.path.join(sessions, "s.jsonl"), "w") as file:
    file.write(json.dumps({{"type": "assistant", "message": {{"content": calls}}}}))
answer = 2 * number + 1 if "{skill}" in added else number
print(json.dumps({{"type": "result", "subtype": "success", "is_error": {is_error}, "result": "LEFT" if left else str(answer),
  "total_cost_usd": 0.25, "usage": {{"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2}},
  "modelUsage": {{"some-model": {{}}}}, "words": sys.argv[1:]}}))
"""


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if sys.platform == "win32":
        pytest.skip("the stand-in is a script, which Windows does not start")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.delenv("SKILLDELTA_BANK", raising=False)
    (tmp_path / "bin").mkdir()
    return write_claude(tmp_path / "bin")


def write_claude(folder: Path, *, runs_hooks: bool = True, is_error: bool = False) -> Path:
    path = folder / "claude"
    path.write_text(_CLAUDE.format(python=sys.executable, skill=SKILL, runs_hooks=runs_hooks, is_error=is_error))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def collect(tmp_path: Path, *options: str) -> int:
    suite = write_suite(tmp_path / "suite", tasks=1)
    bank = str(tmp_path / "b.bank")
    return run(["collect", str(suite), "--harness", "claude-code", "--bank", bank, "--concurrency", "1", *options])


def executions(tmp_path: Path) -> dict[str, Execution]:
    with Bank.open(tmp_path / "b.bank", create=False) as bank:
        return {one.condition: one for one in bank.executions()}


def test_both_arms_run_through_the_hook_and_only_one_has_the_skill(claude: Path, tmp_path: Path) -> None:
    assert collect(tmp_path) == 0
    found = executions(tmp_path)
    assert (found["use"].success, found["skip"].success) == (1.0, 0.0)
    assert (found["use"].tokens, found["use"].cost_usd, found["use"].agent.name) == (17.0, 0.25, "claude-code")


def test_a_collection_goes_on_where_it_stopped_and_every_run_has_a_home_of_its_own(
    claude: Path, tmp_path: Path
) -> None:
    assert collect(tmp_path) == 0
    claude.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo '9.9.9 (stand-in)' && exit 0\nexit 3\n")
    assert collect(tmp_path) == 0, "nothing is left to run"
    write_claude(claude.parent)
    assert collect(tmp_path, "--repetitions", "2") == 0
    with Bank.open(tmp_path / "b.bank", create=False) as bank:
        successes = Counter(one.success for one in bank.executions())
    assert successes == {0.0: 2, 1.0: 2}, "no run met the mark of another"


def test_a_run_whose_adapter_did_not_ask_is_incomplete_and_never_counted(
    claude: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_claude(claude.parent, runs_hooks=False)
    assert collect(tmp_path) == 1
    assert {one.status for one in executions(tmp_path).values()} == {"incomplete"}
    assert "did not ask" in "".join(capsys.readouterr())


def test_an_error_of_the_harness_is_incomplete(claude: Path, tmp_path: Path) -> None:
    write_claude(claude.parent, is_error=True)
    assert collect(tmp_path) == 1
    assert {one.status for one in executions(tmp_path).values()} == {"incomplete"}


def test_a_home_of_settings_is_copied_and_stays_as_it_is(claude: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "settings.json").write_text('{"theme": "dark"}')
    assert collect(tmp_path, "--agent-home", str(home)) == 0
    assert executions(tmp_path)["use"].success == 1.0
    assert json.loads((home / ".claude" / "settings.json").read_text()) == {"theme": "dark"}
    assert [path.name for path in (home / ".claude").iterdir()] == ["settings.json"]


def test_in_the_listed_arm_the_skill_lies_in_the_list_and_its_loading_is_read_from_the_session(
    claude: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2)
    words = ["collect", str(suite), "--harness", "claude-code", "--bank", str(tmp_path / "b.bank"), "--listed"]
    assert run([*words, "--dry-run"]) == 0
    assert "6 executions of 2 tasks" in " ".join(capsys.readouterr().out.split())
    assert run([*words, "--json"]) == 0
    arms = json.loads(capsys.readouterr().out)["arms"]
    assert {arm: counts["success"] for arm, counts in arms.items()} == {"skip": 0.0, "use": 1.0, "listed": 0.5}
    with Bank.open(tmp_path / "b.bank") as bank:
        listed = {run.task_id: (run.loaded, run.success, run.skill_id) for run in bank.listed()}
        assert {run.condition for run in bank.executions()} == {"use", "skip"}
        assert len(bank.pairing(agent=bank.agents()[0]).pairs) == 2
    assert listed == {"t0": (False, 0.0, "arith"), "t1": (True, 1.0, "arith")}
    claude.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo '9.9.9 (stand-in)' && exit 0\nexit 3\n")
    assert run(words) == 0, "nothing is left to run"


def test_a_skill_of_the_person_is_listed_in_the_arms_with_it_only(claude: Path, tmp_path: Path) -> None:
    home = tmp_path / "home" / ".claude"
    theirs = tmp_path / "theirs" / "arith"
    theirs.mkdir(parents=True)
    (theirs / "SKILL.md").write_text(f"---\nname: arith\ndescription: d\n---\n\n{SKILL}\n")
    home.mkdir(parents=True)
    (home / "skills").symlink_to(theirs.parent, target_is_directory=True)
    suite = write_suite(tmp_path / "suite", tasks=2)
    words = ["collect", str(suite), "--harness", "claude-code", "--bank", str(tmp_path / "b.bank"), "--listed"]
    assert run([*words, "--agent-home", str(tmp_path / "home")]) == 0
    with Bank.open(tmp_path / "b.bank") as bank:
        skipped = {run.task_id: run.success for run in bank.executions() if run.condition == "skip"}
    assert skipped == {"t0": 0.0, "t1": 0.0}, "the arm without the skill does not list it"
    assert [path.name for path in theirs.parent.iterdir()] == ["arith"]
    assert (theirs / "SKILL.md").exists(), "the person's own folder stays"


def test_the_listed_arm_needs_a_harness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    options = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--bank", str(tmp_path / "b.bank")]
    assert run(["collect", str(suite), *options, "--listed"]) == 2
    assert "--listed needs a harness that lists skills; name one with --harness" in capsys.readouterr().err


def test_permission_and_model_are_said_and_part_of_who_the_agent_is(
    claude: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collect(tmp_path, "--model", "m1", "--permission", "edits", "--dry-run") == 0
    assert "permission mode 'edits'" in " ".join(capsys.readouterr().out.split())
    assert collect(tmp_path, "--model", "m1", "--permission", "edits") == 0
    assert collect(tmp_path, "--model", "m1") == 0
    with Bank.open(tmp_path / "b.bank", create=False) as bank:
        agents = bank.agents()
    assert [agent.name for agent in agents] == ["claude-code/m1", "claude-code/m1"]
    assert len({agent.fingerprint for agent in agents}) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--harness", "codex"], "the command 'codex' is not on this machine"),
        (["--harness", "pi", "--permission", "edits"], "pi has no permission mode 'edits'; it has: default"),
        (["--harness", "dsh", "--model", "m"], "dsh takes no model on its command line"),
    ],
)
def test_what_a_harness_cannot_do_is_one_line(
    claude: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    monkeypatch.setenv("PATH", str(claude.parent))
    assert collect(tmp_path, *options) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "b.bank").exists()


def test_a_harness_that_is_named_as_an_agent_is_understood_with_a_note(
    claude: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    words = ["collect", str(suite), "--agent", "claude-code", "--bank", str(tmp_path / "b.bank"), "--concurrency", "1"]
    assert run(words) == 0
    assert "--agent claude-code is now --harness claude-code" in capsys.readouterr().err
    assert executions(tmp_path)["use"].agent.name == "claude-code"


def test_the_agent_of_a_harness_can_have_a_name_of_its_own(claude: Path, tmp_path: Path) -> None:
    assert collect(tmp_path, "--agent", "my-claude") == 0
    assert executions(tmp_path)["use"].agent.name == "my-claude"
