"""Inspect logs: which arm, which score and which run a sample is.

Inspect has no field for the arm. It is looked for in the sample's and the log's metadata, in the tags, and in the
arguments of the task and the solver; `--arm-from` says where, and where nothing says it each log is an arm of its own that
`--arm FILE=use|skip` names. A sample with an error has no outcome, though Inspect calls it completed. An epoch is a
repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.inspect_samples import InspectLog, InspectSample, read_log
from skilldelta.bank.importers.tools.plain_values import JsonFields, share_of, text_of
from skilldelta.bank.importers.vocabulary import condition_of
from skilldelta.errors import InputError, shown
from skilldelta.files import MOST_DOCUMENT
from skilldelta.nouns import plural

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ARM_FIELDS = ("arm", "condition", "variant", "skill_condition", "experiment_arm", "setting", "mode")
_ARM_FLAGS = ("with_skill", "use_skill", "with_skills", "use_skills", "skills", "skill")
_FAMILY_FIELDS = ("family", "category", "group", "subject", "topic", "task_type")


def found(tree: ResultTree) -> str:
    """By the suffix and the zip mark of an .eval file, or by the fields of a JSON log."""
    if tree.is_file:
        if tree.names[0].lower().endswith(".eval"):
            return "it is an .eval file"
        return "it has the fields of an Inspect log" if _is_log(tree.document) else ""
    logs = _eval_files(tree)
    if logs:
        return f"{logs[0]} is an Inspect log"
    return next((f"{name} has the fields of an Inspect log" for name in _json_logs(tree)), "")


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """The samples of every log of a source."""
    results = ToolResults([])
    names = tree.names if tree.is_file else _eval_files(tree) or list(_json_logs(tree))
    logs = [read_log(tree, name) for name in names]
    scorer = _Scorer(tree.root, defaults.score)
    arm_of = _arm_rule(logs, defaults, results)
    texts = SkillTexts(tree, results.skills)
    for log in logs:
        _take_log(log, scorer, arm_of, texts, results)
    results.notes += scorer.notes()
    return results


# Which arm


def _arm_rule(
    logs: list[InspectLog], defaults: Defaults, results: ToolResults
) -> Callable[[InspectLog, InspectSample], str]:
    """How the arm of a sample is told: as asked, by the first field that names arms everywhere, or log by log."""
    if defaults.arm_from:
        return lambda log, sample: _text_at(log, sample, defaults.arm_from)
    if defaults.condition:
        return lambda log, sample: defaults.condition or ""
    for field_name in _arm_candidates(logs):
        arms = {_text_at(log, sample, field_name) for log in logs for sample in log.samples}
        if arms and "" not in arms and (all(map(condition_of, arms)) or arms <= defaults.arms.keys()):
            if len(arms) == 1 and len(logs) > 1 and field_name in ("solver", "task"):
                continue  # the same everywhere, so it tells no arms apart
            results.notes.append(f"took {field_name} as the arm ({', '.join(sorted(map(shown, arms))[:4])})")
            return lambda log, sample: _text_at(log, sample, field_name)
    return lambda log, _: Path(log.name).name


def _arm_candidates(logs: list[InspectLog]) -> Iterable[str]:
    yield from (f"metadata.{name}" for name in _ARM_FIELDS)
    yield "tags"
    names: dict[str, None] = {}
    for log in logs:
        for part in ("task_args", "solver_args"):
            names.update(dict.fromkeys(f"{part}.{name}" for name in log.header.inner(part).raw))
    known = (*_ARM_FIELDS, *_ARM_FLAGS)
    yield from (name for name in names if name.rpartition(".")[2] in known or "skill" in name)
    yield from ("solver", "task")


def _text_at(log: InspectLog, sample: InspectSample, field_name: str) -> str:
    """A field as the name of an arm. Metadata are the sample's, or the log's where the sample has none."""
    part, _, name = field_name.partition(".")
    if part == "tags":
        tags = map(text_of, log.header.get("tags") or [])
        return next((tag for tag in tags if condition_of(tag)), "")
    if part == "metadata":
        value = sample.metadata.get(name)
        return _arm_text(name, value if value is not None else log.header.inner("metadata").get(name))
    return _arm_text(name, log.header.inner(part).get(name)) if name else log.header.text(part)


def _arm_text(name: str, value: Any) -> str:
    """An arm in words. `with_skill: true` and `skills: []` are arms, too."""
    if isinstance(value, bool):
        is_flag = name in _ARM_FLAGS
    else:
        is_flag = name in ("skill", "skills") and (value is None or isinstance(value, list | tuple | dict))
    if is_flag:
        return "with_skill" if value else "without_skill"
    return f"{name}={str(value).lower()}" if isinstance(value, bool) else text_of(value)


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
                choices = ", ".join(map(shown, scores))
                raise InputError(f"{self.path}: there is no score {self.wanted!r}; the scores are {choices}")
            return name
        if not self._chosen:
            self._chosen = next(iter(scores), "")
        self._others.update(scores)
        return self._chosen


def _take_log(
    log: InspectLog,
    scorer: _Scorer,
    arm_of: Callable[[InspectLog, InspectSample], str],
    texts: SkillTexts,
    results: ToolResults,
) -> None:
    if log.status not in ("success", ""):
        results.notes.append(f"{log.name}: the run ended with status {log.status!r}; its finished samples are taken")
    metadata = log.header.inner("metadata")
    log_skill = _skill_in(metadata) or _skill_in(log.header.inner("task_args"))
    log_skill = log_skill or _skill_in(log.header.inner("solver_args"))
    agent = metadata.text("agent")
    model = "" if agent and metadata.get("fingerprint") else log.header.text("model")
    if not log.samples:
        results.leave_out("the log has no samples", log.name)
    for sample in log.samples:
        own = sample.metadata
        skill = _skill_in(own) or log_skill
        digest = texts.digest(skill)
        verdict = (
            failed("the sample ended in an error")
            if sample.error
            else graded(scorer.outcome(sample.scores), "the sample has no score")
        )
        results.runs.append(
            ToolRun(
                own.text("task_id") or sample.id,
                arm_of(log, sample),
                *verdict,
                repeat=_repetition(sample),
                text=sample.text,
                family=next((own.text(name) for name in _FAMILY_FIELDS if own.get(name)), ""),
                suite=metadata.text("suite", "dataset"),
                skill=skill,
                skill_digest=own.text("skill_digest") or digest,
                agent=agent,
                model=model,
                tokens=sample.tokens,
                seconds=sample.seconds,
                cost_usd=sample.cost_usd,
                place=f"{log.name}: {sample.id}, epoch {sample.epoch}",
            )
        )


def _repetition(sample: InspectSample) -> int:
    """The epoch from 0; logs of `skilldelta collect` name the repetition themselves."""
    own = sample.metadata.amount("repetition")
    return int(own) if own is not None and "condition" in sample.metadata else max(sample.epoch - 1, 0)


def _skill_in(fields: JsonFields) -> str:
    value = fields.get("skill", "skill_id", "skill_name")
    if isinstance(value, str) and condition_of(value) is None and "/" not in value and "\n" not in value:
        return text_of(value)
    return ""


# The logs of a folder


def _eval_files(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if name.lower().endswith(".eval")]


def _json_logs(tree: ResultTree) -> Iterator[str]:
    """JSON logs, among the files that are named as Inspect names them: by time, task and id."""
    candidates = [name for name in tree.names if name.endswith(".json") and name.rpartition("/")[2][:2] == "20"]
    for name in candidates[:1000]:
        with suppress(InputError):
            if _is_log(tree.json(name, most=MOST_DOCUMENT)):
                yield name


def _is_log(document: Any) -> bool:
    fields = JsonFields(document)
    header = fields.inner("eval")
    return "version" in fields and "task" in header and "model" in header


FORMAT = ToolFormat(
    name="inspect",
    title="Inspect logs",
    description="samples of Inspect evaluations with their scores; an epoch is a repetition (needs skilldelta[collect])",
    looks_for="*.eval files, or JSON logs with the fields version, status and eval",
    found=found,
    read=read,
)
