"""The bodies that the HTTP API takes: typed, bounded, and without room for a field that nobody reads."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, create_model

from skilldelta.gate import Gate, Question
from skilldelta.gate_settings import GATE_SETTINGS, Setting
from skilldelta.skill_folder import VERSION_FIELDS

Name = Annotated[str, Field(max_length=1_000)]
TaskText = Annotated[str, Field(min_length=1, max_length=400_000)]
SkillName = Annotated[str, Field(min_length=1, max_length=1_000)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class WireModel(BaseModel):
    """Unknown fields and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _field(setting: Setting) -> tuple[Any, Any]:
    """The type of a gate's setting in a body; values of choices are checked by the gate, which knows old spellings."""
    limits: dict[str, Any] = {"description": setting.help}
    if setting.kind is str:
        limits["max_length"] = 1_000
        if setting.choices:
            limits["examples"] = list(setting.choices)
    elif setting.kind is float:
        limits["allow_inf_nan"] = False
    low, high = ("gt", "lt") if setting.open_ends else ("ge", "le")
    limits |= {} if setting.low is None else {low: setting.low}
    limits |= {} if setting.high is None else {high: setting.high}
    return Annotated[setting.kind, Field(**limits)] | None, None


GateBody: type[WireModel] = create_model(
    "GateBody",
    __base__=WireModel,
    __doc__="How to decide, by the names of `predict`'s options; what is left out is as the server was started.",
    **{setting.name: _field(setting) for setting in GATE_SETTINGS},  # type: ignore[call-overload]
)


Sketch = Annotated[str, Field(max_length=1_000, pattern="^[0-9a-f]*$")]


class QuestionBody(WireModel):
    """What every question has, whatever is on offer."""

    text: TaskText = Field(validation_alias=AliasChoices("text", "task"))
    family: Name = ""
    task_id: Name = ""
    suite: Name = ""
    agent: Name | None = None
    conversation: Name = ""
    source: Annotated[str, Field(max_length=100)] = ""
    explain: bool = False
    record: bool = True
    include_skill_text: bool = False
    wished: bool = False
    gate: GateBody | None = Field(None, validation_alias=AliasChoices("gate", "policy"))  # type: ignore[valid-type]

    def about(self, skill: str, default: Gate, **version: str) -> Question:
        """The question about one skill, in the version that is on offer."""
        fields = self.model_dump(include=set(QuestionBody.model_fields) - {"gate"}) | version
        gate = None if self.gate is None else Gate.from_settings(self.gate.model_dump(exclude_none=True), default)
        return Question(**fields, skill=skill, gate=gate)


class DecideBody(QuestionBody):
    """A task and the skill on offer."""

    skill: SkillName
    skill_digest: Name = ""
    skill_sketch: Sketch = ""
    skill_folder_digest: Name = ""
    """Of the skill's whole folder, where it has more than the text."""
    skill_folder_sketch: Sketch = ""

    def question(self, default: Gate) -> Question:
        """The question as the gate takes it."""
        return self.about(self.skill, default, **{name: getattr(self, name) for name in VERSION_FIELDS})


class BatchBody(WireModel):
    """Several questions, answered all or not at all."""

    questions: Annotated[list[DecideBody], Field(min_length=1, max_length=1_000)]


class ChooseBody(QuestionBody):
    """A task and the skills to choose from."""

    skills: Annotated[list[SkillName], Field(min_length=1, max_length=500)]
    skill_digests: Annotated[dict[SkillName, Name], Field(max_length=500)] = {}
    """The versions on offer, by skill, as far as they are known."""
    skill_sketches: Annotated[dict[SkillName, Sketch], Field(max_length=500)] = {}
    skill_folder_digests: Annotated[dict[SkillName, Name], Field(max_length=500)] = {}
    skill_folder_sketches: Annotated[dict[SkillName, Sketch], Field(max_length=500)] = {}

    def questions(self, default: Gate) -> list[Question]:
        """One question per skill."""
        return [
            self.about(
                skill,
                default,
                **{one: getattr(self, several).get(skill, "") for one, several in VERSION_FIELDS.items()},
            )
            for skill in dict.fromkeys(self.skills)
        ]


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
