"""One start of the collector: folder, lock, manifest, ledger, bank, run.

Everything of a collection lives in a folder beside the bank, one per suite and agent: the manifest, the ledger, the
transcript and the Inspect logs.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from skilldelta.collect.agents.base import Asks, CollectAgent
from skilldelta.collect.budget import Budget, Caps, Retries
from skilldelta.collect.collection_progress import OnProgress
from skilldelta.collect.graders import Grader
from skilldelta.collect.ledger import Ledger
from skilldelta.collect.manifest import MANIFEST_FILE, describe_run, open_manifest, read_manifest
from skilldelta.collect.plan import Selection, make_plan
from skilldelta.collect.recorder import Recorder
from skilldelta.collect.runner import Collection, Result, missing, progress_before, run_missing
from skilldelta.collect.suite import Suite
from skilldelta.collect.transcript import TRANSCRIPT_FILE, repair_end
from skilldelta.errors import InputError
from skilldelta.file_lock import LockHeldError, file_lock
from skilldelta.records import Agent

LEDGER_FILE = "ledger.jsonl"
GraderMaker = Callable[[Budget], Mapping[str, Grader]]


@dataclass(frozen=True, slots=True)
class Session:
    """What to collect, with what, and how far."""

    suite: Suite
    agent: CollectAgent
    bank: str
    make_graders: GraderMaker
    """Graders are made once the budget exists, because a judge spends from it."""
    selection: Selection = field(default_factory=Selection)
    seed: int = 0
    caps: Caps = field(default_factory=Caps)
    retries: Retries = field(default_factory=Retries)
    concurrency: int = 4
    retry_errors: bool = False
    accept_changes: bool = False
    judge: Asks | None = None
    """The model behind the judge grader, prepared and closed with the agent."""
    invocation: Mapping[str, Any] = field(default_factory=dict)
    """When and by which command this start happened, for the manifest."""
    say: Callable[[str], None] = lambda remark: None
    """Takes remarks for the person who collects."""

    @property
    def folder(self) -> Path:
        return run_folder(self.bank, self.suite.name, self.agent.identity)


async def collect(session: Session, on_progress: OnProgress) -> Result:
    """Run what the plan holds and the bank lacks."""
    plan = make_plan(session.suite, session.selection, seed=session.seed)
    async with opened(session) as (budget, recorder):
        graders = session.make_graders(budget)
        recorded = await recorder.open(session.suite, session.agent.identity)
        todo = missing(plan, recorded, retry=session.retry_errors)
        if todo:
            await session.agent.prepare(session.folder)
            if session.judge is not None:
                await session.judge.prepare(session.folder)
        collection = Collection(
            suite=session.suite,
            agent=session.agent,
            identity=session.agent.identity,
            graders=graders,
            budget=budget,
            recorder=recorder,
            progress=progress_before(plan, todo, recorded),
            seed=session.seed,
            concurrency=session.concurrency,
        )
        return await run_missing(collection, todo, on_progress)


@asynccontextmanager
async def opened(session: Session) -> AsyncIterator[tuple[Budget, Recorder]]:
    """The session's folder locked, its manifest written, ledger and bank open; all closed at the end."""
    await session.agent.identify()
    folder = session.folder
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(folder):
        settings = {**session.agent.settings, **({"judge": dict(session.judge.settings)} if session.judge else {})}
        current = describe_run(session.suite, session.agent.identity, settings, seed=session.seed)
        invocation = {**session.invocation, "selection": asdict(session.selection)}
        open_manifest(folder, current, invocation, accept_changes=session.accept_changes)
        for name in (LEDGER_FILE, TRANSCRIPT_FILE):
            if repaired := repair_end(folder / name):
                session.say(repaired)
        async with AsyncExitStack() as closing:
            closing.push_async_callback(session.agent.close)
            if session.judge is not None:
                closing.push_async_callback(session.judge.close)
            budget = Budget(Ledger(folder / LEDGER_FILE), session.caps, session.retries)
            closing.push_async_callback(budget.close)
            recorder = Recorder(session.bank, folder)
            closing.push_async_callback(recorder.close)
            yield budget, recorder


def collections_folder(bank: str) -> Path:
    """Beside a bank file; for a bank on a server, in the current folder."""
    is_url = "://" in bank and not bank.startswith("sqlite:///")
    return Path("skilldelta.collect") if is_url else Path(f"{bank.removeprefix('sqlite:///')}.collect")


def run_folder(bank: str, suite: str, agent: Agent) -> Path:
    """The folder of one suite and agent."""
    return collections_folder(bank) / f"{_slug(suite)}--{_slug(agent.name)}-{agent.fingerprint[:8]}"


def recorded_version(session: Session) -> str:
    """The version that a command gave at its latest start with these settings, from the manifests; or nothing.

    A plan must not run the command, and its version is part of which executions are its own.
    """
    folder, current = session.folder, _without_version(session.agent.settings)
    prefix = folder.name.removesuffix(session.agent.identity.fingerprint[:8])
    manifests = [path for path in folder.parent.glob(f"*/{MANIFEST_FILE}") if path.parent.name.startswith(prefix)]
    for path in sorted(manifests, key=lambda path: path.stat().st_mtime, reverse=True):
        with suppress(InputError):
            settings = read_manifest(path).settings
            if _without_version(settings) == current:
                return str(settings.get("harness", ""))
    return ""


def _without_version(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key not in ("harness", "judge")}


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second collector of the same suite and agent out."""
    with ExitStack() as stack:
        try:
            stack.enter_context(file_lock(folder / "lock", timeout=0))
        except LockHeldError as error:
            raise InputError(
                f"another collector ({error.holder}) is at work in {folder}; wait for it or stop it"
            ) from None
        yield


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"
