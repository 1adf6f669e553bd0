"""How well the right skill is found among many, and what that is worth: deployment replayed on recorded tasks.

The tasks are cut into folds. Each fold is taken out of the bank, and its tasks are asked about as new ones, with every
recorded skill on offer: first which skill applies, then that skill's gate, by the code that serves a harness. A task
whose own skill is taken out of the bank, and everyday prompts that were held out of the fit, should get none.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skilldelta.advisor import Advisor, Question
from skilldelta.advisor.skill_ranking import encoded_everyday, fitted_applicability
from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.bank.batch import Batch, TextVector
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.evaluation.metrics import Share
from skilldelta.evaluation.resampling.bootstrap import percentile_range
from skilldelta.evaluation.results import Range
from skilldelta.gate import Gate
from skilldelta.records import Skill, Task, text_digest
from skilldelta.routing.applicability import Applicability
from skilldelta.routing.everyday import everyday_prompts
from skilldelta.routing.task_text import read_message
from skilldelta.studies.loaded_panel import LoadedPanel, StudyProgress
from skilldelta.support import Support

# Skills that are taken out of the bank in turn, drawn with the seed; each costs one fit.
_MOST_REMOVED_SKILLS = 30
# Pairs of own and wrong skill that a result names.
_MOST_CONFUSIONS = 10


@dataclass(frozen=True, slots=True)
class RoutingSettings:
    """How to measure."""

    gate: Gate = Gate()  # noqa: RUF009 - frozen
    folds: int = 10
    resamples: int = 2_000
    seed: int = 0
    prompts: tuple[str, ...] = ()
    """Further messages that are about no skill."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Tasks of one skill that got another."""

    own: str
    chosen: str
    tasks: int


@dataclass(frozen=True, slots=True)
class RoutingResult:
    """What became of the recorded tasks of one panel, and of messages that are about no skill."""

    agent: str
    suite: str
    tasks: int
    skills: int
    own: Share
    """Tasks that got their own skill, of those whose own gate says use."""
    unwanted: Share
    """Tasks that got their own skill, of those whose own gate does not say use."""
    wrong: Share
    none: Share
    everyday: Share
    """Everyday prompts, held out of the fit, that got a skill."""
    removed: Share
    """Tasks that got a skill although their own was not in the bank."""
    prompts: Share | None
    """Messages of the caller's that got a skill."""
    confusions: tuple[Confusion, ...]
    off: float
    on: float
    supplied: float
    """Success if somebody supplies the right skill and its gate decides."""
    routed: float
    """Success of the whole. A wrong skill counts as no skill, unless its outcome on the task is recorded."""
    routed_low: float
    """The same if every task with a wrong skill of unknown outcome fails."""
    routed_vs_off: Range
    routed_vs_supplied: Range


def measure_routing(
    panel: LoadedPanel, settings: RoutingSettings, *, progress: StudyProgress | None = None
) -> RoutingResult:
    """Replay one panel with at least two skills.

    Raises:
        InputError: the panel has one skill, or the encoder has no vectors for everyday prompts.
    """
    support = panel.support
    names = sorted(set(support.skills.tolist()))
    if len(names) < 2:
        raise InputError(f"{panel.title} has one skill, {names[0]}; routing needs several to choose from")
    everyday = encoded_everyday(panel.encoder)
    if len(everyday) < 2 * settings.folds:
        raise InputError(f"the encoder {panel.encoder.identity} has no vectors for everyday prompts; choose another")
    replay = _Replay(panel, settings, everyday)
    for fold in range(replay.folds):
        if progress is not None:
            progress(f"routing {panel.suite}", fold, replay.folds)
        replay.run(fold)
    return replay.result()


class _Replay:
    """The outcomes of all folds, gathered one by one."""

    def __init__(self, panel: LoadedPanel, settings: RoutingSettings, everyday: Vectors) -> None:
        self._panel = panel
        self._settings = settings
        self._everyday = everyday
        rows = panel.support
        self._generator = np.random.default_rng(settings.seed)
        # One task is asked once, whatever the number of skills that it was recorded under.
        self._tasks = list(rows.row_of_task)
        self.folds = min(settings.folds, len(self._tasks))
        self._fold_of = self._generator.permutation(np.arange(len(self._tasks)) % self.folds)
        self._prompt_fold = self._generator.permutation(np.arange(len(everyday)) % self.folds)
        self._without_skill = self._removed_skills()
        self._chosen: dict[str, str | None] = {}
        self._helped_by: dict[str, str | None] = {}
        self._removed = [0, 0]
        self._alarms = [0, 0]

    def run(self, fold: int) -> None:
        rows = self._panel.support
        out = {task for task, of in zip(self._tasks, self._fold_of, strict=True) if of == fold}
        remaining = rows.rows(~np.isin(rows.task_ids, list(out)))
        if not len(remaining):
            return
        applicability = self._fitted(remaining, np.flatnonzero(self._prompt_fold != fold))
        with tempfile.TemporaryDirectory() as folder, _bank_of(self._panel, remaining, Path(folder)) as bank:
            advisor = Advisor(bank, self._panel.encoder, agent=self._panel.agent, gate=self._settings.gate)
            for task in out:
                self._ask(task, applicability, advisor)
            prompts = everyday_prompts()
            for i in np.flatnonzero(self._prompt_fold == fold):
                self._alarms[0] += _choice(applicability, advisor, prompts[i], self._everyday[i]) is not None
                self._alarms[1] += 1

    def _ask(self, task: str, applicability: Applicability, advisor: Advisor) -> None:
        rows = self._panel.support
        at = rows.row_of_task[task]
        text, query = rows.texts[at[0]], rows.vectors[at[0]]
        own = [str(rows.skills[i]) for i in at]
        recorded = set(applicability.tasks.skills)
        helping = [s for s in own if s in recorded and advisor.ask(Question(text, s)).decision.action == "use"]
        self._helped_by[task] = helping[0] if helping else None
        self._chosen[task] = _choice(applicability, advisor, text, query)
        without = self._without_skill.get(own[0]) if len(own) == 1 else None
        if without is not None:
            self._removed[0] += _choice(without, advisor, text, query) is not None
            self._removed[1] += 1

    def _removed_skills(self) -> dict[str, Applicability]:
        """Applicability without each of some skills."""
        rows = self._panel.support
        names = np.unique(rows.skills)
        drawn = self._generator.permutation(names)[:_MOST_REMOVED_SKILLS]
        return {str(name): self._fitted(rows.rows(rows.skills != name)) for name in drawn}

    def _fitted(self, rows: Support, prompts: Ints | None = None) -> Applicability:
        """Applicability from some rows and some everyday prompts, all of them unless they are named."""
        at = np.arange(len(self._everyday)) if prompts is None else prompts
        everyday_texts = [everyday_prompts()[i] for i in at.tolist()]
        texts = self._panel.skill_texts
        skills = [Skill(name, text=texts.get(name, "")) for name in np.unique(rows.skills).tolist()]
        return fitted_applicability(rows, self._everyday[at], everyday_texts, self._panel.encoder, skills)

    def result(self) -> RoutingResult:
        """Counts, and the success of the whole."""
        rows, tasks = self._panel.support, [task for task in self._tasks if task in self._chosen]
        skills_of = {task: {str(rows.skills[i]) for i in rows.row_of_task[task]} for task in tasks}
        wrong = [task for task in tasks if (s := self._chosen[task]) is not None and s not in skills_of[task]]
        helped = [task for task in tasks if self._helped_by[task] is not None]
        right = {task for task in tasks if self._chosen[task] in skills_of[task]}
        mixed = Counter((min(skills_of[task]), str(self._chosen[task])) for task in wrong)
        success = _success(rows, tasks, self._chosen, self._helped_by)
        return RoutingResult(
            agent=rows.agent,
            suite=self._panel.suite,
            tasks=len(tasks),
            skills=len(set(rows.skills.tolist())),
            own=Share.counted(len(right & set(helped)), len(helped)),
            unwanted=Share.counted(len(right - set(helped)), len(tasks) - len(helped)),
            wrong=Share.counted(len(wrong), len(tasks)),
            none=Share.counted(sum(self._chosen[task] is None for task in tasks), len(tasks)),
            everyday=Share.counted(*self._alarms),
            removed=Share.counted(*self._removed),
            prompts=self._on_prompts() if self._settings.prompts else None,
            confusions=tuple(
                Confusion(own, chosen, count) for (own, chosen), count in mixed.most_common(_MOST_CONFUSIONS)
            ),
            off=float(success["off"].mean()),
            on=float(success["on"].mean()),
            supplied=float(success["supplied"].mean()),
            routed=float(success["routed"].mean()),
            routed_low=float(success["routed_low"].mean()),
            routed_vs_off=self._interval(success["routed"] - success["off"]),
            routed_vs_supplied=self._interval(success["routed"] - success["supplied"]),
        )

    def _on_prompts(self) -> Share:
        """The caller's messages, asked of the whole bank."""
        applicability = self._fitted(self._panel.support)
        used = 0
        with tempfile.TemporaryDirectory() as folder, _bank_of(self._panel, self._panel.support, Path(folder)) as bank:
            advisor = Advisor(bank, self._panel.encoder, agent=self._panel.agent, gate=self._settings.gate)
            for prompt in self._settings.prompts:
                query = self._panel.encoder.encode([prompt])[0]
                used += _choice(applicability, advisor, prompt, query) is not None
        return Share.counted(used, len(self._settings.prompts))

    def _interval(self, differences: Floats) -> Range:
        """Over tasks, by the bootstrap."""
        draws = max(1, self._settings.resamples)
        generator = np.random.default_rng(self._settings.seed)
        means = [float(differences[_drawn(generator, len(differences))].mean()) for _ in range(draws)]
        return percentile_range(np.array(means))


def _drawn(generator: np.random.Generator, count: int) -> Ints:
    return generator.integers(0, count, count)


def _choice(applicability: Applicability, advisor: Advisor, text: str, query: Vectors) -> str | None:
    """The skill that a harness would inject for a message, with every recorded skill on offer."""
    if not read_message(text).is_task:
        return None
    answers = [advisor.ask(Question(text, skill)) for skill in applicability.rank(query, text=text).applicable()]
    used = [answer for answer in answers if answer.decision.action == "use"]
    best = max(used, key=lambda answer: answer.decision.gain, default=None)
    return None if best is None else best.skill


def _success(
    rows: Support, tasks: Sequence[str], chosen: Mapping[str, str | None], helped_by: Mapping[str, str | None]
) -> dict[str, Floats]:
    """(tasks,) success under each way to decide; a task of several skills counts with its first one."""
    columns: dict[str, list[float]] = {name: [] for name in ("off", "on", "supplied", "routed", "routed_low")}
    for task in tasks:
        at = rows.row_of_task[task]
        with_skill = {str(rows.skills[i]): float(rows.y1[i]) for i in at}
        off, helping, choice = float(rows.y0[at[0]]), helped_by[task], chosen[task]
        columns["off"].append(off)
        columns["on"].append(float(rows.y1[at[0]]))
        columns["supplied"].append(off if helping is None else with_skill[helping])
        columns["routed"].append(off if choice is None else with_skill.get(choice, off))
        columns["routed_low"].append(off if choice is None else with_skill.get(choice, 0.0))
    return {name: np.array(values) for name, values in columns.items()}


def _bank_of(panel: LoadedPanel, rows: Support, folder: Path) -> Bank:
    """A bank with some tasks of a panel, as if the others had never been recorded."""
    tasks = {str(rows.task_ids[i]): i for i in range(len(rows))}
    bank = Bank.open(folder / "kept.bank", create=True)
    bank.add(
        Batch(
            tasks=[Task(name, rows.texts[i], str(rows.families[i]), panel.suite) for name, i in tasks.items()],
            executions=[run for run in panel.versioned if run.task_id in tasks],
            vectors=[
                TextVector(panel.encoder.identity, text_digest(rows.texts[i]), rows.vectors[i])
                for i in {rows.texts[i]: i for i in tasks.values()}.values()
            ],
        )
    )
    return bank


def routing_document(results: Sequence[RoutingResult]) -> dict[str, Any]:
    """The document of `evaluate --routing --json`."""

    def panel(result: RoutingResult) -> dict[str, Any]:
        document = asdict(result)
        for name in ("own", "unwanted", "wrong", "none", "everyday", "removed", "prompts"):
            share = getattr(result, name)
            if share is not None:
                document[name]["rate"] = share.rate
        return document

    return {"panels": [panel(result) for result in results]}
