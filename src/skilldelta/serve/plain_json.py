"""Any document as plain JSON values: what is not a number is unknown, and so null."""

from __future__ import annotations

import math
from typing import Any


def plain(value: Any) -> Any:
    """Plain values all the way down."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
