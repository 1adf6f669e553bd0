"""Deep Agents: a middleware that takes skipped skills out of the catalogue that the agent discovered itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired

from skilldelta.integrations.langchain_middleware import first_user_text
from skilldelta.integrations.skill_gate import SkillGate, required

with required("deepagents"):
    from deepagents.middleware.skills import SkillsState
    from langchain.agents.middleware import AgentMiddleware


class FilteredState(SkillsState):
    """What the filter keeps in the agent's state: the names of the skills that this thread does not get."""

    skilldelta_skipped: NotRequired[list[str]]  # type: ignore[valid-type]


class SkillCatalogFilter(AgentMiddleware[FilteredState, Any, Any]):
    """Put it behind `SkillsMiddleware`; each gate decides about the discovered skill of its name. Others are left alone."""

    state_schema = FilteredState

    def __init__(self, gates: Sequence[SkillGate]) -> None:
        super().__init__()
        self._gates = {gate.skill: gate for gate in gates}

    def before_agent(self, state: FilteredState, runtime: Any) -> dict[str, Any] | None:
        """Decide once per thread, and take the skipped skills out of the catalogue at every turn."""
        skills = state.get("skills_metadata") or []
        skipped = state.get("skilldelta_skipped")
        if skipped is None:
            task = first_user_text(state["messages"])
            offered = [self._gates[skill["name"]] for skill in skills if skill["name"] in self._gates]
            skipped = [gate.skill for gate in offered if not gate.decide(task).use]
        remaining = [skill for skill in skills if skill["name"] not in skipped]
        return {"skills_metadata": remaining, "skilldelta_skipped": skipped}
