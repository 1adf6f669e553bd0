"""One supplied skill behind the gate: what every framework's adapter asks before the agent's first model call.

A gate asks a running server, or decides in this process from a bank. It answers once per conversation. It never breaks the
agent: if nobody can be asked, the answer is the configured fallback, which is to skip.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from skilldelta.bank.skill_versions import read_skill
from skilldelta.errors import InputError, MissingExtraError, SkillDeltaError
from skilldelta.records import Skill, text_digest
from skilldelta.serve.hooks.server_client import ServerAddress, ask_server
from skilldelta.server_proof import DEFAULT_SERVER, KEY_VARIABLE, known_key

if TYPE_CHECKING:
    from skilldelta.encoders import Encoder


class MissingFrameworkError(MissingExtraError):
    """An agent framework that is not installed; whoever uses one installs it, so it is no extra of ours."""

    def __init__(self, package: str) -> None:
        SkillDeltaError.__init__(self, f"this adapter needs {package}; install it with: pip install {package}")


@contextmanager
def required(package: str) -> Iterator[None]:
    """Import a framework inside; where it is missing, the error says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingFrameworkError(package) from error


# Takes the body of `POST /v1/decide` and returns its answer; raises if there is none.
Route = Callable[[dict[str, Any]], Mapping[str, Any]]
# Takes the body of `POST /v1/outcomes`; raises if it is not accepted.
Report = Callable[[dict[str, Any]], object]

T = TypeVar("T")
# Answers that a gate remembers. The decision log of the bank remembers the older ones.
_MOST_CONVERSATIONS = 4096


@dataclass(frozen=True, slots=True)
class GatedSkill:
    """The gate's answer for one conversation."""

    use: bool
    skill: str
    text: str
    """What to add to the conversation; empty if the skill is skipped."""
    reason: str
    decision_id: int | None = None
    """The answer's place in the decision log; None where it was not recorded."""


class FirstGiven(Generic[T]):
    """What each conversation was given first; those that were met long ago are forgotten. Safe to share between threads."""

    def __init__(self) -> None:
        self._given: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, conversation: str) -> T | None:
        with self._lock:
            return self._given.get(conversation)

    def first(self, conversation: str, value: T) -> T:
        """What the conversation has; the value, if it has nothing yet. The first one wins where two threads ask at once."""
        with self._lock:
            first = self._given.setdefault(conversation, value)
            while len(self._given) > _MOST_CONVERSATIONS:
                self._given.popitem(last=False)
            return first


class SkillGate:
    """Decides whether a conversation gets the skill. Safe to share between threads and agents.

    Make one with `SkillGate.at_server` or `SkillGate.from_bank`.
    """

    def __init__(
        self,
        skill: str,
        route: Route,
        *,
        report: Report | None = None,
        text: str | Path | None = None,
        agent: str | None = None,
        family: str = "",
        gate: Mapping[str, Any] | None = None,
        policy: Mapping[str, Any] | None = None,
        fallback: Literal["use", "skip"] = "skip",
        source: str = "python",
    ) -> None:
        """`text` is the skill's text, or the path of its SKILL.md; without it the text is the bank's.

        `gate` are settings of the decision in place of the server's; `policy` is its old name.
        """
        gate = policy if gate is None else gate
        if fallback not in ("use", "skip"):
            raise InputError(f"fallback must be use or skip, got {fallback!r}")
        if not skill:
            raise InputError("a gate needs a skill; name the one on offer")
        self.skill = skill
        offered = read_skill(text) if isinstance(text, Path) else Skill.from_text(skill, text or "")
        self.text = None if text is None else offered.text
        self._route = route
        self._report = report
        version: dict[str, Any] = {"include_skill_text": True}
        if self.text is not None:
            version = {"skill_digest": text_digest(self.text)}
            version |= (
                {"skill_folder_digest": offered.digest, "skill_folder_sketch": offered.sketch} if offered.files else {}
            )
        self._fixed = _without_nothing(skill=skill, agent=agent, family=family, gate=gate, source=source, **version)
        self._fallback = fallback
        self._answers = FirstGiven[GatedSkill]()

    @classmethod
    def at_server(
        cls, skill: str, server: str = DEFAULT_SERVER, *, token: str = "", timeout: float = 1.0, **options: Any
    ) -> SkillGate:
        """A gate that asks a running `skilldelta serve`, and falls back if it does not answer within `timeout` seconds."""
        key, is_pinned = known_key(os.environ), bool(os.environ.get(KEY_VARIABLE))
        address = ServerAddress(server, token, timeout, key, is_pinned)
        return cls(
            skill,
            lambda question: ask_server(address, "/v1/decide", question),
            report=lambda outcome: ask_server(address, "/v1/outcomes", outcome),
            **options,
        )

    @classmethod
    def from_bank(cls, skill: str, bank: str | Path, *, encoder: Encoder | None = None, **options: Any) -> SkillGate:
        """A gate that decides in this process; the bank is opened here and stays open, and must know the skill."""
        from skilldelta.bank.entries import RecordedOutcome
        from skilldelta.gate import Gate, Question
        from skilldelta.serve.gate_service import GateService

        service = GateService.open(bank, encoder=encoder)
        service.skill(skill)  # refuses an unknown one: a misspelled name must not pass for a skill that never helps
        # Settings that no question could be answered with are refused here; later they would be the fallback for ever.
        settings = options.get("gate", options.get("policy"))
        gate = None if settings is None else Gate.from_settings(settings, service.settings.gate)
        return cls(
            skill,
            lambda question: service.decide(Question(**{**question, "gate": gate})).to_dict(),
            report=lambda outcome: service.record_outcome(RecordedOutcome(**outcome, time=time.time())),
            **options,
        )

    def decide(self, text: str, *, conversation: str = "") -> GatedSkill:
        """The answer for a task; a conversation keeps the first answer it was given."""
        if conversation and (previous := self.answer_of(conversation)):
            return previous
        answer = self._ask(text, conversation)
        return self._answers.first(conversation, answer) if conversation else answer

    def answer_of(self, conversation: str) -> GatedSkill | None:
        """The answer that a conversation was given, as far as this gate remembers."""
        return self._answers.get(conversation)

    def record(self, answer: GatedSkill, **outcome: float | None) -> bool:
        """Tell the decision log what happened: success, tokens, seconds, cost_usd. False if it could not be told."""
        values = _without_nothing(**outcome)
        if self._report is None or answer.decision_id is None or not values:
            return False
        try:
            self._report({"decision_id": answer.decision_id, **values})
        except Exception:  # an outcome that is not recorded is missing, and never the agent's problem
            return False
        return True

    def prepare(self, messages: Sequence[Mapping[str, Any]], *, conversation: str = "") -> list[Mapping[str, Any]]:
        """Chat messages with the skill as a system message before the first user message, where the gate says use."""
        task = first_user_text(messages)
        answer = self.decide(task, conversation=conversation) if task else None
        return with_system_text(messages, answer.text) if answer and answer.use else list(messages)

    def _ask(self, text: str, conversation: str) -> GatedSkill:
        if not text.strip():
            return self._fallen_back("there is no task text to decide on")
        try:
            document = self._route(_without_nothing(text=text, conversation=conversation, **self._fixed))
            return self._answer(document["action"] == "use", str(document["reason"]), document)
        except Exception as error:  # whatever goes wrong in routing, the agent runs
            return self._fallen_back(f"routing failed ({type(error).__name__})")

    def _fallen_back(self, reason: str) -> GatedSkill:
        return self._answer(self._fallback == "use", f"{reason}; the fallback is {self._fallback}", {})

    def _answer(self, use: bool, reason: str, document: Mapping[str, Any]) -> GatedSkill:
        """A skill whose text nobody has cannot be used."""
        text = document.get("skill_text") if self.text is None else self.text
        if use and not text:
            use, reason = False, f"{reason}; but neither the caller nor the bank has the skill's text"
        return GatedSkill(use, self.skill, str(text) if use else "", reason, document.get("decision_id"))


def first_user_text(messages: Sequence[Any]) -> str:
    """The text of the first user message; empty where there is none."""
    at = _first_user_turn(messages)
    return plain_text(messages[at]["content"]) if at < len(messages) else ""


def with_system_text(messages: Sequence[Any], text: str) -> list[Any]:
    """The messages with a text as a system message before the first user message."""
    at = _first_user_turn(messages)
    return [*messages[:at], {"role": "system", "content": text}, *messages[at:]]


def _first_user_turn(messages: Sequence[Any]) -> int:
    """Its place; behind the last message where there is none."""
    is_user = (isinstance(turn, Mapping) and turn.get("role") == "user" and "content" in turn for turn in messages)
    return next((place for place, matches in enumerate(is_user) if matches), len(messages))


def with_text_below(instructions: str | None, text: str) -> str:
    """Instructions with a text below them."""
    return "\n\n".join(filter(None, (instructions, text)))


def plain_text(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts; what is no text is left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = (part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | Mapping))
    return "\n".join(part for part in parts if isinstance(part, str))


def _without_nothing(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "")}
