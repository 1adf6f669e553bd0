"""A library of 25 skills behind the real programs, governed by `install --all`: which of them the model gets, and when.

One conversation per harness is led once; each cell of the table looks at what the model was sent in it. Servers that hang
or die, SkillDelta removed, and `--undo` have files of their own: test_bad_servers, test_skilldelta_gone, test_installed.
docs/harnesses/table.md says which cells do not apply, and why.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import skilldelta
from harnesses.conftest import Gate, serving
from harnesses.fake_models import fake_models
from harnesses.harness_runs import HarnessRun
from harnesses.test_every_harness import HARNESSES
from skilldelta.bank import Bank
from skilldelta.bank.skill_versions import add_skill_text
from skilldelta.demo.bundled import bundled_batch
from skilldelta.front_matter import split_front_matter

pytestmark = pytest.mark.slow

DEMO = Path(skilldelta.__file__).parent / "demo" / "suite" / "skills"
FOLDERS = {
    "claude-code": ".claude/skills",
    "codex": ".codex/skills",
    "gemini": ".gemini/skills",
    "opencode": ".config/opencode/skills",
    "pi": ".pi/agent/skills",
    "dsh": ".dsh/skills",
}
CANS = "How many cans are in 9 pallets and 2 crates of chickpeas?"
INVOICE = "What is the invoice number for the Leeds office, month 5 of 2023, count 77?"
UNLIKE = "Translate the second stanza of the ballad into Old Norse and explain the kennings."
WISH = "Please use the text-counts skill from now on."
ONE_PROMPT = ("dsh",)
"""Its headless profile takes one prompt; tests/plugins leads its conversations in the real loop."""


def body(skill: str) -> str:
    """A line of a skill's text by which it is known in a request."""
    lines = split_front_matter((DEMO / skill / "SKILL.md").read_text("utf-8")).body.splitlines()
    return max((line for line in lines if '"' not in line and "\\" not in line), key=len)


@dataclass
class Story:
    """What the model was sent, by step of the conversation."""

    run: HarnessRun
    seen: dict[str, str] = field(default_factory=dict)
    log: list[dict[str, object]] = field(default_factory=list)

    def times(self, step: str, skill: str) -> int:
        """How often a skill's text stands in the request of a step."""
        return self.seen[step].count(body(skill))


@pytest.fixture(scope="module")
def demo_gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    path = tmp_path_factory.mktemp("demo") / "demo.bank"
    with Bank.open(path, create=True) as bank:
        bank.add(bundled_batch())
        for folder in DEMO.iterdir():
            add_skill_text(bank, folder.name, split_front_matter((folder / "SKILL.md").read_text("utf-8")).body)
    with serving(path) as gate:
        yield gate


def furnish(run: HarnessRun) -> None:
    """Twelve skills with evidence, and thirteen that nobody has measured."""
    skills = run.home / FOLDERS[run.name]
    for folder in DEMO.iterdir():
        shutil.copytree(folder, skills / folder.name)
    for number in range(13):
        text = (
            f"---\nname: hobby-{number}\ndescription: Hints for hobby number {number}.\n---\nHobby {number} is fun.\n"
        )
        run.write(f"home/{FOLDERS[run.name]}/hobby-{number}/SKILL.md", text)


def install(run: HarnessRun, *words: str) -> None:
    command = [sys.executable, "-m", "skilldelta", "install", run.name, *words, "--yes"]
    done = subprocess.run(command, cwd=run.project, env=run.environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def fork_words(run: HarnessRun, prompt: str) -> list[str] | None:
    """How a person forks the last conversation; None where the program cannot without a screen."""
    if run.name == "claude-code":
        return [run.program, "--continue", "--fork-session", "-p", prompt]
    if run.name == "opencode":
        return [run.program, "run", "--continue", "--fork", prompt]
    if run.name == "pi":
        newest = max((run.home / ".pi/agent/sessions").rglob("*.jsonl"), key=lambda path: path.stat().st_mtime)
        return [run.program, "--provider", "fake", "--model", "fake", "--fork", str(newest), "-p", prompt]
    return None


@pytest.fixture(scope="module", params=HARNESSES)
def story(request: pytest.FixtureRequest, demo_gate: Gate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The conversation of one harness, prompt by prompt, each in a process of its own."""
    folder = tmp_path_factory.mktemp(request.param)
    with fake_models() as models:
        run = HarnessRun(request.param, folder / "run", models.url, demo_gate.url, plugin=False)
        assert run.program
        run.prepare()
        furnish(run)
        install(run, "--all", "--server", demo_gate.url, "--timeout", "5")
        told = Story(run)

        def ask(step: str, prompt: str, *, again: bool = True, words: list[str] | None = None) -> None:
            models.requests.clear()
            if words is None:
                run.ask(prompt, again=again)
            else:
                run.do(*words[1:])
            # A command such as /compact has no step of the agent.
            told.seen[step] = models.steps[-1].text if models.steps else ""

        if run.name in ONE_PROMPT:
            for step, prompt in (("hi", "hi"), ("unlike", UNLIKE), ("task", CANS), ("wish", WISH)):
                ask(step, prompt, again=False)
        else:
            ask("hi", "hi", again=False)
            ask("unlike", UNLIKE)
            ask("task", CANS)
            ask("resume", "continue")
            ask("second", INVOICE)
            ask("wish", WISH)
            if (words := fork_words(run, "continue")) is not None:
                ask("fork", "", words=words)
            if run.name == "claude-code":
                sessions = (run.home / ".claude/projects").rglob("*.jsonl")
                first = min(sessions, key=lambda path: path.stat().st_ctime_ns).stem
                again = [run.program, "--resume", first, "-p"]
                ask("compacting", "", words=[*again, "/compact"])
                ask("compact", "", words=[*again, "continue"])
        told.log = demo_gate.decisions()
        yield told


def cell(story: Story, step: str) -> None:
    if step not in story.seen:
        pytest.skip(f"{step} does not apply to {story.run.name}; docs/harnesses/table.md says why")


def test_a_greeting_gets_no_skill(story: Story) -> None:
    assert "hi" in story.seen["hi"]
    assert not any(story.times("hi", folder.name) for folder in DEMO.iterdir())


def test_a_task_that_no_skill_is_about_gets_none(story: Story) -> None:
    assert UNLIKE in story.seen["unlike"]
    assert not any(story.times("unlike", folder.name) for folder in DEMO.iterdir())


def test_the_first_task_gets_the_one_skill_that_it_is_about(story: Story) -> None:
    assert story.times("task", "warehouse-units") == 1
    assert [folder.name for folder in DEMO.iterdir() if story.times("task", folder.name)] == ["warehouse-units"]


def test_the_thirteen_skills_without_evidence_stay_in_the_list(story: Story) -> None:
    assert all(f"Hints for hobby number {number}." in story.seen["task"] for number in range(13))


def test_a_resumed_conversation_is_not_given_the_text_again(story: Story) -> None:
    cell(story, "resume")
    assert CANS in story.seen["resume"]
    assert story.times("resume", "warehouse-units") == 1


def test_a_second_task_about_another_skill_gets_that_one(story: Story) -> None:
    cell(story, "second")
    assert story.times("second", "invoice-numbers") == 1
    assert story.times("second", "warehouse-units") == 1


def test_an_explicit_wish_wins_and_is_recorded(story: Story) -> None:
    assert story.times("wish", "text-counts") == 1
    wishes = [row for row in story.log if row["skill"] == "text-counts" and row["source"] == story.run.name]
    assert wishes[0]["reason"] == "the user asked for this skill"


def test_a_fork_does_not_double_a_text(story: Story) -> None:
    cell(story, "fork")
    assert CANS in story.seen["fork"]
    for skill in ("warehouse-units", "invoice-numbers", "text-counts"):
        assert story.times("fork", skill) == 1


def test_after_a_compaction_the_text_is_there_again(story: Story) -> None:
    cell(story, "compact")
    assert story.times("compact", "text-counts") == 1


@pytest.mark.parametrize("name", HARNESSES)
def test_an_edited_skill_is_answered_by_its_old_evidence_and_marked(name: str, demo_gate: Gate, tmp_path: Path) -> None:
    with fake_models() as models:
        run = HarnessRun(name, tmp_path / "run", models.url, demo_gate.url, plugin=False)
        assert run.program
        run.prepare()
        furnish(run)
        install(run, "--all", "--server", demo_gate.url, "--timeout", "5")
        with (run.home / FOLDERS[name] / "warehouse-units" / "SKILL.md").open("a") as file:
            file.write("\nRound nothing.\n")
        run.ask(CANS)
        (decision, *_) = [row for row in demo_gate.decisions("warehouse-units") if row["source"] == name]
        assert decision["carried_over"]
        # The text of the file is what the evidence was carried over to, or nothing.
        assert ("Round nothing." in models.steps[0].text) == (decision["action"] == "use")
