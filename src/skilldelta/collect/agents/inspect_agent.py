"""Agents of Inspect AI: any of its model providers, and any of its solvers and agents with tools, sandboxes and limits.

A planned execution is a sample of an Inspect evaluation. Our outermost solver puts the arm's messages into the sample,
lets the chosen solver work, and hands the result to the runner. Model calls pass through the budget one by one. Inspect
writes its own logs; evaluations are made in portions, so that memory does not grow with the collection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from skilldelta.collect.agents.base import ASK_TOKENS, Asked, Attempt, Execute, Outcome
from skilldelta.collect.agents.inspect_metering import Calls, booking, meter
from skilldelta.collect.agents.inspect_names import describe_solver, inspect_version, load_solver, open_model
from skilldelta.collect.agents.model_agent import PROTOCOL, ModelAgent
from skilldelta.collect.arms import Message
from skilldelta.collect.budget import Amount, Budget, priced
from skilldelta.collect.chat_endpoint import check_model
from skilldelta.collect.execution_errors import CapReachedError, IncompleteError, StopCollectionError, TransportError
from skilldelta.collect.plan import Planned
from skilldelta.collect.sandbox import check_sandbox
from skilldelta.collect.suite import SuiteTask
from skilldelta.records import Execution

# Samples per Inspect evaluation: what is held in memory and what one log file has.
PORTION = 200

_sample: ContextVar[tuple[Any, Any]] = ContextVar("skilldelta_sample")


@dataclass(slots=True, kw_only=True)
class InspectAgent(ModelAgent):
    """`model` is provider/name as Inspect writes it."""

    solver_arguments: Mapping[str, Any] = field(default_factory=dict)
    solver_folder: Path = field(default_factory=Path)
    tool_sandbox: str | None = None
    """The Inspect sandbox for tools, such as docker."""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    expected_model: str = ""
    retries: int = 4
    timeout: float = 600.0
    _log_dir: Path = field(default_factory=Path, repr=False)
    _opened: Any = field(default=None, repr=False)
    _solver: Any = field(default=None, repr=False)

    @property
    def settings(self) -> Mapping[str, Any]:
        solver: Any = self.wanted.solver
        if solver not in ("generate", "code"):
            solver = describe_solver(solver, self.solver_arguments, self.solver_folder)
        return {
            "model": self.model,
            "harness": f"inspect_ai/{inspect_version()}",
            "solver": PROTOCOL if solver == "code" else solver,
            "sandbox": self.sandbox.name if self.sandbox else self.tool_sandbox,
            **self.asking_settings,
        }

    def largest(self, attempt: Attempt) -> Amount:
        """One call's worth; an agent with tools makes several, each reserved when it comes."""
        return self._largest(self.messages(attempt), self.wanted.max_tokens)

    async def prepare(self, folder: Path) -> None:
        """Open the model and the solver; what Inspect refuses is refused before anything is paid."""
        self._log_dir = folder
        if self.sandbox is not None:
            await check_sandbox(self.sandbox)
        self._opened = open_model(
            self.model,
            replace(self.wanted, stop=self.stop),
            base_url=self.base_url,
            api_key=self.api_key,
            retries=self.retries,
            timeout=self.timeout,
        )
        solver = "generate" if self.wanted.solver == "code" else self.wanted.solver
        self._solver = load_solver(solver, self.solver_arguments, self.solver_folder)
        meter(self._opened.api, self.prices)

    async def drive(self, todo: Sequence[Planned], concurrency: int, execute: Execute) -> None:
        """One Inspect evaluation per portion of the plan."""
        for start in range(0, len(todo), PORTION):
            await self._evaluate(todo[start : start + PORTION], concurrency, execute)

    async def run(self, attempt: Attempt, budget: Budget) -> Outcome:
        """Let the solver work inside the sample that `drive` opened."""
        state, generate = _sample.get()
        messages = self.messages(attempt)
        with booking(attempt.planned.name, budget, attempt.seed if self.wanted.send_seed else None) as calls:
            try:
                state.messages = _to_inspect(messages)
                state = await self._solver(state, generate)
            except Exception as error:
                raise calls.stop or self._meaning(error) from error
        self._check_models(calls)
        reply = state.output.completion or ""
        answer, noted = await self.read_reply(reply)
        is_metered = calls.known and bool(calls.models)
        spent = priced(calls.tokens_in, calls.tokens_out, self.prices) if is_metered else Amount(None, None)
        return Outcome(
            answer=answer,
            tokens=spent.tokens,
            usd=spent.usd,
            messages=tuple(messages),
            reply=reply,
            details={
                "model": state.output.model,
                "calls": len(calls.models),
                "tokens_in": calls.tokens_in if is_metered else None,
                "tokens_out": calls.tokens_out if is_metered else None,
                **noted,
            },
        )

    def largest_ask(self, messages: list[Message]) -> Amount:
        return self._largest(messages, ASK_TOKENS)

    async def ask(self, name: str, messages: list[Message], budget: Budget) -> Asked:
        from inspect_ai.model import GenerateConfig

        config = GenerateConfig(temperature=self.asking.temperature, max_tokens=ASK_TOKENS, stop_seqs=[])
        with booking(name, budget, seed=None) as calls:
            try:
                output = await self._opened.generate(_to_inspect(messages), config=config)
            except Exception as error:
                raise calls.stop or self._meaning(error) from error
        self._check_models(calls)
        return Asked(output.completion, float(calls.tokens_in + calls.tokens_out) if calls.known else None)

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.api.aclose()

    async def _evaluate(self, portion: Sequence[Planned], concurrency: int, execute: Execute) -> None:
        from inspect_ai import Task, eval_async
        from inspect_ai.dataset import MemoryDataset, Sample
        from inspect_ai.scorer import Score, mean, scorer
        from inspect_ai.solver import solver

        planned_of = {planned.name: planned for planned in portion}
        recorded: dict[str, Execution | None] = {}
        failures: list[BaseException] = []

        @solver(name="skilldelta_arm")
        def arm() -> Any:
            async def solve(state: Any, generate: Any) -> Any:
                if failures:
                    return state
                token = _sample.set((state, generate))
                try:
                    recorded[state.sample_id] = await execute(planned_of[state.sample_id])
                except Exception as error:
                    failures.append(error)
                finally:
                    _sample.reset(token)
                return state

            return solve

        @scorer(metrics=[mean()], name="success")
        def success() -> Any:
            async def score(state: Any, target: Any) -> Any:
                execution = recorded.get(state.sample_id)
                if execution is None or execution.success is None:
                    return None
                return Score(value=execution.success, metadata={"status": execution.status})

            return score

        samples = [
            Sample(
                id=planned.name,
                input=planned.task.text,
                target=str(planned.task.answer),
                files=_files(planned.task) if self.tool_sandbox else None,
                metadata={
                    "family": planned.task.family,
                    "skill": planned.task.skill_id,
                    "skill_digest": planned.skill_digest,
                    "task_id": planned.task.task_id,
                    "condition": planned.condition,
                    "repetition": planned.repetition,
                },
            )
            for planned in portion
        ]
        logs = await eval_async(
            Task(dataset=MemoryDataset(samples), solver=arm(), scorer=success(), name="skilldelta"),
            model=self._opened,
            sandbox=self.tool_sandbox,
            log_dir=str(self._log_dir),
            max_samples=concurrency,
            fail_on_error=False,
            log_level="critical",
            log_realtime=False,
        )
        if failures:
            raise failures[0]
        if any(log.status == "cancelled" for log in logs):
            raise asyncio.CancelledError  # Inspect turns a cancelled evaluation into a log and returns

    def _largest(self, messages: list[Message], reply_tokens: int) -> Amount:
        text = "".join(message.content for message in messages)
        return priced(len(text.encode()), reply_tokens, self.prices)

    def _check_models(self, calls: Calls) -> None:
        """Providers answer with the name without Inspect's prefixes."""
        for returned in dict.fromkeys(calls.models):
            parts = self.model.split("/")
            names = ["/".join(parts[i:]) for i in range(len(parts))]
            if returned not in names:
                check_model(self.expected_model or names[-1], returned)

    def _meaning(self, error: Exception) -> Exception:
        """A provider's error in our words: no answer, a refusal, or an execution that cannot be finished."""
        if isinstance(error, CapReachedError | StopCollectionError):
            return error
        cause = error.__cause__ if type(error).__name__ in ("RetryError", "ModelGenerateError") else None
        failure = cause or error
        message = " ".join(f"{type(failure).__name__}: {failure}".split())[:300]
        status = getattr(failure, "status_code", None)
        if status in (401, 403):
            return StopCollectionError(f"{self.model}: the provider refused the key ({message})")
        if status == 404:
            return StopCollectionError(f"{self.model}: the provider does not know this model ({message})")
        if status in (400, 413, 422):
            return IncompleteError(f"{self.model}: {message}")
        if type(error).__name__ == "RetryError" or status is not None or isinstance(failure, JSONDecodeError | OSError):
            return TransportError(f"{self.model}: {message}")
        return IncompleteError(f"the solver {self.wanted.solver} failed: {message}")


def _files(task: SuiteTask) -> dict[str, str] | None:
    """The task's files, copied into the sandbox where the agent's tools work."""
    if task.files is None:
        return None
    return {path.relative_to(task.files).as_posix(): str(path) for path in task.files.rglob("*") if path.is_file()}


def _to_inspect(messages: list[Message]) -> Any:
    from inspect_ai.model import ChatMessage
    from pydantic import TypeAdapter

    return TypeAdapter(list[ChatMessage]).validate_python([asdict(message) for message in messages])
