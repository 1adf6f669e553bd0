"""The bodies that the HTTP API takes: typed, bounded, and without room for a field that nobody reads."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from skilldelta.advisor import Policy
from skilldelta.serve.gate_question import GateQuestion
from skilldelta.serve.policy_settings import policy_with

Name = Annotated[str, Field(max_length=1_000)]
TaskText = Annotated[str, Field(min_length=1, max_length=400_000)]
SkillName = Annotated[str, Field(min_length=1, max_length=1_000)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class WireModel(BaseModel):
    """Unknown fields and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class PolicyBody(WireModel):
    """How to decide, by the names of `predict`'s options; what is left out is as the server was started."""

    estimator: Literal["stack", "skilldelta"] | None = None
    paper: bool | None = None
    k: Annotated[int, Field(ge=1, le=1_000)] | None = None
    weighting: Literal["cosine", "uniform"] | None = None
    scope: Literal["auto", "paper", "family", "skill", "global"] | None = None
    threshold: Finite | None = None
    rule: Literal["plain", "three_way", "conservative"] | None = None
    interval: Name | None = None
    level: Annotated[float, Field(gt=0, lt=1)] | None = None
    familiarity_limit: Annotated[float, Field(ge=0, le=1)] | None = None
    success_worth: Finite | None = None
    price: Finite | None = None
    lipschitz: Finite | None = None
    epsilon: Finite | None = None


class AskedBody(WireModel):
    """What every question has, whatever is on offer."""

    task: TaskText
    family: Name = ""
    task_id: Name = ""
    suite: Name = ""
    agent: Name | None = None
    conversation: Name = ""
    source: Annotated[str, Field(max_length=100)] = ""
    explain: bool = False
    record: bool = True
    include_skill_text: bool = False
    policy: PolicyBody | None = None

    def about(self, skill: str, skill_digest: str, default: Policy) -> GateQuestion:
        """The question about one skill."""
        given = None if self.policy is None else self.policy.model_dump(exclude_none=True)
        names = self.model_dump(include=set(AskedBody.model_fields) - {"policy"})
        policy = None if given is None else policy_with(given, default)
        return GateQuestion(**names, skill=skill, skill_digest=skill_digest, policy=policy)


class DecideBody(AskedBody):
    """A task and the skill on offer."""

    skill: SkillName
    skill_digest: Name = ""

    def question(self, default: Policy) -> GateQuestion:
        """The question as the gate takes it."""
        return self.about(self.skill, self.skill_digest, default)


class BatchBody(WireModel):
    """Several questions, answered all or not at all."""

    questions: Annotated[list[DecideBody], Field(min_length=1, max_length=1_000)]


class ChooseBody(AskedBody):
    """A task and the skills to choose from."""

    skills: Annotated[list[SkillName], Field(min_length=1, max_length=200)]
    skill_digests: Annotated[dict[SkillName, Name], Field(max_length=200)] = {}
    """The versions on offer, by skill, as far as they are known."""

    def questions(self, default: Policy) -> list[GateQuestion]:
        """One question per skill."""
        return [self.about(skill, self.skill_digests.get(skill, ""), default) for skill in dict.fromkeys(self.skills)]


class OutcomeBody(WireModel):
    """What happened after a decision; at least one value."""

    decision_id: Annotated[int, Field(ge=1, le=2**62)]
    success: Annotated[float, Field(ge=0, le=1)] | None = None
    tokens: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    key: Annotated[str, Field(max_length=200)] = ""


class ProblemBody(BaseModel):
    """An error as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None
