"""`SkillGainRegressor`: gains predicted the scikit-learn way, from arrays or a data frame, without a bank.

It is the same predictor as everywhere else behind `fit`, `predict` and `decide`, for notebooks, pipelines and model
selection. Decisions with their evidence, neighbours and intervals are an `Advisor`'s.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from skilldelta.arrays import Floats, exceeds
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.errors import InputError
from skilldelta.estimators.base import Estimator, Target
from skilldelta.estimators.paper_rule import PaperRule, RowsByScope
from skilldelta.estimators.stack import Stack
from skilldelta.gate import Action, check_threshold
from skilldelta.predictor import Settings, Weighting
from skilldelta.support import Scope, Support
from skilldelta.task_table import TaskTable


class SkillGainRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the gain of a skill per task, and decides whether to use it.

    `X` is either a matrix of task vectors (n, dim), with observed gains as `y`, or a data frame with a `text` column. A
    frame may also have `family`, `skill` and `task_id`, and `y0` and `y1` (successes without and with the skill) in
    place of `y`. A task of the training frame that is asked about again by its `task_id` is scored without its own
    outcomes.

    Examples:
        >>> import numpy as np
        >>> vectors = np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [0.1, 1.0]])
        >>> model = SkillGainRegressor(estimator="skilldelta", k=2).fit(vectors, [1.0, 1.0, -1.0, 0.0])
        >>> model.decide([[1.0, 0.05], [0.05, 1.0]]).tolist()
        ['use', 'skip']
    """

    def __init__(
        self,
        *,
        estimator: Literal["stack", "skilldelta"] = "stack",
        k: int = 6,
        weighting: Weighting = "cosine",
        scope: Scope = "family",
        threshold: float = 0.0,
        encoder: str | Encoder = "wordllama",
    ) -> None:
        """`k`, `weighting` and `scope` are the paper's rule's; `encoder` is used for frames only."""
        self.estimator = estimator
        self.k = k
        self.weighting = weighting
        self.scope = scope
        self.threshold = threshold
        self.encoder = encoder

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn from tasks and their observed gains."""
        chosen = self._chosen_estimator()
        table = TaskTable.of(X)
        support = self._support_of_matrix(X, y) if table is None else self._support_of_table(table, y)
        self.support_ = support
        self.is_table_ = table is not None
        self.fitted_ = chosen.fit(support)
        return self

    def predict(self, X: Any) -> Floats:
        """The predicted gain per row; 0 where no recorded task is in the row's scope."""
        gains: Floats = np.array([self._gain(target) for target in self._targets(X)], np.float64)
        return gains

    def decide(self, X: Any) -> NDArray[np.str_]:
        """`use` or `skip` per row: use if the gain exceeds the threshold and some recorded task is in scope."""
        check_threshold(self.threshold)
        targets = self._targets(X)
        rows = RowsByScope.of(self.support_, self.scope)
        return np.array([self._action(rows, target) for target in targets], dtype="<U7")

    def _action(self, rows: RowsByScope, target: Target) -> Action:
        supported = len(rows.eligible(target)) > 0
        return "use" if supported and exceeds(self._gain(target), self.threshold) else "skip"

    def _chosen_estimator(self) -> Estimator:
        if self.estimator == "skilldelta":
            return PaperRule(Settings(k=self.k, weighting=self.weighting), self.scope)
        if self.estimator == "stack":
            return Stack()
        raise InputError(f"estimator must be stack or skilldelta, got {self.estimator!r}")

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

    def _gain(self, target: Target) -> float:
        return self.scale_ * self.fitted_.score(target).gain

    def _targets(self, X: Any) -> list[Target]:
        check_is_fitted(self, "fitted_")
        table = TaskTable.of(X)
        if (table is not None) != self.is_table_:
            wanted = "a data frame with a text column" if self.is_table_ else "a matrix of task vectors"
            raise InputError(f"the model was fitted on {wanted}; give the same here")
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
