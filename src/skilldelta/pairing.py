"""Executions to pairs: the one place that says missing, failed or complete.

An execution counts when it was completed and graded; transport errors, incomplete attempts and grader errors stay in the
bank and are never counted. A completed execution with an empty output is a failure (its success is 0). A task with
counted executions under both conditions is a pair; one without is reported by name and left out. Nothing is pooled
across agents, suites or skill versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from skilldelta.records import Agent, Condition, Execution, Pair

Missing = Literal["use", "skip", "both"]
# The counted executions of one condition, in order of arrival.
Arm = list[Execution]
_Version = tuple[str, str]  # skill and digest


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs in record order, and everything that was left out."""

    pairs: tuple[Pair, ...]
    unpaired: tuple[Arms, ...]
    """The arms of tasks that lack one."""
    uncounted: Mapping[str, int]
    """Executions kept but not counted, by status."""
    stale: tuple[Pair, ...] = ()
    """Complete pairs of another version of the skill than the current one."""


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
    executions = list(executions)
    pairs: list[Pair] = []
    stale: list[Pair] = []
    unpaired: list[Arms] = []
    for arms in arms_of(executions):
        if arms.missing:
            unpaired.append(arms)
            continue
        current = arms.digest if current_digests is None else current_digests.get(arms.skill_id, arms.digest)
        target = pairs if arms.digest == current else stale
        target.append(arms.pair(families.get((arms.suite, arms.task_id), "")))
    if include_stale:
        pairs, stale = pairs + stale, []
    uncounted = Counter(not_counted_because(run) for run in executions if not is_counted(run))
    return Pairing(tuple(pairs), tuple(unpaired), dict(uncounted), tuple(stale))


def is_counted(execution: Execution) -> bool:
    """Whether an execution is an observation of the agent: completed, and graded."""
    return execution.status == "completed" and execution.success is not None


def not_counted_because(execution: Execution) -> str:
    """Why an execution is no observation: its status, or `ungraded` where it was completed without a grade."""
    return execution.status if execution.status != "completed" else "ungraded"


@dataclass(frozen=True, slots=True)
class Arms:
    """Both arms of one task under one version of a skill."""

    agent: Agent
    suite: str
    task_id: str
    skill_id: str
    digest: str
    skip: Arm
    use: Arm

    @property
    def missing(self) -> Missing | None:
        """The arm without any counted execution."""
        if not self.skip:
            return "skip" if self.use else "both"
        return None if self.use else "use"

    def pair(self, family: str) -> Pair:
        """The means of both arms."""
        return Pair(
            *(self.agent, self.suite, self.task_id, family, self.skill_id, self.digest),
            y0=_mean_success(self.skip),
            y1=_mean_success(self.use),
            r0=len(self.skip),
            r1=len(self.use),
            tokens0=_mean_tokens(self.skip),
            tokens1=_mean_tokens(self.use),
        )


def _mean_success(arm: Arm) -> float:
    return sum(run.success or 0.0 for run in arm) / len(arm)


def _mean_tokens(arm: Arm) -> float | None:
    """None unless every counted repetition reported its tokens: a partial mean would mix two ledgers."""
    tokens = [run.tokens for run in arm if run.tokens is not None]
    return sum(tokens) / len(tokens) if len(tokens) == len(arm) else None


def arms_of(executions: Iterable[Execution]) -> Iterator[Arms]:
    """The arms of every task and skill version, tasks in the order in which they first appear."""
    tasks: dict[tuple[Agent, str, str], dict[Condition, dict[_Version, Arm]]] = {}
    for run in executions:
        arms = tasks.setdefault((run.agent, run.suite, run.task_id), {"skip": {}, "use": {}})
        arm = arms[run.condition].setdefault((run.skill_id, run.skill_digest), [])
        if is_counted(run):
            arm.append(run)
    for (agent, suite, task_id), arms in tasks.items():
        for version in _versions(arms["use"], arms["skip"]):
            skip, use = _baseline(arms["skip"], *version), arms["use"].get(version, [])
            yield Arms(agent, suite, task_id, *version, skip, use)


def _versions(treated: Mapping[_Version, Arm], baselines: Mapping[_Version, Arm]) -> list[_Version]:
    """The skill versions a task was run for: those treated, then those with a baseline of their own only."""
    treated_skills = {skill_id for skill_id, _ in treated}
    return [*treated, *(key for key in baselines if key[0] not in treated_skills and (key[0] or not treated))]


def _baseline(baselines: Mapping[_Version, Arm], skill_id: str, digest: str) -> Arm:
    """The no-skill runs of a pair: recorded for this version, else for this skill, else shared by all skills.

    The no-skill run does not see the skill, so a baseline recorded beside another version of the same skill serves too.
    """
    others = (key for key in baselines if key[0] == skill_id)
    for key in ((skill_id, digest), (skill_id, ""), ("", ""), *others):
        if baselines.get(key):
            return baselines[key]
    return []
