"""Inspect AI: a solver to put before `generate()` or `react()`, which adds the skill to a sample where it helps."""

from __future__ import annotations

import asyncio
from typing import Any

from skilldelta.integrations.missing_framework import required
from skilldelta.integrations.skill_gate import SkillGate

with required("inspect-ai"):
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser
    from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def gated_skill(gate: SkillGate) -> Solver:
    """`solver=[gated_skill(gate), generate()]`. The decision is in the sample's metadata, as `skilldelta`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        conversation = f"{state.sample_id}/{state.epoch}/{state.uuid}"
        answer = await asyncio.to_thread(gate.decide, state.input_text, conversation=conversation)
        state.metadata["skilldelta"] = _noted(answer.use, gate.skill, answer.reason, answer.decision_id)
        if answer.use:
            at = next((i for i, m in enumerate(state.messages) if isinstance(m, ChatMessageUser)), len(state.messages))
            state.messages.insert(at, ChatMessageSystem(content=answer.text))
        return state

    return solve


def _noted(use: bool, skill: str, reason: str, decision_id: int | None) -> dict[str, Any]:
    return {"arm": "use" if use else "skip", "skill": skill, "reason": reason, "decision_id": decision_id}
