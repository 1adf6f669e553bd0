"""A workspace as runs: what its files hold, what was understood, and every file that was not read, with the reason."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.plain_values import check_score
from skilldelta.bank.importers.workspace.clues import Level, arm_clues, file_clues
from skilldelta.bank.importers.workspace.graded_run import GradedRun, WorkspaceRuns
from skilldelta.bank.importers.workspace.path_words import bare_stem, is_iteration
from skilldelta.bank.importers.workspace.runs import find_runs
from skilldelta.bank.importers.workspace.versions import VersionOrder, name_versions, order_versions, pairable
from skilldelta.bank.importers.workspace.workspace_files import WorkspaceFiles, read_files
from skilldelta.errors import InputError, shown
from skilldelta.nouns import listed, plural

SCORES = ("pass_rate", "all_passed")
_SHOWN = 3


def read_workspace(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every run of every version of every skill in a workspace."""
    check_score(tree, defaults, SCORES)
    files = read_files(tree)
    workspace = find_runs(tree, files, arms=defaults.arms, condition=defaults.condition)
    results = ToolResults([], notes=_notes(defaults, files, workspace))
    if len(skills := {run.skill for run in workspace.runs if run.skill}) == 1:
        results.skill_guess = next(iter(skills))
    _settle_models(workspace, results)
    for reason, places in workspace.left_out.items():
        for place in places:
            results.leave_out(reason, place)
    _leave_out_files(files, workspace, results)
    if not workspace.runs:
        raise _nothing(tree, files, workspace)
    names = name_versions(workspace.runs)
    orders = order_versions(workspace.runs, names, defaults.newest)
    labels = _labels(tree, defaults, orders, results)
    _add_runs(workspace, names, labels, defaults, results)
    results.versions = {skill: [labels[skill, name] for name in order.names] for skill, order in orders.items()}
    for skill, order in orders.items():
        if len(order.names) > 1 and not order.is_sure:
            results.notes.append(
                f"no recorded time says which version of {skill or 'the skill'} is the newest; {order.names[-1]} counts as "
                "the current one in a bank unless --newest names another"
            )
    results.unsure_newest = {
        skill: order.names for skill, order in orders.items() if len(order.names) > 1 and not order.is_sure
    }
    return results


def _notes(defaults: Defaults, files: WorkspaceFiles, workspace: WorkspaceRuns) -> list[str]:
    notes = list(workspace.notes)
    if not defaults.score and workspace.runs:
        notes.append("the outcome is the share of assertions that passed; --score all_passed counts whole runs")
    for repair, names in _by_value(files.repaired).items():
        notes.append(
            f"{plural(len(names), 'file has', 'files have')} {repair} and {'was' if len(names) == 1 else 'were'} read all the same: {listed(names, _SHOWN)}"
        )
    if workspace.copies:
        verb = plural(len(workspace.copies), "record repeats a run", "records repeat runs")
        stands = "stands elsewhere and counts" if len(workspace.copies) == 1 else "stand elsewhere and count"
        first = "; ".join(f"{copy} is {run}" for copy, run in workspace.copies[:2])
        notes.append(f"{verb} that {stands} once ({first}{', …' if len(workspace.copies) > 2 else ''})")
    rows = [run.place for run in workspace.runs if run.is_summary]
    graded_files = [run for run in workspace.runs if not run.is_summary]
    if rows and graded_files:
        notes.append(
            f"{plural(len(rows), 'run has', 'runs have')} no grading of {'its' if len(rows) == 1 else 'their'} own and came from a summary: {listed(rows, _SHOWN)}"
        )
    partial = sum(0 < assertion.passed < 1 for run in workspace.runs for assertion in run.assertions)
    if partial:
        notes.append(f"{plural(partial, 'assertion counts', 'assertions count')} in part, as the grader gave it")
    ungraded = sum(run.ungraded for run in workspace.runs)
    if ungraded:
        notes.append(
            f"{plural(ungraded, 'assertion has', 'assertions have')} no verdict and {'is' if ungraded == 1 else 'are'} left out of the shares"
        )
    return notes


def _by_value(mapping: dict[str, str]) -> dict[str, list[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in mapping.items():
        groups[value].append(name)
    return groups


# Models


def _settle_models(workspace: WorkspaceRuns, results: ToolResults) -> None:
    """One model that most runs record is the model of all; one that few record is no name for the others."""
    models = Counter(run.model for run in workspace.runs)
    recorded = [model for model in models if model]
    missing = models[""]
    if len(recorded) != 1 or not missing:
        return
    model, count = recorded[0], len(workspace.runs) - missing
    if count >= missing:
        results.notes.append(
            f"{plural(missing, 'run does', 'runs do')} not record a model and {'is' if missing == 1 else 'are'} taken as {shown(model)}, which all others record"
        )
    else:
        results.notes.append(
            f"only {plural(count, 'run records', 'runs record')} a model ({shown(model)}); it is not taken as the agent of all"
        )
    for run in workspace.runs:
        run.model = model if count >= missing else ""


# What is left out


def _leave_out_files(files: WorkspaceFiles, workspace: WorkspaceRuns, results: ToolResults) -> None:
    for name, reason in files.damaged.items():
        results.leave_out(f"the file is damaged: {reason}", name)
    for name in files.trigger_rates:
        results.leave_out("trigger rates of a description, which are no gains", name)
    for name in files.without_verdicts:
        results.leave_out("names both arms, and holds no verdict", name)
    for name in files.defines_only:
        results.leave_out("defines evaluations; its verdicts are no evidence of a run", name)
    for name in files.made_by_runs:
        results.leave_out("written by a run, not a grading of it", name)
    read = {run.file for run in workspace.runs} | {place.partition(": ")[0] for place, _ in workspace.copies}
    read |= {place.partition(": ")[0].partition(" (")[0] for places in workspace.left_out.values() for place in places}
    for name, _ in files.gradings:
        if name not in read:
            results.leave_out("a file of grades that names no arm and evaluation", name)
    _leave_out_ungraded(files, workspace, results)


def _leave_out_ungraded(files: WorkspaceFiles, workspace: WorkspaceRuns, results: ToolResults) -> None:
    """Runs that left a configuration or a timing and have no grading."""
    graded_files = {name for name, _ in files.gradings} | set(files.damaged)
    graded_stems = {
        (name.rpartition("/")[0], bare_stem(name.rpartition("/")[2].rpartition(".")[0])) for name in graded_files
    }
    folders = {folder for folder, _ in graded_stems}
    # metrics.json, run.json: of the run of their folder.
    plain = frozenset(("metrics", "run", "info", "usage"))
    holders = {
        "/".join(parts[:end]) for folder in folders for parts in [folder.split("/")] for end in range(1, len(parts) + 1)
    }
    reported: set[str] = set()
    for name in files.documents:
        folder, _, file = name.rpartition("/")
        if name in graded_files or not re.search(r"timing|config|metrics|eval_metadata", file):
            continue
        clues = file_clues(name, ())
        if clues.stem in plain:
            clues = clues._replace(stem="")
        if (folder, clues.stem) in graded_stems or (not clues.stem and folder in holders):
            continue
        folders_above = [Level("folder", part) for part in clues.folders]
        arms = list(arm_clues([Level("file", clues.stem), *folders_above], {}))
        if not any(clue.arm.is_sure for clue in arms):
            continue
        run = f"{folder}/{clues.stem}" if clues.stem else folder
        if run in reported or (not clues.stem and folder.rpartition("/")[0] in folders):
            continue
        reported.add(run)
        results.leave_out("the run has no grading", f"{run}/" if not clues.stem else run)


def _nothing(tree: ResultTree, files: WorkspaceFiles, workspace: WorkspaceRuns) -> InputError:
    """Why there is no run: the true reason, and what would help."""
    where = str(tree.root)
    if files.trigger_rates and not files.gradings:
        return InputError(
            f"{where}: these are trigger rates of a description, which say when a skill is loaded and not what it gains; "
            "import the workspace with the gradings"
        )
    if workspace.without_arm:
        names = list(dict.fromkeys(name for name, _ in workspace.without_arm if name))
        folders_in_words = f" (their folders: {listed(names, 6)})" if names else ""
        count = plural(len(workspace.without_arm), "grading")
        return InputError(
            f"{where}: {count} found, and nothing says whether the skill was used{folders_in_words}; say --condition use or --condition "
            "skip where all are of one arm, or --arm NAME=use and --arm NAME=skip with the names of the arms"
        )
    for reason, places in workspace.left_out.items():
        return InputError(f"{where}: no run can be read: {reason} ({listed(places, 2)})")
    if files.damaged:
        damage = "; ".join(f"{name}: {reason}" for name, reason in list(files.damaged.items())[:5])
        return InputError(f"{where}: no grading can be read ({damage})")
    means = [name for name, document in files.documents.items() if "run_summary" in document or "summary" in document]
    if means:
        return InputError(
            f"{where}: {means[0]} has only means over all evaluations, and no grading of a single run is there; import the "
            "gradings, or a benchmark with its runs"
        )
    names = [name for name in tree.names if name.endswith((".json", ".jsonl"))]
    return InputError(
        f"{where}: no verdict on a single run is in its {plural(len(names), 'JSON file')} ({listed(names, 3)}); a run needs checks "
        "that each passed or failed, or a pass rate of its own"
    )


# Runs as the tool formats have them


def _labels(
    tree: ResultTree, defaults: Defaults, orders: dict[str, VersionOrder], results: ToolResults
) -> dict[tuple[str, str], str]:
    """The digest that stands for each version: of the SKILL.md beside for the newest, else its own name."""
    texts = SkillTexts(tree, results.skills)
    labels = {}
    for skill, order in orders.items():
        for name in order.names:
            labels[skill, name] = name if len(order.names) > 1 or not is_iteration(name) else ""
        newest = order.names[-1]
        digest = (
            texts.digest(skill or defaults.skill)
            if order.is_sure and (len(order.names) == 1 or is_iteration(newest))
            else ""
        )
        if digest:
            labels[skill, newest] = digest
            if len(order.names) > 1:
                results.notes.append(
                    f"{newest} is taken as the version of the SKILL.md that lies beside it ({digest[:12]})"
                )
        if len(order.names) > 1:
            results.version_names |= {labels[skill, name]: name for name in order.names}
            results.notes.append(
                f"{skill or 'the skill'} has {len(order.names)} versions, {order.by}: {', '.join(order.names)}"
            )
    return labels


def _add_runs(
    workspace: WorkspaceRuns,
    names: dict[int, str],
    labels: dict[tuple[str, str], str],
    defaults: Defaults,
    results: ToolResults,
) -> None:
    by_task: defaultdict[tuple[str, str, str, str], list[GradedRun]] = defaultdict(list)
    for run in workspace.runs:
        by_task[run.skill, run.model, run.task, run.text].append(run)
    reduced = reworded = regraded = 0
    arms: dict[str, ArmMeaning] = {}
    ordered = {key: position for position, key in enumerate(labels)}
    for (skill, _, task, _), runs in by_task.items():
        pairs = pairable(runs, names)
        reduced += len(pairs.reduced)
        reworded += pairs.reworded
        for run in sorted(runs, key=lambda run: ordered.get((skill, names.get(id(run), "")), -1)):
            if run in pairs.regraded:
                regraded += 1
                continue
            if run in pairs.incomparable:
                results.leave_out("it shares no assertion with the runs without the skill", run.place)
                continue
            if not run.has_unknown_arm:
                if arms.setdefault(run.arm, run.meaning) != run.meaning:
                    run.arm = f"{run.arm} ({run.meaning})"  # one word for both arms, as an explained name can be
                arms[run.arm] = run.meaning
            label = labels.get((skill, names[id(run)]), "") if run.meaning == "use" else ""
            results.runs.append(_tool_run(run, task, label, pairs.outcomes[id(run)], defaults))
        for version, baselines in pairs.own_baselines.items():
            for run, outcome in baselines:
                own = _tool_run(run, task, labels[skill, version], outcome, defaults)
                results.runs.append(own._replace(is_own_baseline=True))
    results.arms = arms
    if regraded:
        verb = plural(regraded, "grading grades a baseline run", "gradings grade baseline runs")
        results.notes.append(
            f"{verb} again (same tokens and seconds): each run counts once, with the grading of the version's own iteration"
        )
    if reworded:
        verb = plural(reworded, "evaluation words", "evaluations word")
        results.notes.append(
            f"{verb} the assertions of the two arms too differently to match them: each arm counts on its own"
        )
    if reduced:
        results.notes.append(
            f"in {plural(reduced, 'case', 'cases')} the arms were graded on different assertions: the gain is over those that both have"
        )


def _tool_run(run: GradedRun, task: str, digest: str, outcome: float | None, defaults: Defaults) -> ToolRun:
    if outcome is not None and defaults.score == "all_passed":
        outcome = float(outcome == 1)
    verdict = failed(run.error) if run.error else graded(outcome, "it has no check with a verdict, and no pass rate")
    return ToolRun(
        task,
        run.arm,
        *verdict,
        repeat=run.number,
        text=run.text,
        suite=run.skill or defaults.skill,
        skill=run.skill or (defaults.skill if digest else ""),
        skill_digest=digest,
        model=run.model,
        tokens=run.spent.tokens,
        seconds=run.spent.seconds,
        cost_usd=run.spent.cost_usd,
        place=run.place,
    )
