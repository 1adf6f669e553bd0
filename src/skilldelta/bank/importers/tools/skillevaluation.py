"""Results of skillevaluation: `results.json`, or the attestation with both arms' outputs.

With `--runs N` the rates are over N runs, but the cases hold the first run only: that one is taken. An arm with an error has
no outcome. The model is named inside `adapter_identity` at best. Prompts come from the eval.yaml beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.joining import is_placeholder
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_beside import skill_beside
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.eval_prompts import eval_prompts
from skilldelta.bank.importers.tools.plain_values import amount_of, first_of, object_of, objects_of, spent_of, text_of
from skilldelta.errors import InputError, shown

ARMS: Mapping[str, ArmMeaning] = {"with_skill": "use", "without_skill": "skip"}
KNOWN = "skillevaluation/test-run-result@v1"
_PREFIX = "skillevaluation/test-run-result@"


def found(tree: ResultTree) -> str:
    """By the document's format, or by the cases of an attestation."""
    for name, document in tree.documents():
        if _is_result(document):
            return f"{name} says {object_of(document)['format']}"
        if _is_attestation(document):
            return f"{name} is an attestation of skillevaluation"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every case of every result; attestations only where there is no result, since they repeat one."""
    results = ToolResults([], ARMS)
    prompts = eval_prompts(tree)
    documents = list(tree.documents())
    chosen = [one for one in documents if _is_result(one[1])] or [one for one in documents if _is_attestation(one[1])]
    for name, document in chosen:
        if _is_result(document) and document["format"] != KNOWN:
            raise InputError(f"{tree.path(name)}: the format {shown(document['format'])} is not known; {KNOWN} is")
        _take(tree, name, document, prompts, results)
    return results


def _take(
    tree: ResultTree, name: str, document: Mapping[str, Any], prompts: Mapping[str, str], results: ToolResults
) -> None:
    runner = object_of(document.get("runner"))
    skill = text_of(object_of(document.get("skill")).get("name")) or text_of(document.get("skill_name"))
    text = skill_beside(tree, skill) if skill else None
    if text is not None:
        results.skills.append(text)
    agent, model = _agent(document, runner)
    runs = amount_of(document.get("runs"))
    if runs is not None and runs > 1:
        results.notes.append(
            f"{name}: the rates are over {runs:.0f} runs, and the cases hold the first run only: taken"
        )
    idle = 0
    for position, case in enumerate(objects_of(document.get("cases"))):
        case_name = text_of(first_of(case, "case_name", "name")) or f"case {position}"
        for arm in ARMS:
            row = case.get(arm)
            place = f"{name}: {case_name}, {arm}"
            if not isinstance(row, dict):
                results.leave_out("the arm was not run", place)
                continue
            idle += row.get("task_attempted", object_of(row.get("meta")).get("task_attempted")) is False
            run = _run(row, place)._replace(task=case_name, arm=arm, text=prompts.get(case_name, ""))
            digest = text.digest if text is not None else ""
            results.runs.append(run._replace(skill=skill, skill_digest=digest, suite=skill, agent=agent, model=model))
    if idle:
        results.notes.append(f"{idle:,} runs of {name} did not attempt the task; their outcomes are taken as they are")


def _run(row: Mapping[str, Any], place: str) -> ToolRun:
    meta = object_of(row.get("meta")) or row
    passed, is_error = row.get("passed"), row.get("errored") is True or bool(row.get("error"))
    milliseconds = spent_of(meta.get("duration_ms"))
    outcome = float(passed) if isinstance(passed, bool) and not is_error else None
    return ToolRun(
        "",
        "",
        outcome,
        status="completed" if outcome is not None else "transport_error" if is_error else "grader_error",
        reason="the arm ended in an error" if is_error else "the arm has no verdict",
        repeat=0,
        tokens=spent_of(meta.get("total_tokens")),
        seconds=milliseconds / 1000 if milliseconds else None,
        place=place,
    )


def _agent(document: Mapping[str, Any], runner: Mapping[str, Any]) -> tuple[str, str]:
    """The adapter and its identity; an attestation names the model itself."""
    model = text_of(document.get("runner_model"))
    identity = runner.get("adapter_identity")
    if not model and isinstance(identity, dict):
        model = text_of(first_of(identity, "model", "model_name", "id", "name"))
    elif not model:
        model = text_of(identity)
    adapter = text_of(runner.get("adapter"))
    return ("" if is_placeholder(adapter) or model.startswith(adapter) else adapter), model


def _is_result(document: Any) -> bool:
    fields = object_of(document)
    cases = objects_of(fields.get("cases"))
    has_arms = not cases or any(arm in case for case in cases for arm in ARMS)
    return has_arms and text_of(fields.get("format")).startswith(_PREFIX)


def _is_attestation(document: Any) -> bool:
    fields = object_of(document)
    cases = objects_of(fields.get("cases"))
    return "runner_model" in fields and bool(cases) and "with_skill" in cases[0] and "name" in cases[0]


FORMAT = ToolFormat(
    name="skillevaluation",
    title="skillevaluation results",
    description="cases with a verdict for each arm; prompts are taken from the eval.yaml beside the results",
    looks_for='a JSON document with "format": "skillevaluation/test-run-result@v1", or an attestation',
    found=found,
    read=read,
)
