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

from skilldelta.advisor.carried_over import carried_over, edit_cost, edits_of
from skilldelta.advisor.failure import ROUTING_FAILURES, fallback_advice
from skilldelta.advisor.recording import (
    KeptText,
    conversation_digest,
    decision_record,
    kept_document,
    neighbor_ids,
)
from skilldelta.bank.batch import Added, Batch
from skilldelta.bank.entries import DecisionFilter, DecisionRecord, Logged, RecordedOutcome
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.errors import BankError, InputError, NotRecordedError, ReplacedBankError
from skilldelta.gate import Action, Answer, Decision, Gate, Question
from skilldelta.records import Agent, Skill
from skilldelta.redaction import redacted
from skilldelta.routing.applicability import Ranking
from skilldelta.routing.task_text import read_message
from skilldelta.serve.gate_question import GateAnswer, GateChoice
from skilldelta.serve.learning import LearningProcess
from skilldelta.serve.warm_bank import EncoderMaker, KnownNames, WarmBank
from skilldelta.text_sketch import changed_share, text_sketch

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
        self._warm = WarmBank(bank, make_encoder, learner)
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
        return self._warm.bank.location

    def close(self) -> None:
        """Write what is waiting, and close the bank."""
        if self._learner is not None:
            self._learner.close()
        self._warm.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- deciding -------------------------------------------------------------------------------------------------

    def decide(self, asked: Question, still_wanted: StillWanted = _always) -> GateAnswer:
        """Use the skill, skip it, or abstain; a conversation that asks again gets its first answer.

        An answer that nobody waits for any more is recorded as not applied, and the conversation is not bound to it.
        """
        return self._on_bank(lambda warm: self._decided(warm, asked, still_wanted))

    def advise(self, asked: Question) -> Answer:
        """The advice behind a decision, for who wants to look at it; the log does not hear of it."""
        return self._on_bank(lambda warm: self._advice(warm, self._asked(warm.names(), asked)))

    def encoder(self) -> Encoder:
        """What turns a text into a vector; recent texts are remembered."""
        return self._on_bank(lambda warm: warm.encoder())

    def decide_batch(self, questions: Sequence[Question]) -> list[GateAnswer]:
        """One answer per question, in order; a question that cannot be answered fails the batch before any is recorded."""

        def decided(warm: WarmBank) -> list[GateAnswer]:
            asked = [self._asked(warm.names(), question) for question in questions]
            advised = [self._first_answer(warm, one) or self._advice(warm, one) for one in asked]
            return self._recorded(warm, list(zip(asked, advised, strict=True)))

        return self._on_bank(decided)

    def choose(self, questions: Sequence[Question], still_wanted: StillWanted = _always) -> GateChoice:
        """The skill that the task is about and that the gate would use, with the largest gain if there are several.

        First all skills are ranked together, with *none* as a competitor. Only the gates of applicable skills are asked
        and recorded. About the others, and about skills that the bank knows nothing of, the answer is `abstain`: nothing
        is injected, and nothing denied.
        """
        if not questions:
            raise InputError("there is no skill to choose from; name at least one")
        return self._on_bank(lambda warm: self._chosen(warm, questions, still_wanted))

    # -- the log --------------------------------------------------------------------------------------------------

    def record_outcome(self, outcome: RecordedOutcome) -> Logged:
        """What happened after a decision; durable when this returns. The same again adds nothing."""
        return self._on_bank(lambda warm: warm.log.write(outcome))

    def explain(self, decision_id: int) -> dict[str, Any]:
        """A past decision with the evidence it rested on, and its outcomes."""

        def explained(warm: WarmBank) -> dict[str, Any]:
            record = warm.bank.decision(decision_id)
            if record is None:
                raise NotRecordedError(f"the log has no decision {decision_id}; list the decisions to see those it has")
            return {**_entry(record), **kept_document(record, _texts(warm.bank, record))}

        return self._on_bank(explained)

    def decisions(self, limit: int, chosen: DecisionFilter | None = None) -> dict[str, Any]:
        """A page of the log, newest first, and where the next one starts."""
        records = self._on_bank(lambda warm: warm.bank.decisions(limit + 1, chosen))
        page = records[:limit]
        digests = [record.text_digest for record in page if record.text_digest]
        recorded = self._on_bank(lambda warm: warm.bank.tasks_by_digest(digests)) if digests else {}
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
            lambda warm: warm.bank.forget_decisions(before) if warm.bank.count_decisions(before) else 0
        )

    # -- the bank -------------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """The document of `bank status --json`."""
        return self._on_bank(lambda warm: asdict(warm.bank.status()))

    def skill_names(self) -> list[str]:
        """The skills that can be asked about, in order of arrival."""
        names = self._on_bank(lambda warm: warm.names())
        return list(dict.fromkeys(skill.skill_id for skill in names.skills if skill.skill_id))

    def skill(self, name: str) -> Skill:
        """The current version of a skill, with its text where the bank has it."""
        return self._on_bank(lambda warm: warm.names().skill(name))

    def add(self, batch: Batch) -> Added:
        """New executions, whole or not at all; the next question sees them."""
        return self._on_bank(lambda warm: warm.bank.add(batch))

    def read(self, reading: Callable[[Bank], T]) -> T:
        """Whatever else there is to read; the bank is opened again where it was replaced."""
        return self._on_bank(lambda warm: reading(warm.bank))

    def warm_up(self) -> None:
        """Load, or learn, what the first questions would have to wait for."""
        self._on_bank(lambda warm: warm.warm_up(self.settings.gate))

    # -- steps ----------------------------------------------------------------------------------------------------

    def _on_bank(self, action: Callable[[WarmBank], T]) -> T:
        warm = self._warm
        try:
            return action(warm)
        except ReplacedBankError:
            return action(self._opened_again(warm))

    def _opened_again(self, old: WarmBank) -> WarmBank:
        with self._changing:
            if self._warm is old:  # else another thread was faster
                self._warm = WarmBank(self._reopen(), self._make_encoder, self._learner)
            return self._warm

    def _decided(self, warm: WarmBank, question: Question, still_wanted: StillWanted) -> GateAnswer:
        asked = self._asked(warm.names(), question)
        advice = self._first_answer(warm, asked) or self._advice(warm, asked)
        return self._recorded(warm, [(asked, advice)], still_wanted)[0]

    def _chosen(self, warm: WarmBank, questions: Sequence[Question], still_wanted: StillWanted) -> GateChoice:
        message = read_message(questions[0].text)
        if message.is_task and message.text != questions[0].text:  # of a log with a question, the question
            questions = [replace(question, text=message.text) for question in questions]
        names = warm.names()
        asked = [self._asked(names, question, unknown_skills=True) for question in questions]
        ranking: Ranking | None = Ranking({one.skill.skill_id: 0.0 for one in asked if one.is_known})
        if message.is_task and any(one.is_known for one in asked):
            ranking = self._ranking(warm, asked)
        applicable = [one.skill.skill_id for one in asked] if ranking is None else ranking.applicable()
        unrelated = {} if ranking is None else _unrelated(asked, ranking)
        advised = []
        for one in asked:
            answer: Answer | GateAnswer | None = None
            if one.skill.skill_id in applicable or not one.is_known:
                answer = self._first_answer(warm, one) or self._advice_or_none(warm, one)
            elif not applicable:  # a message that is no task, or about none of the skills, leaves a decision as it is
                answer = self._first_answer(warm, one)
            advised.append((one, answer or unrelated[one.skill.skill_id]))
        chances = {} if ranking is None else ranking.chances
        answers = [
            answer if answer.applies is not None else replace(answer, applies=chances.get(one.skill.skill_id))
            for one, answer in zip(asked, self._recorded(warm, advised, still_wanted), strict=True)
        ]
        used = [answer.document for answer in answers if answer.document["action"] == "use"]
        best = max(used, key=lambda document: float(document["gain"]), default=None)
        any_applies = None if ranking is None else ranking.any_skill
        return GateChoice(None if best is None else best["skill"], tuple(answers), any_applies)

    def _ranking(self, warm: WarmBank, asked: Sequence[_Asked]) -> Ranking | None:
        """How likely the task is about each skill; None where that cannot be said, so that every gate is asked."""
        question, offered = asked[0].question, [one.skill.skill_id for one in asked]
        try:
            return warm.ranking(question.text, offered, asked[0].agent, question.suite)
        except ReplacedBankError:
            raise
        except ROUTING_FAILURES:
            return None  # each gate says for itself what failed

    def _asked(self, names: KnownNames, question: Question, *, unknown_skills: bool = False) -> _Asked:
        """The question with its names resolved; a skill that the bank does not know is an error unless it may be unknown."""
        agent = names.agent(question.agent or self.settings.agent)
        is_known = question.skill in names.versions
        skill = Skill(question.skill) if unknown_skills and not is_known else names.skill(question.skill)
        versions = [one for one in names.versions.get(skill.skill_id, ()) if one.digest]
        is_current = not question.skill_digest or not versions or question.skill_digest == skill.digest
        return _Asked(question, agent, skill, question.gate or self.settings.gate, is_current, is_known)

    def _carried_over(self, warm: WarmBank, asked: _Asked, advice: Answer) -> Answer:
        """The advice about the recorded version, for the edited one on offer."""
        if advice.decision.is_fallback:
            return _of_another_version(asked)
        names, question, recorded = warm.names(), asked.question, asked.skill
        if self._edit_cost is None or self._edit_cost[0] != names.revision:
            versions = [skill.skill_id for skill in names.skills if skill.text]
            several = len(versions) > len(set(versions))
            edits = edits_of(names.skills, warm.bank.executions()) if several else []
            self._edit_cost = names.revision, edit_cost(edits)
        texts = (skill.text for skill in names.skills if skill.digest == question.skill_digest)
        offered = next(texts, "")  # a bank may have the text of a version that was never run
        sketch = question.skill_sketch or (text_sketch(offered) if offered else "")
        changed = changed_share(text_sketch(recorded.text), sketch) if recorded.text and sketch else None
        return carried_over(advice, asked.gate, recorded.digest, changed, self._edit_cost[1])

    def _first_answer(self, warm: WarmBank, asked: _Asked) -> GateAnswer | None:
        conversation = asked.question.conversation
        if not conversation:
            return None
        record = warm.bank.decision_in(conversation_digest(conversation), asked.skill.skill_id)
        return None if record is None else _repeated(warm, record, asked)

    def _advice(self, warm: WarmBank, asked: _Asked) -> Answer:
        question = asked.question
        names = {"skill": asked.skill.skill_id, "family": question.family, "suite": question.suite}
        if not asked.is_current and asked.gate.estimator == "paper":
            return _of_another_version(asked)
        try:
            # Only what an answer depends on: the same question of another conversation is remembered.
            asked_again = Question(
                question.text, asked.skill.skill_id, question.family, question.task_id, question.suite
            )
            advice = warm.advice(asked_again, asked.agent, asked.gate, explain=question.explain)
            return advice if asked.is_current else self._carried_over(warm, asked, advice)
        except ReplacedBankError:
            raise
        except ROUTING_FAILURES as error:
            if self.settings.fallback is None:
                raise
            return fallback_advice(error, self.settings.fallback, asked.gate, agent=asked.agent.name, **names)

    def _advice_or_none(self, warm: WarmBank, asked: _Asked) -> Answer | GateAnswer:
        """The advice about one of several skills; without evidence it abstains, and nothing is logged."""
        if asked.is_known:
            return self._advice(warm, asked)
        return _unrecorded(_without_evidence(asked), asked)

    def _recorded(
        self,
        warm: WarmBank,
        advised: list[tuple[_Asked, Answer | GateAnswer]],
        still_wanted: StillWanted = _always,
    ) -> list[GateAnswer]:
        """The answers with their ids, all of which are durable; what is a repetition is not recorded again.

        An answer is worth more than its place in the log: where the log cannot be written, it comes with a warning.
        """
        is_late = not still_wanted()
        patience = time.monotonic() + LOG_PATIENCE
        waiting = [
            warm.log.submit(self._record(asked, advice, is_late))
            if isinstance(advice, Answer) and asked.question.record
            else None
            for asked, advice in advised
        ]
        answers = []
        for (asked, advice), entry in zip(advised, waiting, strict=True):
            if isinstance(advice, GateAnswer):
                answers.append(advice)
                continue
            try:
                logged = None if entry is None else entry.result(max(0.0, patience - time.monotonic()))
            except ReplacedBankError:
                raise
            except (BankError, OSError, TimeoutError) as error:
                with self._changing:
                    self.not_logged += 1
                _log.error("a decision is not in the log: %s", redacted(str(error)) or "the bank is busy")
                answers.append(replace(_new_answer(advice, asked, None), warning=NOT_LOGGED))
                continue
            if logged is None or logged.is_new:
                answers.append(_new_answer(advice, asked, None if logged is None else logged.id))
                continue
            first = warm.bank.decision(logged.id)  # another caller of the conversation was faster
            answers.append(_new_answer(advice, asked, None) if first is None else _repeated(warm, first, asked))
        return answers

    def _record(self, asked: _Asked, advice: Answer, is_late: bool) -> DecisionRecord:
        question = asked.question
        record = decision_record(
            advice,
            agent=asked.agent,
            skill=asked.skill,
            text=question.text,
            task_id=question.task_id,
            time=self._clock(),
            keep=self.settings.keep,
            conversation="" if is_late else question.conversation,
            source=question.source,
        )
        return replace(record, evidence={**record.evidence, "applied": False}) if is_late else record


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its names resolved."""

    question: Question
    agent: Agent
    skill: Skill
    gate: Gate
    is_current: bool
    is_known: bool
    """Whether the bank has the skill."""


def _maker(encoder: Encoder | EncoderMaker | None) -> EncoderMaker:
    if encoder is None:
        return lambda bank: load_encoder()
    if callable(encoder):
        return encoder
    given = encoder
    return lambda bank: given


def _new_answer(advice: Answer, asked: _Asked, decision_id: int | None) -> GateAnswer:
    wanted = asked.question.include_skill_text
    return GateAnswer(
        advice.to_dict(),
        decision_id,
        skill_text=asked.skill.text or None if wanted else None,
        has_skill_text=wanted,
    )


def _repeated(warm: WarmBank, record: DecisionRecord, asked: _Asked) -> GateAnswer:
    wanted = asked.question.include_skill_text
    return GateAnswer(
        kept_document(record, _texts(warm.bank, record)),
        record.decision_id,
        repeated=True,
        skill_text=asked.skill.text or None if wanted else None,
        has_skill_text=wanted,
    )


def _of_another_version(asked: _Asked) -> Answer:
    """No evidence is about the version on offer: hands off, and say so. The paper asks for a re-check after an edit."""
    offered, known = asked.question.skill_digest[:12], asked.skill.digest[:12]
    reason = f"no eligible support: the evidence is of version {known} of the skill, not of {offered}"
    decision = Decision(
        "abstain", 0.0, asked.gate.threshold, reason, "any paired execution with this version", is_fallback=True
    )
    told = fallback_advice(
        InputError(reason),
        "abstain",
        asked.gate,
        skill=asked.skill.skill_id,
        family=asked.question.family,
        agent=asked.agent.name,
        suite=asked.question.suite,
    )
    return replace(told, decision=decision)


def _unrecorded(advice: Answer, asked: _Asked) -> GateAnswer:
    """An answer that the log does not hear of."""
    return GateAnswer(advice.to_dict(), has_skill_text=asked.question.include_skill_text)


def _unrelated(asked: Sequence[_Asked], ranking: Ranking) -> dict[str, GateAnswer]:
    """Hands off, for each skill that the task is not about; one document serves for all but their names and reasons."""
    first, chances, applicable = asked[0], ranking.chances, ranking.applicable()
    names = {"skill": first.skill.skill_id, "family": first.question.family, "suite": first.question.suite}
    advice = fallback_advice(InputError(""), "abstain", first.gate, agent=first.agent.name, **names)
    document = advice.to_dict() | {"would_change": "a task like the recorded ones of the skill"}
    if applicable:
        general = f"the task is about another skill: {applicable[0]} ({chances[applicable[0]]:.0%}), this one "
    elif ranking.any_skill:
        general = f"the task is like those of no recorded skill ({ranking.any_skill:.0%} that any applies)"
    else:
        general = "the message is no task"
    answers = {}
    for one in asked:
        skill = one.skill.skill_id
        if skill in chances:
            reason = f"{general}{chances[skill]:.0%}" if applicable else general
        else:
            reason = f"no recorded task of {skill!r} says what the skill is about"
        answers[skill] = GateAnswer(
            {**document, "skill": skill, "reason": reason},
            has_skill_text=one.question.include_skill_text,
            applies=chances.get(skill),
        )
    return answers


def _without_evidence(asked: _Asked) -> Answer:
    """Abstain: the skill stays as it would be without a gate."""
    names = {"skill": asked.skill.skill_id, "family": asked.question.family, "suite": asked.question.suite}
    reason = f"no evidence about {asked.skill.skill_id}, so it is left as it is"
    advice = fallback_advice(InputError(reason), "abstain", asked.gate, agent=asked.agent.name, **names)
    decision = replace(advice.decision, reason=reason, would_change="any paired execution with this skill")
    return replace(advice, decision=decision)


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
    wanted = neighbor_ids(record)
    found = {}
    for task_id in wanted:
        for task in bank.tasks(suite if isinstance(suite, str) else None, task_id):
            found[task_id] = task.text
    return found
