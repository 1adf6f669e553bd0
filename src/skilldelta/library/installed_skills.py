"""The skills that a harness finds in its folders, read as it would read them; what cannot be read is named and left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import yaml

from skilldelta.front_matter import split_front_matter
from skilldelta.regular_file import read_regular

# A SKILL.md of a megabyte is no instruction any more.
_LONGEST_SKILL = 1 << 20
# Harnesses look for SKILL.md in folders, and some in folders of folders.
_DEEPEST = 4
_MOST_FOLDERS = 20_000


class SkillRoot(NamedTuple):
    """A folder of skills, and who put them there."""

    folder: Path
    origin: str
    """user, project, or plugin with its name."""
    is_switchable: bool = True
    """Whether the harness lets its user switch single skills of it off."""


@dataclass(frozen=True, slots=True)
class InstalledSkill:
    """One skill of a harness."""

    name: str
    description: str
    path: Path
    origin: str
    listing_tokens: int
    """Of its line in the list that every session begins with; 0 where it is not listed."""
    name_tokens: int
    """Of that line without the description."""
    loaded_tokens: int
    """Of its text, when it is loaded."""
    is_switchable: bool = True


class FoundSkills(NamedTuple):
    """What is there, and what was left out and why."""

    skills: tuple[InstalledSkill, ...]
    problems: tuple[str, ...]


def skill_roots(
    harness: str, folder: Path, home: Path, project: Path, environment: Mapping[str, str]
) -> list[SkillRoot]:
    """Where a harness looks for skills, the place that wins a name first. `folder` is its folder of settings."""
    shared_home = home / ".agents" / "skills"
    shared = [SkillRoot(project / ".agents" / "skills", "project"), SkillRoot(shared_home, "user")]
    own = SkillRoot(folder / "skills", "user")
    if harness == "claude-code":
        plugins = (
            SkillRoot(path, f"plugin {path.parent.parent.name}", is_switchable=False)
            for path in sorted((folder / "plugins" / "cache").glob("*/*/*/skills"))
        )
        return [own, SkillRoot(project / ".claude" / "skills", "project"), *plugins]
    if harness == "codex":
        return [SkillRoot(project / ".codex" / "skills", "project"), *shared, own]
    if harness == "gemini":
        extensions = (
            SkillRoot(path, f"extension {path.parent.name}")
            for path in sorted((folder / "extensions").glob("*/skills"))
        )
        return [SkillRoot(project / ".gemini" / "skills", "project"), shared[0], own, shared[1], *extensions]
    if harness == "opencode":
        claude = home / ".claude" / "skills"
        projects = [SkillRoot(project / name / "skills", "project") for name in (".opencode", ".claude")]
        return [*projects, shared[0], own, SkillRoot(claude, "user"), shared[1]]
    if harness == "dsh":
        agents = Path(environment.get("DSH_AGENTS_HOME") or home / ".agents") / "skills"
        return [SkillRoot(project / ".dsh" / "skills", "project"), shared[0], own, SkillRoot(agents, "user")]
    project_root = SkillRoot(project / f".{harness}" / "skills", "project")
    return [project_root, shared[0], own, shared[1]]


def find_skills(roots: Sequence[SkillRoot]) -> FoundSkills:
    """Every skill of some folders. Of two skills of one name the first counts, and the other is a problem."""
    skills: dict[str, InstalledSkill] = {}
    problems: list[str] = []
    visited: set[str] = set()
    for root in roots:
        for path in _skill_files(root.folder, visited, problems):
            try:
                skill = _read_skill(path, root)
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                problems.append(f"{path}: {reason or error}; left out")
                continue
            if skill.name in skills:
                problems.append(f"{path}: another skill is called {skill.name!r}, {skills[skill.name].path}; left out")
                continue
            skills[skill.name] = skill
    return FoundSkills(tuple(skills.values()), tuple(problems))


def estimated_tokens(text: str) -> int:
    """About one token per four characters, which is within a quarter for English and Markdown."""
    return -(-len(text) // 4)


def _skill_files(folder: Path, visited: set[str], problems: list[str]) -> Iterator[Path]:
    """The SKILL.md files below a folder. A folder that a link leads to again is looked at once."""
    pending = [(folder, 0)]
    while pending:
        current, depth = pending.pop(0)
        real = os.path.realpath(current)
        if real in visited or not os.path.isdir(real):
            continue
        if len(visited) >= _MOST_FOLDERS:
            problems.append(f"{folder}: more than {_MOST_FOLDERS:,} folders; the rest is left out")
            return
        visited.add(real)
        file = current / "SKILL.md"
        if depth and os.path.lexists(file):
            yield file
            continue
        if depth >= _DEEPEST:
            continue
        try:
            entries = sorted(entry.name for entry in os.scandir(current) if _may_hold_skills(entry))
        except OSError as error:
            problems.append(f"{current}: {error.strerror}; left out")
            continue
        pending += [(current / name, depth + 1) for name in entries]


def _may_hold_skills(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir() and not entry.name.startswith(".") and entry.name != "node_modules"
    except OSError:  # a loop of links
        return False


def _read_skill(path: Path, root: SkillRoot) -> InstalledSkill:
    try:
        text = read_regular(path, _LONGEST_SKILL).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    parts = split_front_matter(text)
    if not parts.front:
        raise ValueError("has no front matter")
    try:
        front = yaml.load("".join(parts.front), Loader=_Loader)
    except (yaml.YAMLError, RecursionError):
        raise ValueError("its front matter is not YAML") from None
    if not isinstance(front, dict):
        raise ValueError("its front matter is not YAML with a name and a description")
    name = str(front.get("name") or path.parent.name).strip()
    description = " ".join(str(front.get("description") or "").split())
    is_listed = front.get("disable-model-invocation") is not True
    return InstalledSkill(
        name,
        description,
        path,
        root.origin,
        estimated_tokens(f"- {name}: {description}\n") if is_listed else 0,
        estimated_tokens(f"- {name}\n") if is_listed else 0,
        estimated_tokens(parts.body),
        root.is_switchable,
    )


# The C reader where it is there: 300 skills are read in a tenth of the time.
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
