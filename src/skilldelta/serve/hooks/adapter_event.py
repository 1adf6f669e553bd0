"""Events of the adapters in JavaScript: a document in, a document out, decided on the path of every hook.

An adapter says what its harness knows: the user's words, and the skills on offer. Which of them the message is about,
whether it is a task at all and what was decided earlier in the conversation is decided here. The adapter has the texts of
its harness's skills; the answer holds a text only where the bank has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from skilldelta.harnesses.harness import Dialect
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.serve.hooks.conversation import HookDecision
from skilldelta.serve.hooks.hook_run import Answered, Ask, HookSettings, answer, denied_skills

_MOST_SKILLS = 500
_FALLBACKS = ("use", "skip", "abstain")


@dataclass(frozen=True, slots=True)
class AdapterDialect(Dialect):
    """The names that the adapters of this repository use."""

    def context(self, text: str, event: str, skill: str) -> dict[str, Any]:
        """The skill to inject, and its text for an adapter that has none."""
        return {"skill": skill, "text": text}


ADAPTER = AdapterDialect(prompt="prompt", tool="skill_call", end="end", start="compacted", shows_messages=True)


class AdapterAnswer(NamedTuple):
    """The document for the adapter, and what went wrong on the way."""

    document: dict[str, Any]
    failure: str = ""


def answer_adapter(settings: HookSettings, content: bytes, *, ask_bank: Ask) -> AdapterAnswer:
    """What an adapter shall do about a message: inject a skill, refuse some, say a line; everything it was told is checked."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return AdapterAnswer({}, "the event is no JSON object")
    settings = _told(settings, document)
    result = answer(settings, content, ask_bank=ask_bank)
    if document.get("bare") is True and "text" not in result.output:
        # Nothing of ours is in the model's context: a compaction took it out, or an earlier answer came too late.
        again = {"hook_event_name": ADAPTER.start, "source": "compact", "session_id": document.get("session_id")}
        text = answer(settings, json.dumps(again).encode(), ask_bank=ask_bank)
        result = Answered(text.output or result.output, result.failure or text.failure, result.decisions)
    denied = {} if settings.shadow else denied_skills(settings, content)
    reply = {
        **(json.loads(result.output) if result.output else {}),
        "denied": denied,
        "decisions": [_row(decision) for decision in result.decisions],
    }
    return AdapterAnswer(reply, result.failure)


def _told(settings: HookSettings, document: Mapping[str, Any]) -> HookSettings:
    """The settings with what the adapter says; a value of another type is left out."""
    rows = document.get("skills")
    rows = [row for row in rows if isinstance(row, dict)][:_MOST_SKILLS] if isinstance(rows, list) else []
    named = {
        name: OfferedSkill(name, digest=_text(row, "digest"), folder_digest=_text(row, "folder_digest"))
        for row in rows
        if (name := _text(row, "name"))
    }
    fallback, gate = document.get("fallback"), document.get("gate")
    has_texts = bool(named) and all(row.get("has_text") is True for row in rows)
    return replace(
        settings,
        skills=tuple(named.values()) or settings.skills,
        agent=_text(document, "agent") or settings.agent,
        suite=_text(document, "suite") or settings.suite,
        family=_text(document, "family") or settings.family,
        gate=gate if isinstance(gate, dict) else settings.gate,
        fallback=fallback if fallback in _FALLBACKS else settings.fallback,
        delivery="invoke" if has_texts else "text",  # the bank need not send what the adapter has
        shadow=document.get("shadow") is True or settings.shadow,
    )


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return value[:1_000].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _row(decision: HookDecision) -> dict[str, Any]:
    names = ("skill", "action", "reason", "gain", "certainty", "decision_id", "chosen", "has_evidence")
    return {name: getattr(decision, name) for name in names}
