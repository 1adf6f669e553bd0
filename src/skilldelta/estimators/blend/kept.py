"""What a fitted blend must remember to score again in another process, without its panel and without learning anew.

A blend is kept in parts, so that a question reads only its own: the extractor, the scores of recorded rows, the names of tasks and
groups, each group, and what new families are judged by. The vectors of a group's rows are not kept a second time: they come
from the evidence, by the names of the tasks where it has grown since. Where anything is missing or odd, `NotKeptError` says
that the blend must be fitted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from skilldelta.arrays import Ints, Strings, Vectors
from skilldelta.estimators.base import Score, Target
from skilldelta.estimators.blend.blend_panel import Key
from skilldelta.estimators.blend.fitted import Expectation, FittedPanel, Model, Transfer
from skilldelta.estimators.blend.group import Group, NeighborIndex
from skilldelta.estimators.blend.shrinkage import precisions
from skilldelta.estimators.blend.slopes import Trend
from skilldelta.estimators.blend.views import FeatureExtractor
from skilldelta.packing import DamagedError, pack, unpack
from skilldelta.support import Support

if TYPE_CHECKING:
    from skilldelta.estimators.base import Scored
from skilldelta.estimators.blend.blend import FittedBlend

T = TypeVar("T")

ReadPart = Callable[[str], bytes | None]
# The rows of a group as the evidence has them now; the family of a group by skill is empty. None are all rows.
RowsOf = Callable[[Key | None], Support]

_SOURCES = ("resemblance.py", "neighbors.py", "support.py", "pairing.py", "arrays.py", "packing.py", "probability.py")
_FAMILY, _SKILL, _TRANSFER = "family", "skill", "transfer"
# No skill's name.
_NO_SKILL = "\0"
_NO_VECTORS = np.empty((0, 0), np.float32)


class NotKeptError(Exception):
    """The kept parts cannot answer; the blend must be fitted."""


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Which tasks and groups a kept blend knows, and what it expects of others."""

    tasks: Strings  # distinct
    groups: Mapping[str, tuple[Key, ...]]
    """By family and, where these were made, by skill."""
    rows: Mapping[str, tuple[Ints, ...]]
    """For each of these groups which of the tasks its rows are of, in record order."""
    freedom: float
    new_families: Mapping[str, Expectation]
    """By skill."""
    new_skill: Expectation


def parts_of(blend: FittedBlend, *, whole: bool = False) -> dict[str, bytes]:
    """A blend in parts. Groups by skill, and what new families are judged by, are among them where they exist already or
    cost no learning; with `whole` always.
    """
    model = blend.model
    if model is None or not isinstance(model.by_family, FittedPanel):
        return {}
    by_family, panels = model.by_family, {_FAMILY: model.by_family}
    if whole or by_family.panel.nesting.is_flat or "by_skill" in vars(model):
        assert isinstance(model.by_skill, FittedPanel)
        panels[_SKILL] = model.by_skill
    tasks, place = np.unique(blend.support.task_ids, return_inverse=True)
    names = Names(
        tasks,
        {kind: panel.panel.keys for kind, panel in panels.items()},
        {kind: tuple(place[block] for block in panel.panel.blocks) for kind, panel in panels.items()},
        by_family.freedom,
        {skill: by_family.new_family(skill) for _, skill in by_family.panel.keys},
        by_family.new_family(_NO_SKILL),
    )
    parts = {"names": pack(names), "extractor": pack(model.extractor), "scored": pack(blend.scored)}
    if whole or "transfer" in vars(by_family):
        transfer = by_family.transfer
        parts[_TRANSFER] = pack(replace(transfer, vectors=_NO_VECTORS, rows=place[transfer.rows]))
    for kind, panel in panels.items():
        for key in panel.panel.keys:
            group = panel.group(key)
            assert group is not None
            parts[_part(kind, key)] = pack(_without_vectors(group, keep_trend=model.extractor.projection is not None))
    return parts


@dataclass(frozen=True, eq=False)
class KeptBlend:
    """A blend that was fitted by another process with the same code, on the same evidence or, where it is not current, on
    what there was of it then.
    """

    read: ReadPart
    rows_of: RowsOf
    is_current: Callable[[], bool]
    """Whether the evidence is still what it was learned from, which may change while it is in use."""

    def score(self, target: Target) -> Score:
        """The predicted gain of a target whose task is not in the support."""
        return self._model.score(target)

    @cached_property
    def names(self) -> Names:
        """Its tasks and groups."""
        return _unpacked(self.read, "names", Names)

    @cached_property
    def scored(self) -> Scored:
        """The scores of recorded rows."""
        from skilldelta.estimators.base import Scored

        return _unpacked(self.read, "scored", Scored)

    def prepare_like(self, other: KeptBlend) -> None:
        """Read everything that another one, which this one replaces, has read so far."""
        if "_model" not in vars(other):
            return
        for mine, theirs in (
            (self._model.by_family, other._model.by_family),
            (self._model.by_skill, other._model.by_skill),
        ):
            assert isinstance(mine, _KeptGroups)
            assert isinstance(theirs, _KeptGroups)
            for key in list(theirs.prepared):
                mine.group(key)

    @cached_property
    def _model(self) -> Model:
        by_family, by_skill = (
            _KeptGroups(kind, self.names, self.read, self.rows_of, self.is_current) for kind in (_FAMILY, _SKILL)
        )
        return Model(_unpacked(self.read, "extractor", FeatureExtractor), by_family, lambda: by_skill)


@dataclass(frozen=True, eq=False)
class _KeptGroups:
    """Groups that are read when a target first needs them."""

    kind: str
    names: Names
    read: ReadPart
    rows_of: RowsOf
    is_current: Callable[[], bool]
    prepared: dict[Key, Group] = field(default_factory=dict)

    @property
    def freedom(self) -> float:
        """As it was learned."""
        return self.names.freedom

    @cached_property
    def transfer(self) -> Transfer:
        """As it was learned, over the vectors of the same tasks."""
        transfer = _unpacked(self.read, _TRANSFER, Transfer)
        return replace(transfer, vectors=_vectors_of(self.rows_of(None), self.names.tasks[transfer.rows]))

    def new_family(self, skill: str) -> Expectation:
        """As it was learned."""
        return self.names.new_families.get(skill, self.names.new_skill)

    def group(self, key: Key) -> Group | None:
        """A group, or None where the panel had no row of it."""
        if self.kind not in self.names.groups:
            raise NotKeptError("groups by skill were not made")
        if key not in self.prepared:
            keys = self.names.groups[self.kind]
            if key not in keys:
                return None
            group = _unpacked(self.read, _part(self.kind, key), Group)
            tasks = None if self.is_current() else self.names.tasks[self.names.rows[self.kind][keys.index(key)]]
            self.prepared[key] = _with_vectors(group, self.rows_of(key), tasks)
        return self.prepared[key]


@cache
def code_version() -> str:
    """A digest of everything but the evidence that a blend's numbers depend on: these sources, NumPy and SciPy."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{version('numpy')} {version('scipy')} {version('skilldelta')}".encode())
    package = files("skilldelta")
    own = sorted((file for file in files(__package__).iterdir() if file.name.endswith(".py")), key=lambda f: f.name)
    for file in (*own, *(package / name for name in _SOURCES)):
        if file.is_file():  # a frozen program has no sources; its versions must do
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _unpacked(read: ReadPart, part: str, kind: type[T]) -> T:
    data = read(part)
    if data is None:
        raise NotKeptError(part)
    try:
        return unpack(data, kind)
    except DamagedError as error:
        raise NotKeptError(f"{part}: {error}") from None


def _without_vectors(group: Group, *, keep_trend: bool) -> Group:
    """A group without what its rows' vectors give again: the vectors, nearness by them, and the trend over them."""
    near = {
        view: replace(nearest, features=_NO_VECTORS, offset=_NO_VECTORS.ravel()) if view == "vectors" else nearest
        for view, nearest in group.near.items()
    }
    trend = group.trend if keep_trend else Trend(np.empty(0), np.empty((0, 0)))
    return replace(group, vectors=_NO_VECTORS, near=near, trend=trend)


def _with_vectors(group: Group, rows: Support, tasks: Strings | None) -> Group:
    """The group over rows of the evidence: all, which must be the rows it was made of, or those of the given tasks."""
    if tasks is None:
        vectors, gains, weights = rows.vectors, rows.gains, precisions(rows.r0, rows.r1)
        if len(rows) != len(group.gains) or not np.array_equal(gains * weights, group.gains):
            raise NotKeptError("the evidence of the group is another")
    else:
        vectors, gains, weights = _vectors_of(rows, tasks), group.gains / group.weights, group.weights
    near = {
        view: NeighborIndex.of(vectors, nearest.sizes) if view == "vectors" else nearest
        for view, nearest in group.near.items()
    }
    trend = group.trend
    if not len(trend.centre):  # vectors are short enough to be features as they are
        trend = Trend.of(np.asarray(vectors, np.float64), gains, weights)
    return replace(group, vectors=np.ascontiguousarray(vectors), near=near, trend=trend)


def _vectors_of(rows: Support, tasks: Strings) -> Vectors:
    """The vectors of tasks, which all must be among the rows."""
    try:
        return rows.vectors[[rows.row_of_task[task][0] for task in tasks.tolist()]]
    except KeyError as error:
        raise NotKeptError(f"task {error} is no longer in the evidence") from None


def _part(kind: str, key: Key) -> str:
    return f"{kind} {json.dumps(key)}"
