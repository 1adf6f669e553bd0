"""Counting loads in session files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skilldelta.harnesses.skill_usage import read_usage


def session(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row, separators=(",", ":")) for row in rows))


def call(name: str, **inputs: str) -> dict[str, Any]:
    content = [{"type": "tool_use", "id": "t1", "name": name, "input": inputs}]
    return {"type": "assistant", "message": {"content": content}}


def test_loads_and_sessions_of_claude_code_are_counted(tmp_path: Path) -> None:
    typed = {"type": "user", "message": {"content": "<command-name>/dates</command-name>"}}
    said = {"type": "user", "message": {"content": 'Use the "Skill" tool for dates'}}
    session(tmp_path / "projects/a/1.jsonl", call("Skill", skill="dates"), call("Skill", skill="tools:audit"), typed)
    session(tmp_path / "projects/a/2.jsonl", call("Skill", skill="dates", args="x"), said, call("Bash", command="ls"))
    session(tmp_path / "projects/b/sub/3.jsonl", said)
    usage = read_usage("claude-code", tmp_path)
    assert usage.sessions == 3
    assert usage.loads == {"dates": 3, "audit": 1}
    assert usage.sessions_with == {"dates": 2, "audit": 1}


def test_codex_and_pi_read_the_file_of_a_skill(tmp_path: Path) -> None:
    listed = {"type": "message", "content": "skills: dates (file: /x/skills/dates/SKILL.md)"}
    arguments = json.dumps({"command": ["cat", "/x/skills/dates/SKILL.md"]})
    session(tmp_path / "sessions/2026/01/02/r.jsonl", listed, {"type": "function_call", "arguments": arguments})
    assert read_usage("codex", tmp_path).loads == {"dates": 1}
    read = {"type": "toolCall", "name": "read", "arguments": {"path": "/x/skills/audit/SKILL.md"}}
    session(tmp_path / "sessions/p/s.jsonl", listed, {"content": [read]})
    assert read_usage("pi", tmp_path).loads == {"audit": 1}


def test_gemini_activates_a_skill(tmp_path: Path) -> None:
    chat = {"messages": [{"toolCalls": [{"name": "activate_skill", "args": {"name": "dates"}}]}]}
    session(tmp_path / "tmp/abc/chats/session-1.json", chat)
    assert read_usage("gemini", tmp_path).loads == {"dates": 1}


def test_without_sessions_nothing_is_known(tmp_path: Path) -> None:
    assert not read_usage("claude-code", tmp_path / "nowhere").is_known
    assert not read_usage("dsh", tmp_path).is_known


def test_a_huge_or_broken_file_is_named_and_left_out(tmp_path: Path) -> None:
    session(tmp_path / "projects/a/good.jsonl", call("Skill", skill="dates"))
    (tmp_path / "projects/a/bytes.jsonl").write_bytes(b"\xff\x00" * 100)
    with (tmp_path / "projects/a/huge.jsonl").open("wb") as file:
        file.truncate(100 << 20)
    usage = read_usage("claude-code", tmp_path)
    assert (usage.sessions, usage.loads) == (2, {"dates": 1})
    assert "huge.jsonl" in usage.problems[0]
