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

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tool_run import RunVerdict, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.arm_leaks import all_passed, leak_note, leaks_the_arm
from skilldelta.bank.importers.tools.plain_values import JsonFields, found_where, text_of
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
    if why := found_where(tree, _rows_of, "has promptfoo results"):
        return why
    for name in _jsonl(tree):
        if _is_result(JsonFields(tree.first_row(name))):
            return f"{name} has a promptfoo result per line"
    return ""


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every result of every file."""
    results = ToolResults([])
    for name, document in tree.documents():
        fields = JsonFields(document)
        _check_version(tree, name, fields)
        rows = _rows_of(fields)
        if rows and not (tree.is_file and _is_result(fields)):
            _take(name, rows, defaults, results, _columns(fields))
    for name in _jsonl(tree):
        rows = [row for _, raw in tree.json_lines(name) if _is_result(row := JsonFields(raw))]
        _take(name, rows, defaults, results)
    return results


def _take(
    name: str,
    rows: list[JsonFields],
    defaults: Defaults,
    results: ToolResults,
    columns: Mapping[int, str] = MappingProxyType({}),
) -> None:
    arm_of = _arm_rule(rows, columns)
    counts: Counter[tuple[str, str]] = Counter()
    leaking = cached = 0
    for position, row in sorted(
        enumerate(rows), key=lambda numbered: (numbered[1].amount("testIdx") or 0, numbered[0])
    ):
        place = f"{name}: results[{position}]"
        task, text = _task(row)
        arm = arm_of(row)
        response = row.inner("response")
        if response.get("cached") is True:
            cached += 1
            if counts[task, arm]:
                results.leave_out("the answer came from the cache, so the repeat is no further run", place)
                continue
        counts[task, arm] += 1
        verdict, is_leaking = _verdict(row, defaults.score)
        leaking += is_leaking
        results.runs.append(
            ToolRun(
                task,
                arm,
                *verdict,
                text=text,
                family=_family(row),
                agent=_provider(row),
                tokens=_tokens(response) or _tokens(row),
                seconds=row.seconds("latencyMs"),
                cost_usd=response.amount("cost") or row.amount("cost"),
                place=place,
            )
        )
    results.notes += leak_note(leaking)
    if cached:
        results.notes.append(
            f"{plural(cached, 'answer', 'answers')} of {name} came from the cache; run promptfoo with --no-cache for repeats"
        )


# Arms and tasks


def _arm_rule(rows: list[JsonFields], columns: Mapping[int, str]) -> Callable[[JsonFields], str]:
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


def _column(row: JsonFields) -> int:
    return int(row.amount("promptIdx") or 0)


def _columns(document: JsonFields) -> dict[int, str]:
    """The labels of the configured providers by column, where each provider has one column."""
    providers = document.inner("config").values("providers")
    prompts = document.inner("results").values("prompts")
    labels = [text_of(provider) or JsonFields(provider).text("label", "id") for provider in providers]
    return dict(enumerate(labels)) if len(labels) == len(prompts) and all(labels) else {}


def _provider_label(row: JsonFields) -> str:
    return row.inner("provider").text("label", "id") or row.text("provider")


def _provider(row: JsonFields) -> str:
    """The provider that answered; a script says nothing about the model behind it."""
    name = row.inner("provider").text("id") or row.text("provider")
    return "" if name.startswith(_NO_MODELS) or name[:1] == "/" else name


def _prompt_label(row: JsonFields) -> str:
    return row.inner("prompt").text("label") or row.text("promptId") or row.text("promptIdx")


def _task(row: JsonFields) -> tuple[str, str]:
    """A name that all repeats and arms of a test share, and what the test asks."""
    case = row.inner("testCase")
    variables = case.inner("vars") or row.inner("vars")
    description = case.text("description") or row.text("description")
    texts = [text for name in _TEXTS if (text := variables.text(name))]
    if not texts and len(variables.raw) == 1:
        texts = [text_of(next(iter(variables.raw.values())))]
    said = json.dumps(variables.raw, sort_keys=True, ensure_ascii=False, default=str)
    text = (texts[0] if texts else "") or (said if variables else "") or description
    text = text or row.inner("prompt").text("raw")
    name = f"test-{text_digest(said if variables else text)[:10]}"
    return (f"{description} ({name[5:]})" if description and variables else description or name), text


def _family(row: JsonFields) -> str:
    metadata = row.inner("testCase").inner("metadata")
    return next((metadata.text(name) for name in _FAMILIES if metadata.get(name)), "")


# Outcomes and costs


def _verdict(row: JsonFields, score: str) -> tuple[RunVerdict, bool]:
    """What a call came to, and whether a grader of skill use was left out."""
    grading = row.inner("gradingResult")
    failure = row.get("failureReason")
    if failure == _ERROR or (failure is None and row.get("error") and not grading):
        return failed("the call ended in an error"), False
    if score and score != "success":
        outcome = row.share("score") if score == "score" else row.inner("namedScores").share(score)
        return graded(outcome, f"the score {score!r} is missing or not in [0, 1]"), False
    parts = grading.rows("componentResults")
    fair = [part for part in parts if not leaks_the_arm(part.inner("assertion").text("type"))]
    if len(fair) < len(parts):
        return graded(all_passed(part.get("pass") for part in fair), "only the use of the skill was graded"), True
    success = row.get("success")
    if not isinstance(success, bool):
        success = grading.get("pass")
    return graded(float(success) if isinstance(success, bool) else None, "the result has no verdict"), False


def _tokens(answer: JsonFields) -> float | None:
    """Tokens of the answer; `assertions` are the graders' and no part of them."""
    usage = answer.inner("tokenUsage")
    return usage.total("prompt", "completion") or usage.spent("total")


# Files


def _rows_of(document: JsonFields) -> list[JsonFields]:
    """The results of a document: at `results.results`, or at `results` in exports of the web page."""
    if _is_result(document):
        return [document]
    rows = document.inner("results").rows("results") or document.rows("results")
    return [row for row in rows if _is_result(row)]


def _is_result(fields: JsonFields) -> bool:
    return "provider" in fields and "testIdx" in fields and ("success" in fields or "failureReason" in fields)


def _check_version(tree: ResultTree, name: str, document: JsonFields) -> None:
    version = document.inner("results").get("version")
    if "evalId" in document and isinstance(version, int) and version not in VERSIONS:
        raise InputError(
            f"{tree.path(name)}: promptfoo results of version {version}; known are {', '.join(map(str, VERSIONS))}"
        )


def _jsonl(tree: ResultTree) -> list[str]:
    if tree.is_file:
        return list(tree.names) if _is_result(JsonFields(tree.document)) else []
    return [name for name in tree.names if PurePosixPath(name).suffix in (".jsonl", ".ndjson")][:500]


FORMAT = ToolFormat(
    name="promptfoo",
    title="promptfoo results",
    description="results of an evaluation as JSON or JSONL; the arm is the provider's label, or the prompt's",
    looks_for="results with provider, testIdx and success, below results.results or one per line",
    found=found,
    read=read,
)
