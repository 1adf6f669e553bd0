"""A skill on offer: its name, where its text is, and what the model gets when the gate says use.

A short skill is injected as it is: that is the treatment whose outcomes are in the bank. Claude Code and Codex cut what a
hook injects at 10,000 characters, so a long skill is delivered in parts, each by a hook entry of its own; where there are
too few entries, the model is told to load the skill before it begins.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from skilldelta.front_matter import MOST_SKILL, split_front_matter
from skilldelta.regular_file import read_regular

if TYPE_CHECKING:
    from skilldelta.harnesses.harness import Dialect

Delivery = Literal["text", "invoke"]

# Characters that are left for saying which part of a skill this is.
_LABEL = 100


class OfferedSkill(NamedTuple):
    """A skill that the gate is asked about."""

    name: str
    file: Path | None = None
    """Its SKILL.md; None where the bank keeps the text, or the harness has the skill."""
    digest: str = ""
    """Of the text that the bank had when the skill was set up; another text of a server is not taken."""
    folder_digest: str = ""
    """Of the skill's whole folder, where whoever offers it has read that."""


class Part(NamedTuple):
    """Which of several hook entries this is, counted from 1."""

    number: int = 1
    of: int = 1


def skill_name(file: Path) -> str:
    """The name that a SKILL.md gives itself in its front matter, else the name of its folder."""
    try:
        front = split_front_matter(_read(file)).front
    except OSError:
        front = ()
    names = (line.removeprefix("name:").strip().strip("'\"") for line in front if line.startswith("name:"))
    return next(names, "") or file.absolute().parent.name


def skill_body(file: Path) -> str:
    """The text that is injected."""
    return split_front_matter(_read(file)).body


def delivered(skill: OfferedSkill, text: str | None, dialect: Dialect, *, part: Part, delivery: Delivery) -> str:
    """What one hook entry hands to the model; empty where another entry says it all."""
    if text is not None and delivery == "text":
        chunks = in_parts(skill.name, text, dialect.longest)
        if len(chunks) <= part.of:
            return chunks[part.number - 1] if part.number <= len(chunks) else ""
    return _to_be_loaded(skill, dialect.skill_tool, text, delivery) if part.number == 1 else ""


def in_parts(name: str, text: str, longest: int | None) -> list[str]:
    """The text whole where it may be that long, else cut at ends of lines, with each part numbered."""
    if longest is None or _units(text) <= longest:
        return [text]
    cut = _cut(text, longest - _LABEL)
    label = name[: _LABEL - 40]
    return [f"[Skill {label}, part {i} of {len(cut)}]\n{piece}" for i, piece in enumerate(cut, 1)]


def _to_be_loaded(skill: OfferedSkill, tool: str, text: str | None, delivery: Delivery) -> str:
    too_long = text is not None and delivery == "text"
    if skill.file is not None and (too_long or not tool):  # any agent can read a file
        return f"Before you begin, read the whole file {skill.file} and follow it: it is the skill {skill.name}."
    if not tool:
        return f"Before you begin, read the skill {skill.name} and follow it."
    return f"Before you begin, load the skill {skill.name} with the {tool} tool and follow it."


def _cut(text: str, longest: int) -> list[str]:
    pieces: list[str] = [""]
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), longest // 2):  # half: a character may count twice
            bit = line[start : start + longest // 2] if _units(line) > longest else line
            if _units(pieces[-1]) + _units(bit) > longest:
                pieces.append("")
            pieces[-1] += bit
            if bit is line:
                break
    return [piece.rstrip("\n") for piece in pieces]


def _units(text: str) -> int:
    """The length as JavaScript counts it, which is what the harnesses are written in."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def _read(file: Path) -> str:
    text = read_regular(file, MOST_SKILL).decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
