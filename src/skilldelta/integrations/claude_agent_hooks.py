"""Claude Agent SDK: hooks that add the skill when the prompt is submitted, or deny the Skill tool where it would not help."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from skilldelta.errors import InputError
from skilldelta.integrations.skill_gate import FirstGiven, SkillGate, required

with required("claude-agent-sdk"):
    from claude_agent_sdk import HookMatcher, ResultMessage

# Characters. Claude Code replaces longer additions by a preview, so longer texts are handed over in parts.
_LONGEST_CONTEXT = 9_900


def skill_hooks(gate: SkillGate) -> dict[Any, list[HookMatcher]]:
    """For `ClaudeAgentOptions(hooks=skill_hooks(gate))`: one decision per session."""
    if gate.text is None:
        raise InputError("the hooks need the skill's text beforehand; give the gate text=Path('SKILL.md')")
    parts = math.ceil(len(gate.text) / _LONGEST_CONTEXT)
    submitted = [_inject(gate, part) for part in range(parts)]
    return {
        "UserPromptSubmit": [HookMatcher(hooks=submitted)],
        "PreToolUse": [HookMatcher(matcher="Skill", hooks=[_deny(gate)])],
    }


async def record_result(gate: SkillGate, result: ResultMessage) -> bool:
    """Record tokens, cost and time of a finished session with its decision."""
    answer, usage = gate.answer_of(result.session_id), result.usage or {}
    if answer is None:
        return False
    kinds = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    tokens = float(sum(usage[kind] for kind in kinds if isinstance(usage.get(kind), int))) or None
    seconds = result.duration_ms / 1000
    return await asyncio.to_thread(gate.record, answer, tokens=tokens, cost_usd=result.total_cost_usd, seconds=seconds)


def _inject(gate: SkillGate, part: int) -> Any:
    """The hook that hands over one part of the skill, once: a session's later prompts add nothing."""
    handed_over = FirstGiven[object]()

    async def on_prompt(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        session = str(event.get("session_id") or "")
        answer = await asyncio.to_thread(gate.decide, str(event.get("prompt") or ""), conversation=session)
        text = answer.text[part * _LONGEST_CONTEXT : (part + 1) * _LONGEST_CONTEXT]
        now = object()
        if not text or handed_over.first(session, now) is not now:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}

    return on_prompt


def _deny(gate: SkillGate) -> Any:
    """The hook that denies the Skill tool for the gated skill where the session's decision is to skip it."""

    async def on_tool(event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        skill = str((event.get("tool_input") or {}).get("skill") or "").rpartition(":")[2]
        answer = gate.answer_of(str(event.get("session_id") or ""))
        if skill != gate.skill or answer is None or answer.use:
            return {}
        reason = f"SkillDelta: {answer.reason}. Proceed without the skill."
        denial = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": denial}

    return on_tool
