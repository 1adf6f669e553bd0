"""Inspect logs, `.eval` and `.json`: finished ones as they are, all others through Inspect's own reader.

Inspect has no field for the arm. It is looked for in the sample's and the log's metadata, in the tags, and in the
arguments of the task and the solver; `--arm-from` says where, and where nothing says it each log is an arm of its own that
`--arm FILE=use|skip` names. A sample with an error has no outcome, though Inspect calls it completed. An epoch is a
repetition.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_beside import skill_beside
from skilldelta.bank.importers.tool_run import ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.plain_values import (
    amount_of,
    first_of,
    object_of,
    objects_of,
    share_of,
    spent_of,
    sum_of,
    text_of,
)
from skilldelta.bank.importers.vocabulary import condition_of
from skilldelta.errors import InputError, MissingExtraError, shown
from skilldelta.files import MOST_DOCUMENT, read_bytes
from skilldelta.nouns import plural
from skilldelta.records import Skill

VERSION = 2
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ARM_FIELDS = ("arm", "condition", "variant", "skill_condition", "experiment_arm", "setting", "mode")
_ARM_FLAGS = ("with_skill", "use_skill", "with_skills", "use_skills", "skills", "skill")
_FAMILY_FIELDS = ("family", "category", "group", "subject", "topic", "task_type")
_HEADER, _SUMMARIES = "header.json", "summaries.json"
_TRUNCATED = "...\n(content truncated)"


def found(tree: ResultTree) -> str:
    """By the suffix and the zip mark of an .eval file, or by the fields of a JSON log."""
    if tree.is_file:
        name = tree.names[0]
        if name.lower().endswith(".eval"):
            return "it is an .eval file"
        return "it has the fields of an Inspect log" if _is_log(tree.document) else ""
    logs = [name for name in tree.names if name.lower().endswith(".eval")]
    if logs:
        return f"{logs[0]} is an Inspect log"
    for name in _json_candidates(tree):
        if _is_log(_document(tree, name)):
            return f"{name} has the fields of an Inspect log"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """The samples of every log of a source."""
    results = ToolResults([])
    names = tree.names if tree.is_file else [name for name in tree.names if name.lower().endswith(".eval")]
    names = names or [name for name in _json_candidates(tree) if _is_log(_document(tree, name))]
    logs = [_read_log(tree, name) for name in names]
    scorer = _Scorer(tree.root, said.score)
    arm_of = _arm_rule(logs, said, results)
    texts: dict[str, Skill | None] = {}
    for log in logs:
        _take_log(tree, log, scorer, arm_of, texts, results)
    results.notes += scorer.notes()
    results.skills = [text for text in texts.values() if text is not None]
    return results


@dataclass(slots=True)
class _Log:
    """What is needed of one log, as plain values."""

    name: str
    header: Mapping[str, Any]
    """The fields of `eval`."""
    status: str
    samples: list[_SampleRow]


@dataclass(slots=True)
class _SampleRow:
    id: str
    epoch: int
    text: str
    metadata: Mapping[str, Any]
    scores: Mapping[str, Any]
    """Scorers to values."""
    tokens: float | None
    cost_usd: float | None
    seconds: float | None
    error: str


# Reading a log


def _read_log(tree: ResultTree, name: str) -> _Log:
    if tree.on_disk:
        return _log_at(tree.watched(name), name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(tree.read(name, most=MOST_DOCUMENT))
        return _log_at(path, name, shown_as=tree.path(name))


def _log_at(path: Path, name: str, shown_as: Path | None = None) -> _Log:
    shown_as = shown_as or path
    try:
        parts = _finished(path, shown_as) or _through_inspect(path)
        if parts.version > VERSION:
            raise InputError(f"{shown_as}: a log of version {parts.version}; versions up to {VERSION} are known")
        texts = _LongTexts(path)
        unique = {
            (text_of(one.get("id")), text_of(one.get("epoch"))): one for one in parts.samples
        }  # the last one counts
        samples = [_sample(one, texts) for one in unique.values()]
    except (InputError, MissingExtraError):
        raise
    except MemoryError:
        raise InputError(f"{shown_as}: the log is too large for the memory; split it") from None
    except Exception as error:  # a file of others: Inspect raises whatever its parts raise
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"{shown_as}: cannot be read as an Inspect log ({reason}); fetch or write it again") from None
    return _Log(name, parts.fields, parts.status, samples)


class _Parts(NamedTuple):
    """A log's header and its samples, or the summaries of them, as plain JSON."""

    version: int
    status: str
    fields: Mapping[str, Any]
    samples: list[Mapping[str, Any]]


def _finished(path: Path, shown_as: Path) -> _Parts | None:
    """A finished log of the known version as it stands in the file; None where Inspect has to put it together.

    Importing Inspect takes seconds, and it checks and shortens every summary again on its way out.
    """
    if path.name.lower().endswith(".eval"):
        members = _members(path, shown_as)
        if _HEADER not in members or _SUMMARIES not in members:
            return None
        header, samples = object_of(json.loads(members[_HEADER])), objects_of(json.loads(members[_SUMMARIES]))
    else:
        header = object_of(json.loads(read_bytes(path, most=MOST_DOCUMENT)))
        samples = objects_of(header.get("samples"))
    version = header.get("version")
    if not isinstance(version, int) or version < VERSION:
        return None
    return _Parts(version, text_of(header.get("status")), object_of(header.get("eval")), samples)


def _members(path: Path, shown_as: Path) -> dict[str, bytes]:
    """Header and summaries. A log that unpacks to more than a memory should take is refused before Inspect unpacks it."""
    with suppress(ImportError):
        import zipfile_zstd  # noqa: F401 - teaches zipfile Inspect's compression before Python 3.14
    size = 0
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.filename.startswith("samples/"):
                continue
            parts = []
            try:
                with archive.open(member) as file:
                    while part := file.read(1 << 20):
                        size += len(part)
                        if size > MOST_DOCUMENT:
                            raise InputError(
                                f"{shown_as}: the log unpacks to more than {MOST_DOCUMENT >> 20:,} MiB; split it"
                            )
                        if member.filename in (_HEADER, _SUMMARIES):
                            parts.append(part)
            except NotImplementedError:
                raise MissingExtraError("reading Inspect logs", "collect") from None
            if parts:
                found[member.filename] = b"".join(parts)
    return found


def _through_inspect(path: Path) -> _Parts:
    """A log that is still being written, or of an earlier version, through Inspect's own reader."""
    api = _inspect()
    header = api.read_eval_log(path, header_only=True)
    samples = [one.model_dump() for one in api.read_eval_log_sample_summaries(path)]
    return _Parts(header.version, header.status, header.eval.model_dump(), samples)


def _inspect() -> Any:
    try:
        import inspect_ai.log
    except ImportError:
        raise MissingExtraError("reading Inspect logs", "collect") from None
    return inspect_ai.log


def _sample(one: Mapping[str, Any], texts: _LongTexts) -> _SampleRow:
    usage = [object_of(use) for use in object_of(one.get("model_usage")).values()]
    totals = [
        spent_of(use.get("total_tokens")) or sum_of(use.get("input_tokens"), use.get("output_tokens")) for use in usage
    ]
    costs = [amount_of(use.get("total_cost")) for use in usage]
    epoch = one.get("epoch")
    return _SampleRow(
        id=text_of(one.get("id")),
        epoch=epoch if isinstance(epoch, int) else 1,
        text=text_of(texts.whole(one.get("id"), epoch, _input_text(one.get("input")))),
        metadata=object_of(one.get("metadata")),
        scores={name: object_of(score).get("value") for name, score in object_of(one.get("scores")).items()},
        tokens=sum_of(*totals) if totals else None,
        cost_usd=sum_of(*costs) if costs else None,
        seconds=spent_of(one.get("working_time")) or spent_of(one.get("total_time")),
        error=_error(one.get("error")),
    )


def _error(value: Any) -> str:
    """What went wrong: a text in a summary, an object in a sample."""
    return text_of(value) or (text_of(object_of(value).get("message")) or "error" if value else "")


def _input_text(given: Any) -> str:
    """A sample's input as one text: what it is, or what the user says in it."""
    if isinstance(given, str):
        return given
    parts = []
    for message in given if isinstance(given, list) else []:
        if _field(message, "role") in ("user", None):
            content = _field(message, "content")
            listed = [content] if isinstance(content, str) else [_field(one, "text") for one in content or []]
            parts += [one for one in listed if isinstance(one, str)]
    return "\n\n".join(parts)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


class _LongTexts:
    """The whole input of samples whose summary has only its beginning."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[Any, str] = {}

    def whole(self, identity: Any, epoch: Any, text: str) -> str:
        """The text, read from the sample itself where the summary cuts it off."""
        if _TRUNCATED not in text:
            return text
        if identity not in self._known:
            self._known[identity] = self._read(identity, epoch) or text
        return self._known[identity]

    def _read(self, identity: Any, epoch: Any) -> str:
        events = {"events", "messages", "output", "store", "timelines"}
        sample = _inspect().read_eval_log_sample(
            self._path, identity, epoch, resolve_attachments=True, exclude_fields=events
        )
        return _input_text(sample.input)


# Which arm


def _arm_rule(logs: list[_Log], said: Defaults, results: ToolResults) -> Callable[[_Log, _SampleRow], str]:
    """How the arm of a sample is told: as asked, by the first field that names arms everywhere, or log by log."""
    if said.arm_from:
        return lambda log, sample: _text_at(log, sample, said.arm_from)
    if said.condition:
        return lambda log, sample: said.condition or ""
    for field_name in _arm_candidates(logs):
        arms = {_text_at(log, sample, field_name) for log in logs for sample in log.samples}
        if arms and "" not in arms and (all(map(condition_of, arms)) or arms <= said.arms.keys()):
            if len(arms) == 1 and len(logs) > 1 and field_name in ("solver", "task"):
                continue  # the same everywhere, so it tells no arms apart
            results.notes.append(f"took {field_name} as the arm ({', '.join(sorted(map(shown, arms))[:4])})")
            return lambda log, sample: _text_at(log, sample, field_name)
    return lambda log, _: Path(log.name).name


def _arm_candidates(logs: list[_Log]) -> Iterable[str]:
    yield from (f"metadata.{name}" for name in _ARM_FIELDS)
    yield "tags"
    names: dict[str, None] = {}
    for log in logs:
        for part in ("task_args", "solver_args"):
            names.update(dict.fromkeys(f"{part}.{name}" for name in object_of(log.header.get(part))))
    known = (*_ARM_FIELDS, *_ARM_FLAGS)
    yield from (name for name in names if name.rpartition(".")[2] in known or "skill" in name)
    yield from ("solver", "task")


def _text_at(log: _Log, sample: _SampleRow, field_name: str) -> str:
    """A field as the name of an arm. Metadata are the sample's, or the log's where the sample has none."""
    part, _, name = field_name.partition(".")
    if part == "tags":
        tags = [text_of(tag) for tag in log.header.get("tags") or []]
        return next((tag for tag in tags if condition_of(tag)), "")
    if part == "metadata":
        value = sample.metadata.get(name)
        return _arm_text(name, value if value is not None else object_of(log.header.get("metadata")).get(name))
    value = log.header.get(part)
    return _arm_text(name, object_of(value).get(name)) if name else text_of(value)


def _arm_text(name: str, value: Any) -> str:
    """An arm in words. `with_skill: true` and `skills: []` are arms, too."""
    if isinstance(value, bool):
        return (
            f"{name}={str(value).lower()}" if name not in _ARM_FLAGS else ("with_skill" if value else "without_skill")
        )
    if name in ("skill", "skills") and (value is None or isinstance(value, list | tuple | dict)):
        return "with_skill" if value else "without_skill"
    return text_of(value)


# Samples to runs


@dataclass(slots=True)
class _Scorer:
    """Which score counts, and what its values mean."""

    path: Path
    wanted: str
    unusable: dict[str, int] = field(default_factory=dict)
    _chosen: str = ""
    _others: set[str] = field(default_factory=set)

    def outcome(self, scores: Mapping[str, Any]) -> float | None:
        """The success that the chosen score says; None where it is not there or has a value of no known meaning."""
        name = self._name(scores)
        if name not in scores:
            return None
        value = scores[name]
        if isinstance(value, dict):
            key = self.wanted.partition(".")[2]
            value = value.get(key) if key else next(iter(value.values())) if len(value) == 1 else None
        outcome = _GRADES.get(value) if isinstance(value, str) else share_of(value)
        if outcome is None:
            self.unusable[shown(value)] = self.unusable.get(shown(value), 0) + 1
        return outcome

    def notes(self) -> list[str]:
        """Which score was taken where there were several, and which values were none."""
        notes = []
        if self._others - {self._chosen}:
            others = ", ".join(map(shown, sorted(self._others - {self._chosen})[:5]))
            notes.append(f"took the score {self._chosen!r}; there are {others}, too: choose with --score NAME")
        if self.unusable:
            count, first = sum(self.unusable.values()), next(iter(self.unusable))
            notes.append(
                f"{plural(count, 'score has a value', 'scores have values')} that is no success, such as {first}"
            )
        return notes

    def _name(self, scores: Mapping[str, Any]) -> str:
        if self.wanted:
            name = self.wanted if self.wanted in scores else self.wanted.partition(".")[0]
            if scores and name not in scores:
                known = ", ".join(map(shown, scores))
                raise InputError(f"{self.path}: there is no score {self.wanted!r}; the scores are {known}")
            return name
        if not self._chosen:
            self._chosen = next(iter(scores), "")
        self._others.update(scores)
        return self._chosen


def _take_log(
    tree: ResultTree,
    log: _Log,
    scorer: _Scorer,
    arm_of: Callable[[_Log, _SampleRow], str],
    texts: dict[str, Skill | None],
    results: ToolResults,
) -> None:
    if log.status not in ("success", ""):
        results.notes.append(f"{log.name}: the run ended with status {log.status!r}; its finished samples are taken")
    metadata = object_of(log.header.get("metadata"))
    arguments = (object_of(log.header.get("task_args")), object_of(log.header.get("solver_args")))
    log_skill = _skill_in(metadata) or next((name for one in arguments if (name := _skill_in(one))), "")
    agent = text_of(metadata.get("agent"))
    model = "" if agent and metadata.get("fingerprint") else text_of(log.header.get("model"))
    suite = text_of(first_of(metadata, "suite", "dataset"))
    if not log.samples:
        results.leave_out("the log has no samples", log.name)
    for sample in log.samples:
        skill = _skill_in(sample.metadata) or log_skill
        if skill not in texts:
            texts[skill] = skill_beside(tree, skill) if skill else None
        outcome = None if sample.error else scorer.outcome(sample.scores)
        text = texts[skill]
        results.runs.append(
            ToolRun(
                text_of(sample.metadata.get("task_id")) or sample.id,
                arm_of(log, sample),
                outcome,
                status="transport_error" if sample.error else "completed" if outcome is not None else "grader_error",
                reason="the sample ended in an error" if sample.error else "the sample has no score",
                repeat=_repetition(sample),
                text=sample.text,
                family=next(
                    (text_of(sample.metadata.get(name)) for name in _FAMILY_FIELDS if sample.metadata.get(name)), ""
                ),
                suite=suite,
                skill=skill,
                skill_digest=text_of(sample.metadata.get("skill_digest")) or (text.digest if text is not None else ""),
                agent=agent,
                model=model,
                tokens=sample.tokens,
                seconds=sample.seconds,
                cost_usd=sample.cost_usd,
                place=f"{log.name}: {sample.id}, epoch {sample.epoch}",
            )
        )


def _repetition(sample: _SampleRow) -> int:
    """The epoch from 0; logs of `skilldelta collect` name the repetition themselves."""
    own = amount_of(sample.metadata.get("repetition"))
    return int(own) if own is not None and "condition" in sample.metadata else max(sample.epoch - 1, 0)


def _skill_in(fields: Mapping[str, Any]) -> str:
    value = first_of(fields, "skill", "skill_id", "skill_name")
    if isinstance(value, str) and condition_of(value) is None and "/" not in value and "\n" not in value:
        return text_of(value)
    return ""


# JSON logs in a folder


def _json_candidates(tree: ResultTree) -> list[str]:
    """Files that may be JSON logs: Inspect names them by time, task and id."""
    return [name for name in tree.names if name.endswith(".json") and name.rpartition("/")[2][:2] == "20"][:1000]


def _document(tree: ResultTree, name: str) -> Any:
    try:
        return tree.json(name, most=MOST_DOCUMENT)
    except InputError:
        return None


def _is_log(document: Any) -> bool:
    fields = object_of(document)
    return "eval" in fields and "version" in fields and {"task", "model"} <= object_of(fields["eval"]).keys()


FORMAT = ToolFormat(
    name="inspect",
    title="Inspect logs",
    description="samples of Inspect evaluations with their scores; an epoch is a repetition (needs skilldelta[collect])",
    looks_for="*.eval files, or JSON logs with the fields version, status and eval",
    found=found,
    read=read,
)
