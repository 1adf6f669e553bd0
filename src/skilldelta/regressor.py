"""`SkillGainRegressor`: gains predicted the scikit-learn way, from arrays or a data frame, without a bank.

It is the same predictor as everywhere else behind `fit`, `predict` and `decide`, for notebooks, pipelines and model
selection. Decisions with their evidence, neighbors and intervals are an `Advisor`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from skilldelta.arrays import Floats
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.errors import InputError
from skilldelta.estimators.base import Target
from skilldelta.gate import Gate
from skilldelta.gate_settings import SETTING
from skilldelta.predictor import Weighting
from skilldelta.support import Scope, Support

_TEXT_COLUMNS = ("text", "question")


class SkillGainRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the gain of a skill per task, and decides whether to use it.

    `X` is either a matrix of task vectors (n, dim), with observed gains as `y`, or a data frame with a `text` column. A
    frame may also have `family`, `skill` and `task_id`, and `y0` and `y1` (successes without and with the skill) in
    place of `y`. A task of the training frame that is asked about again by its `task_id` is scored without its own
    outcomes.

    Examples:
        >>> import numpy as np
        >>> vectors = np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [0.1, 1.0]])
        >>> model = SkillGainRegressor(estimator="paper", k=2).fit(vectors, [1.0, 1.0, -1.0, 0.0])
        >>> model.decide([[1.0, 0.05], [0.05, 1.0]]).tolist()
        ['use', 'skip']
    """

    def __init__(
        self,
        *,
        gate: Gate | None = None,
        estimator: str = "blend",
        k: int = 6,
        weighting: Weighting = "cosine",
        scope: Scope = "family",
        threshold: float = SETTING["threshold"].default,
        encoder: str | Encoder = "wordllama",
    ) -> None:
        """`gate` decides; without it one is made of `estimator`, `k`, `weighting`, `scope` and `threshold`, without any
        familiarity limit. `encoder` is used for frames only.
        """
        self.gate = gate
        self.estimator = estimator
        self.k = k
        self.weighting = weighting
        self.scope = scope
        self.threshold = threshold
        self.encoder = encoder

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn from tasks and their observed gains."""
        gate = self._gate()
        table = TaskTable.of(X)
        support = self._support_of_matrix(X, y) if table is None else self._support_of_table(table, y)
        self.support_ = support
        self.is_table_ = table is not None
        self.fitted_ = gate.fit(support)
        return self

    def predict(self, X: Any) -> Floats:
        """The predicted gain per row; 0 where no recorded task is in the row's scope."""
        gains = [self.scale_ * self.fitted_.gain(target) for target in self._targets(X)]
        return np.array(gains, np.float64)

    def decide(self, X: Any) -> NDArray[np.str_]:
        """`use`, `skip` or, under a three-way gate, `abstain` per row; a row without any recorded task in scope is skipped."""
        targets, gate = self._targets(X), self._gate()
        fitted = replace(self.fitted_, gate=replace(gate, threshold=gate.threshold / self.scale_))
        return np.array([fitted.decide(target).decision.action for target in targets], dtype="<U7")

    def _gate(self) -> Gate:
        if self.gate is not None:
            return self.gate
        return Gate(self.estimator, self.k, self.weighting, self.scope, self.threshold, familiarity_limit=0.0)

    def _support_of_matrix(self, X: Any, y: ArrayLike | None) -> Support:
        vectors, gains = validate_data(self, X, y, y_numeric=True)
        ids = [str(row) for row in range(len(vectors))]
        y0, y1 = self._successes(gains)
        return Support.from_arrays(task_ids=ids, vectors=_with_direction(vectors), y0=y0, y1=y1)

    def _support_of_table(self, table: TaskTable, y: ArrayLike | None) -> Support:
        gains = table.gains if y is None else check_array(y, ensure_2d=False, dtype=np.float64)
        if gains is None:
            raise InputError("there are no gains; give y, or a frame with the columns y0 and y1")
        check_consistent_length(table.texts, gains)
        y0, y1 = self._successes(gains)
        return Support.from_arrays(
            # Rows without an id are tasks of their own, and no question can name them.
            task_ids=[name or f"\x1f{row}" for row, name in enumerate(table.task_ids)],
            families=table.families,
            skills=table.skills,
            vectors=self._encoded(table),
            y0=y0,
            y1=y1,
            texts=table.texts,
        )

    def _successes(self, gains: Floats) -> tuple[Floats, Floats]:
        """Successes whose difference is the gain. A target beyond the gains' [-1, 1] is scaled, and back in `predict`."""
        self.scale_ = max(1.0, float(np.abs(gains).max()))
        scaled = gains / self.scale_
        return np.maximum(-scaled, 0.0), np.maximum(scaled, 0.0)

    def _targets(self, X: Any) -> list[Target]:
        check_is_fitted(self, "fitted_")
        table = TaskTable.of(X)
        if (table is not None) != self.is_table_:
            expected = "a data frame with a text column" if self.is_table_ else "a matrix of task vectors"
            raise InputError(f"the model was fitted on {expected}; give the same here")
        if table is None:
            vectors = _with_direction(validate_data(self, X, reset=False)).astype(np.float32)
            return [Target(vector / np.linalg.norm(vector)) for vector in vectors]
        columns = zip(self._encoded(table), table.texts, table.families, table.skills, table.task_ids, strict=True)
        return [Target(*column) for column in columns]

    def _encoded(self, table: TaskTable) -> Any:
        encoder = load_encoder(self.encoder) if isinstance(self.encoder, str) else self.encoder
        return encoder.encode(list(table.texts))


def _with_direction(vectors: Floats) -> Floats:
    """Rows of zeros have no direction; a constant one makes them alike, and equally far from everything else."""
    return np.where(vectors.any(axis=1, keepdims=True), vectors, 1.0)


@dataclass(frozen=True, slots=True)
class TaskTable:
    """The columns of a frame that predictions use; names that the frame lacks are empty strings.

    A frame is pandas', polars' or any that narwhals knows; neither library is needed, whoever brings a frame has its own.
    """

    texts: tuple[str, ...]  # (n,)
    families: tuple[str, ...]  # (n,)
    skills: tuple[str, ...]  # (n,)
    task_ids: tuple[str, ...]  # (n,)
    gains: Floats | None  # (n,) y1 - y0, where the frame has both

    @classmethod
    def of(cls, frame: Any) -> TaskTable | None:
        """The frame's tasks; None where it is no frame, or one of numbers without a text column."""
        table = nw.from_native(frame, eager_only=True, pass_through=True)
        if not isinstance(table, nw.DataFrame):
            return None
        text = next((name for name in _TEXT_COLUMNS if name in table.columns), None)
        if text is None:
            return None
        texts = _words(table, text)
        for row, words in enumerate(texts):
            if not words.strip():
                raise InputError(f"row {row} has no {text}; give every task its question, or leave the row out")
        blank = ("",) * len(texts)
        columns = {
            name: _words(table, name) if name in table.columns else blank for name in ("family", "skill", "task_id")
        }
        return cls(texts, columns["family"], columns["skill"], columns["task_id"], _gains(table))


def _words(table: Any, name: str) -> tuple[str, ...]:
    """A column as strings; a missing cell is an empty string."""
    return tuple("" if value is None or value != value else str(value) for value in table[name].to_list())


def _gains(table: Any) -> Floats | None:
    if not {"y0", "y1"} <= set(table.columns):
        return None
    return _means(table["y1"].to_list(), "y1") - _means(table["y0"].to_list(), "y0")


def _means(cells: Sequence[Any], name: str) -> Floats:
    """One success per row: a number, or the mean of a list of repetitions."""
    means = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            values = np.asarray(cell, np.float64)
            means[row] = values.mean() if values.size else np.nan
        except (TypeError, ValueError):
            raise InputError(f"{name} of row {row} is {cell!r}; give a success in [0, 1], or a list of them") from None
        if not 0 <= means[row] <= 1:  # NaN, an empty list, fails the comparison
            raise InputError(
                f"{name} of row {row} is {cell!r}; give a success in [0, 1], and leave out tasks that lack an arm"
            )
    return means
