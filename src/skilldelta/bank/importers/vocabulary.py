"""The names that files of rows have for what a bank needs, and the words that they have for outcomes and arms.

Every name here is a guess that the import says aloud; `--map` overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from skilldelta.records import LISTED, Condition

ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "task_id": (
            *("id", "taskid", "instance_id", "question_id", "example_id", "sample_id", "item_id"),
            *("problem_id", "prompt_id", "case_id", "test_id", "uid", "uuid", "qid"),
        ),
        "text": (
            *("prompt", "input", "instruction", "instructions", "query", "problem", "problem_statement"),
            *("task_text", "task_description", "user_prompt", "task_prompt", "question_text"),
        ),
        "family": ("category", "group", "domain", "topic", "subject", "task_type", "task_family", "task_group"),
        "skill": ("skill_id", "skill_name", "skills"),
        "agent": ("agent_name", "agent_id", "model", "model_name", "model_id", "llm"),
        "suite": ("suite_name", "benchmark", "dataset"),
        "condition": ("arm", "variant", "setting", "mode", "experiment_arm", "skill_condition"),
        "success": (
            *("score", "passed", "pass", "correct", "is_correct", "resolved", "solved", "result", "outcome"),
            *("accuracy", "reward", "grade", "succeeded", "is_success", "task_success"),
        ),
        "repetition": ("rep", "repeat", "trial", "replicate", "epoch"),
        "tokens": ("total_tokens", "token_count", "n_tokens", "num_tokens", "tokens_total", "tokens_used"),
        "seconds": ("duration_seconds", "duration_s", "elapsed_seconds", "latency_s", "latency_seconds", "time_s"),
        "cost_usd": ("cost", "usd", "total_cost", "total_cost_usd", "price_usd"),
        "repetitions": ("n_repetitions", "num_repetitions", "n_runs", "num_runs", "n_trials", "num_trials"),
    }
)
# What a data frame calls the column of its row numbers, as `plain_name` writes it.
INDEXES = frozenset(("", "index", "unnamed_0", "level_0", "index_level_0"))

_SCORES = frozenset(
    (
        *("score", "scores", "success", "succeeded", "passed", "pass", "passes", "result", "outcome", "correct"),
        *("accuracy", "acc", "reward", "grade", "solved", "resolved", "y"),
    )
)
_FILLERS = frozenset(("is", "rate", "mean", "avg", "average", "arm", "condition", "total", "count", "num", "n"))
_TOKENS = frozenset(("token", "tokens", "toks"))
_SKILL = frozenset(("skill", "skills"))
_WITHOUT = frozenset(("baseline", "base", "without", "control", "ctrl", "off", "skip", "before", "vanilla", "noskill"))
_WITH = frozenset(("with", "treatment", "treated", "on", "use", "after", "withskill"))
_WITHOUT_SKILL = frozenset(("no", "none", "wo", "not"))
_WITH_SKILL = frozenset(("used", "using", "uses", "has", "enabled", "w"))
_COUNTERS = frozenset(("run", "rep", "repetition", "trial", "try", "r"))

_SKIP_WORDS = frozenset(("no", "none", "false", "0", "n", "noskill", "null"))
_USE_WORDS = frozenset(("skill", "yes", "true", "1", "y", "skills"))

PASSED = frozenset(
    (
        "✓",
        "✔",
        "✔️",
        "✅",
        "☑",
        "true",
        "pass",
        "passed",
        "yes",
        "y",
        "success",
        "succeeded",
        "correct",
        "resolved",
        "solved",
        "t",
    )
)
FAILED = frozenset(
    (
        "✗",
        "✘",
        "❌",
        "✖",
        "☐",
        "false",
        "fail",
        "failed",
        "no",
        "n",
        "failure",
        "incorrect",
        "unresolved",
        "unsolved",
        "wrong",
        "f",
    )
)
MISSING = frozenset(("", "nan", "na", "n/a", "n.a.", "null", "none", "-", "–", "—", "<na>", "not run", "?", "tbd"))

Arm = Literal[0, 1]


@dataclass(frozen=True, slots=True)
class ArmColumn:
    """A column of one arm of a pair: `y0`, `y1`, `tokens0` or `tokens1`, and which repetition where it says so."""

    field: str
    repetition: int | None = None
    by_digit: bool = False
    """Whether a bare 0 or 1 said the arm, as in `score_1`, which may as well count repetitions."""


def plain_name(name: str) -> str:
    """A column's name in lower case with one underscore between words: `Task ID `, `taskId` and `task-id` are one."""
    return "_".join(_words(name))


def arm_column(name: str) -> ArmColumn | None:
    """What a column such as `baseline`, `with_skill_score`, `tokens_without` or `control_2` holds; None for others."""
    words = _words(name)
    arm = _arm_field(words)
    if arm is not None or len(words) < 2 or not words[-1].isdecimal():
        return arm
    stem = words[:-1]
    if len(stem) > 1 and stem[-1] in _COUNTERS:
        stem = stem[:-1]
    arm = _arm_field(stem)
    return None if arm is None else ArmColumn(arm.field, int(words[-1][:9]), arm.by_digit)


def condition_of(value: object) -> Condition | None:
    """The arm that a cell names: use or skip, with or without, control or treatment, true or false."""
    if isinstance(value, bool | int | float):
        return None if value not in (0, 1) else "use" if value else "skip"
    if not isinstance(value, str):
        return None
    words = _words(value)
    if words == [LISTED]:
        return LISTED
    if len(words) == 1 and words[0] in _SKIP_WORDS:
        return "skip"
    if len(words) == 1 and words[0] in _USE_WORDS:
        return "use"
    arm = _arm_of(words, [word for word in words if word not in _SKILL and word not in _FILLERS])
    return None if arm is None else "use" if arm else "skip"


def _words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name[:200]).lower()
    return re.findall(r"[^\W\d_]+|\d+", re.sub(r"\bw/o\b", "without", spaced))


def _arm_field(words: list[str]) -> ArmColumn | None:
    is_tokens = not _TOKENS.isdisjoint(words)
    is_score = not _SCORES.isdisjoint(words)
    rest = [word for word in words if word not in _SCORES | _FILLERS | _TOKENS | _SKILL]
    field = "tokens" if is_tokens else "y"
    arm = _arm_of(words, rest)
    if arm is not None:
        return ArmColumn(f"{field}{arm}")
    if rest in (["0"], ["1"]) and (is_tokens or is_score):
        return ArmColumn(f"{field}{rest[0]}", by_digit=True)
    if not rest and not _SKILL.isdisjoint(words) and (is_tokens or is_score):
        return ArmColumn(f"{field}1")  # skill_score stands beside baseline_score
    return None


def _arm_of(words: list[str], rest: list[str]) -> Arm | None:
    """0 or 1 where every word that is left over names an arm; "no treatment" is the arm without."""
    about_skill = not _SKILL.isdisjoint(words)
    without = _WITHOUT | _WITHOUT_SKILL if about_skill or not _WITH.isdisjoint(rest) else _WITHOUT
    with_ = _WITH | _WITH_SKILL if about_skill else _WITH
    if not rest or not all(word in without or word in with_ for word in rest):
        return None
    return 0 if any(word in without for word in rest) else 1
