"""The mapping file: what another tool's names mean here, written with the best guess and edited by a person.

YAML with the keys format, suite, score, arm_from, pair_by, columns, arms, agents and skills. Nothing unknown passes: a mistyped
key would change nothing in silence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from skilldelta.bank.importers.columns import FIELDS
from skilldelta.bank.importers.draft import Defaults, PairBy
from skilldelta.bank.importers.tool_run import ARM_MEANINGS
from skilldelta.errors import InputError, shown
from skilldelta.files import read_text

_WORDS = ("format", "suite", "score", "arm_from", "pair_by")
_TABLES = ("columns", "arms", "agents", "skills")
_MOST_BYTES = 1 << 20
_HEADER = """\
# What the names in the result files mean. Edit it, then import with --mapping and this file.
# columns: of a table, what it is here on the left (text, y0, y1, tokens0, …), the column's name on the right.
# arms: use (with the skill), skip (without it) or leave-out.
# agents and skills: the name in the files on the left ("" where they have none), the name in the bank on the right.
# pair_by: task keeps tasks of one name and different content apart, name joins them.
"""


@dataclass(frozen=True, slots=True)
class NameMapping:
    """What a mapping file says. Empty is not said."""

    format: str = ""
    suite: str = ""
    score: str = ""
    arm_from: str = ""
    pair_by: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    arms: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, str] = field(default_factory=dict)
    skills: Mapping[str, str] = field(default_factory=dict)

    def under(self, defaults: Defaults) -> Defaults:
        """What the import's options say, and where they do not what is said here."""
        pair_by: PairBy = "name" if "name" in (defaults.pair_by, self.pair_by) else "task"
        return replace(
            defaults,
            suite=defaults.suite or self.suite,
            score=defaults.score or self.score,
            arm_from=defaults.arm_from or self.arm_from,
            pair_by=pair_by,
            columns={**{name: (column,) for name, column in _answers(self.columns).items()}, **defaults.columns},
            arms={**_answers(self.arms), **defaults.arms},
            agents={**_answers(self.agents), **defaults.agents},
            skills={**_answers(self.skills), **defaults.skills},
        )

    def as_text(self) -> str:
        """The file's content."""
        lines = [f"{name}: {_scalar(getattr(self, name))}" for name in _WORDS]
        for name in _TABLES:
            table = getattr(self, name)
            lines.append(f"{name}:" if table else f"{name}: {{}}")
            lines += [f"  {_scalar(key)}: {_scalar(value)}" for key, value in table.items()]
        return _HEADER + "\n".join(lines) + "\n"


def read_mapping(path: Path) -> NameMapping:
    """The mapping in a file; what is wrong with it is one line."""
    try:
        document = yaml.safe_load(read_text(path, most=_MOST_BYTES))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{path}: not valid YAML ({reason}); write it anew with --write-mapping") from None
    if not isinstance(document, dict):
        raise InputError(
            f"{path}: a mapping has the keys {', '.join((*_WORDS, *_TABLES))}; write one with --write-mapping"
        )
    for key in document:
        if key not in (*_WORDS, *_TABLES):
            raise InputError(f"{path}: unknown key {shown(key)}; keep {', '.join((*_WORDS, *_TABLES))}")
    words: dict[str, Any] = {name: _word(path, name, document.get(name)) for name in _WORDS}
    words |= {name: _table(path, name, document.get(name)) for name in _TABLES}
    mapping = NameMapping(**words)
    for name in mapping.columns:
        if name not in FIELDS:
            raise InputError(f"{path}: columns: {shown(name)} is no field; fields are {', '.join(sorted(FIELDS))}")
    if mapping.pair_by not in ("", "task", "name"):
        raise InputError(f"{path}: pair_by is task or name, got {shown(mapping.pair_by)}")
    for name, meaning in _answers(mapping.arms).items():
        if meaning not in ARM_MEANINGS:
            raise InputError(f"{path}: the arm {shown(name)} is one of {', '.join(ARM_MEANINGS)}, got {shown(meaning)}")
    return mapping


def _scalar(text: str) -> str:
    """A text as a person would write it in YAML: bare where that is read as the same text, else in quotes."""
    is_plain = re.fullmatch(r"[A-Za-z][\w ./@+-]*\w", text) and yaml.safe_load(text) == text
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _answers(table: Mapping[str, str]) -> dict[str, str]:
    """What is answered; an empty right side is a question that is still open."""
    return {name: value for name, value in table.items() if value}


def _word(path: Path, name: str, value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise InputError(f"{path}: {name} must be a text, got {shown(value)}; put it in quotes")


def _table(path: Path, name: str, value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{path}: {name} must be a list of names with their meanings, got {shown(value)}")
    return {_word(path, name, _plain(key)): _word(path, name, _plain(inner)) for key, inner in value.items()}


def _plain(value: Any) -> Any:
    """YAML reads a bare 1 or yes as a number or a truth value; a name is a text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value
