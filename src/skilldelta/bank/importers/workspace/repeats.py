"""Each run once: records of one run in several places become one, and repetitions stay several."""

from __future__ import annotations

from collections import defaultdict

from skilldelta.bank.importers.workspace.graded_run import GradedRun, WorkspaceRuns
from skilldelta.bank.importers.workspace.spending import Spending


def drop_repeated(workspace: WorkspaceRuns) -> None:
    """Records of one run in several places become one; a summary gives way to the gradings that it was made of."""
    distinct: list[GradedRun] = []
    by_run: defaultdict[tuple[str, ...], list[GradedRun]] = defaultdict(list)
    ordered = sorted(workspace.runs, key=lambda run: (run.is_summary, run.time or 0.0, run.iteration, run.place))
    _refuse_two_gradings_of_one_run(workspace)
    left = {id(run) for run in workspace.runs}
    ordered = [run for run in ordered if id(run) in left]
    graded_places = {_place_of(run) for run in ordered if not _is_benchmark(run)}
    for run in ordered:
        same_task = by_run[run.skill, run.task, run.text, run.meaning]
        twin = next((other for other in same_task if _is_copy(run, other)), None) if same_task else None
        if twin is not None:
            workspace.copies.append((run.place, twin.place))
            twin.spent = Spending(*(a or b for a, b in zip(twin.spent, run.spent, strict=True)))
            same_task.append(run)  # so that a summary of the copy is known, too
            continue
        if run.is_summary and (
            graded := [other for other in same_task if not other.is_summary and _same_slot(run, other)]
        ):
            workspace.leave_out(
                "a summary says otherwise than the grading, which counts", f"{run.place} ({graded[0].place})"
            )
            continue
        if _is_benchmark(run) and _place_of(run) in graded_places:
            workspace.leave_out("a benchmark lists it beside gradings, and no grading of it is there", run.place)
            continue
        same_task.append(run)
        distinct.append(run)
    places = {run.place: at for at, run in enumerate(workspace.runs)}
    workspace.runs = sorted(distinct, key=lambda run: places[run.place])


def _is_benchmark(run: GradedRun) -> bool:
    return "benchmark" in run.file.rpartition("/")[2].lower()


def _place_of(run: GradedRun) -> tuple[str, str, str]:
    return run.workspace, run.iteration if run.meaning == "use" else "", run.meaning


def _refuse_two_gradings_of_one_run(workspace: WorkspaceRuns) -> None:
    """Two files in one folder that grade the same run differently: nobody can tell which one counts."""
    slots: defaultdict[tuple[object, ...], list[GradedRun]] = defaultdict(list)
    for run in workspace.runs:
        if not run.is_summary:
            folder = "/".join(part for part in run.file.split("/")[:-1] if part != run.grader)
            slots[folder, run.skill, run.task, run.text, run.meaning, run.arm, run.number].append(run)
    for runs in slots.values():
        if len({run.verdicts for run in runs}) > 1:
            for run in runs:
                other = next(other for other in runs if other.verdicts != run.verdicts)
                workspace.leave_out(f"another file grades the same run otherwise ({other.file})", run.place)
            refused = {id(run) for run in runs}
            workspace.runs = [run for run in workspace.runs if id(run) not in refused]


def _same_slot(a: GradedRun, b: GradedRun) -> bool:
    if a.iteration != b.iteration or (a.model and b.model and a.model != b.model):
        return False
    return a.number is None or b.number is None or a.number == b.number


def _is_copy(run: GradedRun, other: GradedRun) -> bool:
    """Whether two records are of one run: equal verdicts with equal tokens and seconds, or equal to the byte without them."""
    if run.model and other.model and run.model != other.model:
        return False
    if run.file != other.file and (run.is_summary or other.is_summary):
        return _is_summary_of(run, other)
    if run.verdicts != other.verdicts:
        return False
    is_numbered = run.number is not None and other.number is not None and run.number != other.number
    if is_numbered and run.iteration == other.iteration and _arm_of(run) == _arm_of(other):
        return False
    measured = run.spent.tokens and run.spent.seconds and other.spent.tokens and other.spent.seconds
    if measured:
        return run.spent[:2] == other.spent[:2]
    if run.spent.tokens and other.spent.tokens and run.spent.tokens != other.spent.tokens:
        return False
    # Numbered runs of one arm may well have equal gradings; under two names the same bytes are the same run.
    return run.file != other.file and run.content == other.content and not is_numbered and bool(run.assertions)


def _arm_of(run: GradedRun) -> str:
    """The folder that holds the numbered runs of an arm."""
    parts = run.file.split("/")[:-1]
    return "/".join(parts[: parts.index(run.arm) + 1] if run.arm in parts else parts[:-1])


def _is_summary_of(run: GradedRun, other: GradedRun) -> bool:
    """Whether a row of a summary repeats a run: in the same slot with the same share, or elsewhere with the same verdicts."""
    outcomes = run.outcome, other.outcome
    if None in outcomes or abs(outcomes[0] - outcomes[1]) > 0.0051:  # type: ignore[operator]
        return False
    if _same_slot(run, other):
        return not (run.assertions and other.assertions) or _agree(run, other)
    if run.assertions and other.assertions and run.verdicts == other.verdicts:
        return run.content == other.content or bool(
            run.spent.seconds and other.spent.seconds and abs(run.spent.seconds - other.spent.seconds) < 0.1
        )
    return False


def _agree(run: GradedRun, other: GradedRun) -> bool:
    return len(run.assertions) == len(other.assertions)
