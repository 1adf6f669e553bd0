"""Result files of public benchmarks: terminal-bench, the SkillsBench registry, tau-bench, LiveCodeBench, SWE-bench, lm-eval.

Most of them know nothing about skills: a file is of one arm, which its name or a folder above it says, or a person does. Scores
such as `pass@1` are outcomes, never arms. What ended in an error of the harness is missing, not failed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tool_run import ArmMeaning, RunVerdict, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.plain_values import JsonFields, rows_of, seconds_between, text_of
from skilldelta.bank.importers.workspace.arm_words import arm_of_name
from skilldelta.errors import InputError

# Failures that are the agent's own; after any other the tests say nothing about it.
_OWN_FAILURES = frozenset(
    (
        "",
        "none",
        "unset",
        "agent_timeout",
        "test_timeout",
        "context_length_exceeded",
        "output_length_exceeded",
        "max_turns",
    )
)
_LM_SCORES = ("exact_match", "acc", "pass@1", "pass_at_1", "score", "f1", "acc_norm", "prompt_level_strict_acc")


class _Kind(NamedTuple):
    """One benchmark's files."""

    title: str
    is_one: Callable[[Any], bool]
    """Whether a document, or the first row of one, is of this kind."""
    runs: Callable[[Any, str], Iterator[ToolRun]]


def found(tree: ResultTree) -> str:
    """By the fields of a document or of its first row."""
    for name in _names(tree)[:200]:
        if kind := _kind(_head(tree, name)):
            return f"{name} is a {kind.title}"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every result of every file."""
    results = ToolResults([])
    for name in _names(tree):
        kind = _kind(_head(tree, name))
        if kind is None:
            continue
        try:
            document = _whole(tree, name)
        except InputError as error:
            results.leave_out(f"the file is damaged: {str(error).rpartition(': ')[2]}", name)
            continue
        arm, meaning = _arm_of_path(tree, name)
        for run in kind.runs(document, name):
            own = run if run.arm else run._replace(arm=arm)
            results.runs.append(own)
            if own.arm == arm and meaning:
                results.arms = {**results.arms, arm: meaning}
    if not results.runs:
        raise InputError(f"{tree.root}: a log without samples: no result is in it")
    return results


def _names(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if name.endswith((".json", ".jsonl"))]


def _head(tree: ResultTree, name: str) -> Any:
    """The document, or the first row of a file of rows."""
    if name.endswith(".jsonl"):
        return [tree.first_row(name)]
    return tree.loose_json(name)


def _whole(tree: ResultTree, name: str) -> Any:
    if name.endswith(".jsonl"):
        return [row for _, row in tree.json_lines(name)]
    return tree.json(name, most=1 << 30)


def _kind(document: Any) -> _Kind | None:
    return next((kind for kind in _KINDS if kind.is_one(document)), None)


def _arm_of_path(tree: ResultTree, name: str) -> tuple[str, ArmMeaning | None]:
    """The nearest part of the path that names an arm, and what it means; else the file's name, to be asked about."""
    path = PurePosixPath(name)
    folders = [
        *reversed(path.parts[:-1]),
        *([tree.root.name] if not tree.is_file else [tree.root.absolute().parent.name]),
    ]
    for part in (path.stem, *folders):
        arm = arm_of_name(part)
        if arm is not None:
            return part, arm.meaning
    return (folders[0] if folders and path.stem in ("results", "report", "result") else path.stem), None


def _first(document: Any) -> JsonFields:
    rows = rows_of(document)
    return rows[0] if rows else JsonFields(None)


# terminal-bench v1


def _is_terminal_bench(document: Any) -> bool:
    rows = JsonFields(document).rows("results")
    return bool(rows) and "is_resolved" in rows[0] and "task_id" in rows[0]


def _terminal_bench(document: Any, name: str) -> Iterator[ToolRun]:
    for position, row in enumerate(JsonFields(document).rows("results")):
        mode = row.text("failure_mode").lower()
        resolved = row.get("is_resolved")
        verdict: RunVerdict = graded(
            float(resolved) if isinstance(resolved, bool) else None, "the tests gave no result"
        )
        if mode not in _OWN_FAILURES and resolved is not True:
            verdict = failed(f"the trial ended in an error ({mode})")
        yield ToolRun(
            row.text("task_id"),
            "",
            *verdict,
            text=row.text("instruction"),
            tokens=row.total("total_input_tokens", "total_output_tokens"),
            seconds=seconds_between(row.get("agent_started_at"), row.get("agent_ended_at"))
            or seconds_between(row.get("trial_started_at"), row.get("trial_ended_at")),
            place=f"{name}: {row.text('trial_name') or position}",
        )


# The registry of SkillsBench: scores from 0 to 100, each task with skills of its own


def _is_registry(document: Any) -> bool:
    row = _first(document)
    return "condition" in row and "score" in row and "task" in row and ("passCount" in row or "trials" in row)


def _registry(document: Any, name: str) -> Iterator[ToolRun]:
    for position, row in enumerate(rows_of(document)):
        score, trials, passed = row.amount("score"), int(row.amount("trials") or 1), row.amount("passCount")
        share = None if score is None or score > 100 else score / 100
        # Passes and failures where the score is theirs; else every trial carries the mean.
        is_whole = share is not None and passed is not None and abs(share * trials - passed) < 0.02 * trials
        for number in range(min(trials, 1000)):
            outcome = share if not is_whole or passed is None else float(number < passed)
            yield ToolRun(
                row.text("task"),
                row.text("condition"),
                *graded(outcome, "no score from 0 to 100"),
                repeat=number,
                suite="skillsbench",
                skill=row.text("task"),
                agent=row.text("harness"),
                model=row.text("model"),
                place=f"{name}: [{position}]",
            )


# One arm a file


def _is_tau_bench(document: Any) -> bool:
    row = _first(document)
    return "reward" in row and "task_id" in row and ("traj" in row or "trial" in row)


def _tau_bench(document: Any, name: str) -> Iterator[ToolRun]:
    for position, row in enumerate(rows_of(document)):
        instruction = row.inner("info").inner("task").text("instruction")
        verdict = (
            failed("the run ended in an error")
            if row.inner("info").get("error")
            else graded(row.share("reward"), "no reward")
        )
        trial = row.amount("trial")
        yield ToolRun(
            f"task-{row.text('task_id')}",
            "",
            *verdict,
            repeat=None if trial is None else int(trial),
            text=instruction,
            place=f"{name}: [{position}]",
        )


def _is_live_code_bench(document: Any) -> bool:
    row = _first(document)
    return "question_id" in row and ("graded_list" in row or "pass@1" in row)


def _live_code_bench(document: Any, name: str) -> Iterator[ToolRun]:
    for position, row in enumerate(rows_of(document)):
        marks = [mark for mark in row.values("graded_list") if isinstance(mark, bool)]
        outcomes: list[float | None] = [float(mark) for mark in marks] or [row.share("pass@1")]
        for number, outcome in enumerate(outcomes):
            yield ToolRun(
                row.text("question_id"),
                "",
                *graded(outcome, "no grade"),
                repeat=number,
                text=row.text("question_content", "question_title"),
                family=row.text("difficulty"),
                place=f"{name}: [{position}]",
            )


def _is_swe_bench(document: Any) -> bool:
    fields = JsonFields(document)
    return isinstance(fields.get("resolved_ids"), list) and ("unresolved_ids" in fields or "submitted_ids" in fields)


def _swe_bench(document: Any, name: str) -> Iterator[ToolRun]:
    fields = JsonFields(document)
    resolved = set(map(text_of, fields.values("resolved_ids")))
    errors = set(map(text_of, [*fields.values("error_ids"), *fields.values("incomplete_ids")]))
    submitted = fields.values("submitted_ids") or [*fields.values("resolved_ids"), *fields.values("unresolved_ids")]
    for task in dict.fromkeys(map(text_of, submitted)):
        verdict = (
            failed("the evaluation ended in an error")
            if task in errors - resolved
            else graded(float(task in resolved), "")
        )
        yield ToolRun(task, "", *verdict, place=f"{name}: {task}")


def _is_lm_eval(document: Any) -> bool:
    row = _first(document)
    return "doc_id" in row and "doc" in row and ("filtered_resps" in row or "resps" in row)


def _lm_eval(document: Any, name: str) -> Iterator[ToolRun]:
    for position, row in enumerate(rows_of(document)):
        doc = row.inner("doc")
        text = (
            doc.text("question", "query", "prompt", "input", "problem", "text")
            or json.dumps(doc.raw, sort_keys=True)[:2000]
        )
        yield ToolRun(
            f"{PurePosixPath(name).stem.removeprefix('samples_').partition('_20')[0]}-{row.text('doc_id')}",
            "",
            *graded(row.share(*_LM_SCORES), "no score in [0, 1] among " + ", ".join(_LM_SCORES[:4])),
            text=text,
            place=f"{name}: [{position}]",
        )


_KINDS = (
    _Kind("terminal-bench results.json", _is_terminal_bench, _terminal_bench),
    _Kind("SkillsBench registry", _is_registry, _registry),
    _Kind("tau-bench result", _is_tau_bench, _tau_bench),
    _Kind("LiveCodeBench evaluation", _is_live_code_bench, _live_code_bench),
    _Kind("SWE-bench report", _is_swe_bench, _swe_bench),
    _Kind("file of lm-evaluation-harness samples", _is_lm_eval, _lm_eval),
)

FORMAT = ToolFormat(
    name="benchmark-reports",
    title="Reports of public benchmarks",
    description="results of terminal-bench, SkillsBench, tau-bench, LiveCodeBench, SWE-bench or lm-evaluation-harness, an arm a file",
    looks_for="fields such as is_resolved, passCount, graded_list, resolved_ids or filtered_resps",
    found=found,
    read=read,
)
