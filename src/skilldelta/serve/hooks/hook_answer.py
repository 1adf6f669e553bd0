"""What a hook tells its harness, in the harness's dialect. No answer at all leaves the agent exactly as it was."""

from __future__ import annotations

import json
from typing import Any

from skilldelta.serve.hooks.hook_event import DIALECTS, Host


def with_context(host: Host, text: str) -> str:
    """Text for the model, beside the prompt that is being submitted."""
    return _written(_specific(DIALECTS[host].prompt, additionalContext=text))


def denial(host: Host, reason: str) -> str:
    """The call of a skill refused; the model reads the reason."""
    if host == "gemini":
        return _written({"decision": "deny", "reason": reason})
    return _written(
        _specific(DIALECTS[host].tool, permissionDecision="deny", permissionDecisionReason=reason),
    )


def _specific(event: str, **fields: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def _written(document: dict[str, Any]) -> str:
    """In ASCII, which every pipe takes, whatever its encoding."""
    return json.dumps(document, ensure_ascii=True)
