"""The old place of `skilldelta.paper.suites`: solvers of suites that were prepared earlier import their tools from here."""

from __future__ import annotations

from pathlib import Path

__path__ = [str(Path(__file__).parent / "paper" / "suites")]
