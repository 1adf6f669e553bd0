"""Inspect AI: a solver to put before `generate()` or `react()`, which adds the skill to a sample where it helps."""

from __future__ import annotations

import asyncio

from skilldelta.integrations.skill_gate import SkillGate, required

with required("inspect-ai"):
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser
    from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def gated_skill(gate: SkillGate) -> Solver:
    """`solver=[gated_skill(gate), generate()]`. The decision is in the sample's metadata, as `skilldelta`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        conversation = f"{state.sample_id}/{state.epoch}/{state.uuid}"
        answer = await asyncio.to_thread(gate.decide, state.input_text, conversation=conversation)
        state.metadata["skilldelta"] = {
            "arm": "use" if answer.use else "skip",
            "skill": gate.skill,
            "reason": answer.reason,
            "decision_id": answer.decision_id,
        }
        if answer.use:
            at = next((i for i, m in enumerate(state.messages) if isinstance(m, ChatMessageUser)), len(state.messages))
            state.messages.insert(at, ChatMessageSystem(content=answer.text))
        return state

    return solve
