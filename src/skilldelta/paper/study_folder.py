"""The folder of a study of one of the paper's suites: prepared suites, one bank, sealed predictions, tables, a report.

A study that was stopped goes on in its folder: what is there is not made again, and other inputs are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.suite import SUITE_FILE, SuiteTask
from skilldelta.errors import InputError
from skilldelta.files import json_document, write_text
from skilldelta.paper.suites.base import GivenFiles, PaperSuite
from skilldelta.paper.suites.preparation import (
    PreparedFolder,
    prepare,
    recorded_families,
    recorded_sources,
    source_digests,
)
from skilldelta.paper.table import PaperTable, tables_csv, tables_document, tables_latex, tables_markdown
from skilldelta.records import Agent


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """Where everything of a study stands. Several suites and agents share one folder, and so one set of tables."""

    path: Path

    @property
    def bank(self) -> Path:
        return self.path / "study.bank"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def tables(self) -> Path:
        """The tables as JSON; the same as Markdown stand beside them."""
        return self.path / "tables.json"

    @property
    def figures(self) -> Path:
        """The figures over all panels, as images."""
        return self.path / "figures"

    def suite(self, name: str) -> Path:
        return self.path / "suites" / name

    @property
    def prospective(self) -> Path:
        """What audited prospective panels came to, one JSON object per line."""
        return self.path / "prospective.jsonl"

    def sealed(self, suite: str, agent: Agent, panel: str = "") -> Path:
        """The sealed predictions of one agent's prospective protocol, or of one of its panels by name."""
        names = [re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") for name in (agent.name, panel)]
        ending = f"--{names[1]}" if names[1] else ""
        return self.path / "sealed" / f"{suite}--{names[0] or 'agent'}-{agent.fingerprint[:8]}{ending}.json"

    def runs(self, suite: str) -> list[Path]:
        """The folders of a suite's collections."""
        return sorted(
            path.parent
            for path in self.path.glob(f"{self.bank.name}.collect/*/manifest.json")
            if _suite_of(path) == suite
        )


def write_tables(study: StudyFolder, tables: Sequence[PaperTable]) -> None:
    """All tables as JSON, Markdown and LaTeX, and each as CSV in a folder of its own."""
    write_text(study.tables, json.dumps(tables_document(tables), indent=2, ensure_ascii=False) + "\n")
    write_text(study.tables.with_suffix(".md"), tables_markdown(tables))
    write_text(study.tables.with_suffix(".tex"), tables_latex(tables))
    (study.path / "tables").mkdir(parents=True, exist_ok=True)
    for key, text in tables_csv(tables).items():
        write_text(study.path / "tables" / f"{key}.csv", text)


def prepare_once(
    study: StudyFolder, suite: PaperSuite, given: GivenFiles | None, families: Sequence[str] = ()
) -> PreparedFolder | None:
    """Prepare a suite in a study's folder; None where it stands there already, made from the same files."""
    folder = study.suite(suite.name)
    if not (folder / SUITE_FILE).is_file():
        if given is None:
            raise InputError(f"{suite.title} is not prepared in {study.path} yet; name its data with --from PATH")
        return prepare(suite, given, folder, families=families, all_skills=True)
    _check_same(folder, given, families)
    return None


def _check_same(folder: Path, files: GivenFiles | None, families: Sequence[str]) -> None:
    recorded = recorded_sources(folder)
    now: Mapping[str, str] = source_digests(files) if files is not None else {}
    changed = [kind for kind, digest in now.items() if recorded.get(kind) != digest]
    if changed:
        raise InputError(
            f"{folder} was prepared from other files ({', '.join(changed)}); start another study with --output"
        )
    if families and sorted(families) != recorded_families(folder):
        raise InputError(f"{folder} was prepared with other families; start another study with --output")


@dataclass(frozen=True, slots=True)
class KnownAndHeldOut:
    """The tasks that a prospective protocol records first, and those it predicts before their outcomes exist."""

    known: tuple[str, ...]
    held_out: tuple[str, ...]


def split_tasks(tasks: Sequence[SuiteTask], per_group: int | None, *, seed: int) -> KnownAndHeldOut:
    """By hash within each group: so many known tasks per group, or two fifths of it, and at least one held out."""
    groups: dict[str, list[str]] = {}
    for task in tasks:
        groups.setdefault(task.family or task.skill_id, []).append(task.task_id)
    recorded: set[str] = set()
    for names in groups.values():
        count = round(0.4 * len(names)) if per_group is None else per_group
        by_hash = sorted(names, key=lambda name: hashlib.sha256(f"{seed}:known:{name}".encode()).hexdigest())
        recorded |= set(by_hash[: min(count, len(names) - 1)])
    if not recorded:
        raise InputError("no group has a task to record first; give a larger --known, or a suite with larger groups")
    names_in_order = [task.task_id for task in tasks]
    return KnownAndHeldOut(
        tuple(name for name in names_in_order if name in recorded),
        tuple(name for name in names_in_order if name not in recorded),
    )


def _suite_of(manifest: Path) -> str:
    return str(json_document(manifest).get("suite", ""))
