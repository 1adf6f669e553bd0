"""What was decided in a conversation, in a small file of its own, so that later hooks of it neither ask nor decide again.

The bank's decision log says the same; this file answers in a millisecond, and tells an entry that has handed out its part
of a skill from one that has not. It holds no task text.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from skilldelta.json_text import decode_json
from skilldelta.regular_file import read_regular

_KEPT_DAYS = 30
# Bytes of a file, which holds the decisions about one task; files of the folder that one call looks at.
_MOST_BYTES = 1 << 20
_MOST_LOOKED_AT = 500
# Of a conversation; later ones are left alone.
_MOST_TASKS = 50


class HookDecision(NamedTuple):
    """What the gate says about one skill in one conversation."""

    skill: str
    action: str
    """use, skip or abstain."""
    reason: str
    gain: float = 0.0
    decision_id: int | None = None
    """In the bank's log; None where it could not be recorded."""
    chosen: bool = False
    """Whether this is the skill to inject: the one with the largest gain, where several are to be used."""
    has_evidence: bool = False
    """Whether recorded tasks stand behind it."""
    certainty: str | None = None
    """sure, leaning or close to a coin flip; None without evidence. Only a sure skip denies the call of a skill."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> HookDecision:
        """From a kept row, or from the document of a decision; an odd one is an error."""
        decision_id = row.get("decision_id")
        if row["action"] not in ("use", "skip", "abstain") or not isinstance(decision_id, int | None):
            raise ValueError("not a decision")
        return cls(
            skill=str(row["skill"]),
            action=row["action"],
            reason=str(row["reason"]),
            gain=float(row["gain"]),
            decision_id=decision_id,
            chosen=row.get("chosen") is True,
            has_evidence=row.get("has_evidence", row.get("fallback") is False) is True,
            certainty=row.get("certainty"),
        )

    def to_row(self) -> dict[str, Any]:
        """As it is kept."""
        return self._asdict()


class Conversation(NamedTuple):
    """One conversation in a folder of them. Whatever the disk says, a question gets an answer: nothing is known."""

    folder: Path
    harness: str
    name: str
    task: int = 0
    """Which task of the conversation: each has decisions of its own."""

    def known(self) -> tuple[HookDecision, ...] | None:
        """The decisions that were taken; None where there are none."""
        try:
            rows = self._document()["decisions"]
            return tuple(HookDecision.from_row(row) for row in rows)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def tasks(self) -> list[Conversation]:
        """The tasks of the conversation that have decisions, the first one first."""
        tasks = []
        for number in range(_MOST_TASKS):
            task = self._replace(task=number)
            if task.known() is None:
                break
            tasks.append(task)
        return tasks

    def is_about(self, text: str) -> bool:
        """Whether the decisions were taken for this very message, by another hook of the same prompt."""
        try:
            return bool(self._document().get("message") == _message_digest(text))
        except (OSError, ValueError, AttributeError):
            return False

    def keep(self, decisions: tuple[HookDecision, ...], text: str = "") -> bool:
        """Keep the decisions for the hooks that follow; the first to do so counts. False where that is impossible."""
        rows = [decision.to_row() for decision in decisions]
        told = {"time": time.time(), "harness": self.harness}
        document = {**told, "message": _message_digest(text), "decisions": rows}
        part = self._file.with_suffix(f".{os.urandom(8).hex()}.partial")  # threads of a server keep, too
        try:
            self._make_folder()
            with created(part) as file:
                file.write(json.dumps(document).encode())
            with suppress(FileExistsError):
                os.link(part, self._file)  # unlike a rename, never over what another hook of the same prompt has kept
            return True
        except (OSError, NotImplementedError):
            return False
        finally:
            with suppress(OSError):
                part.unlink()

    def claim(self, entry: int) -> bool:
        """Whether this hook entry is the first to answer here; later prompts find the skill in their context."""
        try:
            self._make_folder()
            created(self._file.with_suffix(f".{entry}")).close()
        except FileExistsError:
            return False
        except OSError:
            return True
        return True

    def tidy(self) -> None:
        """Remove what has not been touched for a month, a few hundred files at a time.

        One conversation in sixteen does it: looking at that many files takes as long as a decision.
        """
        if not self._file.name.startswith("0"):
            return
        oldest = time.time() - _KEPT_DAYS * 86_400
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry, _ in zip(entries, range(_MOST_LOOKED_AT), strict=False):
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                        os.unlink(entry.path)

    def _document(self) -> Any:
        return decode_json(read_regular(self._file, _MOST_BYTES, follow_links=False))

    @property
    def _file(self) -> Path:
        name = f"{self.harness}\n{self.name}" + (f"\n{self.task}" if self.task else "")
        digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
        return self.folder / f"{digest}.json"

    def _make_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)


class LastDecisions(NamedTuple):
    """What was decided last, in any conversation."""

    time: float
    harness: str
    decisions: tuple[HookDecision, ...]


def last_decisions(folder: Path) -> LastDecisions | None:
    """The newest decisions in a folder of conversations; None where there are none."""
    try:
        with os.scandir(folder) as entries:
            files = [
                entry for entry in entries if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
            ]
        newest = sorted(files, key=lambda entry: -entry.stat(follow_symlinks=False).st_mtime)
    except OSError:
        return None
    for entry in newest[:_MOST_LOOKED_AT]:
        try:
            document = decode_json(read_regular(entry.path, _MOST_BYTES, follow_links=False))
            decisions = tuple(HookDecision.from_row(row) for row in document["decisions"])
            return LastDecisions(float(document["time"]), str(document.get("harness", "")), decisions)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def _message_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def created(path: Path) -> Any:
    """A new file for its owner alone, open for writing; one that is there, or a link, is an error."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")
