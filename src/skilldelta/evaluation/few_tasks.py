"""When there are too few tasks for intervals: resamples of one task are all alike, and those of a few nearly so."""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import Strings
from skilldelta.nouns import plural

ENOUGH = 10
"""Below this a percentile bootstrap is far too narrow, and of zero width where the few outcomes agree."""
_SOME = 3


def few_tasks(task_ids: Strings) -> tuple[str, ...]:
    """The warning that belongs beside intervals over these rows; none where there are enough tasks."""
    tasks = len(np.unique(task_ids))
    if tasks >= ENOUGH:
        return ()
    verdict = "say nothing" if tasks < _SOME else "are too narrow to be trusted"
    return (f"only {plural(tasks, 'task')}: intervals {verdict}",)
