"""One open bank with all that is loaded for it: encoder, advisors, names, recent answers, the log's writer.

Everything here belongs to one file of the bank. When another takes its place, all of it is made anew.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from skilldelta.advisor import Advisor, Answer, Question
from skilldelta.advisor.learned_states import Learner, NotLearnedYetError
from skilldelta.advisor.skill_ranking import SkillRanking
from skilldelta.arrays import Vectors
from skilldelta.bank.reading import Arrivals, chosen_agent, current_skill
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder
from skilldelta.errors import unknown_name
from skilldelta.gate import Gate
from skilldelta.records import Agent, Skill
from skilldelta.routing.applicability import Ranking
from skilldelta.serve.log_writer import LogWriter

EncoderMaker = Callable[[Bank], Encoder]

# Answers that are remembered for questions that come again.
_MOST_ANSWERS = 4_096
# Characters of a text, and neighbors of an answer, that are remembered, so that all of them take a bounded memory.
_LONGEST_REMEMBERED, _MOST_NEIGHBORS = 4_000, 64
# Of texts and vectors together; the least recently used make room.
_MOST_BYTES = 32 << 20
# Encoders that learn from the bank's own texts, and so are made anew when it has grown.
_OF_THE_BANK = ("tfidf", "imported/")
# Questions that wait for a panel to be learned, and for how many seconds; others are told to come again, so that they
# do not take the threads that everything else is answered by.
_MOST_WAITING, _PATIENCE = 8, 120.0
# How long scopes are read before the server says that it is ready; others are read with the first question about them.
_WARM_UP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What the bank knows at one revision, so that a question need not ask the database for it."""

    revision: int
    agents: Sequence[Agent]
    skills: Sequence[Skill]
    suites: Sequence[str]
    default_agent: Agent | None
    versions: Mapping[str, Sequence[Skill]]
    """Of each skill, by its name: a choice among 200 skills looks each of them up."""

    def agent(self, name: str | None) -> Agent:
        """The agent of that name, or the default one for None; an unknown name is refused."""
        return chosen_agent(self.agents, name, default=self.default_agent)

    def skill(self, name: str) -> Skill:
        """The current version of a skill; an unknown one is refused."""
        return current_skill(self.versions.get(name) or self.skills, name)


@dataclass(frozen=True, slots=True)
class _Key:
    agent: Agent
    question: Question
    gate: Gate
    explain: bool


class LoadedBank:
    """Answers questions from one open bank. Threads may share it."""

    def __init__(self, bank: Bank, make_encoder: EncoderMaker, learner: Learner | None = None) -> None:
        self.bank = bank
        self._learner = learner
        self._waiting = threading.BoundedSemaphore(_MOST_WAITING)
        self.log = LogWriter(bank)
        self._make_encoder = make_encoder
        self._encoder: RememberingEncoder | None = None
        self._encoder_revision = 0
        self._names: KnownNames | None = None
        self._arrivals: Arrivals | None = None
        self._suites: dict[tuple[Agent, str, str], str] = {}
        self._advisors: dict[Agent, Advisor] = {}
        self._rankings: dict[Agent, SkillRanking] = {}
        self._answers: OrderedDict[_Key, Answer] = OrderedDict()
        self._learning = threading.Lock()
        self._asking = threading.Lock()

    def names(self) -> KnownNames:
        """The names as they are now; what belongs to an earlier revision is dropped."""
        revision = self.bank.revision()
        names = self._names
        if names is not None and names.revision == revision:
            return names
        with self._learning:
            if self._names is None or self._names.revision != revision:
                bank, before = self.bank, self._arrivals
                self._arrivals = bank.arrivals(0 if before is None else before.last_execution)
                self._answers = OrderedDict()
                if before is None or before.removals != self._arrivals.removals:
                    self._suites = {}
                # An agent's new executions in another suite may make the choice of a suite another one.
                grown = self._arrivals.panels
                self._suites = {
                    key: suite
                    for key, suite in self._suites.items()
                    if all(agent != key[0] or other == suite for agent, other in grown)
                }
                skills = bank.skills()
                versions: dict[str, list[Skill]] = {}
                for skill in skills:
                    versions.setdefault(skill.skill_id, []).append(skill)
                default = bank.defaults().agent
                self._names = KnownNames(revision, bank.agents(), skills, bank.suites(), default, versions)
            return self._names

    def advice(self, question: Question, agent: Agent, gate: Gate, *, explain: bool) -> Answer:
        """The answer to a question, remembered until the evidence changes."""
        names = self.names()
        encoder = self._current_encoder(names.revision)
        key = _Key(agent, question, gate, explain)
        answers = self._answers
        remembered_answer = answers.get(key)
        if remembered_answer is not None:
            return remembered_answer
        if question.text.strip():
            encoder.encode([question.text])  # outside of the lock: an endpoint may take its time
        while True:
            try:
                with self._asking:
                    completed = self._completed(question, agent, names)
                    advice = self._advisor(agent, encoder, gate).ask(completed, explain=explain)
                    self._remember(key, advice, names.revision, answers)
                return advice
            except NotLearnedYetError as missing:
                # Outside of the lock: who asks about another panel, or by the paper's rule, does not wait with us.
                if not self._waiting.acquire(blocking=False):
                    raise
                try:
                    missing.ready.result(_PATIENCE)
                except TimeoutError:
                    raise missing from None
                finally:
                    self._waiting.release()

    def _remember(self, key: _Key, advice: Answer, revision: int, answers: OrderedDict[_Key, Answer]) -> None:
        """Keep an answer for the next one who asks the same, until the evidence, or what was learned from it, changes."""
        is_short = len(key.question.text) <= _LONGEST_REMEMBERED and len(advice.neighbors) <= _MOST_NEIGHBORS
        if is_short and not advice.of_previous_revision and self.bank.revision() == revision:
            answers[key] = advice
            while len(answers) > _MOST_ANSWERS:
                answers.popitem(last=False)

    def ranking(self, text: str, offered: Sequence[str], agent: Agent, suite: str) -> Ranking | None:
        """How likely a task is about each skill on offer; None where nothing can be said."""
        encoder = self._current_encoder(self.names().revision)
        encoder.encode([text])  # outside of the lock: an endpoint may take its time
        with self._asking:
            if agent not in self._rankings:
                self._rankings[agent] = SkillRanking(self.bank, encoder, agent)
            ranking = self._rankings[agent]
        return ranking.rank(text, offered, suite=suite)

    def encoder(self) -> RememberingEncoder:
        """The encoder for the bank as it is now."""
        return self._current_encoder(self.names().revision)

    def warm_up(self, gate: Gate) -> None:
        """Load, or learn, what the first questions about each panel and skill would have to wait for."""
        skills = dict.fromkeys(skill.skill_id for skill in self.names().skills if skill.skill_id)
        end = time.monotonic() + _WARM_UP_SECONDS
        panels = self.bank.panel_names()
        # Every panel once, which may have to be learned; then skill by skill as far as the time goes.
        for skill, (agent, suite) in product(skills, panels):
            if skill == next(iter(skills)) or time.monotonic() < end:
                self.advice(Question("warm", skill, suite=suite), agent, gate, explain=False)

    def close(self) -> None:
        """Write what is waiting, and close the bank."""
        self.log.close()
        self.bank.close()

    def _completed(self, question: Question, agent: Agent, names: KnownNames) -> Question:
        """The question with its suite, which is looked up once per skill."""
        if question.suite:
            if question.suite not in names.suites:
                raise unknown_name("suite", question.suite, names.suites)
            return question
        key = (agent, question.skill, question.task_id)
        suite = self._suites.get(key)
        if suite is None:
            suite = self.bank.resolve_suite(agent, skill_id=question.skill, task_id=question.task_id) or ""
            if not question.task_id:  # ids of tasks are as many as anybody likes to name
                self._suites[key] = suite
        return replace(question, suite=suite)

    def _advisor(self, agent: Agent, encoder: RememberingEncoder, gate: Gate) -> Advisor:
        if agent not in self._advisors:
            # What learns from the bank's own texts is another encoder after every change, and has no earlier state.
            learner = None if encoder.identity.startswith(_OF_THE_BANK) else self._learner
            self._advisors[agent] = Advisor(self.bank, encoder, agent=agent, gate=gate, learner=learner)
        return self._advisors[agent].under(gate)

    def _current_encoder(self, revision: int) -> RememberingEncoder:
        encoder = self._encoder
        if encoder is not None and (
            revision == self._encoder_revision or not encoder.identity.startswith(_OF_THE_BANK)
        ):
            return encoder
        with self._asking:
            if self._encoder is None or revision != self._encoder_revision:
                self._encoder = RememberingEncoder(self._make_encoder(self.bank))
                self._advisors, self._rankings = {}, {}
                self._encoder_revision = revision
            return self._encoder


class RememberingEncoder:
    """An encoder that remembers the vectors of single texts. Threads may share it; several texts at once pass through."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._bytes = 0
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """The identity of the encoder behind it."""
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) as the encoder has it."""
        if len(texts) != 1 or not isinstance(texts[0], str):
            return self._encoder.encode(texts)
        text = texts[0]
        with self._lock:
            remembered_vectors = self._vectors.get(text)
            if remembered_vectors is not None:
                self._vectors.move_to_end(text)
                return remembered_vectors
        vectors = self._encoder.encode(texts)
        vectors.setflags(write=False)
        self._remember(text, vectors)
        return vectors

    def _remember(self, text: str, vectors: Vectors) -> None:
        with self._lock:
            if text in self._vectors:
                return
            self._vectors[text] = vectors
            self._bytes += _size(text, vectors)
            while self._bytes > _MOST_BYTES:
                self._bytes -= _size(*self._vectors.popitem(last=False))


def _size(text: str, vectors: Vectors) -> int:
    return 4 * len(text) + vectors.nbytes + 200  # what the dictionary adds
