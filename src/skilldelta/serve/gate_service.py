"""The gate without a transport: decide, choose, explain and record, the same for HTTP, MCP, hooks and Python callers.

Threads may share a service. A bank that grows is noticed at the next question; one whose file was replaced is opened
again. What was answered with an id is in the decision log, durably.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from skilldelta.advisor.carried_over import SkillVersion, carried_over, edit_cost, edits_of
from skilldelta.advisor.failure import ROUTING_FAILURES, fallback_advice
from skilldelta.advisor.recording import (
    KeptText,
    conversation_digest,
    decision_record,
    kept_document,
    logged_answer,
    neighbor_ids,
)
from skilldelta.bank.batch import Added, Batch
from skilldelta.bank.entries import DecisionFilter, DecisionRecord, Logged, RecordedOutcome
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.errors import BankError, InputError, NotRecordedError, ReplacedBankError
from skilldelta.gate import Action, Answer, Decision, Gate, Question, SkillChoice
from skilldelta.records import Agent, Skill
from skilldelta.redaction import redacted
from skilldelta.routing.applicability import LEAST_CHANCE, Ranking
from skilldelta.routing.task_text import WISHED, read_message
from skilldelta.serve.learning import LearningProcess
from skilldelta.serve.loaded_bank import EncoderMaker, KnownNames, LoadedBank
from skilldelta.skill_folder import VERSION_FIELDS

T = TypeVar("T")

# Seconds that a writer of the log waits for another writer of the bank.
LOCK_PATIENCE = 5.0
# Seconds that a decision waits for its place in the log; a hook gives up after one.
LOG_PATIENCE = 0.5
NOT_LOGGED = "this decision is not in the log, which cannot be written at the moment; the server's log says why"

_log = logging.getLogger("skilldelta.serve")


_DEFAULT_GATE = Gate()

StillWanted = Callable[[], bool]
"""Whether whoever asked still waits for the answer."""


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class GateSettings:
    """How a service decides and what it keeps."""

    gate: Gate = _DEFAULT_GATE
    agent: str | None = None
    """Whom a question is about that names no agent; None is the only one of the bank."""
    keep: KeptText = "digest"
    """What the log keeps of a task's text."""
    retention_days: float | None = None
    """Decisions older than this are removed when the service starts, and then every hour; None keeps them."""
    fallback: Action | None = None
    """The decision when routing fails; None is an error."""


class GateService:
    """One bank, one encoder, one gate. Open it with `GateService.open`, and close it."""

    def __init__(
        self,
        bank: Bank,
        make_encoder: EncoderMaker,
        settings: GateSettings | None = None,
        *,
        reopen: Callable[[], Bank],
        learner: LearningProcess | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings or GateSettings()
        self._learner = learner
        self._make_encoder = make_encoder
        self._reopen = reopen
        self._clock = clock
        self._loaded = LoadedBank(bank, make_encoder, learner)
        self._changing = threading.Lock()
        self._edit_cost: tuple[int, float] | None = None
        """What edits cost, as learned at a revision of the bank."""
        self.not_logged = 0
        """Decisions that were answered and could not be recorded in time."""
        self.opened_at = bank.location
        """The bank's path or URL, a password included: for processes of this service alone."""

    @classmethod
    def open(
        cls,
        location: str | Path,
        settings: GateSettings | None = None,
        *,
        encoder: Encoder | EncoderMaker | None = None,
        learner: LearningProcess | None = None,
        create: bool = False,
        timeout: float = LOCK_PATIENCE,
        clock: Callable[[], float] = time.time,
    ) -> GateService:
        """A service on the bank at a path or URL. `encoder` is one, or makes one for a bank; the default one if none.

        With a `learner`, which must have the same bank and encoder, decisions do not wait while evidence is learned.
        """

        def reopen() -> Bank:  # never makes a bank: one that was removed is missed, not replaced
            return Bank.open(location, create=False, timeout=timeout)

        bank = Bank.open(location, create=create, timeout=timeout)
        gate = cls(bank, _maker(encoder), settings, reopen=reopen, learner=learner, clock=clock)
        gate.opened_at = str(location)
        return gate

    @property
    def location(self) -> str:
        """The bank's path, or its URL without the password."""
        return self._loaded.bank.location

    def close(self) -> None:
        """Write what is waiting, and close the bank."""
        if self._learner is not None:
            self._learner.close()
        self._loaded.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- deciding -------------------------------------------------------------------------------------------------

    def decide(self, question: Question, still_wanted: StillWanted = _always) -> Answer:
        """Use the skill, skip it, or abstain; a conversation that asks again gets its first answer.

        An answer that nobody waits for any more is recorded as not applied, and the conversation is not bound to it.
        """
        return self._on_bank(lambda loaded: self._decided(loaded, question, still_wanted))

    def advise(self, question: Question) -> Answer:
        """The advice behind a decision, for who wants to look at it; the log does not hear of it."""
        return self._on_bank(lambda loaded: self._advice(loaded, self._resolved(loaded.names(), question)))

    def encoder(self) -> Encoder:
        """What turns a text into a vector; recent texts are remembered."""
        return self._on_bank(lambda loaded: loaded.encoder())

    def decide_batch(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer per question, in order; a question that cannot be answered fails the batch before any is recorded."""

        def decided(loaded: LoadedBank) -> list[Answer]:
            resolved = [self._resolved(loaded.names(), question) for question in questions]
            return self._recorded(loaded, [(question, self._answer(loaded, question)) for question in resolved])

        return self._on_bank(decided)

    def choose(self, questions: Sequence[Question], still_wanted: StillWanted = _always) -> SkillChoice:
        """The skill that the task is about and that the gate would use, with the largest gain if there are several.

        First all skills are ranked together, with *none* as a competitor. Only the gates of applicable skills are asked
        and recorded. About the others, and about skills that the bank knows nothing of, the answer is `abstain`: nothing
        is injected, and nothing denied.
        """
        if not questions:
            raise InputError("there is no skill to choose from; name at least one")
        return self._on_bank(lambda loaded: self._chosen(loaded, questions, still_wanted))

    # -- the log --------------------------------------------------------------------------------------------------

    def record_outcome(self, outcome: RecordedOutcome) -> Logged:
        """What happened after a decision; durable when this returns. The same again adds nothing."""
        return self._on_bank(lambda loaded: loaded.log.write(outcome))

    def explain(self, decision_id: int) -> dict[str, Any]:
        """A past decision with the evidence it rested on, and its outcomes."""

        def explained(loaded: LoadedBank) -> dict[str, Any]:
            record = loaded.bank.decision(decision_id)
            if record is None:
                raise NotRecordedError(f"the log has no decision {decision_id}; list the decisions to see those it has")
            return {**_entry(record), **kept_document(record, _texts(loaded.bank, record))}

        return self._on_bank(explained)

    def decisions(self, limit: int, chosen: DecisionFilter | None = None) -> dict[str, Any]:
        """A page of the log, newest first, and where the next one starts."""
        records = self._on_bank(lambda loaded: loaded.bank.decisions(limit + 1, chosen))
        page = records[:limit]
        digests = [record.text_digest for record in page if record.text_digest]
        recorded = self._on_bank(lambda loaded: loaded.bank.tasks_by_digest(digests)) if digests else {}
        return {
            "decisions": [
                {**_entry(record), **kept_document(record, {}), "recorded_task": recorded.get(record.text_digest)}
                for record in page
            ],
            "next": page[-1].decision_id if len(records) > limit else None,
        }

    def forget_expired(self) -> int:
        """Remove the decisions that are older than the settings allow; returns how many."""
        days = self.settings.retention_days
        if days is None:
            return 0
        before = self._clock() - days * 86_400
        return self._on_bank(
            lambda loaded: loaded.bank.forget_decisions(before) if loaded.bank.count_decisions(before) else 0
        )

    # -- the bank -------------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """The document of `bank status --json`."""
        return self._on_bank(lambda loaded: asdict(loaded.bank.status()))

    def skill_names(self) -> list[str]:
        """The skills that can be asked about, in order of arrival."""
        names = self._on_bank(lambda loaded: loaded.names())
        return list(dict.fromkeys(skill.skill_id for skill in names.skills if skill.skill_id))

    def skill(self, name: str) -> Skill:
        """The current version of a skill, with its text where the bank has it."""
        return self._on_bank(lambda loaded: loaded.names().skill(name))

    def add(self, batch: Batch) -> Added:
        """New executions, whole or not at all; the next question sees them."""
        return self._on_bank(lambda loaded: loaded.bank.add(batch))

    def read(self, reading: Callable[[Bank], T]) -> T:
        """Whatever else there is to read; the bank is opened again where it was replaced."""
        return self._on_bank(lambda loaded: reading(loaded.bank))

    def warm_up(self) -> None:
        """Load, or learn, what the first questions would have to wait for."""
        self._on_bank(lambda loaded: loaded.warm_up(self.settings.gate))

    # -- steps ----------------------------------------------------------------------------------------------------

    def _on_bank(self, action: Callable[[LoadedBank], T]) -> T:
        loaded = self._loaded
        try:
            return action(loaded)
        except ReplacedBankError:
            return action(self._opened_again(loaded))

    def _opened_again(self, old: LoadedBank) -> LoadedBank:
        with self._changing:
            if self._loaded is old:  # else another thread was faster
                self._loaded = LoadedBank(self._reopen(), self._make_encoder, self._learner)
            return self._loaded

    def _decided(self, loaded: LoadedBank, question: Question, still_wanted: StillWanted) -> Answer:
        resolved = self._resolved(loaded.names(), question)
        return self._recorded(loaded, [(resolved, self._answer(loaded, resolved))], still_wanted)[0]

    def _chosen(self, loaded: LoadedBank, questions: Sequence[Question], still_wanted: StillWanted) -> SkillChoice:
        message = read_message(questions[0].text)
        if message.is_task and message.text != questions[0].text:  # of a log with a question, the question
            questions = [replace(question, text=message.text) for question in questions]
        names = loaded.names()
        resolved = [self._resolved(names, question, unknown_skills=True) for question in questions]
        ranking: Ranking | None = Ranking({question.skill.skill_id: 0.0 for question in resolved if question.is_known})
        if questions[0].wished:
            ranking = None  # nobody asks whether it applies
        elif message.is_task and any(question.is_known for question in resolved):
            ranking = self._ranking(loaded, resolved)
        applicable = [] if ranking is None else ranking.applicable()
        any_applies = None if ranking is None else ranking.any_skill
        candidates = []
        for question in resolved:
            if ranking is None or question.skill.skill_id in applicable or not question.is_known:
                answer = self._answer(loaded, question)
            else:
                # A message that is no task, or about none of the skills, leaves a decision as it is.
                first = None if applicable else self._first_answer(loaded, question)
                answer = first or _unrelated(question, ranking, applicable, any_applies or 0.0)
            candidates.append((question, answer))
        chances = {} if ranking is None else ranking.chances
        answers = [
            answer if answer.applies == chance else replace(answer, applies=chance)
            for answer, chance in zip(
                self._recorded(loaded, candidates, still_wanted),
                (chances.get(question.skill.skill_id) for question in resolved),
                strict=True,
            )
        ]
        useful = [answer for answer in answers if answer.decision.action == "use"]
        best = max(useful, key=lambda answer: answer.decision.gain, default=None)
        return SkillChoice(None if best is None else best.skill, tuple(answers), any_applies)

    def _ranking(self, loaded: LoadedBank, resolved: Sequence[ResolvedQuestion]) -> Ranking | None:
        """How likely the task is about each skill; None where that cannot be said, so that every gate is asked."""
        first, skills = resolved[0], [question.skill.skill_id for question in resolved]
        try:
            return loaded.ranking(first.question.text, skills, first.agent, first.question.suite)
        except ReplacedBankError:
            raise
        except ROUTING_FAILURES:
            return None  # each gate says for itself what failed

    def _resolved(self, names: KnownNames, question: Question, *, unknown_skills: bool = False) -> ResolvedQuestion:
        """The question with its names resolved; a skill that the bank does not know is an error unless it may be unknown."""
        agent = names.agent(question.agent or self.settings.agent)
        is_known = not unknown_skills or question.skill in names.versions
        skill = names.skill(question.skill) if is_known else Skill(question.skill)
        versions = [version for version in names.versions.get(skill.skill_id, ()) if version.digest]
        is_current = not versions or _version_on_offer(question, names.skills).is_recorded(skill)
        return ResolvedQuestion(question, agent, skill, question.gate or self.settings.gate, is_current, is_known)

    def _carried_over(self, loaded: LoadedBank, resolved: ResolvedQuestion, advice: Answer) -> Answer:
        """The advice about the recorded version, for the edited one on offer."""
        if advice.decision.is_fallback:
            return _of_another_version(resolved)
        names, question, recorded = loaded.names(), resolved.question, resolved.skill
        if self._edit_cost is None or self._edit_cost[0] != names.revision:
            versions = [skill.skill_id for skill in names.skills if skill.text]
            several = len(versions) > len(set(versions))
            edits = edits_of(names.skills, loaded.bank.executions()) if several else []
            self._edit_cost = names.revision, edit_cost(edits)
        changed = _version_on_offer(question, names.skills).changed_since(recorded)
        return carried_over(advice, resolved.gate, recorded.digest, changed, self._edit_cost[1])

    def _answer(self, loaded: LoadedBank, resolved: ResolvedQuestion) -> Answer:
        """The first answer of the conversation, else the advice; abstains about a skill that the bank does not have."""
        first = self._first_answer(loaded, resolved)
        if first is not None:
            return first
        answer = self._advice(loaded, resolved) if resolved.is_known else _without_evidence(resolved)
        if not resolved.question.wished:
            return answer
        return replace(answer, decision=replace(answer.decision, action="use", reason=WISHED))

    def _first_answer(self, loaded: LoadedBank, resolved: ResolvedQuestion) -> Answer | None:
        conversation = resolved.question.conversation
        if not conversation:
            return None
        record = loaded.bank.decision_in(conversation_digest(conversation), resolved.skill.skill_id)
        return None if record is None else _repeated(loaded, record, resolved)

    def _advice(self, loaded: LoadedBank, resolved: ResolvedQuestion) -> Answer:
        question = resolved.question
        names = {"skill": resolved.skill.skill_id, "family": question.family, "suite": question.suite}
        if not resolved.is_current and resolved.gate.estimator == "paper":
            return _of_another_version(resolved)
        try:
            # Only what an answer depends on: the same question of another conversation is remembered.
            same_question = Question(
                question.text, resolved.skill.skill_id, question.family, question.task_id, question.suite
            )
            advice = loaded.advice(same_question, resolved.agent, resolved.gate, explain=question.explain)
            return advice if resolved.is_current else self._carried_over(loaded, resolved, advice)
        except ReplacedBankError:
            raise
        except ROUTING_FAILURES as error:
            if self.settings.fallback is None:
                raise
            return fallback_advice(error, self.settings.fallback, resolved.gate, agent=resolved.agent.name, **names)

    def _recorded(
        self,
        loaded: LoadedBank,
        candidates: Sequence[tuple[ResolvedQuestion, Answer]],
        still_wanted: StillWanted = _always,
    ) -> list[Answer]:
        """The answers with their ids, all of which are durable.

        An answer that says whether it is a repetition is complete: it comes from the log, or is not meant for it.
        An answer is worth more than its place in the log: where the log cannot be written, it comes with a warning.
        """
        is_late = not still_wanted()
        patience = time.monotonic() + LOG_PATIENCE
        waiting = [
            loaded.log.submit(self._record(resolved, answer, is_late))
            if answer.repeated is None and resolved.question.record
            else None
            for resolved, answer in candidates
        ]
        answers = []
        for (resolved, answer), entry in zip(candidates, waiting, strict=True):
            if answer.repeated is not None:
                answers.append(answer)
                continue
            new_answer = replace(answer, repeated=False, skill_text=resolved.offered_text)
            try:
                logged = None if entry is None else entry.result(max(0.0, patience - time.monotonic()))
            except ReplacedBankError:
                raise
            except (BankError, OSError, TimeoutError) as error:
                with self._changing:
                    self.not_logged += 1
                _log.error("a decision is not in the log: %s", redacted(str(error)) or "the bank is busy")
                answers.append(replace(new_answer, warning=NOT_LOGGED))
                continue
            if logged is None or logged.is_new:
                answers.append(replace(new_answer, decision_id=None if logged is None else logged.id))
                continue
            first = loaded.bank.decision(logged.id)  # another caller of the conversation was faster
            answers.append(new_answer if first is None else _repeated(loaded, first, resolved))
        return answers

    def _record(self, resolved: ResolvedQuestion, advice: Answer, is_late: bool) -> DecisionRecord:
        question = resolved.question
        record = decision_record(
            advice,
            agent=resolved.agent,
            skill=resolved.skill,
            text=question.text,
            task_id=question.task_id,
            time=self._clock(),
            keep=self.settings.keep,
            conversation="" if is_late else question.conversation,
            source=question.source,
        )
        return replace(record, evidence={**record.evidence, "applied": False}) if is_late else record


@dataclass(frozen=True, slots=True)
class ResolvedQuestion:
    """A question with its names resolved."""

    question: Question
    agent: Agent
    skill: Skill
    gate: Gate
    is_current: bool
    is_known: bool
    """Whether the bank has the skill."""

    @property
    def offered_text(self) -> str | None:
        """The `skill_text` of an answer."""
        return (self.skill.text or None) if self.question.include_skill_text else ""


def _maker(encoder: Encoder | EncoderMaker | None) -> EncoderMaker:
    if encoder is None:
        return lambda bank: load_encoder()
    if callable(encoder):
        return encoder
    fixed_encoder = encoder
    return lambda bank: fixed_encoder


def _version_on_offer(question: Question, skills: Sequence[Skill]) -> SkillVersion:
    """What the question says of the version, and what the bank has of it: it may know a version that was never run."""
    version = SkillVersion(**{name.removeprefix("skill_"): getattr(question, name) for name in VERSION_FIELDS})
    if version.sketch or not version.digest:
        return version
    digests = {version.folder_digest, version.digest}
    stored = next((skill for skill in skills if skill.text and skill.digest in digests), None)
    return version if stored is None else SkillVersion.of(stored)


def _repeated(loaded: LoadedBank, record: DecisionRecord, resolved: ResolvedQuestion) -> Answer:
    return replace(logged_answer(record, _texts(loaded.bank, record)), skill_text=resolved.offered_text)


def _of_another_version(resolved: ResolvedQuestion) -> Answer:
    """No evidence is about the version on offer: hands off, and say so. The paper asks for a re-check after an edit."""
    offered, recorded = resolved.question.skill_digest[:12], resolved.skill.digest[:12]
    reason = f"no eligible support: the evidence is of version {recorded} of the skill, not of {offered}"
    decision = Decision(
        "abstain", 0.0, resolved.gate.threshold, reason, "any paired execution with this version", is_fallback=True
    )
    answer = fallback_advice(
        InputError(reason),
        "abstain",
        resolved.gate,
        skill=resolved.skill.skill_id,
        family=resolved.question.family,
        agent=resolved.agent.name,
        suite=resolved.question.suite,
    )
    return replace(answer, decision=decision)


def _hands_off(resolved: ResolvedQuestion, reason: str, would_change: str, *, applies: float | None = None) -> Answer:
    """Abstain about one of several skills; nothing is logged. Made in one piece: of 200 skills most get this answer."""
    question, gate = resolved.question, resolved.gate
    return Answer(
        decision=Decision("abstain", 0.0, gate.threshold, reason, would_change, is_fallback=True),
        agent=resolved.agent.name,
        skill=resolved.skill.skill_id,
        suite=question.suite,
        family=question.family,
        estimator=gate.estimator,
        settings=gate.settings,
        scope="skill-family" if question.family else "skill",
        repeated=False,
        skill_text=None if question.include_skill_text else "",
        applies=applies,
    )


def _unrelated(resolved: ResolvedQuestion, ranking: Ranking, applicable: Sequence[str], any_applies: float) -> Answer:
    """Abstain: the task is not about the skill. `any_applies` is how likely it is about any."""
    skill, chances = resolved.skill.skill_id, ranking.chances
    chance = chances.get(skill)
    if chance is None:
        reason = f"no recorded task of {skill!r} says what the skill is about"
    elif applicable:
        best = applicable[0]
        reason = f"the task is about another skill: {best} ({chances[best]:.0%}), this one {chance:.0%}"
    elif any_applies >= LEAST_CHANCE:
        best = max(chances, key=lambda name: chances[name])
        reason = f"no skill is likely enough to be the one that the task is about; the likeliest is {best} ({chances[best]:.0%})"
    elif any_applies:
        reason = f"the task is like those of no recorded skill ({any_applies:.0%} that any applies)"
    else:
        reason = "the message is no task"
    return _hands_off(resolved, reason, "a task like the recorded ones of the skill", applies=chance)


def _without_evidence(resolved: ResolvedQuestion) -> Answer:
    """Abstain: the skill stays as it would be without a gate."""
    reason = f"no evidence about {resolved.skill.skill_id}, so it is left as it is"
    return _hands_off(resolved, reason, "any paired execution with this skill")


def _entry(record: DecisionRecord) -> dict[str, Any]:
    """What the log has of a decision beside its document."""
    return {
        "decision_id": record.decision_id,
        "time": record.time,
        "task_id": record.task_id or None,
        "skill_digest": record.skill_digest or None,
        "text": record.text,
        "text_digest": record.text_digest or None,
        "source": record.source or None,
        "in_conversation": bool(record.conversation),
        "applied": record.evidence.get("applied") is not False,
        "outcomes": [_outcome(outcome) for outcome in record.outcomes],
    }


def _outcome(outcome: RecordedOutcome) -> dict[str, Any]:
    names = ("time", "success", "tokens", "seconds", "cost_usd")
    return {name: getattr(outcome, name) for name in names}


def _texts(bank: Bank, record: DecisionRecord) -> dict[str, str]:
    """The texts of the tasks that a decision rested on, as far as the bank still has them."""
    suite = record.evidence.get("suite")
    texts = {}
    for task_id in neighbor_ids(record):
        for task in bank.tasks(suite if isinstance(suite, str) else None, task_id):
            texts[task_id] = task.text
    return texts
