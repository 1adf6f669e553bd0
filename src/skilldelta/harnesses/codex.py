"""Codex CLI."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skilldelta.harnesses import claude_code
from skilldelta.harnesses.harness import Harness, Recipe, Reply, told
from skilldelta.harnesses.hook_entries import HookEntries
from skilldelta.harnesses.json_values import count, json_events, object_of, sum_of


def _tokens(rows: Sequence[dict[str, Any]]) -> int | None:
    last: int | None = None  # of a running total
    for row in rows:
        payload = object_of(row.get("payload"))
        if payload.get("type") == "token_count":
            total = count(object_of(object_of(payload.get("info")).get("total_token_usage")).get("total_tokens"))
            last = last if total is None else total
    return last


def _read(printed: str) -> Reply:
    events = list(json_events(printed))
    if failed := [event for event in events if event.get("type") in ("turn.failed", "error")]:
        raise ValueError(f"Codex ended with an error: {json.dumps(failed[-1])[:200]}")
    items = [event.get("item") or {} for event in events if event.get("type") == "item.completed"]
    messages = [str(item.get("text", "")) for item in items if item.get("type") == "agent_message"]
    turns = [event.get("usage") for event in events if event.get("type") == "turn.completed"]
    if not turns:
        raise ValueError(f"Codex completed no turn: {printed.strip()[-160:]!r}")
    return Reply(messages[-1] if messages else "", sum_of(turns, "input_tokens", "output_tokens"))


HARNESS = Harness(
    name="codex",
    title="Codex",
    program="codex",
    folder=lambda home, environment: told(environment, "CODEX_HOME", home / ".codex"),
    project_folder=".codex",
    setup=HookEntries("hooks.json", end_seconds=3),  # the most that it gives a hook at the end of a session
    next_step="Start codex and trust the hooks with /hooks; until then Codex leaves them out.",
    # It reads and writes the documents of Claude Code, and has no tool for skills. What it does after a compaction, and
    # with a message for the person, is not known.
    dialect=replace(
        claude_code.DIALECT, skill_tool="", start="", shows_messages=False, speaks_http=False, tokens=_tokens
    ),
    plugin_mark=("config.toml", "skilldelta@"),
    trust_mark=("config.toml", "trusted_hash"),
    tested_version="0.169.0",
    recipe=Recipe(
        # Hooks have to be trusted by a person first; the only hooks of this home are the ones that were put there.
        words=("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        permissions={
            "default": ("--sandbox", "read-only"),
            "edits": ("--sandbox", "workspace-write"),
            "full": ("--dangerously-bypass-approvals-and-sandbox",),
        },
        passed=("OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"),
        variables={"CODEX_HOME": "{home}/.codex"},
        read=_read,
    ),
)
