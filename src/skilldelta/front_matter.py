"""The two parts of a SKILL.md: the front matter between two lines of dashes, and the body, which is what is injected."""

from __future__ import annotations

from typing import NamedTuple

# Bytes of a SKILL.md that are read: more than a model takes in at once, and too little to fill a memory.
MOST_SKILL = 4 << 20


class SkillFile(NamedTuple):
    """The lines of the front matter, none where there is no such part, and the body without blank ends.

    `verbatim` is the body as it stands between one blank line after the front matter and the last line end.
    """

    front: tuple[str, ...]
    body: str
    verbatim: str = ""


def split_front_matter(text: str) -> SkillFile:
    """The parts of a text; dashes that are never closed are part of the body."""
    lines = text.splitlines(keepends=True)
    ends = [i for i, line in enumerate(lines) if i and line.rstrip() == "---"]
    if not lines or lines[0].rstrip() != "---" or not ends:
        return SkillFile((), text.strip())
    rest = "".join(lines[ends[0] + 1 :])
    return SkillFile(tuple(lines[1 : ends[0]]), rest.strip(), rest.removeprefix("\n").removesuffix("\n"))
