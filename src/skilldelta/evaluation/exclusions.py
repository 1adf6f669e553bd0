"""Tasks that are left out of a study by name, each with its reason, so that no reader has to wonder where they went."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.errors import InputError, unknown_name
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A task that is left out, and why."""

    task_id: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.task_id} ({self.reason})" if self.reason else self.task_id


def exclusions_in(support: Support, exclusions: Iterable[Exclusion]) -> tuple[Exclusion, ...]:
    """Those whose task the panel has."""
    present = set(support.task_ids.tolist())
    return tuple(one for one in exclusions if one.task_id in present)


def without_excluded(support: Support, exclusions: Collection[Exclusion]) -> Support:
    """The panel without the excluded tasks; excluding every task is refused."""
    if not exclusions:
        return support
    kept = ~np.isin(support.task_ids, [one.task_id for one in exclusions])
    if not kept.any():
        raise InputError("every task is excluded; leave at least one")
    return support.rows(kept)


def check_exclusions(exclusions: Sequence[Exclusion], known: Collection[str]) -> None:
    """Refuse a task that is excluded twice, or that nothing has: a mistyped name would exclude nothing in silence."""
    seen: set[str] = set()
    for one in exclusions:
        if one.task_id in seen:
            raise InputError(f"task {one.task_id!r} is excluded twice; name it once")
        seen.add(one.task_id)
        if one.task_id not in known:
            raise unknown_name("task to exclude", one.task_id, known)
