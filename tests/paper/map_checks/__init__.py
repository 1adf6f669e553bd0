"""What each row of the paper map claims, checked: one function per row, registered under the row's number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paper.map_folder import MapFolder

Check = Callable[[Any, MapFolder], None]

CHECKS: dict[str, Check] = {}


def shows(row: str) -> Callable[[Check], Check]:
    """Register a check; it gets the JSON document of the row's command, and the folder."""

    def register(check: Check) -> Check:
        assert row not in CHECKS, f"row {row} has two checks"
        CHECKS[row] = check
        return check

    return register
