"""The library of one harness: its skills, how often each was used, what the bank knows of them, and what to do with each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skilldelta.bank import Bank
from skilldelta.encoders import load_encoder
from skilldelta.evaluation.skill_verdicts import SkillVerdict
from skilldelta.harnesses.harness import Harness
from skilldelta.harnesses.skill_usage import read_usage
from skilldelta.library.installed_skills import find_skills, skill_roots
from skilldelta.library.proposals import KnownGain, LibraryRow, propose, summary
from skilldelta.library.skill_switches import current_listing, has_name_only, switchable
from skilldelta.studies import PanelChoice, judge_skills, load_panels


class Library(NamedTuple):
    """What a harness has."""

    harness: Harness
    rows: tuple[LibraryRow, ...]
    sessions: int
    """Sessions in which uses were counted."""
    problems: tuple[str, ...]
    """What was left out, and why."""

    def document(self) -> dict[str, Any]:
        """What `library --json` prints."""
        now = sum(row.tokens_now for row in self.rows)
        return {
            "harness": self.harness.name,
            "title": self.harness.title,
            "switchable": switchable(self.harness.name),
            "sessions": self.sessions,
            "listing_tokens": now,
            "saves": now - sum(row.tokens_then for row in self.rows),
            "summary": summary(self.rows, self.sessions),
            "skills": [row.to_dict() for row in self.rows],
            "problems": list(self.problems),
        }


def read_library(
    harness: Harness,
    gains: Mapping[str, KnownGain],
    *,
    folder: Path,
    home: Path,
    project: Path,
    environment: Mapping[str, str],
) -> Library:
    """Everything that a harness finds in its folders and those of a project. Nothing is written.

    Parameters:
        harness: The declaration of the harness.
        gains: What is known of skills, by name.
        folder: Its folder of settings.
        home: The user's home.
        project: The folder whose own skills count too.
        environment: The variables that move folders.
    """
    found = find_skills(skill_roots(harness.name, folder, home, project, environment))
    usage = read_usage(harness.name, folder)
    texts = [f"{skill.name}: {skill.description}" for skill in found.skills]
    vectors = load_encoder().encode(texts) if texts else np.empty((0, 0), np.float32)
    rows = propose(
        found.skills,
        usage,
        gains,
        listings=current_listing(harness.name, folder),
        vectors=vectors,
        name_only=has_name_only(harness.name),
    )
    return Library(harness, tuple(rows), usage.sessions, (*found.problems, *usage.problems))


def known_gains(bank: Bank, agent: str | None) -> dict[str, KnownGain]:
    """What the bank says about each skill; of several suites the last one counts. Nothing where it has no pair."""
    if not any(panel.pairs for panel in bank.panels()):
        return {}
    return gains_of(
        verdict for panel in judge_skills(load_panels(bank, PanelChoice(agent))) for verdict in panel.verdicts
    )


def gains_of(verdicts: Iterable[SkillVerdict]) -> dict[str, KnownGain]:
    """What verdicts say about each skill; of several the last one counts."""
    gains = {}
    for verdict in verdicts:
        mean, interval = verdict.mean, verdict.mean.interval
        gains[verdict.skill] = KnownGain(verdict.ruling, mean.mean, interval.low, interval.high, mean.tasks)
    return gains
