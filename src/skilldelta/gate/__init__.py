"""What decides: `Gate` is an estimator, a rule, an interval, a threshold, a familiarity limit and a cost rule in one object."""

from skilldelta.gate.answer import Answer, CarriedOver, Explanation, Neighbor, SkillChoice
from skilldelta.gate.decision import NO_SUPPORT, RULES, Action, Decision, Rule, check_threshold, decide
from skilldelta.gate.fitted_gate import FittedGate, PanelDecisions
from skilldelta.gate.gate import Gate
from skilldelta.gate.question import Question

__all__ = [
    "NO_SUPPORT",
    "RULES",
    "Action",
    "Answer",
    "CarriedOver",
    "Decision",
    "Explanation",
    "FittedGate",
    "Gate",
    "Neighbor",
    "PanelDecisions",
    "Question",
    "Rule",
    "SkillChoice",
    "check_threshold",
    "decide",
]
