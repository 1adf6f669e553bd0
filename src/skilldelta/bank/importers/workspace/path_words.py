"""What names of files and folders say: iterations, numbered runs and evaluations, and words that say nothing."""

from __future__ import annotations

import re
from functools import lru_cache

from skilldelta.bank.importers.workspace.arm_words import plain_words

NUMBERED = re.compile(r"(?:eval|evaluation|case|test|task|scenario|e|ev)[-_ ]?(\d{1,6})\Z", re.IGNORECASE)
RUN_FOLDER = re.compile(r"(?:run|trial|rep|repetition|repeat|attempt|sample|r)[-_ ]?(\d{1,6})\Z", re.IGNORECASE)
_ITERATION = re.compile(
    r"(?:iteration|iter)(?:[-_ ]?\w[\w.-]*)?\Z|(?:it|round|version|ver|v|batch|tier|pass|wave|sprint)[-_ ]?\d[\w.]*\Z"
    r"|\d{4}-?\d\d-?\d\d(?:\D.*)?\Z",
    re.IGNORECASE,
)
_RERUN = re.compile(r"[-_ ]?(?:re-?run|retry|repeat|redo|again)[-_ ]?\d*\Z", re.IGNORECASE)
# Folders that hold runs or what they left, and name nothing.
_GENERIC = frozenset(
    (
        *(
            "output",
            "outputs",
            "result",
            "results",
            "run",
            "runs",
            "eval",
            "evals",
            "evaluation",
            "evaluations",
            "grading",
        ),
        *("gradings", "grade", "grades", "artifacts", "artefacts", "logs", "data", "cases", "tasks", "tests", "test"),
        *(
            "benchmark",
            "benchmarks",
            "workspace",
            "workspaces",
            "reports",
            "report",
            "transcripts",
            "skill_eval",
            "arms",
        ),
        *("configs", "config", "skills", "examples", "src", "docs", "tmp", "home", "iterations", "history"),
    )
)
_STEM_WORDS = re.compile(
    r"\A(?:final_)?(?:grading|gradings|grade|grades|graded|benchmark|result|results|eval_results|evaluation_results|assertions"
    r"|evaluation|verdicts?|scores?|report|config|metadata|meta|timing|summary|eval_metadata|checks)(?:_(?=.)|\Z)"
    r"|(?:_|\A)(?:grading|gradings|grade|grades|graded|results?|evaluation|verdicts?|scores?|report|config|metadata|meta"
    r"|timing|assertions|checks)\Z"
)


# Keys whose own keys are evaluations.
_CASES = frozenset(
    (
        *("evals", "evaluations", "cases", "tasks", "tests", "scenarios", "test_cases", "prompts", "eval_results"),
        *("per_eval", "per_case", "per_task", "per_test", "by_eval", "by_case", "by_task", "per_evaluation", "results"),
    )
)


# What the keys of a summary measure, which are no evaluations.
_METRIC = re.compile(
    r"(?:\A|_)(?:rates?|tokens?|time|duration|seconds|costs?|mean|avg|average|overall|totals?|summary|delta|latency|stddev)(?:_|\Z)"
)


def is_case(key: str, holder: str) -> bool:
    """Whether a key below the key `holder` names an evaluation."""
    return plain_words(holder) in _CASES and not _METRIC.search(plain_words(key))


@lru_cache(maxsize=8192)
def bare_stem(stem: str) -> str:
    """A file's name without the words that say what kind of file it is.

    >>> bare_stem("eval-7-grading"), bare_stem("grading_with_skill"), bare_stem("grading")
    ('eval-7', 'with_skill', '')
    """
    # alpha_grading_baseline is alpha_baseline.
    stem = re.sub(r"(?<=[^-_.\s])[-_.\s](?:grading|grades?|graded)(?=[-_.\s]\w)", "", stem, flags=re.IGNORECASE)
    plain = re.sub(r"[-.\s]+", "_", stem)
    for _ in range(3):
        shorter = _STEM_WORDS.sub("", plain.lower() if plain.islower() else plain)
        if shorter == plain:
            break
        plain = shorter
    if plain == re.sub(r"[-.\s]+", "_", stem):
        return stem
    # The original spelling of what is left, so that eval-7 stays eval-7.
    at = re.sub(r"[-.\s]", "_", stem).find(plain)
    return stem[at : at + len(plain)] if plain and at >= 0 else plain


@lru_cache(maxsize=8192)
def is_iteration(folder: str) -> bool:
    """Whether a folder is an iteration, a version, a batch or a day of runs."""
    return bool(_ITERATION.match(base_of_rerun(folder)))


@lru_cache(maxsize=8192)
def is_run_folder(folder: str) -> bool:
    """Whether a folder is a numbered run: run-1, trial_2."""
    return bool(RUN_FOLDER.match(folder))


def is_numbered_eval(folder: str) -> bool:
    """Whether a folder is a numbered evaluation: eval-1, case_2."""
    return bool(NUMBERED.match(folder))


@lru_cache(maxsize=8192)
def base_of_rerun(name: str) -> str:
    """The iteration that a re-run repeats: `iteration-7-rerun` is iteration-7."""
    shorter = _RERUN.sub("", name)
    return shorter or name


@lru_cache(maxsize=8192)
def is_generic(folder: str) -> bool:
    """Whether a folder's name says nothing about a run."""
    return plain_words(folder) in _GENERIC or folder.startswith(".") or folder.endswith("-workspace")
