"""promptfoo results, as JSON (`-o results.json`) or JSONL.

The arm is the provider's label, or the prompt's where there is one provider. Every repeat gets a new test index, so tasks
are told by description and variables and their repeats counted in order. An error (failureReason 2) is no failure. Tokens
of graders are left out, and so are repeats that came from promptfoo's cache, which are no further runs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tool_run import ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.arm_leaks import leak_note, leaks_the_arm
from skilldelta.bank.importers.tools.plain_values import (
    amount_of,
    first_of,
    list_of,
    object_of,
    objects_of,
    share_of,
    spent_of,
    sum_of,
    text_of,
)
from skilldelta.bank.importers.vocabulary import condition_of
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.records import text_digest

VERSIONS = (2, 3, 4)
_TEXTS = ("prompt", "task", "question", "input", "query", "instruction", "message", "request", "user_prompt")
_FAMILIES = ("family", "category", "group", "topic")
_NO_MODELS = ("file:", "exec:", "python:", "package:", "golang:", "ruby:", "javascript:", "echo", "http", "ws:")
_ERROR = 2


def found(tree: ResultTree) -> str:
    """By the fields of a result, or of the document around them."""
    for name, document in tree.documents():
        if _rows_of(document):
            return f"{name} has promptfoo results"
    for name in _jsonl(tree):
        if _is_result(tree.first_row(name)):
            return f"{name} has a promptfoo result per line"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every result of every file."""
    results = ToolResults([])
    for name, document in tree.documents():
        _check_version(tree, name, document)
        rows = _rows_of(document)
        if rows and not (tree.is_file and _is_result(document)):
            _take(name, rows, said, results, _columns(document))
    for name in _jsonl(tree):
        rows = [row for _, row in tree.json_lines(name) if _is_result(row)]
        _take(name, rows, said, results)
    return results


def _take(
    name: str,
    rows: list[Mapping[str, Any]],
    said: Defaults,
    results: ToolResults,
    columns: Mapping[int, str] = MappingProxyType({}),
) -> None:
    arm_of = _arm_rule(rows, columns)
    seen: Counter[tuple[str, str]] = Counter()
    leaking = cached = 0
    for position, row in sorted(enumerate(rows), key=lambda one: (amount_of(one[1].get("testIdx")) or 0, one[0])):
        place = f"{name}: results[{position}]"
        task, text = _task(row)
        arm = arm_of(row)
        response = object_of(row.get("response"))
        if response.get("cached") is True:
            cached += 1
            if seen[task, arm]:
                results.leave_out("the answer came from the cache, so the repeat is no further run", place)
                continue
        seen[task, arm] += 1
        outcome, reason, is_leaking = _outcome(row, said.score)
        leaking += is_leaking
        results.runs.append(
            ToolRun(
                task,
                arm,
                outcome,
                status="completed"
                if outcome is not None
                else "transport_error"
                if "error" in reason
                else "grader_error",
                reason=reason,
                text=text,
                family=_family(row),
                agent=_provider(row),
                tokens=_tokens(row, response),
                seconds=_seconds(row),
                cost_usd=amount_of(first_of(response, "cost")) or amount_of(row.get("cost")),
                place=place,
            )
        )
    results.notes += leak_note(leaking)
    if cached:
        results.notes.append(
            f"{plural(cached, 'answer', 'answers')} of {name} came from the cache; run promptfoo with --no-cache for repeats"
        )


# Arms and tasks


def _arm_rule(rows: list[Mapping[str, Any]], columns: Mapping[int, str]) -> Callable[[Mapping[str, Any]], str]:
    """What tells the arms apart: the providers, the prompts, or where both are called alike the column of the table."""
    providers, prompts = {_provider_label(row) for row in rows}, {_prompt_label(row) for row in rows}
    if len(providers) > 1 and (len(prompts) < 2 or all(map(condition_of, providers))):
        return _provider_label
    if len(prompts) > 1 and (len(providers) < 2 or all(map(condition_of, prompts))):
        return _prompt_label
    if len(providers) < 2 and len({_column(row) for row in rows}) < 2:
        return _provider_label
    if len(providers) > 1 and len(prompts) > 1:
        return lambda row: f"{_provider_label(row)}, {_prompt_label(row)}"
    return lambda row: columns.get(_column(row), f"column {_column(row)}")


def _column(row: Mapping[str, Any]) -> int:
    return int(amount_of(row.get("promptIdx")) or 0)


def _columns(document: Any) -> dict[int, str]:
    """The labels of the configured providers by column, where each provider has one column."""
    fields = object_of(document)
    providers = list_of(object_of(fields.get("config")).get("providers"))
    prompts = list_of(object_of(fields.get("results")).get("prompts"))
    labels = [text_of(one) or text_of(first_of(object_of(one), "label", "id")) for one in providers]
    return dict(enumerate(labels)) if len(labels) == len(prompts) and all(labels) else {}


def _provider_label(row: Mapping[str, Any]) -> str:
    provider = row.get("provider")
    if isinstance(provider, dict):
        return text_of(first_of(provider, "label", "id"))
    return text_of(provider)


def _provider(row: Mapping[str, Any]) -> str:
    """The provider that answered; a script says nothing about the model behind it."""
    provider = row.get("provider")
    name = text_of(provider.get("id")) if isinstance(provider, dict) else text_of(provider)
    return "" if name.startswith(_NO_MODELS) or name[:1] == "/" else name


def _prompt_label(row: Mapping[str, Any]) -> str:
    prompt = object_of(row.get("prompt"))
    return text_of(prompt.get("label")) or text_of(row.get("promptId")) or text_of(row.get("promptIdx"))


def _task(row: Mapping[str, Any]) -> tuple[str, str]:
    """A name that all repeats and arms of a test share, and what the test asks."""
    case = object_of(row.get("testCase"))
    variables = object_of(first_of(case, "vars")) or object_of(row.get("vars"))
    description = text_of(case.get("description")) or text_of(row.get("description"))
    texts = [text_of(variables[name]) for name in _TEXTS if text_of(variables.get(name))]
    if not texts and len(variables) == 1:
        texts = [text_of(next(iter(variables.values())))]
    said = json.dumps(variables, sort_keys=True, ensure_ascii=False, default=str)
    text = (texts[0] if texts else "") or (said if variables else "") or description
    text = text or text_of(object_of(row.get("prompt")).get("raw"))
    name = f"test-{text_digest(said if variables else text)[:10]}"
    return (f"{description} ({name[5:]})" if description and variables else description or name), text


def _family(row: Mapping[str, Any]) -> str:
    metadata = object_of(object_of(row.get("testCase")).get("metadata"))
    return next((text_of(metadata[name]) for name in _FAMILIES if metadata.get(name)), "")


# Outcomes and costs


def _outcome(row: Mapping[str, Any], score: str) -> tuple[float | None, str, bool]:
    """The outcome, why there is none, and whether a grader of skill use was left out."""
    grading = object_of(row.get("gradingResult"))
    failure = row.get("failureReason")
    if failure == _ERROR or (failure is None and row.get("error") and not grading):
        return None, "the call ended in an error", False
    if score and score != "success":
        value = row.get("score") if score == "score" else object_of(row.get("namedScores")).get(score)
        outcome = share_of(value)
        return outcome, "" if outcome is not None else f"the score {score!r} is missing or not in [0, 1]", False
    parts = objects_of(grading.get("componentResults"))
    fair = [one for one in parts if not leaks_the_arm(text_of(object_of(one.get("assertion")).get("type")))]
    if len(fair) < len(parts):
        marks = [one.get("pass") for one in fair]
        if not marks or not all(isinstance(mark, bool) for mark in marks):
            return None, "only the use of the skill was graded", True
        return float(all(marks)), "", True
    success = row.get("success")
    if not isinstance(success, bool):
        success = grading.get("pass")
    return (float(success), "", False) if isinstance(success, bool) else (None, "the result has no verdict", False)


def _tokens(row: Mapping[str, Any], response: Mapping[str, Any]) -> float | None:
    """Tokens of the answer; `assertions` are the graders' and no part of them."""
    for usage in (object_of(response.get("tokenUsage")), object_of(row.get("tokenUsage"))):
        total = sum_of(usage.get("prompt"), usage.get("completion")) or spent_of(usage.get("total"))
        if total:
            return total
    return None


def _seconds(row: Mapping[str, Any]) -> float | None:
    milliseconds = spent_of(row.get("latencyMs"))
    return milliseconds / 1000 if milliseconds else None


# Files


def _rows_of(document: Any) -> list[Mapping[str, Any]]:
    """The results of a document: at `results.results`, or at `results` in exports of the web page."""
    fields = object_of(document)
    if _is_result(fields):
        return [fields]
    inner = object_of(fields.get("results"))
    rows = objects_of(inner.get("results")) or objects_of(fields.get("results"))
    return [row for row in rows if _is_result(row)]


def _is_result(row: Any) -> bool:
    fields = object_of(row)
    return "provider" in fields and "testIdx" in fields and ("success" in fields or "failureReason" in fields)


def _check_version(tree: ResultTree, name: str, document: Any) -> None:
    inner = object_of(object_of(document).get("results"))
    version = inner.get("version")
    if "evalId" in object_of(document) and isinstance(version, int) and version not in VERSIONS:
        raise InputError(
            f"{tree.path(name)}: promptfoo results of version {version}; known are {', '.join(map(str, VERSIONS))}"
        )


def _jsonl(tree: ResultTree) -> list[str]:
    if tree.is_file:
        return list(tree.names) if _is_result(tree.document) else []
    return [name for name in tree.names if PurePosixPath(name).suffix in (".jsonl", ".ndjson")][:500]


FORMAT = ToolFormat(
    name="promptfoo",
    title="promptfoo results",
    description="results of an evaluation as JSON or JSONL; the arm is the provider's label, or the prompt's",
    looks_for="results with provider, testIdx and success, below results.results or one per line",
    found=found,
    read=read,
)
