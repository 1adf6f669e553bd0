"""A skill's text: read from its file, and stored beside the evidence that was recorded with it or with another version."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.files import read_text
from skilldelta.front_matter import MOST_SKILL, split_front_matter
from skilldelta.nouns import plural
from skilldelta.records import Skill, bundle_name, text_digest
from skilldelta.skill_folder import NO_FILES, FolderFiles, files_beside


def read_skill(path: Path, name: str = "") -> Skill:
    """The version of a skill that is on disk: its text, and the other files of its folder."""
    return Skill.from_text(name, read_skill_text(path), files_beside(path))


def read_skill_text(path: Path) -> str:
    """The body of a SKILL.md, or of the one in a folder; front matter is not injected and not part of it."""
    file = path / "SKILL.md" if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise InputError(f"{path}: no SKILL.md in this folder; name the file that holds the skill's text")
    return skill_body(read_text(file, most=MOST_SKILL), file)


def skill_body(text: str, file: Path) -> str:
    """What stands below the front matter of a text that `file` names in messages."""
    body = split_front_matter(text).body
    if not body:
        raise InputError(f"{file}: the skill has no text; write what is injected below the front matter")
    return body


@dataclass(frozen=True, slots=True)
class AddedText:
    """What became of a text that was added."""

    skill: str
    digest: str
    characters: int
    is_new: bool
    executions: int
    """Executions that count as this version's, the only one known to them."""
    stale: int
    """Executions of other versions."""
    nearest: tuple[str, ...] = ()
    """Skills of the bank with a similar name, where no execution names this one."""

    def in_words(self) -> str:
        """One line for people."""
        verb = "stored" if self.is_new else "known already"
        line = f"{self.skill}: {plural(self.characters, 'character')} {verb}, version {self.digest[:12]}; "
        if self.executions:
            line += f"it is the version of {plural(self.executions, 'recorded execution')}"
        elif not self.stale:
            near = f"; did you mean {', '.join(self.nearest)}?" if self.nearest else ""
            line += f"no recorded execution names this skill yet{near}"
        if self.stale:
            line += (
                f"{', and ' if self.executions else ''}{plural(self.stale, 'execution')} of other versions are stale"
            )
        return line


def add_skill_text(
    bank: Bank, name: str, text: str, *, beside: FolderFiles = NO_FILES, new_version: bool = False
) -> AddedText:
    """Store a text, and the files `beside` it, as a version of a skill. One that would make recorded evidence stale must be
    meant so.

    Executions that do not say their version count as the only version known, and those that name the digest of the text
    alone as the folder with that text.
    """
    stored = bank.skills()
    skill_id = next((skill.skill_id for skill in stored if skill.skill_id == name), bundle_name([name]))
    skill = Skill.from_text(skill_id, text, beside)
    runs = [execution.skill_digest for execution in bank.executions(skill_id=skill_id)]
    own = {skill.digest, text_digest(text)}
    others = {version.digest for version in stored if version.skill_id == skill_id and version.digest} - own
    counted = sum(digest in own or (not digest and not others) for digest in runs)
    is_known = any(version.skill_id == skill_id and version.digest == skill.digest for version in stored)
    if runs and not counted and not is_known and not new_version:
        other = next(iter(others))
        raise InputError(
            f"{plural(len(runs), 'execution')} of {skill_id!r} were recorded with another text (version {other[:12]}); "
            "give that text, or say --new-version if the skill has changed, which makes them stale"
        )
    added = bank.add(Batch(skills=[skill]))
    near = (
        ()
        if runs
        else tuple(difflib.get_close_matches(name, {version.skill_id for version in stored} - {skill_id}, cutoff=0.4))
    )
    return AddedText(skill_id, skill.digest, len(text), added.skills > 0, counted, len(runs) - counted, near)
