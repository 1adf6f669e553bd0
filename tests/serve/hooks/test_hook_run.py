"""A hook from event to answer, with a gate at the network's edge that says what the test needs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from serve.hooks.fake_gate import HOSTS, FakeGate, decision, dialect_of, fake_gate, says
from skilldelta.harnesses.offered_skill import OfferedSkill, Part
from skilldelta.records import text_digest
from skilldelta.serve.hooks.conversation import Conversation, HookDecision
from skilldelta.serve.hooks.hook_run import Answered, HookSettings, answer, fallback_answer
from skilldelta.serve.hooks.server_client import ServerAddress, ServerSilentError, ask_server
from skilldelta.text_sketch import text_sketch

PROMPTS = {"claude-code": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}
TEXT = "How many cans are in 3 pallets?"


@pytest.fixture
def skill(tmp_path: Path) -> OfferedSkill:
    file = tmp_path / "counting" / "SKILL.md"
    file.parent.mkdir()
    file.write_text("---\nname: counting\n---\n\nCount twice.\n")
    return OfferedSkill("counting", file)


def no_bank(path: str, document: dict[str, Any]) -> dict[str, Any]:
    raise AssertionError("the bank was asked")


def settings(
    fake: FakeGate, folder: Path, *skills: OfferedSkill, host: str = "claude-code", **more: Any
) -> HookSettings:
    address = ServerAddress(fake.url, timeout=30.0, key=fake.key)
    return HookSettings(host, dialect_of(host), skills, **{"server": address, "state": folder / "state", **more})


def prompt(host: str = "claude-code", text: str = TEXT, session: str = "s1") -> bytes:
    return json.dumps({"session_id": session, "hook_event_name": PROMPTS[host], "prompt": text}).encode()


def call(skill: str, session: str = "s1") -> bytes:
    event = {
        "session_id": session,
        "hook_event_name": "PreToolUse",
        "tool_name": "Skill",
        "tool_input": {"skill": skill},
    }
    return json.dumps(event).encode()


def context(found: Answered) -> Any:
    return json.loads(found.output)["hookSpecificOutput"]


@pytest.mark.parametrize("host", HOSTS)
def test_use_injects_the_skills_text_and_skip_nothing_at_all(host: str, tmp_path: Path, skill: OfferedSkill) -> None:
    with fake_gate(says("use")) as gate:
        found = answer(settings(gate, tmp_path, skill, host=host), prompt(host), ask_bank=no_bank)
    assert context(found) == {"hookEventName": PROMPTS[host], "additionalContext": "Count twice."}
    for action in ("skip", "abstain"):
        with fake_gate(says(action)) as gate:
            told = settings(gate, tmp_path / action, skill, host=host)
            result = answer(told, prompt(host), ask_bank=no_bank)
            assert set(json.loads(result.output or "{}")) <= {
                "systemMessage"
            }  # a line for the person, none for the model


def test_the_question_has_the_users_words_the_conversation_and_the_settings(
    tmp_path: Path, skill: OfferedSkill
) -> None:
    with fake_gate(says("skip")) as gate:
        told = settings(gate, tmp_path, skill, host="gemini", agent="a1", suite="s", gate={"paper": True, "k": 4})
        answer(told, prompt("gemini", f"<hook_context>x</hook_context>{TEXT}"), ask_bank=no_bank)
    ((path, body),) = gate.asked
    assert path == "/v1/choose"
    assert body == {
        "text": TEXT,
        "skills": ["counting"],
        "skill_digests": {"counting": text_digest("Count twice.")},
        "skill_sketches": {"counting": text_sketch("Count twice.")},
        "source": "gemini",
        "conversation": "gemini:s1",
        "agent": "a1",
        "suite": "s",
        "gate": {"paper": True, "k": 4},
    }


def test_a_conversation_is_decided_once_and_injected_once(tmp_path: Path, skill: OfferedSkill) -> None:
    with fake_gate(says("use")) as gate:
        told = settings(gate, tmp_path, skill)
        assert answer(told, prompt(), ask_bank=no_bank).output
        assert answer(told, prompt(text="And in 4?"), ask_bank=no_bank) == Answered()
        assert answer(told, prompt(session="s2"), ask_bank=no_bank).output
    assert len(gate.asked) == 2


@pytest.mark.parametrize("text", ["/compact", "", "<task-notification>done</task-notification>"])
def test_what_no_user_wrote_is_no_task(tmp_path: Path, skill: OfferedSkill, text: str) -> None:
    with fake_gate(says("use")) as gate:
        told = settings(gate, tmp_path, skill)
        assert answer(told, prompt(text=text), ask_bank=no_bank) == Answered()
        assert answer(told, prompt(), ask_bank=no_bank).output
    assert len(gate.asked) == 1


def test_the_parts_of_a_long_skill_come_from_entries_of_their_own_once(tmp_path: Path, skill: OfferedSkill) -> None:
    assert skill.file is not None
    skill.file.write_text("a rule to follow\n" * 1_000)
    with fake_gate(says("use")) as gate:
        told = [settings(gate, tmp_path, skill, part=Part(i, 2)) for i in (1, 2)]
        first = [context(answer(one, prompt(), ask_bank=no_bank))["additionalContext"] for one in told]
        assert [answer(one, prompt(), ask_bank=no_bank) for one in told] == [Answered(), Answered()]
    assert [text.partition("\n")[0] for text in first] == [f"[Skill counting, part {i} of 2]" for i in (1, 2)]
    assert sum(text.count("a rule to follow") for text in first) == 1_000
    assert len(gate.asked) == 1


def test_hooks_that_come_to_other_decisions_at_the_same_moment_follow_the_first(
    tmp_path: Path, skill: OfferedSkill
) -> None:
    first = Conversation(tmp_path / "state" / "conversations", "claude-code", "s1")

    def reply(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        first.keep((HookDecision("counting", "skip", "was faster"),))  # while this one was asking
        return 200, {"choice": "counting", "decisions": [decision("counting", "use")]}

    with fake_gate(reply) as gate:
        assert answer(settings(gate, tmp_path, skill), prompt(), ask_bank=no_bank).output == ""


def test_without_a_place_for_state_the_log_tells_what_was_decided_before(tmp_path: Path, skill: OfferedSkill) -> None:
    with fake_gate(says("use", repeated=True)) as gate:
        assert answer(settings(gate, tmp_path, skill, state=None), prompt(), ask_bank=no_bank) == Answered()
    with fake_gate(says("use", repeated=False)) as gate:
        assert answer(settings(gate, tmp_path, skill, state=None), prompt(), ask_bank=no_bank).output


def test_the_call_of_a_skipped_skill_is_denied_and_of_another_not(tmp_path: Path, skill: OfferedSkill) -> None:
    with fake_gate(says("skip")) as gate:
        told = settings(gate, tmp_path, skill)
        assert answer(told, call("shop:counting"), ask_bank=no_bank) == Answered()  # nothing was decided yet
        answer(told, prompt(), ask_bank=no_bank)
        denied = context(answer(told, call("shop:counting"), ask_bank=no_bank))
        assert denied["permissionDecision"] == "deny"
        assert denied["permissionDecisionReason"] == "SkillDelta: predicted to skip (sure). Proceed without this skill."
        assert answer(told, call("dates"), ask_bank=no_bank) == Answered()
        assert answer(told, call("counting", session="s2"), ask_bank=no_bank) == Answered()


@pytest.mark.parametrize("action", ["use", "abstain"])
def test_a_skill_that_is_used_or_left_to_the_agent_may_be_called(
    tmp_path: Path, skill: OfferedSkill, action: str
) -> None:
    with fake_gate(says(action)) as gate:
        told = settings(gate, tmp_path, skill)
        answer(told, prompt(), ask_bank=no_bank)
        assert answer(told, call("counting"), ask_bank=no_bank) == Answered()


def test_gemini_is_denied_in_its_own_words(tmp_path: Path, skill: OfferedSkill) -> None:
    event = {"session_id": "s1", "hook_event_name": "BeforeTool", "tool_name": "activate_skill"}
    with fake_gate(says("skip")) as gate:
        told = settings(gate, tmp_path, skill, host="gemini")
        answer(told, prompt("gemini"), ask_bank=no_bank)
        found = answer(told, json.dumps(event | {"tool_input": {"name": "counting"}}).encode(), ask_bank=no_bank)
    assert json.loads(found.output)["decision"] == "deny"


def test_of_several_skills_the_chosen_one_is_injected(tmp_path: Path, skill: OfferedSkill) -> None:
    with fake_gate(says("use", skill_text="From the bank.")) as gate:
        found = answer(settings(gate, tmp_path, skill, OfferedSkill("dates")), prompt(), ask_bank=no_bank)
    ((path, body),) = gate.asked
    assert (path, body["skills"], body["include_skill_text"]) == ("/v1/choose", ["counting", "dates"], True)
    assert context(found)["additionalContext"] == "From the bank."


def test_a_skill_whose_text_nobody_has_is_to_be_invoked(tmp_path: Path) -> None:
    with fake_gate(says("use", skill_text=None)) as gate:
        found = answer(settings(gate, tmp_path, OfferedSkill("dates")), prompt(), ask_bank=no_bank)
    assert "load the skill dates with the Skill tool" in context(found)["additionalContext"]


def test_a_server_that_is_down_slow_or_broken_leaves_the_question_to_the_bank(
    tmp_path: Path, skill: OfferedSkill
) -> None:
    def bank(path: str, document: dict[str, Any]) -> dict[str, Any]:
        (name,) = document["skills"]
        return {"choice": name, "decisions": [decision(name, "use")]}

    for number, (status, content) in enumerate([(500, {}), (200, b"<html>"), (200, [1]), (404, {"detail": "no"})]):
        with fake_gate(lambda path, body, told=(status, content): told) as gate:  # type: ignore[misc]
            assert answer(settings(gate, tmp_path / str(number), skill), prompt(), ask_bank=bank).output
    down = settings(gate, tmp_path / "down", skill)
    assert answer(down, prompt(), ask_bank=bank).output
    with fake_gate(says("skip"), seconds=5.0) as gate:
        started = time.monotonic()
        hung = settings(gate, tmp_path / "hung", skill, server=ServerAddress(gate.url, timeout=0.3))
        assert answer(hung, prompt(), ask_bank=bank).output
        assert time.monotonic() - started < 4


@pytest.mark.parametrize(("fallback", "injects"), [("skip", False), ("use", True), ("abstain", False)])
def test_when_nobody_answers_the_fallback_decides(
    tmp_path: Path, skill: OfferedSkill, fallback: Any, injects: bool
) -> None:
    def bank(path: str, document: dict[str, Any]) -> dict[str, Any]:
        raise OSError("the disk is gone")

    with fake_gate(lambda path, body: (500, {})) as gate:
        told = settings(gate, tmp_path, skill, fallback=fallback)
        found = answer(told, prompt(), ask_bank=bank)
    assert bool(found.output) == injects
    assert "the disk is gone" in found.failure
    assert bool(fallback_answer(told, prompt())) == injects


@pytest.mark.parametrize("content", [b'{"decision', b'{"skill": "counting"}', b'{"action": "dance", "skill": "x"}'])
def test_an_answer_that_is_no_decision_is_a_failure(tmp_path: Path, skill: OfferedSkill, content: bytes) -> None:
    with fake_gate(lambda path, body: (200, content)) as gate:
        found = answer(settings(gate, tmp_path, skill, ask="server"), prompt(), ask_bank=no_bank)
    assert found.output == ""
    assert found.failure


def test_the_end_records_the_tokens_with_the_decisions(tmp_path: Path, skill: OfferedSkill) -> None:
    transcript = tmp_path / "t.jsonl"
    usage = {"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": 10, "output_tokens": 5}}}
    transcript.write_text(json.dumps(usage) + "\n")
    event = {"session_id": "s1", "hook_event_name": "SessionEnd", "transcript_path": str(transcript), "reason": "exit"}
    with fake_gate(says("use")) as gate:
        told = settings(gate, tmp_path, skill)
        assert answer(told, json.dumps(event).encode(), ask_bank=no_bank) == Answered()  # nothing was decided
        answer(told, prompt(), ask_bank=no_bank)
        assert answer(told, json.dumps(event).encode(), ask_bank=no_bank) == Answered()
    assert gate.asked[1:] == [("/v1/outcomes", {"decision_id": 7, "tokens": 15})]


def test_a_token_is_sent_to_the_users_own_server_only(tmp_path: Path, skill: OfferedSkill) -> None:
    with fake_gate(says("use")) as gate:
        address = ServerAddress(gate.url, "secret-token", 30.0, gate.key)
        answer(settings(gate, tmp_path, skill, server=address), prompt(), ask_bank=no_bank)
        named = gate.url.replace("127.0.0.1", "localhost")
        ask_server(address._replace(url=named), "/v1/decide", {"skill": "x"})
        elsewhere = address._replace(url=gate.url.replace("127.0.0.1", "127.1"))  # leads here, but is not on the list
        with pytest.raises(ServerSilentError, match="without TLS"):
            ask_server(elsewhere, "/v1/decide", {"skill": "x"})
        ask_server(elsewhere._replace(key_is_pinned=True), "/v1/decide", {"skill": "x"})
    assert [headers.get("Authorization") for headers in gate.headers] == 3 * ["Bearer secret-token"]


@pytest.mark.parametrize("token", ["a\r\nX-Other: 1", "t\u00f6ken\u20ac"])
def test_a_token_cannot_add_a_header(tmp_path: Path, token: str) -> None:
    with fake_gate(says("use")) as gate, pytest.raises(ServerSilentError):
        ask_server(ServerAddress(gate.url, token, 30.0, gate.key), "/v1/decide", {"skill": "x"})
    assert gate.asked == []


@pytest.mark.parametrize(
    "url", ["", "ftp://127.0.0.1", "http://", "http://127.0.0.1:port", "http://[", "127.0.0.1:7345"]
)
def test_an_address_that_is_none_is_one_line(url: str) -> None:
    with pytest.raises(ServerSilentError) as caught:
        ask_server(ServerAddress(url), "/v1/decide", {})
    assert len(str(caught.value).splitlines()) == 1


def test_every_entry_of_a_prompt_delivers_its_part_of_a_text_that_only_the_bank_has(tmp_path: Path) -> None:
    text = "\n".join(f"Rule {i}: count each crate twice and every can once." for i in range(500))
    with fake_gate(says("use", skill_text=text)) as gate:
        parts = [
            context(
                answer(
                    settings(gate, tmp_path, OfferedSkill("counting"), part=Part(number, 3)), prompt(), ask_bank=no_bank
                )
            )
            for number in (1, 2, 3)
        ]
    whole = "\n".join(part["additionalContext"] for part in parts)
    assert [line for line in text.splitlines() if line not in whole] == []


def test_a_skill_of_the_bank_that_is_too_long_for_its_entries_is_written_down_to_be_read(tmp_path: Path) -> None:
    long = "Count each shelf twice.\n" * 1_000
    with fake_gate(says("use", skill_text=long)) as gate:
        asked = settings(gate, tmp_path, OfferedSkill("counting"))
        (first, again) = (answer(asked, prompt(session=name), ask_bank=no_bank) for name in ("s1", "s2"))
    (kept,) = (tmp_path / "state" / "skills").iterdir()
    assert kept.read_text() == long
    assert f"read the whole file {kept}" in context(first)["additionalContext"]
    assert first == again


def test_without_a_folder_for_it_the_skill_tool_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "skills").write_text("in the way")
    with fake_gate(says("use", skill_text="Count each shelf twice.\n" * 1_000)) as gate:
        found = answer(settings(gate, tmp_path, OfferedSkill("counting")), prompt(), ask_bank=no_bank)
    assert "load the skill counting with the Skill tool" in context(found)["additionalContext"]


# What is a task, and whose


def test_a_greeting_binds_nothing_and_the_first_task_is_decided(tmp_path: Path, skill: OfferedSkill) -> None:
    with fake_gate(says("use")) as gate:
        told = settings(gate, tmp_path, skill)
        for text in ("hi", "continue", "fix it", "thanks!"):
            assert answer(told, prompt(text=text), ask_bank=no_bank) == Answered()
        assert gate.asked == []
        assert context(answer(told, prompt(), ask_bank=no_bank))["additionalContext"] == "Count twice."


def test_a_later_task_that_is_about_another_skill_gets_that_skill_and_the_first_is_not_repeated(tmp_path: Path) -> None:
    skills = []
    for name in ("units", "dates"):
        file = tmp_path / f"{name}.md"
        file.write_text(f"---\nname: {name}\n---\nAll about {name}.")
        skills.append(OfferedSkill(name, file))

    def reply(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        choice = "dates" if "date" in body["text"] else "units"
        other = "units" if choice == "dates" else "dates"
        rows = [decision(choice, "use"), decision(other, "abstain", fallback=True, certainty=None)]
        return 200, {"choice": choice, "decisions": rows}

    with fake_gate(reply) as gate:
        told = settings(gate, tmp_path, *skills)
        first = context(answer(told, prompt(text="How many cans are in 3 pallets?"), ask_bank=no_bank))
        same = answer(told, prompt(text="And how many cans are in 4 pallets?"), ask_bank=no_bank)
        hello = answer(told, prompt(text="thanks"), ask_bank=no_bank)
        other = context(answer(told, prompt(text="On which date do 30 days end?"), ask_bank=no_bank))
        back = answer(told, prompt(text="How many cans are in 9 pallets?"), ask_bank=no_bank)
    assert first["additionalContext"] == "All about units."
    assert (same.output, hello.output, back.output) == ("", "", "")
    assert other["additionalContext"] == "All about dates."


@pytest.mark.parametrize(
    "text", ["Use the counting skill and tell me how many.", "Please apply counting.", "skill counting"]
)
def test_an_explicit_wish_wins_over_the_gate(tmp_path: Path, skill: OfferedSkill, text: str) -> None:
    with fake_gate(says("skip")) as gate:
        told = settings(gate, tmp_path, skill)
        answer(told, prompt(), ask_bank=no_bank)
        assert context(answer(told, prompt(text=text), ask_bank=no_bank))["additionalContext"] == "Count twice."
        assert answer(told, call("counting"), ask_bank=no_bank) == Answered()  # and is not denied
    *_, last = Conversation(tmp_path / "state" / "conversations", "claude-code", "s1").tasks()
    assert [(one.action, one.reason) for one in last.known() or ()] == [("use", "the user asked for this skill")]


@pytest.mark.parametrize(
    "text", ["Do not use the counting skill here.", "I am counting cans of beans, how many are 3?"]
)
def test_what_only_mentions_a_skill_is_no_wish(tmp_path: Path, skill: OfferedSkill, text: str) -> None:
    with fake_gate(says("skip")) as gate:
        assert (
            "hookSpecificOutput"
            not in answer(settings(gate, tmp_path, skill), prompt(text=text), ask_bank=no_bank).output
        )
    assert len(gate.asked) == 1


def test_after_a_compaction_the_text_comes_back(tmp_path: Path, skill: OfferedSkill) -> None:
    event = {"session_id": "s1", "hook_event_name": "SessionStart", "source": "compact"}
    with fake_gate(says("use")) as gate:
        told = settings(gate, tmp_path, skill)
        assert answer(told, json.dumps(event).encode(), ask_bank=no_bank) == Answered()  # nothing was decided yet
        answer(told, prompt(), ask_bank=no_bank)
        again = context(answer(told, json.dumps(event).encode(), ask_bank=no_bank))
        assert again == {"hookEventName": "SessionStart", "additionalContext": "Count twice."}
        begun = json.dumps({**event, "source": "startup"}).encode()
        assert answer(told, begun, ask_bank=no_bank) == Answered()
        named = settings(gate, tmp_path, OfferedSkill("counting"))
    with fake_gate(says("use", skill_text="Of the bank.")) as gate:
        named = settings(gate, tmp_path, OfferedSkill("counting"))
        assert (
            context(answer(named, json.dumps(event).encode(), ask_bank=no_bank))["additionalContext"] == "Of the bank."
        )
        assert gate.asked[0][1]["record"] is False


def test_a_fork_that_has_the_text_already_does_not_get_it_twice(tmp_path: Path, skill: OfferedSkill) -> None:
    transcript = tmp_path / "fork.jsonl"
    transcript.write_text(json.dumps({"attachment": "hook additional context: Count twice."}) + "\n")
    event = json.loads(prompt(session="fork")) | {"transcript_path": str(transcript)}
    with fake_gate(says("use")) as gate:
        told = settings(gate, tmp_path, skill)
        assert answer(told, json.dumps(event).encode(), ask_bank=no_bank).output == ""
        transcript.write_text("{}\n")
        fresh = json.dumps(event | {"session_id": "another"}).encode()
        assert answer(told, fresh, ask_bank=no_bank).output


@pytest.mark.parametrize(
    ("certainty", "is_denied"), [("sure", True), ("leaning", False), ("close to a coin flip", False), (None, False)]
)
def test_only_sure_evidence_of_harm_denies_the_models_own_call(
    tmp_path: Path, skill: OfferedSkill, certainty: str | None, is_denied: bool
) -> None:
    with fake_gate(says("skip", certainty=certainty)) as gate:
        told = settings(gate, tmp_path, skill)
        answer(told, prompt(), ask_bank=no_bank)
        assert bool(answer(told, call("counting"), ask_bank=no_bank).output) is is_denied


def test_the_person_sees_one_line_per_decision_where_the_harness_can_show_it(
    tmp_path: Path, skill: OfferedSkill
) -> None:
    with fake_gate(says("use")) as gate:
        told = settings(gate, tmp_path, skill)
        used = json.loads(answer(told, prompt(), ask_bank=no_bank).output)
        assert used["systemMessage"] == "SkillDelta: used counting (+50 points, sure) · skilldelta why"
    with fake_gate(says("skip", gain=-0.25, certainty="leaning")) as gate:
        told = settings(gate, tmp_path / "b", skill)
        skipped = json.loads(answer(told, prompt(), ask_bank=no_bank).output)
        assert skipped == {"systemMessage": "SkillDelta: skipped counting (-25 points, leaning) · skilldelta why"}
        assert answer(told, prompt(text="And in 5 pallets?"), ask_bank=no_bank) == Answered()
        codex = settings(gate, tmp_path / "c", skill, host="codex")
        assert answer(codex, prompt("codex"), ask_bank=no_bank).output == ""
