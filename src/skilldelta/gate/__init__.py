"""What decides: `Gate` is an estimator, a rule, an interval, a threshold, a familiarity limit and a cost rule in one object."""

from skilldelta.gate.decision import NO_SUPPORT, RULES, Action, Decision, Rule, check_threshold, decide
from skilldelta.gate.gate import Gate

__all__ = ["NO_SUPPORT", "RULES", "Action", "Decision", "Gate", "Rule", "check_threshold", "decide"]
