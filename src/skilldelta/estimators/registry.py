"""The table of estimators and other policies: what each is called, what it means, how it is made, what it can be used for.

Gates, evaluation, sweeps, calibration, frozen panels, the command line and the report all read this table. Another package adds
a policy by an entry point of the group `skilldelta.estimators`: its name is the policy's, and it leads to a class that
makes an `Estimator` without arguments, or to a `PolicyEntry` for one that says more about itself.

Estimators are imported when one is made, so that names and words cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from skilldelta.errors import InputError, unknown_name
from skilldelta.renames import estimator_name
from skilldelta.version import __version__

if TYPE_CHECKING:
    from skilldelta.estimators.base import Estimator, Needs

# The entry points of other packages.
GROUP = "skilldelta.estimators"


@dataclass(frozen=True, slots=True)
class Colors:
    """A policy's color on a light and on a dark page."""

    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """One line of the table."""

    name: str
    """As JSON documents and options have it."""
    title: str
    """For people, in tables and figures."""
    meaning: str
    """What it does, in a clause."""
    estimator: Callable[[Needs], Estimator] | None = None
    """Makes what scores a panel; None where the actions are fixed without a score."""
    predicts_gain: bool = False
    """Whether scores are gains that the asked threshold cuts, so that a gate can decide by them; other policies bring a
    threshold of their own."""
    averages_neighbors: bool = False
    """Whether its gain is the mean over the nearest pairs, which every gate looks up anyway."""
    own_interval: bool = False
    """Whether its scores tell how far the expected gain may lie from them (`Score.spread`), and how familiar the target is."""
    can_freeze: bool = False
    """Whether its predictions can be sealed: only gains can, and only if a support and a target are all it needs."""
    takes: tuple[str, ...] = ()
    """The settings that change its scores: k, weighting, scope."""
    unfit_without_family: str = ""
    """Why it says nothing about a family that is held out; empty where it does."""
    colors: Colors | None = None
    """Grey where none is given."""
    version: str = __version__
    """Of the code that predicts, as a sealed panel notes it."""

    @property
    def is_installed(self) -> bool:
        """Whether another package brought it."""
        return self.name not in _OWN


def policies() -> Mapping[str, PolicyEntry]:
    """Every policy by name: SkillDelta's own in the design's order, then those of other packages by name."""
    return _table()


def freezable() -> tuple[str, ...]:
    """The policies whose predictions can be sealed, the paper's rule first."""
    return tuple(entry.name for entry in policies().values() if entry.can_freeze)


def policy_entry(name: str) -> PolicyEntry:
    """The line of a policy; an unknown name is refused with the nearest.

    Examples:
        >>> policy_entry("family-mean").title
        'Family mean'
    """
    name = estimator_name(name)
    if name in _OWN:  # other packages are looked for only where they are asked for
        return _OWN[name]
    if name not in policies():
        raise unknown_name("policy", name, policies(), setting="estimator")
    return policies()[name]


def deciding_entry(name: str) -> PolicyEntry:
    """The line of an estimator that a gate can decide by.

    Raises:
        InputError: Nobody has installed an estimator of that name, or its scores are no gains.
    """
    name = estimator_name(name)
    if name not in _OWN and name not in policies():
        known = [entry.name for entry in policies().values() if entry.predicts_gain]
        reason = unknown_name("estimator", name, known)
        raise InputError(
            f"{reason} Or install the package that brings {name!r}: no installed one has it in {GROUP}",
            setting="estimator",
        )
    entry = policy_entry(name)
    if not entry.predicts_gain:
        raise InputError(
            f"{name} predicts no gain that a threshold can be compared with, so it cannot decide; it is a control of evaluate",
            setting="estimator",
        )
    return entry


def policy_words(name: str) -> str:
    """A policy's title; a name that the table does not have stands for itself."""
    found = ORACLE if name == ORACLE.name else policies().get(name)
    return name if found is None else found.title


def _paper_rule(needs: Needs) -> Estimator:
    from skilldelta.estimators.paper_rule import PaperRule

    return PaperRule(needs.settings, needs.scope)


def _with_skill_only(needs: Needs) -> Estimator:
    from skilldelta.estimators.paper_rule import WithSkillOnly

    return WithSkillOnly(needs.settings, needs.scope)


def _relevance(needs: Needs) -> Estimator:
    from skilldelta.estimators.lexical_controls import Relevance

    return Relevance(needs.skill_texts, needs.relevance)


def _tfidf_knn(needs: Needs) -> Estimator:
    from skilldelta.estimators.lexical_controls import TfidfKnn

    return TfidfKnn(needs.settings.k, needs.scope)


def _family_mean(_: Needs) -> Estimator:
    from skilldelta.estimators.paper_rule import FamilyMean

    return FamilyMean()


def _ridge(needs: Needs) -> Estimator:
    from skilldelta.estimators.ridge import Ridge

    return Ridge(partition=needs.partition)


def _dual_ridge(needs: Needs) -> Estimator:
    from skilldelta.estimators.ridge import Ridge

    return Ridge(dual=True, partition=needs.partition)


def _blend(_: Needs) -> Estimator:
    from skilldelta.estimators.blend import Blend

    return Blend()


def _self_judge(needs: Needs) -> Estimator:
    from skilldelta.estimators.paper_rule import SelfJudge

    return SelfJudge(needs.judgements)


_OWN_SPLIT = "it is judged on its own test split, not by holding families out"

_OWN: Mapping[str, PolicyEntry] = {
    entry.name: entry
    for entry in (
        PolicyEntry("always_off", "Always off", "never uses the skill", colors=Colors("#858e95", "#737c83")),
        PolicyEntry("always_on", "Always on", "uses the skill on every task", colors=Colors("#5f6870", "#b4bbc0")),
        PolicyEntry(
            "random_matched",
            "Random, same rate",
            "uses the skill on randomly chosen tasks, at the use rate of the paper's rule (exact expectation)",
            colors=Colors("#7d868d", "#929aa1"),
        ),
        PolicyEntry(
            "paper",
            "Paper's rule",
            "the mean gain of the nearest tasks with paired runs, as in the paper",
            _paper_rule,
            predicts_gain=True,
            averages_neighbors=True,
            can_freeze=True,
            takes=("k", "weighting", "scope"),
            colors=Colors("#0b6b66", "#56c7bd"),
        ),
        PolicyEntry(
            "with_skill_only",
            "With-skill only",
            "the same neighbors, but only their success with the skill: no baseline",
            _with_skill_only,
            takes=("k", "weighting", "scope"),
            colors=Colors("#a67c1f", "#d9b15a"),
        ),
        PolicyEntry(
            "relevance",
            "Relevance gate",
            "uses the skill where its text resembles the task: no outcomes",
            _relevance,
            colors=Colors("#7e64a8", "#b79fdd"),
        ),
        PolicyEntry(
            "tfidf_knn",
            "TF-IDF neighbors",
            "the paper's rule with word overlap instead of the encoder",
            _tfidf_knn,
            predicts_gain=True,
            takes=("k", "scope"),
            colors=Colors("#a8567f", "#dc92b6"),
        ),
        PolicyEntry(
            "family_mean",
            "Family mean",
            "the mean gain of the task's family: no neighbors",
            _family_mean,
            predicts_gain=True,
            can_freeze=True,
            unfit_without_family="no other task of a family is left when the family is held out",
            colors=Colors("#b9683a", "#e09a6d"),
        ),
        PolicyEntry(
            "ridge",
            "Ridge",
            "a linear model of the gain, on its own train, validation and test split",
            _ridge,
            unfit_without_family=_OWN_SPLIT,
            colors=Colors("#7b8f3d", "#b3c674"),
        ),
        PolicyEntry(
            "dual_ridge",
            "Dual Ridge",
            "Ridge with a second model for the extra tokens",
            _dual_ridge,
            unfit_without_family=_OWN_SPLIT,
            colors=Colors("#4c7a55", "#85b68e"),
        ),
        PolicyEntry(
            "blend",
            "SkillDelta",
            "the product's own estimator: several kinds of evidence, combined with learned weights",
            _blend,
            predicts_gain=True,
            own_interval=True,
            can_freeze=True,
            colors=Colors("#1d3f73", "#8fb3ec"),
        ),
        PolicyEntry(
            "self_judge",
            "Self-judge",
            "the agent is asked beforehand whether it needs the skill",
            _self_judge,
            colors=Colors("#7a5548", "#c9a08f"),
        ),
    )
}

# A line to compare with, and no policy: nobody can follow it.
ORACLE = PolicyEntry(
    "oracle",
    "Oracle",
    "the better condition of every task, known only afterwards: an upper line",
    colors=Colors("#8a9298", "#646d74"),
)


@cache
def _table() -> Mapping[str, PolicyEntry]:
    found = dict(_OWN)
    for point, entry in _installed():
        if entry.name in found or entry.name == ORACLE.name:
            raise InputError(
                f"{_origin(point)} names its estimator {entry.name!r}, which is taken; uninstall or rename it"
            )
        found[entry.name] = entry
    return MappingProxyType(found)


def _installed() -> Iterator[tuple[metadata.EntryPoint, PolicyEntry]]:
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda one: one.name):
        if not point.name.isidentifier():
            raise InputError(f"{_origin(point)} names its estimator {point.name!r}; a name is letters, digits and _")
        try:
            entry = _entry(point.name, point.load())
        except Exception as error:  # another package's code may raise anything
            raise InputError(f"{_origin(point)} cannot be loaded ({error}); repair or uninstall it") from error
        yield point, replace(entry, version=_origin(point))


def _entry(name: str, loaded: Any) -> PolicyEntry:
    if isinstance(loaded, PolicyEntry):
        return replace(loaded, name=name)
    if not callable(loaded):
        raise TypeError(f"a {type(loaded).__name__} makes no estimator")
    words = (loaded.__doc__ or "").strip().splitlines()
    meaning = words[0].rstrip(".") if words else "an estimator of another package"
    title = name.replace("_", " ").capitalize()
    return PolicyEntry(name, title, meaning, lambda _: loaded(), predicts_gain=True, can_freeze=True)


def _origin(point: metadata.EntryPoint) -> str:
    """`package 1.0`, as installed."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
