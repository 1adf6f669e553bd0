"""The agent behind an OpenAI-compatible chat endpoint, with the `generate` or the `code` solver.

`generate`: the reply is the answer. `code`: the reply is a function, its return value in the sandbox is the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skilldelta.collect.agents.base import (
    ASK_TOKENS,
    Asked,
    Attempt,
    Execute,
    Outcome,
    fingerprint,
    prompt_settings,
    run_pool,
)
from skilldelta.collect.arms import Message, arm_messages
from skilldelta.collect.budget import Amount, Budget, Prices
from skilldelta.collect.chat_endpoint import ChatEndpoint, Completion, Sampling, request_body
from skilldelta.collect.code_answer import PREFILL, PROTOCOL, STOP, extract_code, run_answer
from skilldelta.collect.plan import Planned
from skilldelta.collect.sandbox import Sandbox, check_sandbox
from skilldelta.collect.suite import AgentSettings
from skilldelta.records import Agent

ChatSolver = Literal["generate", "code"]
CHAT_SOLVERS: tuple[ChatSolver, ...] = ("generate", "code")
_GENERATE_PROTOCOL = "generate/1"


@dataclass(frozen=True, slots=True)
class ChatAgent:
    """One call per execution. `sandbox` is there exactly when the solver is `code`."""

    name: str
    endpoint: ChatEndpoint
    sampling: Sampling
    system: str
    prompt: str = ""
    skill_prompt: str = ""
    sandbox: Sandbox | None = None
    prices: Prices | None = None
    needs_workdir: bool = False

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "model": self.sampling.model,
            "harness": PROTOCOL if self.sandbox else _GENERATE_PROTOCOL,
            "sandbox": self.sandbox.name if self.sandbox else None,
            "temperature": self.sampling.temperature,
            "max_tokens": self.sampling.max_tokens,
            "top_p": self.sampling.top_p,
            "stop": list(self.sampling.stop),
            "system": self.system,
            **prompt_settings(self),
        }

    @property
    def identity(self) -> Agent:
        return Agent(self.name, fingerprint(self.settings))

    def messages(self, attempt: Attempt) -> list[Message]:
        """The conversation of one arm."""
        return arm_messages(
            attempt.planned.task.text,
            attempt.planned.condition,
            skill_text=attempt.skill_text,
            system=self.system,
            prompt=self.prompt,
            skill_prompt=self.skill_prompt,
            prefill=PREFILL if self.sandbox else "",
        )

    def largest(self, attempt: Attempt) -> Amount:
        """No token is shorter than a byte, so the request's bytes bound its tokens."""
        return largest_amount(self.sampling, request_body(self.sampling, self.messages(attempt), seed=0), self.prices)

    async def drive(self, todo: Sequence[Planned], concurrency: int, execute: Execute) -> None:
        """Some workers more than calls at once: one reserves, runs code or records while the endpoint is kept busy."""
        self.endpoint.limit(concurrency)
        await run_pool(todo, concurrency + -(-concurrency // 4), execute)

    async def identify(self) -> None:
        pass

    async def prepare(self, folder: Path) -> None:
        await self.endpoint.client.check()
        if self.sandbox is not None:
            await check_sandbox(self.sandbox)

    async def run(self, attempt: Attempt, budget: Budget) -> Outcome:
        messages = self.messages(attempt)
        body = request_body(self.sampling, messages, seed=attempt.seed)
        completion = await paid_completion(
            attempt.planned.name, self.endpoint, self.sampling, body, budget=budget, prices=self.prices
        )
        spent = completion_amount(completion, self.prices)
        code = extract_code(completion.text) if self.sandbox else ""
        started = time.monotonic()
        answer = await run_answer(code, self.sandbox) if self.sandbox else completion.text
        return Outcome(
            answer=answer,
            tokens=spent.tokens,
            usd=spent.usd,
            messages=tuple(messages),
            reply=completion.text,
            seconds=completion.seconds + time.monotonic() - started,
            details={
                "model": completion.model,
                "finish": completion.finish,
                "tokens_in": completion.tokens_in,
                "tokens_out": completion.tokens_out,
                **({"code": code} if self.sandbox else {}),
            },
        )

    def largest_ask(self, messages: list[Message]) -> Amount:
        sampling = self._ask_sampling
        return largest_amount(sampling, request_body(sampling, messages, seed=0), self.prices)

    async def ask(self, name: str, messages: list[Message], budget: Budget) -> Asked:
        sampling = self._ask_sampling
        body = request_body(sampling, messages, seed=0)
        completion = await paid_completion(name, self.endpoint, sampling, body, budget=budget, prices=self.prices)
        spent = completion_amount(completion, self.prices)
        return Asked(completion.text, spent.tokens)

    @property
    def _ask_sampling(self) -> Sampling:
        return Sampling(self.sampling.model, temperature=0.0, max_tokens=ASK_TOKENS)

    async def close(self) -> None:
        await self.endpoint.client.close()


def chat_sampling(model: str, settings: AgentSettings) -> Sampling:
    """A suite's settings as request fields; the code solver's stop texts belong to its protocol."""
    stop = STOP if settings.solver == "code" else settings.stop
    return Sampling(model, settings.temperature, settings.max_tokens, settings.top_p, stop)


async def paid_completion(
    name: str, endpoint: ChatEndpoint, sampling: Sampling, body: bytes, *, budget: Budget, prices: Prices | None
) -> Completion:
    """One completion on the ledger."""
    return await budget.call(
        name,
        largest_amount(sampling, body, prices),
        lambda: endpoint.complete(sampling, body),
        lambda completion: completion_amount(completion, prices),
    )


def largest_amount(sampling: Sampling, body: bytes, prices: Prices | None) -> Amount:
    """The most a request can come to."""
    usd = prices.usd(len(body), sampling.max_tokens) if prices else None
    return Amount(float(len(body) + sampling.max_tokens), usd)


def completion_amount(completion: Completion, prices: Prices | None) -> Amount:
    """What a completion came to, as far as the endpoint says."""
    tokens_in, tokens_out = completion.tokens_in, completion.tokens_out
    if tokens_in is None or tokens_out is None:
        return Amount(None, None)
    return Amount(float(tokens_in + tokens_out), prices.usd(tokens_in, tokens_out) if prices else None)
