"""Garbage on the standard input of every hook dialect: exit code 0, an answer or nothing, in a bounded time."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serve.hooks.fake_gate import HOSTS, decision, dialect_of
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.serve.hooks.hook_event import MOST_BYTES
from skilldelta.serve.hooks.hook_run import HookSettings, answer

SKILL = OfferedSkill("counting")

FIELDS = ("session_id", "hook_event_name", "prompt", "tool_name", "tool_input", "transcript_path", "source", "cwd")
NAMES = sorted({name for dialect in map(dialect_of, HOSTS) for name in (dialect.prompt, dialect.tool, dialect.end)})
TOOLS = sorted({dialect.skill_tool for dialect in map(dialect_of, HOSTS)})
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(codec=None), max_size=30),
    st.sampled_from([*NAMES, *TOOLS, "/compact", "<hook_context>", "\ud800", "../../etc/passwd", "\x00", "s1"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
EVENTS = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8) | VALUES


def gate(path: str, document: dict[str, Any]) -> dict[str, Any]:
    """A bank that decides anything."""
    json.dumps(document).encode()
    return decision(document["skill"], "use", skill_text="Count twice.")


def check(host: str, content: bytes, folder: Path | None) -> None:
    told = HookSettings(host, dialect_of(host), (SKILL,), ask="bank", state=folder)
    started = time.monotonic()
    found = answer(told, content, ask_bank=gate)
    assert time.monotonic() - started < 5
    if found.output:
        assert isinstance(json.loads(found.output), dict)
        found.output.encode("ascii")


@pytest.mark.parametrize("host", HOSTS)
@settings(max_examples=150, deadline=None)
@given(event=EVENTS, cut=st.integers(0, 400))
def test_any_document_whole_or_cut_is_answered(host: str, event: Any, cut: int) -> None:
    content = json.dumps(event).encode()
    check(host, content, None)
    check(host, content[:cut], None)


@pytest.mark.parametrize("host", HOSTS)
@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_answered(host: str, content: bytes) -> None:
    check(host, content, None)


def hostile(host: str) -> dict[str, bytes]:
    dialect = dialect_of(host)

    def event(**fields: Any) -> bytes:
        return json.dumps({"session_id": "s1", "hook_event_name": dialect.prompt, "prompt": "count", **fields}).encode()

    return {
        "nothing": b"",
        "blanks": b" \n\t ",
        "cut off": event()[:-10],
        "an array": b"[" + event() + b"]",
        "two documents": event() + event(),
        "deep nesting": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        "a huge number": b'{"session_id": ' + b"9" * 100_000 + b"}",
        "not a number": b'{"session_id": NaN, "prompt": Infinity}',
        "a huge prompt": event(prompt="word " * 400_000),
        "too large": b" " * (MOST_BYTES + 10),
        "lone surrogates": event(prompt="\ud800\udfff\ud800", session_id="\udc00"),
        "control characters": event(prompt="\x00\x1b[2J\x7f", session_id="\x00/../.."),
        "a path as a conversation": event(session_id="/etc/passwd"),
        "a long conversation": event(session_id="s" * 1_000_000),
        "an unknown event": event(hook_event_name="Unheard"),
        "a list as an event": event(hook_event_name=[dialect.prompt]),
        "the wrong encoding": event().decode().encode("utf-16"),
        "a byte-order mark": b"\xef\xbb\xbf" + event(),
        "a key twice": b'{"hook_event_name": "x", ' + event()[1:],
        "a device as a transcript": event(hook_event_name=dialect.end, transcript_path="/dev/zero"),
        "a pipe as a transcript": event(hook_event_name=dialect.end, transcript_path="/dev/stdin"),
        "open elements": event(prompt="<system-reminder>" * 100_000),
    }


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kind", hostile("codex"))
def test_hostile_events_are_answered(host: str, kind: str, tmp_path: Path) -> None:
    check(host, hostile(host)[kind], tmp_path)


@pytest.mark.parametrize("host", HOSTS)
def test_the_process_survives_what_the_function_survives(host: str, tmp_path: Path) -> None:
    """A few in a real process, where streams, encodings and exit codes count."""
    kinds = random.Random(0).sample(sorted(set(hostile(host)) - {"too large"}), 3)
    for kind in [*kinds, "lone surrogates"]:
        words = [sys.executable, "-m", "skilldelta", "hook", host, "--skill", "counting", "--ask", "server"]
        done = subprocess.run(
            [*words, "--server", "http://127.0.0.1:9", "--state", str(tmp_path)],
            input=hostile(host)[kind],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            timeout=30,
        )
        assert (done.returncode, done.stdout) == (0, b""), kind
        assert b"Traceback" not in done.stderr
