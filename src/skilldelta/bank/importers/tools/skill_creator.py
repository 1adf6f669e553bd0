"""Workspaces of the skill-creator skill and of the agentskills.io guide, in every dialect that language models write.

The outcome is the share of a run's assertions that passed, or with the score `all_passed` whether all did. Tokens of a
benchmark.json may be output characters and are left out. `workspace` has the reader.
"""

from __future__ import annotations

from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tool_run import ToolFormat
from skilldelta.bank.importers.tools.plain_values import JsonFields, rows_of
from skilldelta.bank.importers.workspace.arm_words import arm_of_name
from skilldelta.bank.importers.workspace.clues import Level, arm_clues
from skilldelta.bank.importers.workspace.gradings import gradings_in
from skilldelta.bank.importers.workspace.path_words import bare_stem
from skilldelta.bank.importers.workspace.workspace_reading import read_workspace

# Files that are opened to see whether they hold a grading.
_MOST_LOOKED_AT = 20


def found(tree: ResultTree) -> str:
    """By gradings whose names or folders say what they are, or by a benchmark with its runs."""
    if tree.is_file:
        return _found_in_file(tree)
    gradings = [name for name in tree.names if name.endswith(".json") and "grading" in name.rpartition("/")[2].lower()]
    if gradings:
        return f"{gradings[0]} is the grading of a run"
    benchmarks = [
        name for name in tree.names if name.rpartition("/")[2].lower() in ("benchmark.json", "benchmark_results.json")
    ]
    for name in benchmarks[:_MOST_LOOKED_AT]:
        document = tree.loose_json(name)
        if _names_arms(document) or "run_summary" in JsonFields(document):
            return f"{name} is a benchmark of a skill"
    return ""


def found_anywhere(tree: ResultTree) -> str:
    """By any JSON file with verdicts in it: for a source that no other tool claims."""
    for name, document in tree.documents():
        if _has_runs(name, document):
            return f"{name} has verdicts"
    lines = [name for name in tree.names if name.endswith(".jsonl")]
    for name in lines[:_MOST_LOOKED_AT]:
        if _has_runs(name, tree.first_row(name)):
            return f"{name} has verdicts"
    return ""


def _has_runs(name: str, document: object) -> bool:
    gradings = gradings_in(document)
    *parts, file = name.split("/")
    named = [_names_arm(part) for part in (*parts, bare_stem(file.rpartition(".")[0]))]
    if not any(grading.assertions for grading in gradings):
        # Rates alone are runs only in the folder of an arm, or below names of evaluations; elsewhere they are rows of a table.
        if not isinstance(document, dict) or not gradings:
            return False
        return any(named[:-1]) or (_names_arms(document) and not any(map(rows_of, document.values())))
    return _names_arms(document) or any(named)


def _names_arm(part: str) -> bool:
    """Whether a part of a path names an arm, alone or with something beside it: `alpha.with_skill`."""
    arm = arm_of_name(part)
    return arm is not None and (arm.is_sure or bool(arm.rest))


def _found_in_file(tree: ResultTree) -> str:
    document = tree.document
    rows = JsonFields(document).rows("results")
    if rows and "should_trigger" in rows[0] and "query" in rows[0]:
        return "it has the trigger rates of a skill's description"
    name = tree.names[0].lower()
    if "grading" in name and gradings_in(document):
        return "it is a grading"
    if "run_summary" in JsonFields(document) or ("benchmark" in name and _names_arms(document)):
        return "it is a benchmark of a skill"
    return ""


def _names_arms(document: object) -> bool:
    """Whether a document says for its gradings which arm they are of."""
    for grading in gradings_in(document):
        levels = [Level("object", "", fields) for _, fields in grading.levels]
        levels += [Level("key", key) for key, _ in grading.levels if not key.startswith("[")]
        if any(clue.arm.is_sure for clue in arm_clues(levels, {})):
            return True
    return False


FORMAT = ToolFormat(
    name="skill-creator",
    title="skill-creator and agentskills.io workspaces",
    description="gradings or a benchmark of a skill's evals in any dialect; the share of assertions that passed is the outcome",
    looks_for="grading files below a folder per arm, or a benchmark.json",
    found=found,
    read=read_workspace,
)
