"""pi."""

from __future__ import annotations

import json

from skilldelta.harnesses.harness import Harness, Recipe, Reply, told
from skilldelta.harnesses.json_values import ANY_PROVIDER, json_events, sum_of
from skilldelta.harnesses.loader import JavaScriptLoader

# pi waits for an extension before it starts; without SkillDelta there is nothing to wait for.
_LOADER = """\
export default async pi => {
  try {
    const { withSettings } = await import(MODULE)
    withSettings(SETTINGS)(pi)
  } catch {}
}
"""


def _read(printed: str) -> Reply:
    messages = [event.get("message") or {} for event in json_events(printed) if event.get("type") == "message_end"]
    replies = [message for message in messages if message.get("role") == "assistant"]
    if not replies or replies[-1].get("stopReason") in ("error", "aborted"):
        raise ValueError(f"pi gave no answer: {json.dumps(replies[-1:])[:200]}")
    content = replies[-1].get("content") or []
    texts = [str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("type") == "text"]
    usages = [reply.get("usage") or {} for reply in replies]
    cost = sum_of([usage.get("cost") for usage in usages], "total")
    model = str(replies[-1].get("responseModel") or replies[-1].get("model") or "")
    return Reply("".join(texts), sum_of(usages, "totalTokens"), cost, model)


HARNESS = Harness(
    name="pi",
    title="pi",
    program="pi",
    folder=lambda home, environment: told(environment, "PI_CODING_AGENT_DIR", home / ".pi" / "agent"),
    project_folder=".pi",
    setup=JavaScriptLoader("extensions/skilldelta.js", "pi-skilldelta/extension.mjs", _LOADER),
    next_step="Start a new session of pi.",
    tested_version="0.87.1",
    recipe=Recipe(
        words=("-p", "--mode", "json"),
        passed=ANY_PROVIDER,
        variables={"PI_CODING_AGENT_DIR": "{home}/.pi/agent"},
        read=_read,
    ),
)
