"""Labels in a model's reply: one label, found once or repeated, or nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence


def unique_label(reply: str, labels: Sequence[str]) -> str | None:
    """The only one of the labels that stands in the reply as a word, in any case; none or several is None."""
    found = {label for label in labels if re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", reply, re.IGNORECASE)}
    return found.pop() if len(found) == 1 else None
