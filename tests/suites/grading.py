"""One reply graded by a grader, for the truth cases of each suite."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from skilldelta.collect.graders.base import Graded, Grader
from skilldelta.collect.suite import SuiteTask


def task_of(answer: Any = None, *, text: str = "A question", metadata: Mapping[str, Any] | None = None) -> SuiteTask:
    return SuiteTask("t1", text, "f", "s", answer, {"type": "x"}, metadata or {})


def graded(grader: Grader, reply: str, task: SuiteTask) -> Graded:
    found = asyncio.run(grader.grade(reply, task, None))
    return found if isinstance(found, Graded) else Graded(found)
