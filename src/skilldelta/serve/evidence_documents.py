"""What the dashboard's pages are told about the evidence: wire types, every field a plain value. Unknown is null."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from skilldelta.evaluation.skill_verdicts import Effect, Ruling
from skilldelta.gate import Action


@dataclass(frozen=True, slots=True)
class PanelName:
    """An agent on a suite, as the page's chooser lists it."""

    agent: str
    suite: str
    pairs: int


@dataclass(frozen=True, slots=True)
class GainInterval:
    """A 95% interval of a mean gain."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GateDocument:
    """The gate beside never and always using the skill, every task decided without its own outcome."""

    off: float
    on: float
    success: float
    use_rate: float
    token_saving: float | None
    extra_tokens: float | None
    """Mean tokens that the skill adds to a task."""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether the gate is worth it on a panel: against the better of never and always using the skill."""

    tone: Literal["yes", "no", "open"]
    text: str
    """One sentence with its interval, for people."""


@dataclass(frozen=True, slots=True)
class GateSetting:
    """A setting of the gate that runs, as the pages print it."""

    name: str
    value: str | float | int
    is_default: bool


@dataclass(frozen=True, slots=True)
class LogTally:
    """What the decision log holds, about one skill or about all."""

    decisions: int
    used: int
    skipped: int
    abstained: int
    last: float | None
    """Seconds since 1970."""
    saved_tokens: float | None
    """Estimated: tasks on which a skill was not used, times the mean tokens that it adds; null where unknown."""


@dataclass(frozen=True, slots=True)
class SkillLine:
    """A skill in the overview."""

    skill: str
    pairs: int
    families: int
    helped: int
    harmed: int
    unchanged: int
    gain: float
    interval: GainInterval | None
    verdict: Ruling
    sentence: str
    """The verdict with its evidence, for people."""
    gate: GateDocument
    log: LogTally
    recorded: float | None
    """When its newest execution was recorded, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class FrameDocument:
    """What stands around every page: the bank, its panels and the gate. It needs no prediction, so it is there at once."""

    bank: str
    """The bank's name without its folder."""
    is_file: bool
    """Whether the bank is a file, which commands can name."""
    revision: int
    tasks: int
    executions: int
    decisions: int
    """In the log."""
    panels: list[PanelName]
    panel: PanelName | None
    """The panel that the page is about; null while the bank has no complete pair."""
    skills: list[str]
    """Those with executions on the panel."""
    settings: list[GateSetting]


@dataclass(frozen=True, slots=True)
class OverviewDocument:
    """The first page: every skill of one panel."""

    bank: str
    """The bank's name without its folder."""
    revision: int
    tasks: int
    executions: int
    panels: list[PanelName]
    panel: PanelName | None
    """The panel that the page is about; null while the bank has no complete pair."""
    tasks_in_panel: int
    families: int
    settings: list[GateSetting]
    """How the server decides; every number of the pages is about this gate."""
    gate: GateDocument | None
    verdict: GateVerdict | None
    skills: list[SkillLine]
    log: LogTally
    unpaired: int
    """Tasks of the panel that lack an arm."""


@dataclass(frozen=True, slots=True)
class FamilyLine:
    """Help and harm in one family, and what the gate does there."""

    family: str
    pairs: int
    helped: int
    harmed: int
    unchanged: int
    off: float
    on: float
    gain: float
    used: int
    """Pairs on which the gate uses the skill."""
    effect: Effect
    """What a sign test allows to say, corrected for having looked at every family."""


@dataclass(frozen=True, slots=True)
class HarmedTask:
    """A task that did worse with the skill."""

    task_id: str
    family: str
    text: str
    y0: float
    r0: int
    y1: float
    r1: int
    gain: float
    predicted: float | None
    """By the gate, without this task's outcome; null where nothing in scope could tell."""
    used: bool


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One version of a skill's text, and the executions recorded with it."""

    digest: str
    """Empty stands for executions that do not say their version."""
    characters: int | None
    """Of the text, where the bank has it."""
    executions: int
    first: float | None
    last: float | None
    is_current: bool


@dataclass(frozen=True, slots=True)
class SkillEvidence:
    """A skill's page."""

    panel: PanelName
    line: SkillLine
    families: list[FamilyLine]
    harmed: list[HarmedTask]
    """The worst first, a hundred at most; `line` has their number."""
    versions: list[VersionLine]
    stale: int
    """Pairs of older versions, which do not count."""


@dataclass(frozen=True, slots=True)
class SweepDocument:
    """Every policy that a threshold can make of the gate on a skill, column by column; always-on first, always-off last."""

    skill: str
    rows: int
    thresholds: list[float | None]
    """Null is below every score."""
    use_rates: list[float]
    success: list[float]
    tokens: list[float | None]
    token_savings: list[float | None]
    default: int
    best: int
    policies: int
    """How many there are; of very many, some are sent."""


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A recorded task on the map."""

    task_id: str
    family: str
    text: str
    x: float
    y: float
    y0: float
    r0: int
    y1: float
    r1: int
    gain: float
    predicted: float | None


@dataclass(frozen=True, slots=True)
class MapDocument:
    """The recorded tasks of a skill on the plane in which their vectors differ most."""

    skill: str
    tasks: int
    points: list[MapPoint]
    """At most some hundreds, drawn with a fixed seed."""
    shares: tuple[float, float]
    """Of the variance, what each axis shows."""


@dataclass(frozen=True, slots=True)
class Place:
    """A point of the map."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class FamilyAnswer:
    """The decision, had the task's family been named."""

    family: str
    action: Action
    gain: float


@dataclass(frozen=True, slots=True)
class TrialDocument:
    """A decision that was tried and not recorded, with what a page draws around it."""

    decision: dict[str, Any]
    """The document of `predict --explain --json`."""
    familiarity: str
    """In words."""
    interval: str
    """What the interval covers, in words; empty without one."""
    would_change: list[str]
    families: list[FamilyAnswer]
    """The same question with each family of the nearest pairs; empty where the family was given."""
    place: Place | None
    """Where the task stands on the skill's map; null where the skill has no pairs on the panel."""
    nearest: list[MapPoint]
    """The nearest pairs of that skill on the same map."""


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """A policy of the evaluation, as people call it."""

    name: str
    title: str
    meaning: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Outcomes that could not be compared with a prediction."""

    reason: str
    outcomes: int


@dataclass(frozen=True, slots=True)
class AgreementDocument:
    """Predicted against observed success, about one skill or, with an empty name, about all."""

    skill: str
    outcomes: int
    repeated: int
    """Outcomes of tasks that had come before; they do not count."""
    predicted: float | None
    observed: float | None
    difference: float | None
    """Observed minus predicted."""
    interval: GainInterval | None
    """Of the difference; it holds at all looks together."""
    margin: float
    """A difference within it counts as agreement."""
    alarm_time: float | None
    """When it was clear that predictions and outcomes part, in seconds since 1970."""
    direction: int
    """1 where more happened than was predicted, -1 where less did, 0 without an alarm."""
    state: Literal["parts", "agrees", "open"]


@dataclass(frozen=True, slots=True)
class ActionDocument:
    """Outcomes after one action in one period."""

    action: str
    start: float
    end: float
    number: int
    predicted: float
    observed: float
    low: float
    high: float
    """The 95% interval of what was observed, over tasks."""


@dataclass(frozen=True, slots=True)
class RealityDocument:
    """Predictions beside outcomes, from the decision log."""

    mark: str
    """Another one means that outcomes came or went."""
    sentence: str
    level: float
    """One minus the chance of any false alarm."""
    outcomes: int
    """Decisions whose success was reported."""
    shown: int
    """Those that fit the filters."""
    left_out: list[LeftOut]
    whole: AgreementDocument
    skills: list[AgreementDocument]
    agents: list[str]
    actions: list[ActionDocument]
    periods: list[ActionDocument]
