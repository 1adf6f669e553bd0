"""Gemini CLI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skilldelta.harnesses.harness import Dialect, Harness, Recipe, Reply, told
from skilldelta.harnesses.hook_entries import HookEntries
from skilldelta.harnesses.json_values import count, object_of, sum_of
from skilldelta.json_text import decode_json


def _tokens(rows: Sequence[dict[str, Any]]) -> int | None:
    by_message: dict[str, int] = {}
    for row in rows:
        several = row.get("messages")
        for number, message in enumerate(several if isinstance(several, list) else [row]):
            total = count(object_of(object_of(message).get("tokens")).get("total"))
            if total is not None:
                by_message[str(object_of(message).get("id") or number)] = total
    return sum(by_message.values()) if by_message else None


def _read(printed: str) -> Reply:
    try:
        document = decode_json(printed[printed.index("{") :])
        answer = document["response"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"Gemini CLI printed no answer: {printed.strip()[-160:]!r}") from None
    models = (document.get("stats") or {}).get("models") or {}
    tokens = sum_of([(usage or {}).get("tokens") for usage in models.values()], "total")
    return Reply(str(answer or ""), tokens, model=",".join(models))


HARNESS = Harness(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    folder=lambda home, environment: told(environment, "GEMINI_CLI_HOME", home) / ".gemini",
    project_folder=".gemini",
    # It wants a name for every hook, and milliseconds.
    setup=HookEntries("settings.json", fields={"name": "skilldelta"}, per_second=1000),
    next_step="Start a new session of Gemini CLI; /hooks panel lists the entries.",
    dialect=Dialect(
        prompt="BeforeAgent",
        tool="BeforeTool",
        end="SessionEnd",
        skill_tool="activate_skill",
        skill_fields=("name", "skill", "skill_name"),
        denial=lambda reason: {"decision": "deny", "reason": reason},
        tokens=_tokens,
    ),
    plugin_mark=("extensions/skilldelta", ""),
    tested_version="0.61.0",
    recipe=Recipe(
        words=("--output-format", "json"),
        permissions={"default": (), "edits": ("--approval-mode", "auto_edit"), "full": ("--approval-mode", "yolo")},
        passed=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        variables={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
        read=_read,
    ),
)
