"""Small source files, written where a test can find them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows as JSONL, a document as JSON, or text and bytes as they are."""

    def write(content: Any, name: str = "source") -> Path:
        path = tmp_path / name
        if isinstance(content, list):
            content = "".join(json.dumps(row) + "\n" for row in content)
        elif isinstance(content, dict):
            content = json.dumps(content, indent=1)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def pair() -> dict[str, Any]:
    """One whole row of pairs.jsonl."""
    return {
        "task_id": "t1",
        "text": "What is 2 + 3?",
        "family": "sums",
        "skill": "adding",
        "agent": "ada",
        "suite": "school",
        "y0": [0, 1],
        "y1": [1, 1, 0.5],
        "tokens0": [10, 20],
        "tokens1": [30, None, 50],
    }


@pytest.fixture
def run() -> dict[str, Any]:
    """One whole row of runs.jsonl."""
    return {
        "task_id": "t1",
        "text": "What is 2 + 3?",
        "family": "sums",
        "skill": "adding",
        "skill_digest": "d1",
        "agent": "ada",
        "suite": "school",
        "condition": "use",
        "repetition": 0,
        "success": 1,
        "tokens": 100,
        "seconds": 1.5,
        "cost_usd": 0.01,
        "status": "completed",
    }
