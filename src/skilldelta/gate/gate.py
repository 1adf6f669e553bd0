"""The gate: everything that a decision depends on besides the evidence and the question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from skilldelta import intervals
from skilldelta.costs import Cost, CostRule, check_price
from skilldelta.errors import InputError, unknown_name
from skilldelta.estimators.base import Needs
from skilldelta.estimators.registry import deciding_entry
from skilldelta.gate.decision import RULES, Action, Decision, Rule, check_threshold
from skilldelta.gate_settings import GATE_SETTINGS, PAPER_SETTINGS, SETTING, SETTLED_BY_PAPER
from skilldelta.predictor import Settings, Weighting
from skilldelta.renames import INTERVALS, SCOPES, estimator_name, renamed
from skilldelta.support import Scope, Support

if TYPE_CHECKING:
    from skilldelta.gate.fitted_gate import FittedGate, PanelDecisions

# One in a hundred tasks like the recorded ones falls below it, and nearly all tasks of other kinds do.
FAMILIARITY_LIMIT = 0.01


_DEFAULT: Mapping[str, Any] = {setting.name: setting.default for setting in GATE_SETTINGS}


@dataclass(frozen=True, slots=True)
class Gate:
    """How to decide: estimator, rule, interval, threshold, familiarity limit and cost rule.

    The fields are the settings that `gate_settings` declares. Old names of estimators, scopes and intervals are understood.

    Examples:
        >>> Gate(estimator="paper", threshold=0.1).familiarity_floor
        0.0
    """

    estimator: str = _DEFAULT["estimator"]
    k: int = _DEFAULT["k"]
    weighting: Weighting = _DEFAULT["weighting"]
    scope: Scope = _DEFAULT["scope"]
    threshold: float = _DEFAULT["threshold"]
    rule: Rule = _DEFAULT["rule"]
    interval: str | None = _DEFAULT["interval"]
    """The interval's method; None is the estimator's own, else `exact`."""
    level: float = _DEFAULT["level"]
    familiarity_limit: float | None = _DEFAULT["familiarity_limit"]
    """Less familiar tasks are skipped, under the three-way rule abstained from; None is 0.01, for the paper's rule 0: never."""
    prior_gain: float = _DEFAULT["prior_gain"]
    """The gain that the blend pulls a skill with little evidence to; other estimators have no such level."""
    success_worth: float | None = _DEFAULT["success_worth"]
    """Dollars that one success is worth; with `price`, tokens are weighed against the gain."""
    price: float | None = _DEFAULT["price"]
    """Dollars per million tokens."""
    lipschitz: float = _DEFAULT["lipschitz"]
    """L of the paper's bound: how fast gains may change with distance. 0 leaves the coverage term out."""
    epsilon: float = _DEFAULT["epsilon"]
    """eps of the paper's bound: how far the gains of two tasks at one place may differ."""

    def __post_init__(self) -> None:
        for name, value in (
            ("estimator", estimator_name(self.estimator)),
            ("scope", renamed("scope", self.scope, SCOPES).replace("_", "-")),
            ("rule", self.rule.replace("_", "-")),
            ("interval", self.interval and renamed("interval", self.interval, INTERVALS).replace("-", "_")),
        ):
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        check_threshold(self.threshold)
        Settings(self.k, self.weighting)
        for name, choices in (("scope", SETTING["scope"].choices), ("rule", RULES)):
            if getattr(self, name) not in choices:
                raise InputError(
                    f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r}", setting=name
                )
        entry = deciding_entry(self.estimator)
        if self.interval_method not in intervals.NAMES:
            raise unknown_name("interval", self.interval_method, intervals.NAMES)
        if self.interval_method == intervals.BLEND and not entry.own_interval:
            raise InputError(
                f"the interval blend belongs to the blend's gain; choose another for {self.estimator}",
                setting="interval",
            )
        if not 0 <= self.familiarity_floor <= 1:
            raise InputError(
                f"familiarity_limit must lie between 0 and 1, got {self.familiarity_floor}", setting="familiarity_limit"
            )
        if not -1 <= self.prior_gain <= 1:
            raise InputError(f"prior_gain must lie between -1 and 1, got {self.prior_gain}", setting="prior_gain")
        if not 0 < self.level < 1:
            raise InputError(f"level must lie between 0 and 1, got {self.level}", setting="level")
        if self.success_worth is not None and self.price is None:
            raise InputError("success_worth needs price, the dollars a million tokens cost", setting="success_worth")
        if self.price is not None:
            check_price(self.price)
        if self.success_worth is not None and self.price is not None:
            CostRule.from_worth(self.success_worth, self.price)
        # The bias terms belong to the paper's bound on the paper's rule.
        for name, value in (("lipschitz", self.lipschitz), ("epsilon", self.epsilon)):
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} must be a number that is not negative, got {value}", setting=name)
            if value and not (entry.averages_neighbors and self.interval == "hoeffding"):
                raise InputError(
                    f"{name} widens the paper's band around the paper's rule; choose the estimator paper and the interval "
                    "hoeffding",
                    setting=name,
                )

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], base: Gate | None = None) -> Gate:
        """A gate with some settings in place of those of another.

        Parameters:
            settings: Values by the names of `gate_settings`; None leaves a setting as it is. `paper` starts from the paper's
                rule and its main setting.
            base: The gate whose other settings stay; the default one unless given. Its interval and its familiarity limit
                belong to its estimator and stay behind where another estimator is asked for.

        Raises:
            InputError: A setting is unknown, its value is wrong, or `paper` already settles it.

        Examples:
            >>> Gate.from_settings({"threshold": 0.2}, Gate(k=3)).k
            3
        """
        for name in settings:
            if name not in SETTING:
                raise unknown_name("setting", name, SETTING)
        changes = {name: value for name, value in settings.items() if value is not None and name != "paper"}
        gate = base or cls()
        if settings.get("paper"):
            for name in SETTLED_BY_PAPER:
                if name in changes:
                    raise InputError(f"paper already settles {name}; leave out {name} or paper", setting=name)
            return cls(**{**PAPER_SETTINGS, **changes})
        if "estimator" in changes and estimator_name(changes["estimator"]) != gate.estimator:
            own = {"interval": None, "familiarity_limit": None, "lipschitz": 0.0, "epsilon": 0.0}
            return replace(gate, **{**own, **changes})
        return replace(gate, **changes)

    @property
    def settings(self) -> Settings:
        """How neighbors are chosen and averaged."""
        return Settings(self.k, self.weighting)

    @property
    def interval_method(self) -> str:
        """The method that makes the interval."""
        own = intervals.BLEND if deciding_entry(self.estimator).own_interval else intervals.DEFAULT
        return self.interval or own

    @property
    def familiarity_floor(self) -> float:
        """The familiarity below which a prediction is not acted on."""
        if self.familiarity_limit is not None:
            return self.familiarity_limit
        return 0.0 if deciding_entry(self.estimator).averages_neighbors else FAMILIARITY_LIMIT

    @property
    def cost_rule(self) -> CostRule | None:
        """How tokens are weighed against the gain; None where they are not."""
        if self.success_worth is None or self.price is None:
            return None
        return CostRule.from_worth(self.success_worth, self.price)

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that differ from the default gate, by name."""
        default = Gate()
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value != getattr(default, name)}

    def fit(self, support: Support, needs: Needs | None = None) -> FittedGate:
        """A gate that decides any target from a support.

        Parameters:
            support: The recorded pairs of one agent on one suite.
            needs: What some estimators are made with besides, such as skill texts; k, weighting and scope are the gate's.

        Examples:
            >>> Gate(estimator="paper").fit(support).decide(target).decision.action
            'use'
        """
        from skilldelta.gate.fitted_gate import FittedGate, SupportEvidence

        return FittedGate(self, SupportEvidence(self, support, needs or Needs()))

    def leave_one_out(self, support: Support, needs: Needs | None = None) -> PanelDecisions:
        """What the gate decides about every recorded task, each from the other tasks alone.

        Examples:
            >>> int(Gate(estimator="paper").leave_one_out(support).uses.sum())
            4
        """
        from skilldelta.gate import fitted_gate

        return fitted_gate.leave_one_out(self, support, needs or Needs())

    def threshold_at(self, cost: Cost | None) -> float:
        """What the gain must exceed, with the tokens' weight on the threshold's side: threshold + lambda * tokens."""
        return self.cost_rule.for_plain_gain(self.threshold, cost) if self.cost_rule else self.threshold

    def unless_unlike(self, decision: Decision, familiarity: float | None) -> Decision:
        """The decision; or skip, under the three-way rule abstain, where the task is less familiar than the limit."""
        if decision.is_fallback or familiarity is None or familiarity >= self.familiarity_floor:
            return decision
        share = f"{familiarity:.3f}" if familiarity >= 0.0005 else "below 0.001"
        reason = (
            f"the task is unlike the recorded ones (familiarity {share}, the limit is {self.familiarity_floor:.4g}), "
            f"so the predicted gain {decision.gain:+.3f} is little more than a guess"
        )
        action: Action = "abstain" if self.rule == "three-way" else "skip"
        change = "paired executions of tasks like this one, or a lower limit"
        return replace(decision, action=action, reason=reason, would_change=change)


assert {setting.name for setting in GATE_SETTINGS} - {"paper"} == {field.name for field in fields(Gate)}
