"""Prompts that are about no skill in particular: greetings, chat, everyday and development work, logs, other languages.

They stand for everything else that people ask an agent. Applicability uses them as the tasks of *none*. One prompt a
line; a line break or a tab inside a prompt is written as in a string literal.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def everyday_prompts() -> tuple[str, ...]:
    """The prompts in a fixed order."""
    content = (files("skilldelta.routing") / "everyday.txt").read_text("utf-8")
    lines = content.splitlines()
    return tuple(line.replace("\\n", "\n").replace("\\t", "\t") for line in lines if line.strip())
