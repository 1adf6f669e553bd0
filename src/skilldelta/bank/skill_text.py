"""The text of a skill from a file: what is injected, which is what its version is told by."""

from __future__ import annotations

from pathlib import Path

from skilldelta.errors import InputError
from skilldelta.files import read_text

_MOST_BYTES = 4 << 20


def read_skill_text(path: Path) -> str:
    """The body of a SKILL.md, or of the one in a folder; front matter is not injected and not part of it."""
    file = path / "SKILL.md" if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise InputError(f"{path}: no SKILL.md in this folder; name the file that holds the skill's text")
    text = read_text(file, most=_MOST_BYTES)
    lines = text.splitlines(keepends=True)
    ends = [i for i, line in enumerate(lines) if i and line.rstrip() == "---"]
    has_front_matter = bool(lines) and lines[0].rstrip() == "---" and bool(ends)
    body = ("".join(lines[ends[0] + 1 :]) if has_front_matter else text).strip()
    if not body:
        raise InputError(f"{file}: the skill has no text; write what is injected below the front matter")
    return body
