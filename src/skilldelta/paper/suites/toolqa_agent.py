"""ToolQA's agent: thoughts and actions as text, one request per step, the whole dialogue in every request.

The wording around the dialogue is a suite's own (`toolqa.json` beside its solver): that of the authors' checkout, or ours.
What is graded is the agent's own text, thoughts and actions without observations.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilldelta.collect.agents.inspect_names import require_inspect
from skilldelta.collect.graders.final_answer import without_thoughts
from skilldelta.collect.sandbox import find_sandbox
from skilldelta.encoders import load_encoder
from skilldelta.files import json_document
from skilldelta.paper.suites.lookup_corpora import available
from skilldelta.paper.suites.lookup_tools import PassageSearch
from skilldelta.paper.suites.toolqa_environment import OWN_SENTENCES, ToolEnvironment

STEPS = 8
WORDING_FILE = "toolqa.json"
_OBSERVATION = re.compile(r"^[ \t]*Observation\s*\d*\s*:", re.MULTILINE)
_ACTION = re.compile(r"Action\s*\d*\s*:")
_FINISH = re.compile(r"Finish\[(.+)\]", re.DOTALL)
_LOAD_SKILL = re.compile(r"LoadSkill\[(.*)\]")


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of the protocol: the frame with its four places, the examples, and the observations by outcome."""

    frame: str
    """With {examples}, {base_user}, {scratchpad} and {step_n} in it."""
    examples: str
    sentences: Mapping[str, str] = field(default_factory=lambda: OWN_SENTENCES)

    def request(self, base_user: str, scratchpad: str, step: int) -> str:
        """The user's message of one step."""
        fields = {"examples": self.examples, "base_user": base_user, "scratchpad": scratchpad, "step_n": str(step)}
        # Filled in one pass, since a task, a skill or an observation may hold braces of its own.
        return re.sub(r"\{(examples|base_user|scratchpad|step_n)\}", lambda place: fields[place[1]], self.frame)


def read_wording(path: Path) -> Wording:
    """The wording that a prepared suite brings."""
    document = json_document(path)
    sentences = {**OWN_SENTENCES, **document.get("sentences", {})}
    return Wording(str(document["frame"]), str(document["examples"]), sentences)


def split_reply(reply: str, step: int) -> tuple[str, str]:
    """The thought and the action of a reply at a step; only the first line of an action counts."""
    text = without_thoughts(reply).strip()
    observation = _OBSERVATION.search(text)
    if observation:
        text = text[: observation.start()].strip()
    exact = f"Action {step}:"
    if exact in text:
        thought, _, action = text.partition(exact)
    elif marked := _ACTION.search(text):
        thought, action = text[: marked.start()], text[marked.end() :]
    else:
        thought, action = text, ""
    return thought.strip().replace("\n", " "), action.strip().partition("\n")[0].strip()


@dataclass(slots=True)
class Dialogue:
    """One run of a task: what goes into the next request, and what is graded."""

    scratchpad: str = ""
    graded: str = ""
    answer: str = ""
    is_finished: bool = False
    step: int = 1

    async def take(self, reply: str, environment: ToolEnvironment) -> None:
        """Carry out the action of a reply; the step counts whatever it was."""
        thought, action = split_reply(reply, self.step)
        spoken = f"\nThought {self.step}: {thought}\nAction {self.step}: {action}"
        self.graded += spoken
        finish = _FINISH.fullmatch(action)
        skill = _LOAD_SKILL.fullmatch(action)
        if finish:
            self.answer, self.is_finished = finish[1], True
            self.graded += f"\nAnswer: {self.answer}"
            text = f"Answer: {self.answer}"
        elif skill:
            text = environment.sentences["skill_missing"].replace("{name}", skill[1])
        elif not action:
            text = environment.sentences["no_action"]
        else:
            observation = await environment.execute(action)
            text = observation.shown(environment.sentences)
        self.scratchpad += f"{spoken}\nObservation {self.step}: {text}"
        self.step += 1


def stop_texts(model: str, step: int) -> list[str]:
    """Where the endpoint is to stop, so that the agent does not invent observations; models named gpt-5 take none."""
    return [] if "gpt-5" in model.rsplit("/", 1)[-1].lower() else [f"\nObservation {step}:"]


def _no_texts(corpus: str, question: str) -> str:
    raise LookupError(corpus)


def toolqa_agent(
    solver_file: str, corpora: Path, *, encoder: str = "wordllama", encoder_model: str = "", steps: int = STEPS
) -> Callable[..., Awaitable[Any]]:
    """A solver of Inspect AI that runs the protocol with the wording beside the solver's own file.

    Environments are workers: each serves one execution at a time, and its SQL tables last from task to task.
    """
    require_inspect()
    folder = Path(solver_file).parent
    wording, sandbox = read_wording(folder / WORDING_FILE), find_sandbox()
    # Without texts to search there is no need of an encoder, which may be a large extra.
    _, texts = available(corpora)
    retrieve = (
        PassageSearch(corpora, load_encoder(encoder, model=encoder_model or None)).nearest if texts else _no_texts
    )
    workers = folder / ".workers"
    shutil.rmtree(workers, ignore_errors=True)
    idle: list[ToolEnvironment] = []
    started = 0

    def worker() -> ToolEnvironment:
        nonlocal started
        if idle:
            return idle.pop()
        started += 1
        return ToolEnvironment(
            corpora, folder / ".tables", workers / str(started), sandbox, retrieve, wording.sentences
        )

    async def solve(state: Any, generate: Any) -> Any:
        from inspect_ai.model import ChatMessageUser

        *before, last = state.messages
        environment, dialogue = worker(), Dialogue()
        environment.next_task()
        try:
            while dialogue.step <= steps and not dialogue.is_finished:
                request = wording.request(last.text, dialogue.scratchpad, dialogue.step)
                state.messages = [*before, ChatMessageUser(content=request)]
                stops = stop_texts(str(state.model), dialogue.step)
                state = await generate(state, tool_calls="none", **({"stop_seqs": stops} if stops else {}))
                await dialogue.take(state.output.completion or "", environment)
        finally:
            idle.append(environment)
        state.output.completion = dialogue.graded
        return state

    return solve
