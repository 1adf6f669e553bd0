"""The Markdown pages of the repository, and their code blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")),
)

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block; one with a title is the content of the file of that name."""

    language: str
    title: str
    code: str


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    return [Block(*found) for found in _BLOCK.findall(read(page))]
