"""What a harness tells a hook, whatever its dialect: a prompt, a call of a skill, or the end of a conversation.

Harnesses add fields and events with every release, so what is unknown is no fault: it is an event that needs no answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from skilldelta.json_text import decode_json
from skilldelta.serve.hooks.user_text import user_text

if TYPE_CHECKING:
    from skilldelta.harnesses.harness import Dialect

Kind = Literal["prompt", "skill_call", "compacted", "end", "other"]

# Bytes of an event that are read; prompts are far smaller, tool calls may hold whole files.
MOST_BYTES = 16 << 20

# Where a prompt may say that it comes from; anything else counts as a person's.
_NOT_BY_A_USER = frozenset(
    {"agent", "automation", "background", "cron", "hook", "schedule", "scheduled", "subagent", "system", "task"}
)


class HookEvent(NamedTuple):
    """One event; the fields that its kind does not have are empty."""

    kind: Kind
    conversation: str = ""
    text: str = ""
    """What the user wrote, without what the harness and other hooks put around it."""
    skill: str = ""
    """The skill that the model wants to load, without the name of its plugin."""
    transcript: str = ""
    """Where the harness keeps the conversation."""


class EventError(ValueError):
    """Standard input holds no event; the message is one line."""


def read_event(dialect: Dialect, content: bytes) -> HookEvent:
    """The event of a document."""
    document = _document(content)
    name = _text(document, "hook_event_name")
    conversation = _text(document, "session_id")
    if name == dialect.prompt:
        return HookEvent("prompt", conversation, _prompt(document), transcript=_text(document, "transcript_path"))
    if name == dialect.tool and dialect.skill_tool and _text(document, "tool_name") == dialect.skill_tool:
        return HookEvent("skill_call", conversation, skill=_called(document, dialect))
    if dialect.start and name == dialect.start and _text(document, "source") == "compact":
        return HookEvent("compacted", conversation)
    if name == dialect.end:
        return HookEvent("end", conversation, transcript=_text(document, "transcript_path"))
    return HookEvent("other", conversation)


def _document(content: bytes) -> dict[str, Any]:
    if len(content) > MOST_BYTES:
        raise EventError(f"the event has more than {MOST_BYTES >> 20} MiB")
    try:
        document = decode_json(content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    except ValueError as error:
        raise EventError(f"the event is not JSON ({str(error)[:80]})") from None
    if not isinstance(document, dict):
        raise EventError(f"the event is a JSON {type(document).__name__}, not an object")
    return document


def _prompt(document: dict[str, Any]) -> str:
    origins = (_text(document, name).lower() for name in ("source", "prompt_source", "origin", "trigger"))
    return "" if any(source in _NOT_BY_A_USER for source in origins) else user_text(_text(document, "prompt"))


def _called(document: dict[str, Any], dialect: Dialect) -> str:
    tool_input = document.get("tool_input")
    fields = tool_input if isinstance(tool_input, dict) else {}
    skill = next((name for field in dialect.skill_fields if (name := _text(fields, field))), "")
    return skill.strip().removeprefix("/").rpartition(":")[2]


def _text(document: dict[str, Any], name: str) -> str:
    """A field that is a text; anything else counts as absent. Half of a surrogate pair could not be stored or sent."""
    value = document.get(name)
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
