"""What to do with each skill of a harness: keep it in the list, list its name only, switch it off, or measure it first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.harnesses.skill_usage import SkillUsage
from skilldelta.library.installed_skills import InstalledSkill
from skilldelta.library.skill_switches import Listing
from skilldelta.nouns import plural

ProposalWord = Literal["keep", "name only", "off", "measure first"]

# Sessions that have to pass before "never used" means anything.
ENOUGH_SESSIONS = 20
# Descriptions that are this similar offer about the same thing. Of 66 pairs of the demo's skills none reaches it.
OVERLAP = 0.8
# Tasks, each with and without the skill, that a first verdict takes in most banks.
_TASKS_TO_MEASURE = 20


@dataclass(frozen=True, slots=True)
class KnownGain:
    """What recorded pairs say about a skill."""

    verdict: str
    """keep, gate, drop, no effect, or not enough evidence."""
    mean: float
    low: float | None
    high: float | None
    tasks: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """The most similar other skill."""

    skill: str
    similarity: float


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One skill with what is known about it, and a proposal."""

    skill: InstalledSkill
    listing: Listing
    """As it is now."""
    loads: int | None
    """None where no sessions could be read."""
    sessions: int | None
    gain: KnownGain | None
    overlap: Overlap | None
    proposal: ProposalWord
    reason: str

    @property
    def tokens_now(self) -> int:
        """What the skill costs per session now, unloaded."""
        return _tokens(self.skill, self.listing)

    @property
    def tokens_then(self) -> int:
        """The same if the proposal is followed."""
        listing = self.wanted_listing
        return self.tokens_now if listing is None else _tokens(self.skill, listing)

    @property
    def wanted_listing(self) -> Listing | None:
        """What the proposal would change; None where it changes nothing."""
        listing: Listing = self.proposal if self.proposal in ("name only", "off") else "on"
        if self.proposal in ("keep", "measure first") or listing == self.listing or not self.skill.is_switchable:
            return None
        return listing

    def to_dict(self) -> dict[str, Any]:
        """The skill in the document of `library --json`."""
        skill, gain = self.skill, self.gain
        return {
            "skill": skill.name,
            "path": str(skill.path),
            "origin": skill.origin,
            "switchable": skill.is_switchable,
            "listing": self.listing,
            "listing_tokens": self.tokens_now,
            "loaded_tokens": skill.loaded_tokens,
            "loads": self.loads,
            "sessions": self.sessions,
            "gain": None
            if gain is None
            else {"verdict": gain.verdict, "mean": gain.mean, "low": gain.low, "high": gain.high, "tasks": gain.tasks},
            "overlap": None
            if self.overlap is None
            else {"skill": self.overlap.skill, "similarity": self.overlap.similarity},
            "proposal": self.proposal,
            "reason": self.reason,
            "saves": self.tokens_now - self.tokens_then,
        }


def propose(
    skills: Sequence[InstalledSkill],
    usage: SkillUsage,
    gains: Mapping[str, KnownGain],
    *,
    listings: Mapping[str, Listing],
    vectors: Vectors,
    name_only: bool,
) -> list[LibraryRow]:
    """A row per skill, the most expensive first. `vectors` (skills, dim) are those of their descriptions."""
    rows = []
    for i, skill in enumerate(skills):
        loads = usage.loads.get(skill.name, 0) if usage.is_known else None
        word, reason = _proposal(skill, loads, usage.sessions, gains.get(skill.name), name_only=name_only)
        rows.append(
            LibraryRow(
                skill,
                listings.get(skill.name) or listings.get(str(skill.path.parent)) or "on",
                loads,
                usage.sessions_with.get(skill.name, 0) if usage.is_known else None,
                gains.get(skill.name),
                _overlap(i, skills, vectors),
                word,
                reason,
            )
        )
    return sorted(rows, key=lambda row: (-row.tokens_now, row.skill.name))


def summary(rows: Sequence[LibraryRow], sessions: int) -> str:
    """One sentence about the whole library."""
    count = {word: sum(row.proposal == word for row in rows) for word in ("keep", "name only", "off", "measure first")}
    now = sum(row.tokens_now for row in rows)
    saved = now - sum(row.tokens_then for row in rows)
    unused = sum(row.loads == 0 for row in rows)
    parts = [f"{number} {word}" for word, number in count.items() if number]
    never = f"; {unused} never used in {plural(sessions, 'session')}" if sessions and unused else ""
    saving = f": following the proposals saves {saved:,}" if saved else ""
    return f"{plural(len(rows), 'skill')}, {now:,} tokens per session; {', '.join(parts)}{never}{saving}"


def _proposal(
    skill: InstalledSkill, loads: int | None, sessions: int, gain: KnownGain | None, *, name_only: bool
) -> tuple[ProposalWord, str]:
    verdict = gain.verdict if gain else ""
    if verdict == "drop":
        return "off", "measured: it does harm on the whole"
    if verdict == "no effect":
        return "off", "measured: it changes nothing"
    if verdict == "gate":
        # The gate injects the text where it helps; the list need not advertise it.
        return ("name only" if name_only else "keep"), "measured: it helps on some tasks and harms on others; gate it"
    if verdict == "keep":
        return "keep", "measured: it helps"
    if loads == 0 and sessions >= ENOUGH_SESSIONS:
        return "off", f"never used in {plural(sessions, 'session')}"
    price = f"about {2 * _TASKS_TO_MEASURE} runs ({_TASKS_TO_MEASURE} tasks with and without it)"
    evidence = "not enough evidence yet" if verdict else "nobody has measured it"
    used = "" if loads is None else f", used {plural(loads, 'time')}"
    return "measure first", f"{evidence}{used}; {price}"


def _overlap(row: int, skills: Sequence[InstalledSkill], vectors: Vectors) -> Overlap | None:
    """The most similar description of another skill, where it is similar at all."""
    if len(skills) < 2:
        return None
    similarity = np.delete(vectors @ vectors[row], row)
    best = int(similarity.argmax())
    if similarity[best] < OVERLAP:
        return None
    return Overlap(skills[best + (best >= row)].name, round(float(similarity[best]), 3))


def _tokens(skill: InstalledSkill, listing: Listing) -> int:
    return {"on": skill.listing_tokens, "name only": skill.name_tokens, "off": 0}[listing]
