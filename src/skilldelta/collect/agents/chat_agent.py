"""The agent behind an OpenAI-compatible chat endpoint, with the `generate` or the `code` solver."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilldelta.collect.agents.base import ASK_TOKENS, Asked, Attempt, Execute, Outcome, run_pool
from skilldelta.collect.agents.model_agent import PROTOCOL, ModelAgent
from skilldelta.collect.arms import Message
from skilldelta.collect.budget import Amount, Budget, priced
from skilldelta.collect.chat_endpoint import ChatEndpoint, Completion, request_body
from skilldelta.collect.plan import Planned
from skilldelta.collect.sandbox import check_sandbox

CHAT_SOLVERS = ("generate", "code")
_GENERATE_PROTOCOL = "generate/1"


@dataclass(slots=True, kw_only=True)
class ChatAgent(ModelAgent):
    """One call per execution."""

    endpoint: ChatEndpoint

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "model": self.model,
            "harness": PROTOCOL if self.sandbox else _GENERATE_PROTOCOL,
            "sandbox": self.sandbox.name if self.sandbox else None,
            **self.asking_settings,
        }

    def largest(self, attempt: Attempt) -> Amount:
        return self._largest(self._body(self.messages(attempt), seed=0), self.wanted.max_tokens)

    async def drive(self, todo: Sequence[Planned], concurrency: int, execute: Execute) -> None:
        """Some workers more than calls at once: one reserves, runs code or records while the endpoint is kept busy."""
        self.endpoint.limit(concurrency)
        await run_pool(todo, concurrency + -(-concurrency // 4), execute)

    async def prepare(self, folder: Path) -> None:
        await self.endpoint.client.check()
        if self.sandbox is not None:
            await check_sandbox(self.sandbox)

    async def run(self, attempt: Attempt, budget: Budget) -> Outcome:
        messages = self.messages(attempt)
        body = self._body(messages, seed=attempt.seed)
        completion = await self._paid(attempt.planned.name, body, self.wanted.max_tokens, budget)
        spent = self._amount(completion)
        started = time.monotonic()
        answer, noted = await self.read_reply(completion.text)
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
                **noted,
            },
        )

    def largest_ask(self, messages: list[Message]) -> Amount:
        return self._largest(request_body(self.model, self.asking, messages, seed=0), ASK_TOKENS)

    async def ask(self, name: str, messages: list[Message], budget: Budget) -> Asked:
        body = request_body(self.model, self.asking, messages, seed=0)
        completion = await self._paid(name, body, ASK_TOKENS, budget)
        return Asked(completion.text, self._amount(completion).tokens)

    async def close(self) -> None:
        await self.endpoint.client.close()

    def _body(self, messages: list[Message], seed: int) -> bytes:
        return request_body(self.model, replace(self.wanted, stop=self.stop), messages, seed=seed)

    async def _paid(self, name: str, body: bytes, reply_tokens: int, budget: Budget) -> Completion:
        """One completion on the ledger."""
        most = self._largest(body, reply_tokens)
        return await budget.call(name, most, lambda: self.endpoint.complete(self.model, body), self._amount)

    def _largest(self, body: bytes, reply_tokens: int) -> Amount:
        """The most a request can come to. No token is shorter than a byte, so the request's bytes bound its tokens."""
        return priced(len(body), reply_tokens, self.prices)

    def _amount(self, completion: Completion) -> Amount:
        """What a completion came to, as far as the endpoint says."""
        if completion.tokens_in is None or completion.tokens_out is None:
            return Amount(None, None)
        return priced(completion.tokens_in, completion.tokens_out, self.prices)
