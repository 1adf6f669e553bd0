"""The text of a skill that lies beside the results of its runs, as a SKILL.md in the Agent Skills layout."""

from __future__ import annotations

import os
import re
from pathlib import Path

from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.skill_versions import read_skill, skill_body
from skilldelta.errors import InputError
from skilldelta.front_matter import MOST_SKILL
from skilldelta.records import Skill
from skilldelta.skill_folder import NO_FILES, files_beside

_FILE = "SKILL.md"
_PLAIN = re.compile(r"\w[\w .+-]{0,127}")
# Where a run leaves what it made, which may be a skill, too, and where older versions are kept.
_NOT_THE_SKILL = re.compile(r"(^|/)(outputs?|artifacts|workspace|agent|verifier|skill-snapshot|old_skill|transcripts)/")


class SkillTexts:
    """The texts of the skills that a source's runs name, each looked for once; `found` gets those that are there."""

    def __init__(self, tree: ResultTree, skills: list[Skill]) -> None:
        self._tree = tree
        self._found = skills
        self._digests: dict[str, str] = {}

    def digest(self, name: str) -> str:
        """The digest of a skill's text; "" where the text is not there."""
        if name not in self._digests:
            skill = _skill_text(self._tree, name)
            self._digests[name] = "" if skill is None else skill.digest
            self._found += [] if skill is None else [skill]
        return self._digests[name]


def _skill_text(tree: ResultTree, name: str) -> Skill | None:
    """The skill called `name`: among the files, else in the folders around them. None where it is not there."""
    if not _PLAIN.fullmatch(name):  # a name of another's file is no path to follow
        return None
    for inside in sorted(
        (file_name for file_name in tree.names if _is_skill(file_name, name)),
        key=lambda file_name: (file_name.count("/"), file_name),
    ):
        try:
            text = tree.read(inside, most=MOST_SKILL).decode("utf-8").replace("\r\n", "\n")
            beside = files_beside(tree.path(inside)) if tree.on_disk else NO_FILES
            return Skill.from_text(name, skill_body(text, tree.path(inside)), beside)
        except (InputError, UnicodeDecodeError):
            continue
    if not tree.on_disk:
        return None
    for folder in _around(tree.root, name):
        try:
            if (folder / _FILE).is_file() and not (folder / _FILE).is_symlink():
                return read_skill(folder, name)
        except InputError:
            continue
    return None


def _is_skill(path: str, name: str) -> bool:
    if not path.endswith(_FILE) or _NOT_THE_SKILL.search(path):
        return False
    return path == _FILE or path.endswith(f"/{name}/{_FILE}") or path == f"{name}/{_FILE}"


def _around(root: Path, name: str) -> list[Path]:
    """Folders that may hold the skill: above the results one that is called like it, or has it as a child."""
    folders = []
    for above in list(Path(os.path.abspath(root)).parents)[:4]:
        if above.name == name:
            folders.append(above)
        folders += [above / name, above / "skills" / name, above / ".claude" / "skills" / name]
    return folders
