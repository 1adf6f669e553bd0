"""Results of skillevaluation: `results.json`, or the attestation with both arms' outputs.

With `--runs N` the rates are over N runs, but the cases hold the first run only: that one is taken. An arm with an error has
no outcome. The model is named inside `adapter_identity` at best. Prompts come from the eval.yaml beside.
"""

from __future__ import annotations

from collections.abc import Mapping

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.joining import is_placeholder
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, RunVerdict, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.eval_prompts import eval_prompts
from skilldelta.bank.importers.tools.plain_values import JsonFields, documents_where
from skilldelta.errors import InputError, shown

ARMS: Mapping[str, ArmMeaning] = {"with_skill": "use", "without_skill": "skip"}
KNOWN = "skillevaluation/test-run-result@v1"
_PREFIX = "skillevaluation/test-run-result@"


def found(tree: ResultTree) -> str:
    """By the document's format, or by the cases of an attestation."""
    for name, document in documents_where(tree, lambda fields: _is_result(fields) or _is_attestation(fields)):
        if _is_result(document):
            return f"{name} says {document.get('format')}"
        return f"{name} is an attestation of skillevaluation"
    return ""


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every case of every result; attestations only where there is no result, since they repeat one."""
    results = ToolResults([], ARMS)
    prompts, skills = eval_prompts(tree), SkillTexts(tree, results.skills)
    chosen = list(documents_where(tree, _is_result))
    for name, document in chosen:
        if document.get("format") != KNOWN:
            raise InputError(f"{tree.path(name)}: the format {shown(document.get('format'))} is not known; {KNOWN} is")
    for name, document in chosen or documents_where(tree, _is_attestation):
        _take(name, document, prompts, skills, results)
    return results


def _take(
    name: str, document: JsonFields, prompts: Mapping[str, str], skills: SkillTexts, results: ToolResults
) -> None:
    skill = document.inner("skill").text("name") or document.text("skill_name")
    agent, model = _agent(document)
    runs = document.amount("runs")
    if runs is not None and runs > 1:
        results.notes.append(
            f"{name}: the rates are over {runs:.0f} runs, and the cases hold the first run only: taken"
        )
    idle = 0
    for position, case in enumerate(document.rows("cases")):
        case_name = case.text("case_name", "name") or f"case {position}"
        for arm in ARMS:
            row, place = case.inner(arm), f"{name}: {case_name}, {arm}"
            if not isinstance(case.get(arm), dict):
                results.leave_out("the arm was not run", place)
                continue
            meta = row.inner("meta") or row
            idle += row.raw.get("task_attempted", meta.get("task_attempted")) is False
            results.runs.append(
                ToolRun(
                    case_name,
                    arm,
                    *_verdict(row),
                    repeat=0,
                    text=prompts.get(case_name, ""),
                    suite=skill,
                    skill=skill,
                    skill_digest=skills.digest(skill),
                    agent=agent,
                    model=model,
                    tokens=meta.spent("total_tokens"),
                    seconds=meta.seconds("duration_ms"),
                    place=place,
                )
            )
    if idle:
        results.notes.append(f"{idle:,} runs of {name} did not attempt the task; their outcomes are taken as they are")


def _verdict(row: JsonFields) -> RunVerdict:
    if row.get("errored") is True or row.get("error"):
        return failed("the arm ended in an error")
    passed = row.get("passed")
    return graded(float(passed) if isinstance(passed, bool) else None, "the arm has no verdict")


def _agent(document: JsonFields) -> tuple[str, str]:
    """The adapter and its identity; an attestation names the model itself."""
    runner = document.inner("runner")
    identity = runner.inner("adapter_identity")
    model = document.text("runner_model") or runner.text("adapter_identity")
    model = model or identity.text("model", "model_name", "id", "name")
    adapter = runner.text("adapter")
    return ("" if is_placeholder(adapter) or model.startswith(adapter) else adapter), model


def _is_result(fields: JsonFields) -> bool:
    cases = fields.rows("cases")
    has_arms = not cases or any(arm in case for case in cases for arm in ARMS)
    return has_arms and fields.text("format").startswith(_PREFIX)


def _is_attestation(fields: JsonFields) -> bool:
    cases = fields.rows("cases")
    return "runner_model" in fields and bool(cases) and "with_skill" in cases[0] and "name" in cases[0]


FORMAT = ToolFormat(
    name="skillevaluation",
    title="skillevaluation results",
    description="cases with a verdict for each arm; prompts are taken from the eval.yaml beside the results",
    looks_for='a JSON document with "format": "skillevaluation/test-run-result@v1", or an attestation',
    found=found,
    read=read,
)
