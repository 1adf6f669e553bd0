from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from serve.hooks.fake_gate import HOSTS, dialect_of
from skilldelta.harnesses.session_transcript import transcript_tokens


def lines(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_claude_code_repeats_the_usage_of_a_message_with_each_block(tmp_path: Path) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 1}
    said = {"type": "assistant", "message": {"id": "m1", "usage": usage}}
    other = {"type": "assistant", "message": {"id": "m2", "usage": {"input_tokens": 2, "output_tokens": 2}}}
    path = lines(tmp_path / "t.jsonl", {"type": "user", "message": {"usage": usage}}, said, said, other)
    assert transcript_tokens(dialect_of("claude-code"), path) == 120


def test_codex_keeps_a_running_total(tmp_path: Path) -> None:
    def counted(total: Any) -> dict[str, Any]:
        info = {"total_token_usage": {"total_tokens": total}}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    path = lines(tmp_path / "t.jsonl", counted(10), counted(35), counted(None), {"payload": {"type": "message"}})
    assert transcript_tokens(dialect_of("codex"), path) == 35


def test_gemini_counts_per_message_in_one_document_or_in_lines(tmp_path: Path) -> None:
    messages = [{"id": "1", "type": "user"}, {"id": "2", "tokens": {"total": 7}}, {"id": "3", "tokens": {"total": 5}}]
    document = tmp_path / "t.json"
    document.write_text(json.dumps({"messages": messages}, indent=2))
    assert transcript_tokens(dialect_of("gemini"), str(document)) == 12
    assert transcript_tokens(dialect_of("gemini"), lines(tmp_path / "t.jsonl", *messages)) == 12


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff", b"{}", b'[{"a":', b"[" * 50_000, b'{"message": 3, "tokens": []}']
)
def test_what_a_transcript_does_not_tell_is_unknown(tmp_path: Path, host: Any, content: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    assert transcript_tokens(dialect_of(host), str(path)) is None
    assert transcript_tokens(dialect_of(host), str(tmp_path)) is None
    assert transcript_tokens(dialect_of(host), str(tmp_path / "missing")) is None
    assert transcript_tokens(dialect_of(host), "nul\x00") is None
