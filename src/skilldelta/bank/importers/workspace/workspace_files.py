"""The files of a workspace by what they are: gradings, metadata beside them, definitions of evaluations, timings, benchmarks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from skilldelta.bank.importers.loose_json import DamagedFileError, parse_loosely
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tools.plain_values import rows_of, text_of
from skilldelta.bank.importers.workspace.arm_words import arm_of_name, plain_words
from skilldelta.bank.importers.workspace.assertions import Fields
from skilldelta.bank.importers.workspace.gradings import Grading, gradings_in
from skilldelta.bank.importers.workspace.path_words import bare_stem
from skilldelta.errors import InputError
from skilldelta.files import read_bytes

_MOST_BYTES = 64 << 20
_DEFINITIONS = re.compile(r"(?:evals?|eval[-_]?set|test[-_]?cases|tasks|cases|scenarios)\.json\Z", re.IGNORECASE)
_METADATA = re.compile(
    r"(?:.*[-_.])?(?:metadata|meta|config|eval|evaluation|task|prompt|case|scenario|info|run|params|manifest|setup|arm|session)"
    r"\.json\Z",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"benchmark|workspace|summary", re.IGNORECASE)
_TIMING = re.compile(r"(?:.*[-_.])?(?:timing|timings|metrics|usage|run[-_]?metrics)\.json\Z", re.IGNORECASE)
# What a tool or a project keeps in JSON that has nothing to do with runs.
_OTHER = re.compile(r"(?:package|package-lock|tsconfig|plugin|marketplace|settings|\..*)\.json\Z", re.IGNORECASE)
# What files are called that describe the run or the evaluation of their folder.
_OF_ANY_RUN = frozenset(
    (
        *("eval", "evaluation", "task", "prompt", "case", "scenario", "run", "info", "params", "manifest", "setup"),
        *("arm", "session", "experiment", "agent"),
    )
)
_OF_ANY_TIMING = frozenset(("", "metrics", "usage", "run", "run_metrics"))
_PRODUCTS = re.compile(r"/(?:outputs?|artifacts|artefacts|workspace|workdir|files|project|repo)/")
_GRADING_NAME = re.compile(r"grad|assert|verdict|eval|benchmark|score", re.IGNORECASE)
_DEFINITION_LISTS = ("evals", "cases", "tasks", "tests", "scenarios", "test_cases", "evaluations")
_LISTS_DEFINITIONS = frozenset(_DEFINITION_LISTS)
_PROMPTS = ("prompt", "task_prompt", "user_prompt", "query", "input", "question", "instruction", "task")


@dataclass(slots=True)
class Definitions:
    """What evaluations ask, out of one file that defines them."""

    folder: str
    prompts: dict[str, str] = field(default_factory=dict)
    """By id, and by name."""
    names: dict[str, str] = field(default_factory=dict)
    """Ids to names."""
    skill: str = ""


@dataclass(slots=True)
class WorkspaceFiles:
    """Every file of a source that may say something about a run."""

    gradings: list[tuple[str, list[Grading]]] = field(default_factory=list)
    """File names to the gradings in them."""
    documents: dict[str, Fields] = field(default_factory=dict)
    """Objects that describe runs: metadata, configurations, timings, benchmarks."""
    by_folder: dict[str, list[tuple[str, FileKind]]] = field(default_factory=dict)
    summaries: dict[str, list[str]] = field(default_factory=dict)
    """Folders to the benchmarks and summaries in them."""
    definitions: list[Definitions] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    """Files that cannot be read, with the reason."""
    repaired: dict[str, str] = field(default_factory=dict)
    trigger_rates: list[str] = field(default_factory=list)
    defines_only: list[str] = field(default_factory=list)
    """Definitions of evaluations with verdicts in them, which are no evidence."""
    made_by_runs: list[str] = field(default_factory=list)
    """Files with verdicts among what a run itself wrote, which grade something else."""
    without_verdicts: list[str] = field(default_factory=list)
    """Files that speak of both arms and grade nothing."""
    plain_folders: set[str] = field(default_factory=set)
    """Folders with a grading whose name says nothing more."""
    contents: dict[str, int] = field(default_factory=dict)
    """A hash of the content of each file with gradings, to tell copies."""

    def metadata_near(self, name: str, *, up_to: str) -> Iterator[tuple[str, Fields]]:
        """Objects that describe a run, the nearest first: of the same stem, in its folder, then in the folders above."""
        folder, _, file = name.rpartition("/")
        stem = file_kind(file).stem
        while True:
            if listed := self.by_folder.get(folder):
                near = [(other, kind) for other, kind in listed if kind.is_metadata and other != name]
                yield from ((other, self.documents[other]) for other, kind in near if kind.stem == stem)
                for other, kind in near:
                    if kind.stem != stem and (not kind.stem or kind.stem.lower() in _OF_ANY_RUN):
                        yield other, self.documents[other]
            if folder == up_to or not folder:
                return
            folder = folder.rpartition("/")[0]

    def timing_near(self, name: str, *, up_to: str) -> Iterator[Fields]:
        """Timings of the same stem or of the run's folder; those of its outputs come last."""
        folder, _, file = name.rpartition("/")
        stem = file_kind(file).stem
        inner = f"{folder}/outputs" if folder else "outputs"
        while True:
            for place in (folder, inner):
                for other, kind in self.by_folder.get(place, ()):
                    if kind.is_timing and other != name and (kind.stem == stem or kind.stem in _OF_ANY_TIMING):
                        yield self.documents[other]
            if folder == up_to or not folder:
                return
            inner = ""
            folder = folder.rpartition("/")[0]


class FileKind(NamedTuple):
    """What the name of a file says that it is."""

    stem: str
    is_metadata: bool
    is_timing: bool
    defines: bool
    sums_up: bool
    is_other: bool
    """Whether it is no file of a workspace."""


@lru_cache(maxsize=1 << 14)
def file_kind(file: str) -> FileKind:
    """The kind of a file by its name without folders; many runs have files of the same names."""
    return FileKind(
        bare_stem(file.rpartition(".")[0]),
        bool(_METADATA.fullmatch(file)),
        bool(_TIMING.fullmatch(file)),
        bool(_DEFINITIONS.fullmatch(file)),
        bool(_SUMMARY.search(file)),
        not file.endswith((".json", ".jsonl")) or bool(_OTHER.fullmatch(file)),
    )


def read_files(tree: ResultTree) -> WorkspaceFiles:
    """Read every JSON file once and sort it; one that cannot be read is named with its reason, and stops nothing."""
    files = WorkspaceFiles()
    for name in tree.names:
        file = name.rpartition("/")[2]
        if file_kind(file).is_other:
            continue
        try:
            content = tree.read(name, most=_MOST_BYTES)
            for document, repair in _documents(content, file):
                _sort(files, name, file, document, content)
                if repair:
                    files.repaired[name] = repair
        except DamagedFileError as error:
            files.damaged[name] = str(error)
        except InputError as error:
            files.damaged[name] = str(error).partition(": ")[2] or str(error)
    _set_aside_products(files)
    if tree.on_disk:
        _add_definitions_around(files, tree)
    return files


def _set_aside_products(files: WorkspaceFiles) -> None:
    """Files with verdicts below the products of a run that has its own grading above are the run's work."""
    evidence = []
    for name, gradings in files.gradings:
        match = _PRODUCTS.search(name)
        if match and name[: match.start()] in files.plain_folders:
            files.made_by_runs.append(name)
        else:
            evidence.append((name, gradings))
    files.gradings = evidence


def _documents(content: bytes, file: str) -> Iterator[tuple[Any, str]]:
    """The document of a file; the rows of a JSONL file are one list."""
    if not file.endswith(".jsonl"):
        yield parse_loosely(content)
        return
    rows: list[Any] = []
    repairs: dict[str, None] = {}
    for line in content.split(b"\n"):
        if line.strip():
            row, repair = parse_loosely(line)
            rows.append(row)
            repairs[repair] = None
    yield rows, next((repair for repair in repairs if repair), "")


def _sort(files: WorkspaceFiles, name: str, file: str, document: Any, content: bytes) -> None:
    folder = name.rpartition("/")[0]
    kind = file_kind(file)
    if isinstance(document, dict):
        files.documents[name] = document
        files.by_folder.setdefault(folder, []).append((name, kind))
        if kind.sums_up:
            files.summaries.setdefault(folder, []).append(name)
    if _is_trigger_result(document):
        files.trigger_rates.append(name)
        return
    if kind.is_timing:
        if not file.startswith("timing") and _names_both_arms(document) and not gradings_in(document):
            files.without_verdicts.append(name)
        return
    if definitions := _definitions(document, folder):
        files.definitions.append(definitions)
    gradings = gradings_in(document)
    has_verdicts = any(grading.assertions for grading in gradings)
    if (kind.defines and (definitions or not has_verdicts)) or (kind.is_metadata and not has_verdicts):
        if definitions and has_verdicts:
            files.defines_only.append(name)
        return
    if not gradings and _names_both_arms(document):
        files.without_verdicts.append(name)
    if not gradings and "grading" in file.lower() and "summary" not in file.lower():
        # The grading of a run that nobody graded, or that ended in an error.
        fields = document if isinstance(document, dict) else {}
        gradings = [Grading((), None, (("", fields),), "")]
    if not gradings:
        return
    if "/outputs/" in f"/{name}" and not _GRADING_NAME.search(file):
        files.made_by_runs.append(name)
        return
    files.gradings.append((name, gradings))
    if not kind.stem:
        files.plain_folders.add(folder)
    files.contents[name] = hash(content)


def _names_both_arms(document: Any, depth: int = 0) -> bool:
    """Whether an object has keys for both arms, at its top or a little below."""
    if depth > 3:
        return False
    if isinstance(document, list):
        return any(_names_both_arms(value, depth + 1) for value in document[:3] if isinstance(value, dict))
    if not isinstance(document, dict):
        return False
    arms = {arm.meaning for key in document if (arm := arm_of_name(key)) is not None and arm.is_sure}
    inner = (value for value in document.values() if isinstance(value, dict | list))
    return len(arms) > 1 or any(_names_both_arms(value, depth + 1) for value in inner)


def _is_trigger_result(document: Any) -> bool:
    rows = document.get("results") if isinstance(document, dict) else document
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict) and "should_trigger" in rows[0]


def _definitions(document: Any, folder: str) -> Definitions | None:
    if isinstance(document, dict) and _LISTS_DEFINITIONS.isdisjoint(document):
        return None
    rows = rows_of(document)
    if isinstance(document, dict):
        rows = next((inner for key in _DEFINITION_LISTS if (inner := rows_of(document.get(key)))), [])
    definitions = Definitions(folder)
    for row in rows:
        prompt = row.text(*_PROMPTS).strip()
        eval_id, name = row.text("id", "eval_id", "case_id", "task_id"), row.text("eval_name", "name", "title", "slug")
        for key in (eval_id, name):
            if prompt and key:
                definitions.prompts.setdefault(key, prompt)
        if prompt and eval_id and name:
            definitions.names.setdefault(eval_id, name)
    if not definitions.prompts:
        return None
    if isinstance(document, dict):
        skill = text_of(document.get("skill_name")) or text_of(document.get("skill"))
        definitions.skill = "" if "/" in skill else skill
    return definitions


def _add_definitions_around(files: WorkspaceFiles, tree: ResultTree) -> None:
    """The evals.json of a skill that lies beside its workspace, outside the source."""
    root = Path(os.path.abspath(tree.root))
    root = root.parent if tree.is_file else root
    for folder in (root, root.parent, root.parent.parent):
        skill = folder.parent / folder.name.removesuffix("-workspace")
        for path in (skill / "evals" / "evals.json", folder / "evals.json", folder / "evals" / "evals.json"):
            inside = path.is_relative_to(root) and not tree.is_file
            if inside or not path.is_file() or path.is_symlink():
                continue
            try:
                document, _ = parse_loosely(read_bytes(path))
            except InputError:
                continue
            if definitions := _definitions(document, ".."):
                files.definitions.append(definitions)


def prompt_of(definitions: list[Definitions], folder: str, skill: str, keys: list[str]) -> tuple[str, str]:
    """The prompt and the name that the nearest definitions have for an evaluation; empty where two near ones differ."""
    best: dict[str, str] = {}
    reach = -2
    for definition in definitions:
        key = next((key for key in keys if key and key in definition.prompts), None)
        if key is None or not _is_about(definition, folder, skill):
            continue
        shared = -1 if definition.folder == ".." else _shared_folders(folder, definition.folder)
        if shared > reach:
            best, reach = {}, shared
        if shared == reach:
            best.setdefault(definition.prompts[key], definition.names.get(key, ""))
    return next(iter(best.items())) if len(best) == 1 else ("", "")


def _shared_folders(a: str, b: str) -> int:
    """How many folders two paths have in common from the top."""
    return next((at for at, (x, y) in enumerate(zip_longest(a.split("/"), b.split("/"))) if x != y), a.count("/") + 1)


def _is_about(definitions: Definitions, folder: str, skill: str) -> bool:
    """Whether definitions are of the runs in a folder: above them, or of the same skill."""
    if definitions.folder == ".." or (skill and definitions.skill == skill):
        return True
    parts = definitions.folder.split("/") if definitions.folder else []
    while parts and plain_words(parts[-1]) in _HOLDERS:
        parts.pop()
    above = "/".join(parts)
    return not above or f"{folder}/".startswith(f"{above}/") or bool(skill and parts[-1] == skill)


_HOLDERS = frozenset(("evals", "eval", "cases", "tests", "evaluations", "definitions"))
