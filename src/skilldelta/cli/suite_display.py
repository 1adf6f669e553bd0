"""What `skilldelta suite` shows of the paper's suites: counts beside the paper's, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skilldelta.cli.output import console, note, table
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.suites.inventory import CountedDifference, Inspection
    from skilldelta.suites.preparation import PreparedFolder

_NAMED = 5


def show_prepared(prepared: PreparedFolder) -> None:
    """What was written, and what a person should know before collecting."""
    found = prepared.inventory
    groups = plural(len(found.groups), "family", "families")
    console().print(
        f"{prepared.suite.title}: {plural(found.tasks, 'task')} in {groups}, {plural(len(found.skills), 'skill')}, "
        f"in {prepared.folder}",
        soft_wrap=True,
        markup=False,
    )
    for one in prepared.left_out[:_NAMED]:
        note(f"left out: {one.task_id}, {one.reason}")
    if len(prepared.left_out) > _NAMED:
        note(f"left out: {len(prepared.left_out) - _NAMED} more, see prepared.json")
    for remark in prepared.notes:
        note(remark)
    note_missing(prepared.missing_skills)


def note_missing(names: Sequence[str]) -> None:
    """Skills without a text, and what to do about them."""
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        note(
            f"no text for {plural(len(names), 'skill')} ({', '.join(names[:_NAMED])}{more}): "
            "prepare again with --skills PATH, or write skills/NAME/SKILL.md; collect needs them"
        )


def show_inspection(found: Inspection) -> None:
    """The inventory beside the paper's, figure by figure."""
    rows = [[one.what, one.paper, one.here, "" if one.is_equal else "differs"] for one in found.figures]
    console().print(table(f"{found.suite.title} beside the paper", ("", "paper", "here", ""), rows))
    if found.differences:
        note(f"{plural(len(found.differences), 'figure differs', 'figures differ')} from the paper's inventory")
    note_missing(found.missing_skills)


def inspection_document(found: Inspection) -> dict[str, Any]:
    return {
        "benchmark": found.suite.name,
        "paper": [_figure(one) for one in found.figures],
        "differences": [one.what for one in found.differences],
        "missing_skills": list(found.missing_skills),
    }


def prepared_document(prepared: PreparedFolder) -> dict[str, Any]:
    found = prepared.inventory
    return {
        "suite": prepared.suite.name,
        "folder": str(prepared.folder),
        "tasks": found.tasks,
        "families": dict(found.groups),
        "skills": list(found.skills),
        "bundles": found.bundles,
        "edges": found.edges,
        "missing_skills": list(prepared.missing_skills),
        "left_out": [asdict(one) for one in prepared.left_out],
        "notes": list(prepared.notes),
    }


def _figure(one: CountedDifference) -> dict[str, Any]:
    return {"what": one.what, "paper": one.paper, "here": one.here, "equal": one.is_equal}
