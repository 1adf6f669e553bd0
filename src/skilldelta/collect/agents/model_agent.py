"""What agents of a model have in common: the settings of a suite, the conversation of an arm, the `code` solver.

`generate`: the reply is the answer. `code`: the reply is a function `solve()`, its return value the answer. The function was
written by an agent, so it runs in the sandbox. No code, broken code, an exception or a timeout is an empty answer: a failure
of the agent, not an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skilldelta.collect.agents.base import ASK_TOKENS, Attempt, fingerprint
from skilldelta.collect.arms import Message, arm_messages
from skilldelta.collect.budget import Prices
from skilldelta.collect.reply_text import without_surrogates
from skilldelta.collect.sandbox import Limits, Payload, Sandbox
from skilldelta.collect.suite import AgentSettings
from skilldelta.records import Agent

PREFILL = "```python\ndef solve():\n"
STOP = ("\n```", "\nprint(", "\n#")
# Part of the fingerprint: raised when messages, extraction or execution change.
PROTOCOL = "code/1"

LIMITS = Limits(seconds=5.0, memory_mb=512)

_WRAPPER = """\
import contextlib, io, sys
code = sys.stdin.read()
space = {"__name__": "agent"}
with contextlib.redirect_stdout(io.StringIO()):
    exec(compile(code, "answer.py", "exec"), space)
    value = space["solve"]()
if isinstance(value, float) and value.is_integer():
    value = int(value)
sys.stdout.write("" if value is None else str(value).strip())
"""


@dataclass(slots=True)
class ModelAgent:
    """A model with its settings. `sandbox` is there exactly when the solver is `code`."""

    name: str
    model: str
    wanted: AgentSettings
    sandbox: Sandbox | None = None
    prices: Prices | None = None
    needs_workdir: bool = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the fingerprint is made of, for the manifest."""
        raise NotImplementedError

    @property
    def asking_settings(self) -> dict[str, Any]:
        """How a model is asked; settings that are not used leave a fingerprint as it was before there were any."""
        usual = AgentSettings()
        later = (
            "prompt",
            "skill_prompt",
            "skill_system",
            "max_tokens_field",
            "reasoning_effort",
            "thinking",
            "extra_body",
        )
        return {
            "temperature": self.wanted.temperature,
            "max_tokens": self.wanted.max_tokens,
            "top_p": self.wanted.top_p,
            "stop": list(self.stop),
            "system": self.wanted.system,
            **{name: value for name in later if (value := getattr(self.wanted, name)) != getattr(usual, name)},
        }

    @property
    def identity(self) -> Agent:
        return Agent(self.name, fingerprint(self.settings))

    @property
    def stop(self) -> tuple[str, ...]:
        """The code solver's stop texts belong to its protocol."""
        return STOP if self.sandbox else self.wanted.stop

    @property
    def asking(self) -> AgentSettings:
        """How the model is asked beside the tasks: briefly, and thinking as it does in them."""
        settings = self.wanted
        return AgentSettings(
            temperature=None if settings.temperature is None else 0.0,
            max_tokens=ASK_TOKENS,
            max_tokens_field=settings.max_tokens_field,
            reasoning_effort=settings.reasoning_effort,
            thinking=settings.thinking,
            extra_body=settings.extra_body,
        )

    def messages(self, attempt: Attempt) -> list[Message]:
        """The conversation of one arm."""
        planned = attempt.planned
        prefill = PREFILL if self.sandbox else ""
        return arm_messages(
            planned.task.question, planned.condition, self.wanted, skill_text=attempt.skill_text, prefill=prefill
        )

    async def identify(self) -> None:
        """Everything is known before the agent is run."""

    async def read_reply(self, reply: str) -> tuple[str, dict[str, str]]:
        """The answer in a reply, and with the `code` solver its code for the transcript."""
        if self.sandbox is None:
            return reply, {}
        code = extract_code(reply)
        return await run_answer(code, self.sandbox), {"code": code}


async def run_answer(code: str, sandbox: Sandbox) -> str:
    """What `solve()` returns, as text; empty when it does not."""
    if not code.strip():
        return ""
    finished = await sandbox.run(Payload([sandbox.python, "-I", "-c", _WRAPPER], LIMITS, without_surrogates(code)))
    return finished.stdout.strip() if finished.exit_code == 0 else ""


def extract_code(reply: str) -> str:
    """The function in a reply, whether it repeats the prefill, only continues it, or starts over.

    A continuation begins with an indented body, so nothing is stripped on its left.
    """
    text = reply if "def solve" in reply else PREFILL + reply
    start = text.index("def solve")
    fences = [match for match in re.finditer(r"```[ \t]*(?:python|py)?[ \t]*\n?", text) if match.end() <= start]
    code = text[fences[-1].end() :] if fences else text[_with_imports(text, start) :]
    return code.split("```", 1)[0]


def _with_imports(text: str, start: int) -> int:
    """Where the import lines directly above the function begin."""
    lines = text[:start].splitlines(keepends=True)
    while lines and re.match(r"(import|from)\s", lines[-1]):
        start -= len(lines.pop())
    return start
