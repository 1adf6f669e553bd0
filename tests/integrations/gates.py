"""Gates with a known answer, and a record of what they were asked and told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skilldelta.integrations.skill_gate import SkillGate

SKILL_TEXT = "A pallet holds 12 crates, a crate 24 cans."
TASK = "How many cans are in 3 pallets?"


@dataclass
class Desk:
    """Answers every question alike, and keeps questions and outcomes."""

    action: str = "use"
    asked: list[dict[str, Any]] = field(default_factory=list)
    told: list[dict[str, Any]] = field(default_factory=list)

    def route(self, question: dict[str, Any]) -> Mapping[str, Any]:
        self.asked.append(question)
        return {"action": self.action, "reason": f"the answer is {self.action}", "decision_id": len(self.asked)}

    def gate(self, **options: Any) -> SkillGate:
        return SkillGate("warehouse-units", self.route, text=SKILL_TEXT, report=self.told.append, **options)
