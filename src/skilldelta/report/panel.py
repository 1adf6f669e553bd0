"""Everything that the report shows of one panel: its evaluation, and what was computed besides it."""

from __future__ import annotations
