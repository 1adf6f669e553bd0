"""A folder per run with a result.json in it: what the jobs of Harbor and of BenchFlow have in common."""

from __future__ import annotations

from collections.abc import Callable

from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tool_run import ToolResults
from skilldelta.bank.importers.tools.plain_values import JsonFields, fields_in
from skilldelta.errors import InputError

_MOST_LOOKED_AT = 500


def found_result(tree: ResultTree, is_run: Callable[[JsonFields], bool], kind: str) -> str:
    """What the first result of a kind of run is recognized by; "" where there is none."""
    if tree.is_file:
        return f"it is the result.json of a {kind}" if is_run(JsonFields(tree.document)) else ""
    for name in _names(tree)[:_MOST_LOOKED_AT]:
        if is_run(fields_in(tree, name)):
            return f"{name} is the result of a {kind}"
    return ""


def read_results(
    tree: ResultTree, is_run: Callable[[JsonFields], bool], results: ToolResults
) -> list[tuple[str, JsonFields]]:
    """The results with their names, in the order in which the runs started; damaged ones are left out."""
    runs = []
    for name in _names(tree):
        try:
            fields = JsonFields(tree.document if tree.is_file else tree.json(name))
        except InputError:
            results.leave_out("its result.json is damaged", name)
            continue
        if is_run(fields):
            runs.append((name, fields))
    return sorted(runs, key=lambda run: (run[1].text("started_at"), run[0]))


def _names(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if tree.is_file or name.rpartition("/")[2] == "result.json"]
