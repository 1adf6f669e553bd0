"""Claude Code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skilldelta.harnesses.harness import Dialect, Harness, Recipe, Reply, told
from skilldelta.harnesses.hook_entries import HookEntries
from skilldelta.harnesses.json_values import count, json_events, object_of, sum_of

_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def denial(reason: str) -> dict[str, Any]:
    """The answer of a hook that refuses a tool."""
    decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}


def _tokens(rows: Sequence[dict[str, Any]]) -> int | None:
    by_message: dict[str, int] = {}  # each block of a message is a line that repeats the usage
    for number, row in enumerate(rows):
        message = object_of(row.get("message"))
        usage = object_of(message.get("usage"))
        if row.get("type") == "assistant" and usage:
            call = f"{message.get('id') or number} {row.get('requestId')}"
            by_message[call] = sum(count(usage.get(name)) or 0 for name in _USAGE)
    return sum(by_message.values()) if by_message else None


def _read(printed: str) -> Reply:
    results = [event for event in json_events(printed) if event.get("type") == "result"]
    if not results:
        raise ValueError(f"the harness printed no 'result' event: {printed.strip()[-160:]!r}")
    result = results[-1]
    if result.get("is_error") or not isinstance(result.get("result"), str):
        raise ValueError(f"Claude Code ended with {result.get('subtype')!r}: {str(result.get('result'))[:160]!r}")
    models = result.get("modelUsage")
    model = next(iter(models), "") if isinstance(models, dict) else ""
    return Reply(result["result"], sum_of([result.get("usage")], *_USAGE), sum_of([result], "total_cost_usd"), model)


DIALECT = Dialect(
    prompt="UserPromptSubmit",
    tool="PreToolUse",
    end="SessionEnd",
    start="SessionStart",
    shows_messages=True,
    speaks_http=True,
    skill_tool="Skill",
    skill_fields=("skill", "command", "name"),
    longest=9_900,  # found at 10,000
    denial=denial,
    tokens=_tokens,
)

HARNESS = Harness(
    name="claude-code",
    title="Claude Code",
    program="claude",
    folder=lambda home, environment: told(environment, "CLAUDE_CONFIG_DIR", home / ".claude"),
    project_folder=".claude",
    setup=HookEntries("settings.json"),
    next_step="Start a new session of Claude Code; /hooks lists the entries.",
    dialect=DIALECT,
    plugin_mark=("settings.json", "skilldelta@"),
    tested_version="2.1.326",
    has_plain_json=True,
    recipe=Recipe(
        words=("-p", "--output-format", "json"),
        permissions={
            "default": (),
            "edits": ("--permission-mode", "acceptEdits"),
            "full": ("--dangerously-skip-permissions",),
        },
        passed=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
        variables={
            "CLAUDE_CONFIG_DIR": "{home}/.claude",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        },
        read=_read,
    ),
)
