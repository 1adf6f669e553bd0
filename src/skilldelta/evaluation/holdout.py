"""What is left out together with a target: its own task, or its whole family.

Leaving one family out asks what the evidence is worth for tasks of a kind that was never run. Rules look for support by
task id, so a panel whose tasks bear their family's name leaves whole families out everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from skilldelta.errors import InputError
from skilldelta.evaluation.structure import eligible_pairs
from skilldelta.nouns import plural
from skilldelta.support import Scope, Support

Holdout = Literal["task", "family"]
HOLDOUTS: tuple[Holdout, ...] = ("task", "family")


def as_scored(support: Support, holdout: Holdout) -> Support:
    """The panel with task ids that name what is left out together."""
    if holdout == "task":
        return support
    labels = support.scope_labels("family")
    if (labels == labels[0]).all():
        raise InputError(
            f"the panel of {support.agent!r} on {support.suite!r} has one family; holding it out leaves nothing to learn from"
        )
    return replace(support, task_ids=labels)


def check_holdout(holdout: Holdout, scope: Scope) -> None:
    """Refuse an unknown holdout, and one that empties every scope."""
    if holdout not in HOLDOUTS:
        raise InputError(f"holdout must be task or family, got {holdout!r}")
    if holdout == "family" and scope == "family":
        raise InputError("a held-out family leaves nothing in the scope family; choose the scope skill or global")


def holdout_notes(support: Support, scored: Support, scope: Scope) -> tuple[str, ...]:
    """What a reader must know about a panel whose families were held out."""
    if scored is support:
        return ()
    alone = int((eligible_pairs(scored, scope) == 0).sum())
    notes = ["every task was scored without its whole family: what the evidence is worth for families never run"]
    if alone:
        wider = "; the scope global takes in other skills" if scope == "skill" else ""
        notes.append(f"{alone} of {plural(len(support), 'pair')} have no support then and are skipped{wider}")
    return tuple(notes)
