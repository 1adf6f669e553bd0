"""Which part of a path names the evaluation, where several may: a folder, a part of a file's name, or what stands beside an arm.

A name that goes with one arm only, a model, a second grader or another version of a file is not an evaluation. Among the others
the checks decide: runs of one evaluation are graded on the same checks, and runs of different ones are not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, islice

from skilldelta.bank.importers.workspace.arm_words import plain_words
from skilldelta.bank.importers.workspace.clues import without_zeros
from skilldelta.bank.importers.workspace.graded_run import GradedRun, WorkspaceRuns
from skilldelta.bank.importers.workspace.path_words import NUMBERED, is_iteration

_MODELS = frozenset(
    (
        *(
            "claude",
            "opus",
            "sonnet",
            "haiku",
            "fable",
            "gpt",
            "gemini",
            "gemma",
            "llama",
            "qwen",
            "mistral",
            "mixtral",
        ),
        *("deepseek", "codex", "kimi", "glm", "grok", "phi", "nova", "minimax", "o"),
    )
)
# What stands in names of models beside a family: makers, sizes, releases.
_OF_MODELS = frozenset(
    (
        *(
            "anthropic",
            "openai",
            "google",
            "meta",
            "xai",
            "alibaba",
            "code",
            "cli",
            "latest",
            "preview",
            "mini",
            "nano",
        ),
        *(
            "flash",
            "lite",
            "pro",
            "turbo",
            "high",
            "low",
            "medium",
            "max",
            "thinking",
            "instruct",
            "chat",
            "coder",
            "v",
        ),
        *("b", "k", "r", "exp", "large", "small", "xhigh", "it", "model", "think", "reasoning", "plus"),
    )
)
_GRADER = re.compile(
    r"(?:judge|grader|evaluator|reviewer|rater|assessor)s?(?:[-_ ].*)?\Z|.*[-_ ](?:judge|grader|evaluator|reviewer|rater)\Z"
    r"|(?:llm|human|manual|auto|automated|final|revised|regraded?|re-graded?|corrected|fixed|old|new|orig|original|backup|copy"
    r"|blind|second|first|full|raw|strict|lenient)\Z",
    re.IGNORECASE,
)
# Words that two wordings of one check share at least, as a share of all of them.
_ALIKE = 0.34
_MOST_COMPARED = 40


def choose_places(workspace: WorkspaceRuns) -> None:
    """Settle the name that the path of each run has for its evaluation; a run whose path is ambiguous is left out."""
    groups: defaultdict[tuple[str, str], list[GradedRun]] = defaultdict(list)
    for run in workspace.runs:
        if len(run.places) > 1 and run.skill:
            run.places = tuple(place for place in run.places if place != run.skill) or run.places
        groups[run.workspace if run.iteration else "", run.skill].append(run)
    for runs in groups.values():
        _drop_arms(runs)
        for run in runs:
            _drop_other_words(run)
        _settle([run for run in runs if len(run.places) > 1])
    for run in workspace.runs:
        _name(run)
    workspace.runs = [run for run in workspace.runs if _is_named(workspace, run)]


def _is_named(workspace: WorkspaceRuns, run: GradedRun) -> bool:
    if len(run.places) > 1:
        reason = "it is not clear which part of its path names the evaluation"
        workspace.leave_out(f"{reason} ({run.places[0]!r} or {run.places[1]!r})", run.place)
        return False
    if not (run.eval_id or run.name or run.folder_name):
        workspace.leave_out("nothing says which evaluation it is", run.place)
        return False
    return True


def _name(run: GradedRun) -> None:
    """What the place that is left says: a number, or a name."""
    if len(run.places) != 1:
        return
    match = NUMBERED.match(run.places[0])
    if match and not run.eval_id:
        run.eval_id = without_zeros(match[1])
    if not (match and run.eval_id):
        run.folder_name = run.places[0]


def _drop_arms(runs: Sequence[GradedRun]) -> None:
    """Names that stand for an arm, because they lie side by side and each is of one arm only: A and B."""
    arms: defaultdict[str, set[str]] = defaultdict(set)
    beside: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for run in runs:
        if len(run.places) > 1:
            arms[run.places[0]].add(run.meaning)
            beside[run.places[0]].add(run.places[1:])
    whole = {name for name, meanings in arms.items() if len(meanings) == 1 and len(beside[name]) > 1}
    if {next(iter(arms[name])) for name in whole} == {"use", "skip"} and whole == arms.keys():
        for run in runs:
            if len(run.places) > 1:
                run.places = run.places[1:]


def _drop_other_words(run: GradedRun) -> None:
    """Leave what can name an evaluation where something else than it is there: no model, grader or version of a file."""
    if run.folder_is_plain and len(run.places) > 1:
        run.grader, run.places = run.places[0], run.places[1:]  # grading-strict.json beside grading.json
    for place in run.places:
        if len(run.places) > 1 and is_model(place):
            run.model = run.model or place
            run.places = tuple(other for other in run.places if other != place)
    for place in run.places:
        if len(run.places) > 1 and (_GRADER.match(place) or is_iteration(place)):
            run.grader = place
            run.places = tuple(other for other in run.places if other != place)


def _settle(runs: Sequence[GradedRun]) -> None:
    """Of two names for the runs of one skill, the one that tells checks apart; what lies around it is a group."""
    outer_names: defaultdict[str, set[str]] = defaultdict(set)
    for run in runs:
        outer_names[run.places[0]].add(run.places[1])
    is_nested = all(len(names) == 1 for names in outer_names.values())
    if is_nested or all(NUMBERED.match(run.places[0]) or run.eval_id or run.name for run in runs):
        for run in runs:
            run.places = run.places[:1]
        return
    inner_alike, outer_alike = _same_checks(runs, 0, 1), _same_checks(runs, 1, 0)
    for run in runs:
        if len(outer_names) == 1 or (outer_alike and not inner_alike):
            run.places = run.places[1:2]
        elif inner_alike is False and outer_alike is False:  # an evaluation of its own for each pair of names
            run.places = (f"{run.places[1]}/{run.places[0]}",)
        elif (inner_alike and not outer_alike) or not _arm_is_between(run):
            run.places = run.places[:1]


def _arm_is_between(run: GradedRun) -> bool:
    """Whether one name lies below the folder of the arm and the other above it, so that either may be the evaluation."""
    parts = run.file.split("/")[:-1]
    inner, outer = run.places[:2]
    if run.arm not in parts or outer not in parts:
        return inner not in parts
    return parts.index(outer) < parts.index(run.arm) and (
        inner not in parts or parts.index(inner) > parts.index(run.arm)
    )


def _same_checks(runs: Sequence[GradedRun], same: int, other: int) -> bool | None:
    """Whether runs that agree in one name and differ in another are graded on the same checks; None where none says."""
    by_name: defaultdict[str, dict[str, GradedRun]] = defaultdict(dict)
    for run in runs:
        if run.assertions:
            by_name[run.places[same]].setdefault(run.places[other], run)
    pairs = [pair for variants in by_name.values() for pair in combinations(variants.values(), 2)]
    votes = [share_checks(a, b) for a, b in islice(pairs, _MOST_COMPARED)]
    return 2 * sum(votes) > len(votes) if votes else None


def share_checks(a: GradedRun, b: GradedRun) -> bool:
    """Whether two runs have a check in common, though graders word it differently."""
    mine, others = {check.key for check in a.assertions}, {check.key for check in b.assertions}
    if not mine or not others or mine & others:
        return True
    return any(_alike(x.split(), y.split()) for x in mine for y in others)


def _alike(a: Iterable[str], b: Iterable[str]) -> bool:
    x, y = set(a), set(b)
    return len(x & y) >= _ALIKE * len(x | y)


def is_model(name: str) -> bool:
    """Whether a folder is named after a model and nothing else.

    >>> is_model("claude-sonnet-4-5"), is_model("claude-md-update")
    (True, False)
    """
    words = [word for word in plain_words(name).split("_") if not word.isdigit()]
    return (
        not _MODELS.isdisjoint(words)
        and all(word in _MODELS or word in _OF_MODELS for word in words)
        and words != ["o"]
    )
