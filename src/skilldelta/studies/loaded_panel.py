"""The panels that a study is about, each read from the bank once, with what was left out said in words.

Everything a study needs of a panel is in its `LoadedPanel`: the arrays, the executions behind them, the texts of skills
and the agent's own judgements. The bank is not asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from skilldelta.arrays import Vectors
from skilldelta.bank.pair_reading import PanelRecords
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.encoders.imported import ImportedEncoder
from skilldelta.errors import InputError, unknown_name
from skilldelta.evaluation.amendments import (
    CorrectedRecord,
    Correction,
    Exclusion,
    check_corrections,
    check_exclusions,
    corrected_panel,
    exclusions_in,
    without_excluded,
)
from skilldelta.noise_floor import NoiseFloor, noise_of_executions
from skilldelta.nouns import listed, plural
from skilldelta.pairing import Pairing
from skilldelta.records import Agent, Execution, Judgement
from skilldelta.support import Support

_NAMED = 5

# Called with the step, how much of it is done, and of how much; None while that is not known.
StudyProgress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class PanelChoice:
    """Which panels of a bank a study is about; None takes every agent, or every suite."""

    agent: str | None = None
    suite: str | None = None


EVERY_PANEL = PanelChoice()


@dataclass(frozen=True, slots=True, eq=False)
class LoadedPanel:
    """One panel ready for a study."""

    agent: Agent
    suite: str
    support: Support
    """Corrected, and without what is excluded by name."""
    recorded: Support
    """As the bank has it."""
    pairing: Pairing
    executions: tuple[Execution, ...]
    """Everything that the bank holds for the panel in order of arrival, counted or not."""
    versioned: tuple[Execution, ...]
    """What was paired: executions with the version that they count as, without superseded ones."""
    encoder: Encoder
    skill_texts: Mapping[str, str]
    judgements: Sequence[Judgement]
    """The agent's own answers, where they were asked for."""
    excluded: tuple[Exclusion, ...] = ()
    corrected: tuple[CorrectedRecord, ...] = ()
    listed: tuple[Execution, ...] = ()
    """Executions of the third arm, in which the harness listed the skill and the model chose."""

    @property
    def title(self) -> str:
        """Agent and suite, as a heading."""
        return f"{self.support.agent} on {self.suite}"

    @property
    def noise(self) -> NoiseFloor:
        """How large gains look when nothing differs."""
        return noise_of_executions(self.executions)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the panel leaves out or has changed, in words."""
        return (*left_out(self.pairing), *correction_notes(self.corrected), *_exclusion_notes(self.excluded))


def load_panels(
    bank: Bank,
    choice: PanelChoice = EVERY_PANEL,
    *,
    encoder: Encoder | None = None,
    exclusions: Sequence[Exclusion] = (),
    corrections: Sequence[Correction] = (),
    progress: StudyProgress | None = None,
) -> list[LoadedPanel]:
    """Every chosen panel that has a complete pair, corrected and without what is excluded by name.

    Parameters:
        bank: An open bank.
        choice: The agent and the suite; None takes every one.
        encoder: Turns task texts into vectors; None is the bundled one.
        exclusions: Tasks that are left out, from `read_exclusions`.
        corrections: Corrected gradings, from `read_corrections`.
        progress: Called with a step, how much of it is done, and of how much.

    Returns:
        The panels.

    Raises:
        InputError: A task of a list is in no panel, or there is no complete pair.

    Examples:
        >>> [(panel.title, len(panel.support)) for panel in load_panels(bank)]
        [('toy on trips', 8)]
    """
    panels = _loaded(bank, paired_records(bank, choice), encoder or load_encoder(), progress)
    task_ids = {str(task_id) for panel in panels for task_id in panel.support.task_ids}
    check_exclusions(exclusions, task_ids)
    check_corrections(corrections, task_ids)
    return [_without(_as_corrected(panel, corrections), exclusions) for panel in panels]


def load_panel(
    bank: Bank,
    choice: PanelChoice = EVERY_PANEL,
    *,
    encoder: Encoder | None = None,
    corrections: Sequence[Correction] = (),
    progress: StudyProgress | None = None,
) -> LoadedPanel:
    """The one panel that the choice leaves, for studies about one.

    Parameters:
        bank: An open bank.
        choice: The agent and the suite; None takes every one.
        encoder: Turns task texts into vectors; None is the bundled one.
        corrections: Corrected gradings, from `read_corrections`.
        progress: Called with a step, how much of it is done, and of how much.

    Returns:
        The panel.

    Raises:
        InputError: There are several panels, which the message names, or none.

    Examples:
        >>> load_panel(bank, PanelChoice(suite="trips")).noise.tasks
        0
    """
    (panel,) = _loaded(bank, [only_records(bank, choice)], encoder or load_encoder(), progress)
    check_corrections(corrections, panel.support.task_ids.tolist())
    return _as_corrected(panel, corrections)


def chosen_records(bank: Bank, agent: str | None, suite: str | None) -> list[PanelRecords]:
    """The records of every panel of an agent and of a suite; None takes all of them."""
    chosen = bank.resolve_agent(agent) if agent else None
    if suite and suite not in bank.suites():
        raise unknown_name("suite", suite, bank.suites())
    return [
        bank.panel_records(its_agent, its_suite)
        for its_agent, its_suite in bank.panel_names()
        if chosen in (None, its_agent) and suite in (None, its_suite)
    ]


def paired_records(bank: Bank, choice: PanelChoice) -> list[PanelRecords]:
    """The records of every chosen panel that has a complete pair."""
    panels = [records for records in chosen_records(bank, choice.agent, choice.suite) if records.pairing.pairs]
    if not panels:
        raise InputError("the bank has no complete pair yet; import or collect executions under both conditions first")
    return panels


def only_records(bank: Bank, choice: PanelChoice) -> PanelRecords:
    """The records of the one panel that the choice leaves."""
    panels = paired_records(bank, choice)
    if len(panels) > 1:
        agents = bank.agents()
        names = ", ".join(f"--agent {label_of(panel.agent, agents)} --suite {panel.suite}" for panel in panels[:_NAMED])
        raise InputError(f"the bank has {len(panels)} panels; choose one: {names}")
    return panels[0]


def label_of(agent: Agent, agents: Sequence[Agent]) -> str:
    """The agent's name, with its fingerprint where another agent bears the same name."""
    shared = sum(other.name == agent.name for other in agents) > 1
    return f"{agent.name}@{agent.fingerprint[:8]}" if shared else agent.name


def left_out(pairing: Pairing) -> tuple[str, ...]:
    """What a panel does not contain, in words."""
    notes = []
    if pairing.unpaired:
        names = [task.task_id for task in pairing.unpaired]
        lacking = plural(len(names), "task lacks an arm and is left out", "tasks lack an arm and are left out")
        notes.append(f"{lacking}: {listed(names, _NAMED)}")
    if pairing.stale:
        notes.append(f"left out as stale: {plural(len(pairing.stale), 'pair')} of an older skill version")
    notes += [f"{plural(count, 'execution')} not counted: {status}" for status, count in pairing.uncounted.items()]
    return tuple(notes)


def correction_notes(records: Sequence[CorrectedRecord]) -> list[str]:
    """The corrected records of a panel, in words."""
    if not records:
        return []
    counted = plural(len(records), "corrected record counts", "corrected records count")
    return [f"{counted} as corrected: {'; '.join(map(str, records))}"]


def _exclusion_notes(excluded: Sequence[Exclusion]) -> list[str]:
    if not excluded:
        return []
    gone = plural(len(excluded), "task is", "tasks are")
    return [f"{gone} excluded by name: {'; '.join(map(str, excluded))}"]


def _loaded(
    bank: Bank, chosen: Sequence[PanelRecords], encoder: Encoder, progress: StudyProgress | None
) -> list[LoadedPanel]:
    agents, texts = bank.agents(), {skill.skill_id: skill.text for skill in bank.skills() if skill.text}
    panels = []
    for records in chosen:
        step = step_of(progress, f"encoding {records.suite}")
        support = Support.from_pairs(
            records.pairing.pairs,
            bank.vectors(encoder, records.texts, progress=step),
            texts=records.texts,
            encoder=encoder.identity,
            agent=label_of(records.agent, agents),
            suite=records.suite,
        )
        panels.append(
            LoadedPanel(
                records.agent,
                records.suite,
                support=support,
                recorded=support,
                pairing=records.pairing,
                executions=records.executions,
                versioned=records.versioned,
                encoder=encoder,
                skill_texts=texts,
                judgements=bank.judgements(records.agent, records.suite),
                listed=tuple(bank.listed(agent=records.agent, suite=records.suite)),
            )
        )
    return panels


def _as_corrected(panel: LoadedPanel, corrections: Sequence[Correction]) -> LoadedPanel:
    corrected = corrected_panel(panel.support, panel.pairing.pairs, panel.versioned, corrections)
    return replace(panel, support=corrected.support, corrected=corrected.records)


def _without(panel: LoadedPanel, exclusions: Sequence[Exclusion]) -> LoadedPanel:
    here = exclusions_in(panel.support, exclusions)
    return replace(panel, support=without_excluded(panel.support, here), excluded=here)


def bank_encoder(
    bank: Bank,
    name: str = "wordllama",
    *,
    base_url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    proxy: str | None = None,
    given: Mapping[str, Vectors] | None = None,
) -> Encoder:
    """The encoder of a name; TF-IDF takes its vocabulary from the bank's own task texts.

    Parameters:
        bank: An open bank.
        name: As `load_encoder` takes it.
        base_url: Of an OpenAI-compatible endpoint.
        model: Of the endpoint, or of sentence-transformers.
        api_key: Of the endpoint.
        proxy: Through which the endpoint is reached.
        given: Vectors of further texts; those that came with an import are read from the bank.

    Returns:
        The encoder.

    Examples:
        >>> bank_encoder(bank, "tfidf").identity.startswith("tfidf")
        True
    """
    if name.startswith("imported/"):
        return _imported(bank, name, given)
    if given:
        raise InputError(f"--query-vector needs vectors of the same model; {_choice(bank)}")
    corpus = [task.text for task in bank.tasks()] if name == "tfidf" else None
    return load_encoder(name, base_url=base_url, model=model, api_key=api_key, proxy=proxy, corpus=corpus)


def _imported(bank: Bank, name: str, given: Mapping[str, Vectors] | None) -> Encoder:
    if name not in bank.vector_counts():
        raise InputError(f"the bank has no vectors of {name!r}; {_choice(bank)}", setting="encoder")
    alone = ImportedEncoder(name)
    return ImportedEncoder(name, stored=lambda texts: bank.vectors(alone, texts), given=given)


def _choice(bank: Bank) -> str:
    """The imported vectors there are, as one would ask for them."""
    names = [name for name in bank.vector_counts() if name.startswith("imported/")]
    if not names:
        return "import a panel or a support index that brings its vectors"
    return f"say --encoder {' or --encoder '.join(names)}"


def step_of(progress: StudyProgress | None, step: str) -> Callable[[int, int], None] | None:
    """The progress of one step, announced before its work begins."""
    if progress is None:
        return None
    progress(step, 0, None)
    return partial(progress, step)
