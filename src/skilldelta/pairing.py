"""Executions to pairs: the one place that says missing, failed or complete.

An execution counts when it was completed and graded; transport errors, incomplete attempts and grader errors stay in the
bank and are never counted. A completed execution with an empty output is a failure (its success is 0). A task with
counted executions under both conditions is a pair; one without is reported by name and left out. Nothing is pooled
across agents, suites or skill versions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from skilldelta.records import Agent, Condition, Execution, Pair

Missing = Literal["use", "skip", "both"]


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A task that cannot form a pair, and which arm it lacks."""

    agent: Agent
    suite: str
    task_id: str
    skill_id: str
    missing: Missing


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs in record order, and everything that was left out."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[Unpaired, ...]
    uncounted: Mapping[str, int]
    """Executions kept but not counted, by status."""
    stale: tuple[Pair, ...] = ()
    """Complete pairs of another version of the skill than the current one."""


@dataclass(slots=True)
class _Arm:
    successes: list[float] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)

    def add(self, execution: Execution) -> None:
        assert execution.success is not None
        self.successes.append(execution.success)
        if execution.tokens is not None:
            self.tokens.append(execution.tokens)

    @property
    def mean_success(self) -> float:
        return sum(self.successes) / len(self.successes)

    @property
    def mean_tokens(self) -> float | None:
        """None unless every counted repetition reported its tokens: a partial mean would mix two ledgers."""
        if not self.tokens or len(self.tokens) < len(self.successes):
            return None
        return sum(self.tokens) / len(self.tokens)


_TaskKey = tuple[Agent, str, str]
_SkillKey = tuple[str, str]


def is_counted(execution: Execution) -> bool:
    """Whether an execution is an observation of the agent: completed, and graded."""
    return execution.status == "completed" and execution.success is not None


def pair_executions(
    executions: Iterable[Execution],
    *,
    families: Mapping[tuple[str, str], str],
    current_digests: Mapping[str, str] | None = None,
    include_stale: bool = False,
) -> Pairing:
    """Join executions into pairs, in the order in which their tasks first appear.

    `families` maps (suite, task_id) to the family. `current_digests` maps a skill to the digest of its current version;
    pairs of other versions go to `stale`, unless `include_stale` asks for them. A skill that is not in it has one version.
    """
    arms = _arms_of(executions)
    use, skip = arms.use, arms.skip
    pairs: list[Pair] = []
    stale: list[Pair] = []
    unpaired: list[Unpaired] = []
    for task in arms.order:
        agent, suite, task_id = task
        baselines = skip.get(task, {})
        for skill_id, digest in _skills_of(use.get(task, {}), baselines):
            treated = use.get(task, {}).get((skill_id, digest), _Arm())
            baseline = _baseline(baselines, skill_id, digest)
            if not treated.successes or not baseline.successes:
                unpaired.append(Unpaired(agent, suite, task_id, skill_id, _missing(treated, baseline)))
                continue
            pair = Pair(
                agent=agent,
                suite=suite,
                task_id=task_id,
                family=families.get((suite, task_id), ""),
                skill_id=skill_id,
                skill_digest=digest,
                y0=baseline.mean_success,
                y1=treated.mean_success,
                r0=len(baseline.successes),
                r1=len(treated.successes),
                tokens0=baseline.mean_tokens,
                tokens1=treated.mean_tokens,
            )
            is_stale = current_digests is not None and digest != current_digests.get(skill_id, digest)
            (stale if is_stale else pairs).append(pair)
    if include_stale:
        pairs, stale = pairs + stale, []
    return Pairing(tuple(pairs), tuple(unpaired), dict(arms.uncounted), tuple(stale))


@dataclass(frozen=True, slots=True)
class PairRuns:
    """The counted successes behind one pair, in order of arrival."""

    skip: tuple[float, ...]
    use: tuple[float, ...]


def runs_of_pairs(executions: Iterable[Execution]) -> dict[tuple[str, str, str], PairRuns]:
    """The runs behind the pairs of one agent and suite, by task, skill and version: `pair_executions` before the means."""
    arms = _arms_of(executions)
    found = {}
    for task in arms.order:
        baselines = arms.skip.get(task, {})
        for (skill_id, digest), treated in arms.use.get(task, {}).items():
            baseline = _baseline(baselines, skill_id, digest)
            if treated.successes and baseline.successes:
                found[task[2], skill_id, digest] = PairRuns(tuple(baseline.successes), tuple(treated.successes))
    return found


@dataclass(slots=True)
class _Arms:
    """Executions by task and skill version, per condition."""

    use: dict[_TaskKey, dict[_SkillKey, _Arm]] = field(default_factory=dict)
    skip: dict[_TaskKey, dict[_SkillKey, _Arm]] = field(default_factory=dict)
    order: dict[_TaskKey, None] = field(default_factory=dict)
    uncounted: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))


def _arms_of(executions: Iterable[Execution]) -> _Arms:
    found = _Arms()
    for execution in executions:
        task = (execution.agent, execution.suite, execution.task_id)
        found.order.setdefault(task)
        arms = (found.use if execution.condition == "use" else found.skip).setdefault(task, {})
        arm = arms.setdefault((execution.skill_id, execution.skill_digest), _Arm())
        if is_counted(execution):
            arm.add(execution)
        else:
            found.uncounted[not_counted_because(execution)] += 1
    return found


def not_counted_because(execution: Execution) -> str:
    """Why an execution is no observation: its status, or `ungraded` where it was completed without a grade."""
    return execution.status if execution.status != "completed" else "ungraded"


def _skills_of(treated: Mapping[_SkillKey, _Arm], baselines: Mapping[_SkillKey, _Arm]) -> list[_SkillKey]:
    """The skill versions a task was run for: those treated, then those with a baseline of their own only."""
    skills = list(treated)
    named = {skill_id for skill_id, _ in skills}
    skills += [key for key in baselines if key[0] not in named and (key[0] or not skills)]
    return skills


def _baseline(baselines: Mapping[_SkillKey, _Arm], skill_id: str, digest: str) -> _Arm:
    """The no-skill runs of a pair: recorded for this version, else for this skill, else shared by all skills.

    The no-skill run does not see the skill, so a baseline recorded beside another version of the same skill serves too.
    """
    for key in ((skill_id, digest), (skill_id, ""), ("", "")):
        if key in baselines and baselines[key].successes:
            return baselines[key]
    for (other_id, _), arm in baselines.items():
        if other_id == skill_id and arm.successes:
            return arm
    return _Arm()


def _missing(treated: _Arm, baseline: _Arm) -> Missing:
    if not treated.successes and not baseline.successes:
        return "both"
    missing: Condition = "use" if not treated.successes else "skip"
    return missing
