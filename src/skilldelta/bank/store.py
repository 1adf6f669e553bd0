"""The bank: one object through which everything is stored and read.

Each method is one transaction; the work is in the file named after it. Writers take turns across processes, readers
never wait. A bank may be shared between threads; a forked process opens its own.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection

from skilldelta.arrays import Vectors
from skilldelta.bank import (
    decision_log,
    forget,
    judgement_log,
    learned,
    listed_log,
    pair_reading,
    reading,
    schema,
    status,
    vectors,
    verify,
)
from skilldelta.bank.adding import add_batch
from skilldelta.bank.batch import Added, Batch, check_batch
from skilldelta.bank.cache import Cache
from skilldelta.bank.database import Database
from skilldelta.bank.defaults import BankDefaults, read_defaults, write_defaults
from skilldelta.bank.entries import DecisionFilter, DecisionRecord, DecisionTally, Logged, RecordedOutcome
from skilldelta.bank.forget import Foreseen, Forgotten, Removal
from skilldelta.bank.pair_columns import ScopeRows, read_scope
from skilldelta.bank.pair_reading import Changes, Freshness, Mark, PairQuery, PanelRecords
from skilldelta.bank.reading import Arrivals, chosen_agent, current_skill
from skilldelta.bank.revisions import move_revisions
from skilldelta.bank.status import BankStatus, EvidenceAge, Panel
from skilldelta.bank.vectors import Progress, TextEncoder
from skilldelta.errors import BankError, BankWarning, InputError, unknown_name
from skilldelta.pairing import Pairing
from skilldelta.records import Agent, Execution, Judgement, Skill, Task
from skilldelta.support import Support

P = ParamSpec("P")
T = TypeVar("T")

# Seconds to wait for another writer.
LOCK_TIMEOUT = 30.0


class Bank:
    """A store of executions, vectors, skills and decisions. Open it with `open_bank`.

    Executions are facts that are only ever added; pairs, gains and vectors are derived from them.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._cache = Cache(database)
        self._clock = clock

    @classmethod
    def open(
        cls,
        location: str | Path,
        *,
        create: bool = False,
        readonly: bool = False,
        timeout: float = LOCK_TIMEOUT,
        clock: Callable[[], float] = time.time,
    ) -> Bank:
        """Open a bank.

        Parameters:
            location: A path, or a SQLAlchemy URL.
            create: Make the bank where there is none.
            readonly: Refuse every change.
            timeout: Seconds to wait for another writer.
            clock: Gives the time of what is added.

        Returns:
            The bank; use it in a `with` statement, or close it.

        Raises:
            InputError: There is no bank at the location, or it cannot be read.
        """
        return cls(Database.open(location, create=create, readonly=readonly, timeout=timeout), clock=clock)

    @property
    def location(self) -> str:
        """The path, or the URL without its password."""
        return self._database.location

    def close(self) -> None:
        """Close every connection; closing twice does no harm."""
        self._cache.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- adding ---------------------------------------------------------------------------------------------------

    def add(self, batch: Batch) -> Added:
        """Add a batch whole, in one transaction. What the bank has counts as unchanged; a contradiction adds nothing."""
        check_batch(batch)
        with self._database.write() as connection:
            return add_batch(connection, self._database.backend, batch, self._clock())

    # -- reading --------------------------------------------------------------------------------------------------

    def agents(self) -> list[Agent]:
        """Agents in order of arrival."""
        return list(self._read(reading.read_agents).values())

    def skills(self) -> list[Skill]:
        """Every version of every skill, in order of arrival. An empty digest stands for executions without a version."""
        return self._read(reading.read_skills)

    def suites(self) -> list[str]:
        """Suites in order of arrival."""
        return self._read(reading.read_suites)

    def tasks(self, suite: str | None = None, task_id: str | None = None) -> list[Task]:
        """Tasks in order of arrival; one id may name a task in each of several suites."""
        return self._read(reading.read_tasks, suite, task_id)

    def executions(
        self,
        *,
        agent: Agent | None = None,
        suite: str | None = None,
        skill_id: str | None = None,
        family: str | None = None,
        task_id: str | None = None,
    ) -> Iterator[Execution]:
        """Executions of pairs in order of arrival that fit every filter; `skill_id=""` are the baselines of all skills."""
        with self._database.read() as connection:
            query = reading.executions_query(
                connection, agent=agent, suite=suite, skill_id=skill_id, family=family, task_id=task_id
            )
            for stored in reading.read_executions(connection, query.order_by(schema.executions.c.key)):
                yield stored.execution

    def listed(
        self, *, agent: Agent | None = None, suite: str | None = None, skill_id: str | None = None
    ) -> list[Execution]:
        """Executions of the third arm in order of arrival: the harness listed the skill, and the model chose."""
        return self._read(
            lambda connection: list(listed_log.read_listed(connection, agent=agent, suite=suite, skill_id=skill_id))
        )

    def runs(
        self, *, agent: Agent | None = None, suite: str | None = None, family: str | None = None
    ) -> Iterator[tuple[Execution, Task]]:
        """Executions in order of arrival, each with its task."""
        with self._database.read() as connection:
            yield from reading.read_runs(connection, agent=agent, suite=suite, family=family)

    def pairing(
        self,
        *,
        agent: Agent,
        suite: str | None = None,
        skill_id: str | None = None,
        family: str | None = None,
        include_stale: bool = False,
    ) -> Pairing:
        """The pairs of an agent in order of their tasks' arrival, and everything that was left out."""
        scope = PairQuery(agent, suite, skill_id, family, include_stale)
        return self._read(pair_reading.read_pairs, scope).pairing

    def vectors(self, encoder: TextEncoder, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n, dim) one row per text; what the bank lacks is encoded and, unless it is read-only, cached."""
        return vectors.cached_vectors(self._database, self._cache, encoder, texts, progress=progress)

    def support(
        self,
        encoder: TextEncoder,
        *,
        agent: Agent,
        suite: str | None = None,
        skill_id: str | None = None,
        family: str | None = None,
        include_stale: bool = False,
        progress: Progress | None = None,
    ) -> Support:
        """The pairs of `pairing` as arrays, with the vectors and texts of their tasks."""
        rows = self.scope_rows(PairQuery(agent, suite, skill_id, family, include_stale))
        return rows.support(self.vectors(encoder, rows.texts, progress=progress), encoder.identity, agent, suite)

    def scope_rows(self, scope: PairQuery) -> ScopeRows:
        """All pairs of a scope as columns, with the names and texts of their tasks."""
        return self._read(read_scope, scope)

    def changes(self, scope: PairQuery, since: Mark | None = None) -> Changes:
        """The pairs that a reader lacks who has read up to `since`: what the in-memory index lives on."""
        return self._read(pair_reading.read_changes, scope, since)

    def mark(self, scope: PairQuery) -> Mark:
        """How far a reader who reads everything now has read."""
        return self._read(pair_reading.mark_now, scope)

    def freshness(self, scope: PairQuery, mark: Mark) -> Freshness:
        """How what was learned at a mark relates to the evidence as it is now."""
        return self._read(pair_reading.read_freshness, scope, mark)

    def resolve_agent(self, name: str | None) -> Agent:
        """The agent called `name` or `name@fingerprint-prefix`; None is the one chosen with `use`, or the first."""
        return chosen_agent(self.agents(), name, default=self.defaults().agent if name is None else None)

    def resolve_skill(self, name: str) -> Skill:
        """The current version of a skill."""
        return current_skill(self.skills(), name)

    def resolve_suite(self, agent: Agent, *, skill_id: str, task_id: str = "") -> str | None:
        """The one suite whose evidence answers a question that names none; None where the agent was run on no suite.

        Of several it is the task's own, else the one chosen with `use`, else the bank's first, else the skill's first.
        """
        with self._database.read() as connection:
            suites = reading.read_suites_of(connection, agent, skill_id) or reading.read_suites_of(connection, agent)
            if len(suites) < 2:
                return suites[0] if suites else None
            if task_id:
                of_task = {task.suite for task in reading.read_tasks(connection, task_id=task_id)}
                suites = [suite for suite in suites if suite in of_task] or suites
            return read_defaults(connection).suite_of(suites)

    def defaults(self) -> BankDefaults:
        """The agent and the suite that are meant where none is named."""
        return self._read(read_defaults)

    def use(self, *, agent: Agent | None = None, suite: str | None = None) -> BankDefaults:
        """Choose the agent or the suite, or both, that are meant where none is named."""
        with self._database.write() as connection:
            if agent is not None and agent not in reading.read_agents(connection).values():
                raise unknown_name(
                    "agent", agent.name, [candidate.name for candidate in reading.read_agents(connection).values()]
                )
            if suite is not None and suite not in reading.read_suites(connection):
                raise unknown_name("suite", suite, reading.read_suites(connection))
            write_defaults(connection, agent=agent, suite=suite)
            # Whoever keeps names in memory looks at the revision.
            move_revisions(connection, self._database.backend, ())
            return read_defaults(connection)

    def panels(self) -> list[Panel]:
        """One panel for each agent and suite that has executions."""
        return self._read(status.read_panels)

    def vector_counts(self) -> dict[str, int]:
        """How many vectors there are of each encoder, by its identity."""
        return self._read(status.count_vectors, self._cache)

    def panel_names(self) -> list[tuple[Agent, str]]:
        """The agent and suite of every panel, without reading executions."""
        return list(self._read(reading.executions_by_panel))

    def tasks_by_digest(self, digests: Iterable[str]) -> dict[str, str]:
        """The ids of the tasks whose texts have these digests, by digest."""
        return self._read(reading.read_tasks_by_digest, digests)

    def has_more_executions(self, number: int, agent: Agent, suite: str | None = None) -> bool:
        """Whether an agent has more executions, on a suite or on all; counts no further than that."""
        return self._read(reading.has_more_executions, number, agent, suite)

    def arrivals(self, after: int) -> Arrivals:
        """Which panels have gained executions after one, by its key."""
        return self._read(reading.read_arrivals, after)

    def evidence_ages(self) -> list[EvidenceAge]:
        """When the evidence about each skill version arrived, by agent and suite."""
        return self._read(status.read_evidence_ages)

    def panel_records(self, agent: Agent, suite: str) -> PanelRecords:
        """Everything that is recorded of one panel, read once."""
        return self._read(pair_reading.read_panel_records, agent, suite)

    def revision(self) -> int:
        """A number that moves whenever evidence was added or removed; cheap enough to ask before every decision."""
        return self._database.revision()

    def panel_revision(self, agent: Agent, suite: str | None = None) -> int:
        """A number that is another one whenever the pairs of an agent (on a suite) may have changed; as cheap to ask."""
        return self._database.panel_revision(agent, suite)

    # -- care -----------------------------------------------------------------------------------------------------

    def status(self) -> BankStatus:
        """Counts of everything in the bank."""
        return self._read(status.read_status, self._database.backend, self._cache)

    def verify(self) -> list[str]:
        """One line per problem: damaged pages, changed rows, lost commits, orphans, wrong values. Empty means fine."""
        acknowledged = self._database.backend.acknowledged()  # first: the bank may grow meanwhile
        return self._read(verify.problems, self._database.backend, acknowledged)

    def forget(
        self,
        *,
        agent: Agent | None = None,
        suite: str | None = None,
        skill_id: str | None = None,
        task_id: str | None = None,
        before: float | None = None,
    ) -> Forgotten:
        """Remove the evidence that fits every given filter, and the names and vectors that nothing refers to then."""
        return self.remove(Removal(agent=agent, suite=suite, skill_id=skill_id, task_id=task_id, before=before))

    def remove(self, removal: Removal) -> Forgotten:
        """`forget`, with filters that were looked at before."""
        forgotten, texts = self._write(forget.forget, self._database.backend, removal)
        if self._cache.path is None or not self._cache.exists():
            return forgotten
        try:
            vectors = self._cache.change(self._database.timeout, forget.forget_derived, texts) or 0
        except (BankError, OSError) as error:
            message = f"{self._cache.path} may still hold vectors or words of what was forgotten ({error}); remove it"
            warnings.warn(message, BankWarning, stacklevel=3)
            return forgotten
        return replace(forgotten, vectors=forgotten.vectors + vectors)

    def foreseen(self, removal: Removal) -> Foreseen:
        """What `remove` with the same filters would take away."""
        return self._read(forget.foreseen, removal)

    # -- beside the evidence ----------------------------------------------------------------------------------------

    def record_decision(self, record: DecisionRecord) -> int:
        """Store a decision in the log; returns its id, or the first one's where its conversation has one already."""
        return self.record_decisions([record])[0].id

    def record_decisions(self, records: Sequence[DecisionRecord], *, durable: bool = True) -> list[Logged]:
        """Store decisions in one transaction. A conversation gets one decision per skill: the first.

        Ones that are not `durable` survive the death of the process; a power failure only after `settle`, or after
        anything durable was stored, such as an outcome.
        """
        with self._database.write(durable=durable) as connection:
            return decision_log.add_decisions(connection, self._database.backend, records)

    def settle(self) -> None:
        """Make everything durable that was stored."""
        self._database.settle()

    def decisions(self, limit: int | None = None, chosen: DecisionFilter | None = None) -> list[DecisionRecord]:
        """Decisions, the newest first, with their outcomes."""
        return self._read(decision_log.read_decisions, limit, chosen)

    def decision(self, decision_id: int) -> DecisionRecord | None:
        """The decision of that id, with its outcomes."""
        return self._read(decision_log.read_decision, decision_id)

    def decision_in(self, conversation: str, skill_id: str) -> DecisionRecord | None:
        """The decision that a conversation, named by its digest, got about a skill."""
        return self._read(decision_log.find_conversation, conversation, skill_id)

    def record_outcome(self, outcome: RecordedOutcome) -> Logged:
        """Store what happened after a decision; the same key again, or the same values without a key, add nothing."""
        answer = self.record_outcomes([outcome])[0]
        if isinstance(answer, InputError):
            raise answer
        return answer

    def record_outcomes(self, outcomes: Sequence[RecordedOutcome]) -> list[Logged | InputError]:
        """Store outcomes in one transaction; one that cannot be taken is answered by its error, the others are kept."""
        return self._write(decision_log.add_outcomes, self._database.backend, outcomes)

    def outcome_mark(self) -> tuple[int, int]:
        """How many outcomes the log has, and the key of the newest."""
        return self._read(decision_log.read_outcome_mark)

    def count_decisions(self, before: float | None = None) -> int:
        """How many decisions are older than a moment in seconds since 1970; None counts all."""
        return self._read(decision_log.count_decisions, before)

    def forget_decisions(self, before: float | None = None) -> int:
        """Remove the decisions older than a moment, or all, with their outcomes; returns how many."""
        return self._write(decision_log.forget_decisions, before)

    def decision_tallies(self) -> list[DecisionTally]:
        """How often each action was decided, by agent and skill."""
        return self._read(decision_log.read_decision_tallies)

    def learned(self, name: str, part: str, *, revision: int) -> bytes | None:
        """A cached part of what was learned at a revision of its panel; None where there is none, or it is damaged."""
        return self._cache.read(None, learned.read_part, name, part, revision)

    def learned_revision(self, name: str) -> int | None:
        """The revision at which the cached state of a name was learned."""
        return self._cache.read(None, learned.read_revision, name)

    def keep_learned(self, name: str, parts: Mapping[str, bytes], *, revision: int) -> bool:
        """Cache what was learned at a revision of its panel, unless that would have to wait or cannot be."""
        backend, now = self._database.backend, self._clock()
        return bool(self._cache.write(learned.keep, backend, name, parts, revision=revision, now=now))

    def drop_learned(self, name: str) -> None:
        """Remove the cached state of a name."""
        self._cache.write(learned.drop, name)

    def add_judgements(self, judgements: Sequence[Judgement]) -> int:
        """Store agents' own answers about known tasks and skills; returns how many were new."""
        return self._write(judgement_log.add_judgements, self._database.backend, judgements)

    def judgements(self, agent: Agent | None = None, suite: str | None = None) -> list[Judgement]:
        """Judgements in order of arrival."""
        return self._read(judgement_log.read_judgements, agent=agent, suite=suite)

    # -- transactions -----------------------------------------------------------------------------------------------

    def _read(self, ask: Callable[Concatenate[Connection, P], T], *arguments: P.args, **options: P.kwargs) -> T:
        with self._database.read() as connection:
            return ask(connection, *arguments, **options)

    def _write(self, change: Callable[Concatenate[Connection, P], T], *arguments: P.args, **options: P.kwargs) -> T:
        with self._database.write() as connection:
            return change(connection, *arguments, **options)


def open_bank(location: str | Path, *, create: bool = False, readonly: bool = False) -> Bank:
    """Open a bank.

    Parameters:
        location: A path, or a SQLAlchemy URL.
        create: Make the bank where there is none.
        readonly: Refuse every change.

    Returns:
        The bank; use it in a `with` statement, or close it.

    Raises:
        InputError: There is no bank at the location, or it cannot be read.

    Examples:
        >>> with open_bank(folder / "new.bank", create=True) as new:
        ...     len(new.agents())
        0
    """
    return Bank.open(location, create=create, readonly=readonly)
