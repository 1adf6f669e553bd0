"""The documents that MCP tools return, as types: a client sees their schema before it calls. The fields are those of the
command line and of the server.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Document(BaseModel):
    """A document of the service; what a later version adds is passed on."""

    model_config = ConfigDict(extra="allow")


class SupportDocument(Document):
    """The evidence behind a decision, in numbers."""

    eligible: int = Field(description="Recorded pairs that could inform the decision.")
    used: int = Field(description="Neighbors among them.")
    effective: float | None = Field(description="How many equally weighted pairs the neighbors are worth.")
    radius: float | None = Field(description="Mean distance of the neighbors.")
    familiarity: float | None = Field(description="Share of recorded tasks that are no nearer to their nearest tasks.")


class IntervalDocument(Document):
    """Where the gain may lie."""

    low: float
    high: float
    level: float
    method: str


class NeighborDocument(Document):
    """A recorded task near the one asked about, without (y0) and with (y1) the skill."""

    task_id: str
    similarity: float
    weight: float
    gain: float
    y0: float
    y1: float
    r0: int
    r1: int
    text: str


class RouteDocument(Document):
    """A decision and what it rests on."""

    action: Literal["use", "skip", "abstain"]
    gain: float = Field(description="Predicted change of the success rate, from -1 to 1.")
    threshold: float
    certainty: Literal["sure", "leaning", "close to a coin flip"] | None = Field(
        None, description="How sure the action is; null without evidence."
    )
    reason: str
    fallback: bool = Field(description="Whether there was no evidence to decide by.")
    agent: str
    skill: str
    suite: str | None
    family: str | None
    estimator: str
    scope: str
    support: SupportDocument
    interval: IntervalDocument | None
    basis: dict[str, Any] | None = Field(None, description="What the gain is made of; `sentence` says it in words.")
    neighbors: list[NeighborDocument]
    decision_id: int | None = Field(None, description="In the decision log; skilldelta_record takes it.")
    repeated: bool = Field(False, description="Whether the conversation had this decision before.")


class ChoiceDocument(Document):
    """Which of several skills to use, if any."""

    choice: str | None
    any_applies: float | None = None
    decisions: list[RouteDocument]


class OutcomeDocument(Document):
    """What was reported to have happened after a decision."""

    time: float
    success: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None


class ExplanationDocument(Document):
    """A past decision with the evidence it rested on, and its outcomes."""

    decision_id: int
    time: float
    action: Literal["use", "skip", "abstain"]
    gain: float
    threshold: float
    reason: str
    agent: str
    skill: str
    outcomes: list[OutcomeDocument]


class RecordedDocument(Document):
    """An outcome in the log."""

    outcome_id: int
    is_new: bool = Field(description="False where the same outcome was recorded before; then nothing was added.")


class SkillDocument(Document):
    """A skill that can be asked about."""

    skill: str
    digest: str | None = Field(None, description="Its current version; null where the bank does not know it.")
    text: str | None = None


class BankDocument(Document):
    """What is in the bank."""

    tasks: int
    executions: dict[str, int]
    decisions: int
    skills: list[str]
    panels: list[dict[str, Any]]
