"""Why executions came to nothing: the reasons in the transcript, counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from skilldelta.collect.transcript import TRANSCRIPT_FILE, read_rows


def count_reasons(folder: Path, samples: Collection[str]) -> Counter[str]:
    """The last reason of each named sample that has no result yet. Reasons that differ in the task alone are one."""
    reasons: dict[str, str] = {}
    for row in read_rows(folder / TRANSCRIPT_FILE):
        sample = str(row["sample"])
        if sample not in samples:
            continue
        if row.get("error"):
            reasons[sample] = re.sub(r"\btask '[^']*'", "a task", str(row["error"]))
        else:
            reasons.pop(sample, None)
    return Counter(reasons.values())
