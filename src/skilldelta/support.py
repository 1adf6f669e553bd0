"""Support: the pairs of one panel as plain arrays, with one vector per row.

This is all that the predictor, the estimators and the evaluation ever see: no file, no bank, no text beyond what an
explanation shows. Rows stand in the bank's record order, which breaks ties; a scope is a set of rows, in that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from skilldelta.arrays import ArrayRecord, Floats, GivenColumns, Ints, PanelLabels, Strings, Vectors, checked_columns
from skilldelta.errors import InputError
from skilldelta.records import Pair

Scope = Literal["skill-family", "family", "skill", "global"]
SCOPES: tuple[Scope, ...] = ("skill-family", "family", "skill", "global")

# Keeps rows of a skill without a family apart from a family that happens to bear the skill's name.
_NO_FAMILY = "\x1f"


@dataclass(frozen=True, eq=False)
class Support(ArrayRecord):
    """Pairs that may inform a prediction, as plain arrays with one row per pair.

    Repeated task ids are one task under several skills or versions.
    """

    task_ids: Strings  # (n,)
    families: Strings  # (n,)
    skills: Strings  # (n,)
    vectors: Vectors  # (n, dim), rows of length 1
    y0: Floats  # (n,) mean success without the skill
    y1: Floats  # (n,) mean success with it
    r0: Ints  # (n,) counted repetitions
    r1: Ints  # (n,)
    tokens0: Floats  # (n,) mean tokens, NaN where unknown
    tokens1: Floats  # (n,)
    texts: tuple[str, ...] = ()  # (n,) questions, for explanations and lexical controls; may be absent
    encoder: str = ""
    agent: str = ""
    suite: str = ""

    def __len__(self) -> int:
        return len(self.task_ids)

    @cached_property
    def gains(self) -> Floats:
        """(n,) observed paired gains D = y1 - y0."""
        return self.y1 - self.y0

    @cached_property
    def task_codes(self) -> Ints:
        """(n,) one integer per task, so that a task is excluded under every skill at once."""
        return np.unique(self.task_ids, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def row_of_task(self) -> Mapping[str, Ints]:
        """The rows of every task, tasks in the order of their first rows."""
        return _rows_by_task(self.task_ids, {}, 0)

    def scope_labels(self, scope: Scope) -> Strings:
        """(n,) the label whose equality makes two rows eligible for each other; without a family, it is the skill."""
        if scope == "global":
            return np.zeros(len(self), dtype="<U1")
        if scope == "skill":
            return self.skills
        recorded = self.families != ""
        labels = self.families
        if scope == "skill-family":
            labels = np.char.add(np.char.add(self.families, _NO_FAMILY), self.skills)
        return labels if recorded.all() else np.where(recorded, labels, np.char.add(_NO_FAMILY, self.skills))

    def blocks(self, scope: Scope) -> Iterator[Ints]:
        """The rows of each scope in record order; together they are every row once."""
        labels = self.scope_labels(scope)
        order = np.argsort(labels, kind="stable")
        cuts = np.flatnonzero(labels[order][1:] != labels[order][:-1]) + 1
        yield from (block for block in np.split(order, cuts) if len(block))

    def scope_of(self, scope: Scope, *, family: str, skill: str, task_id: str = "") -> tuple[Scope, Ints]:
        """The scope that a target really has, and its rows in record order; rows of the target's own task are among them.

        A family that is not known gives way to the skill, and so does, in the scope skill-family, a family in which the
        skill has no other task.

        Examples:
            >>> support.scope_of("skill-family", family="units", skill="units-skill")[0]
            'skill-family'
        """
        if scope == "global":
            return "global", np.arange(len(self))
        if "family" in scope and family:
            label = scope_label(scope, family=family, skill=skill)
            rows = np.flatnonzero(self.scope_labels(scope) == label)
            if scope == "family" or (self.task_ids[rows] != task_id).any():
                return scope, rows
        return "skill", np.flatnonzero(self.skills == skill)

    def scope_groups(self, scope: Scope) -> Iterator[tuple[Ints, Ints]]:
        """Targets with the same rows in scope, and these rows: what `scope_of` says of every row as a target."""
        by_skill = self.families == "" if "family" in scope else np.zeros(len(self), bool)
        for block in self.blocks(scope):
            if scope == "skill-family" and (self.task_codes[block] == self.task_codes[block[0]]).all():
                by_skill[block] = True
            if not by_skill[block[0]]:
                yield block, block
        if by_skill.any():
            for block in self.blocks("skill"):
                targets = block[by_skill[block]]
                if len(targets):
                    yield targets, block

    def rows(self, selection: ArrayLike) -> Support:
        """The same support reduced to some rows (a mask or indices)."""
        index = np.asarray(selection)
        index = np.flatnonzero(index) if index.dtype == np.bool_ else index.astype(np.int64)
        texts = tuple(self.texts[i] for i in index) if self.texts else ()
        return replace(self.each(lambda column: column[index]), texts=texts)

    def followed_by(self, more: Support) -> Support:
        """These rows, then those of another support of the same panel."""
        joined = replace(self.each(lambda *both: np.concatenate(both), more), texts=self.texts + more.texts)
        if "row_of_task" in vars(self):  # known already: an index that grows by one pair looks at one row
            vars(joined)["row_of_task"] = _rows_by_task(joined.task_ids, self.row_of_task, len(self))
        return joined

    def read_only(self) -> Support:
        """The same support, whose arrays refuse to be written to from now on."""
        for array in (*self.arrays.values(), self.gains):
            array.flags.writeable = False
        return self

    def with_outcomes(self, y0: Floats, y1: Floats) -> Support:
        """The same tasks with other outcomes, for simulations and permutation tests."""
        return replace(self, y0=np.asarray(y0, float), y1=np.asarray(y1, float))

    @classmethod
    def from_pairs(cls, pairs: Sequence[Pair], vectors: ArrayLike, **labels: Unpack[PanelLabels]) -> Support:
        """Pairs with the vectors of their tasks, in the same order; pairs of several agents are refused."""
        agents = sorted({f"{p.agent.name}@{p.agent.fingerprint}".rstrip("@") for p in pairs})
        if len(agents) > 1:
            some = ", ".join(agents[:3])
            raise InputError(f"pairs of {len(agents)} agents ({some}) cannot be pooled; choose one agent")
        return cls.from_arrays(
            task_ids=[p.task_id for p in pairs],
            families=[p.family for p in pairs],
            skills=[p.skill_id for p in pairs],
            vectors=vectors,
            y0=[p.y0 for p in pairs],
            y1=[p.y1 for p in pairs],
            r0=[p.r0 for p in pairs],
            r1=[p.r1 for p in pairs],
            tokens0=[np.nan if p.tokens0 is None else p.tokens0 for p in pairs],
            tokens1=[np.nan if p.tokens1 is None else p.tokens1 for p in pairs],
            **labels,
        )

    @classmethod
    def from_arrays(cls, **columns: Unpack[GivenColumns]) -> Support:
        """Checked construction; vectors are normalized, absent repetitions are one, absent tokens unknown."""
        return cls(**checked_columns(columns))


def scope_label(scope: Scope, *, family: str, skill: str) -> str:
    """The label that a new target has among `Support.scope_labels`."""
    if scope == "skill-family":
        return family + _NO_FAMILY + skill
    if scope == "family":
        return family or _NO_FAMILY + skill
    return skill if scope == "skill" else ""


def _rows_by_task(task_ids: Strings, earlier_rows: Mapping[str, Ints], start: int) -> Mapping[str, Ints]:
    """The rows of every task; `known` has those before `start`."""
    rows = dict(earlier_rows)
    for row, task_id in enumerate(task_ids[start:].tolist(), start):
        earlier = rows.get(task_id)
        rows[task_id] = np.array([row]) if earlier is None else np.append(earlier, row)
    return MappingProxyType(rows)
