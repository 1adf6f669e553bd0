"""A policy from the settings that a request names, on top of the service's own; the names are those of `predict`'s options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skilldelta.advisor import Policy
from skilldelta.costs import CostRule
from skilldelta.errors import InputError, unknown_name
from skilldelta.predictor import Settings

_SAME_NAME = ("estimator", "scope", "threshold", "rule", "level", "familiarity_limit", "price")
_RENAMED = {"interval": "method", "lipschitz": "smoothness", "epsilon": "residual"}
POLICY_SETTINGS = (*_SAME_NAME, *_RENAMED, "k", "weighting", "paper", "success_worth")


def policy_with(given: Mapping[str, Any], default: Policy | None = None) -> Policy:
    """The default policy with the given settings in it; `paper` starts from the paper's rule and its main setting."""
    for name in given:
        if name not in POLICY_SETTINGS:
            raise unknown_name("setting", name, POLICY_SETTINGS)
    if given.get("paper"):
        _refuse_other_rules(given)
        policy = Policy(estimator="skilldelta", scope="paper", method="hoeffding")
    else:
        policy = _of_estimator(given, default or Policy())
    changes = {name: given[name] for name in _SAME_NAME if given.get(name) is not None}
    changes |= {_RENAMED[name]: given[name] for name in _RENAMED if given.get(name) is not None}
    settings = {name: given[name] for name in ("k", "weighting") if given.get(name) is not None}
    return replace(
        policy,
        **changes,
        settings=Settings(**{"k": policy.settings.k, "weighting": policy.settings.weighting, **settings}),
        cost_rule=_cost_rule(given) or policy.cost_rule,
    )


def _of_estimator(given: Mapping[str, Any], default: Policy) -> Policy:
    """The default; its interval and limit belong to its estimator and stay behind where another is asked for."""
    estimator = given.get("estimator")
    if estimator is None or estimator == default.estimator:
        return default
    return replace(default, estimator=estimator, method=None, familiarity_limit=None, smoothness=0.0, residual=0.0)


def _refuse_other_rules(given: Mapping[str, Any]) -> None:
    for name in ("estimator", "interval", "success_worth", "price"):
        if given.get(name) is not None:
            raise InputError(f"paper already settles {name}; leave out {name} or paper")


def _cost_rule(given: Mapping[str, Any]) -> CostRule | None:
    if given.get("success_worth") is None:
        return None
    if given.get("price") is None:
        raise InputError("success_worth needs price, the dollars a million tokens cost")
    return CostRule.from_worth(given["success_worth"], given["price"])
