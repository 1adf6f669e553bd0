"""One hook from event to answer. Whatever fails, the agent goes on: the fallback decides, and the reason is told.

A prompt gets the skill's text, or nothing; the call of a skill that the gate skips is denied; the end of a conversation
is recorded with the decisions that were taken in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from skilldelta.harnesses.harness import Dialect
from skilldelta.harnesses.offered_skill import Delivery, OfferedSkill, Part, delivered, in_parts, skill_body
from skilldelta.regular_file import read_regular
from skilldelta.routing.task_text import WISHED, read_message
from skilldelta.serve.hooks.conversation import Conversation, HookDecision, created
from skilldelta.serve.hooks.hook_event import HookEvent, read_event
from skilldelta.serve.hooks.server_client import ServerAddress, ServerSilentError, ask_server
from skilldelta.skill_folder import VERSION_FIELDS, files_beside, folder_digest
from skilldelta.text_sketch import text_sketch

# A path of the server and a document; the answer's document.
Ask = Callable[[str, dict[str, Any]], dict[str, Any]]

# How the reason of a decision begins that nobody could take.
ROUTING_FAILED = "routing failed"
TASK_CHANGED = "the task has changed"
_LONGEST_WISH = 2_000
_MOST_TRANSCRIPT = 32 << 20
# Characters of a skill's text by which it is known again in a transcript.
_ENOUGH_TO_KNOW = 200
CHOOSE, OUTCOMES = "/v1/choose", "/v1/outcomes"


# `auto` is the server, and where none answers the bank, in this process.
WhomToAsk = Literal["auto", "server", "bank"]


@dataclass(frozen=True, slots=True)
class HookSettings:
    """What a hook was set up with: the skills on offer, whom to ask, and what to do when nobody answers."""

    harness: str
    dialect: Dialect
    skills: tuple[OfferedSkill, ...]
    more_skills: Callable[[], tuple[OfferedSkill, ...]] | None = None
    """Further skills that are on offer when a prompt comes: those that the harness has at that moment."""
    agent: str = ""
    suite: str = ""
    family: str = ""
    gate: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the decision, as the server takes them; what is not said is the server's own."""
    server: ServerAddress = field(default_factory=ServerAddress)
    ask: WhomToAsk = "auto"
    fallback: Literal["use", "skip", "abstain"] = "skip"
    part: Part = field(default_factory=Part)
    delivery: Delivery = "text"
    record: bool = True
    """Whether decisions go into the bank's log."""
    shadow: bool = False
    """Decide and log, but change nothing."""
    state: Path | None = None
    """The folder of what was decided in each conversation; None keeps nothing."""


class Answered(NamedTuple):
    """What goes to standard output, and what went wrong on the way."""

    output: str = ""
    failure: str = ""
    decisions: tuple[HookDecision, ...] = ()
    """Those that were taken for this event."""


class NobodyWaitsError(Exception):
    """Whoever asked has gone, so that nothing may be kept of an answer that the agent does not use."""


class _Decided(NamedTuple):
    decisions: tuple[HookDecision, ...]
    texts: dict[str, str]
    """Of skills, from their files, else as the bank has them."""
    repeated: bool = False
    """Whether the decision was taken earlier in the conversation."""
    failure: str = ""


def answer(settings: HookSettings, content: bytes, *, ask_bank: Ask) -> Answered:
    """The answer to an event; `ask_bank` decides in this process, where no server does."""
    if settings.shadow:
        # Under a name of its own, so that conversations and the log tell it from decisions that were applied.
        hidden = replace(settings, shadow=False, harness=f"{settings.harness}-shadow")
        return answer(hidden, content, ask_bank=ask_bank)._replace(output="")
    try:
        event = read_event(settings.dialect, content)
        if event.kind in ("prompt", "compacted") and settings.more_skills is not None:
            names = {skill.name for skill in settings.skills}
            more = tuple(skill for skill in settings.more_skills() if skill.name not in names)
            settings = replace(settings, skills=settings.skills + more)
        if event.kind == "prompt" and event.text and settings.skills:
            return _prompt(settings, event, ask_bank)
        if event.kind == "skill_call" and event.skill:
            return _skill_call(settings, event)
        if event.kind == "compacted":
            return _compacted(settings, event, ask_bank)
        if event.kind == "end":
            return _end(settings, event, ask_bank)
        return Answered()
    except Exception as error:  # never the agent's problem
        return Answered(failure=_one_line(error))


def fallback_answer(settings: HookSettings, content: bytes) -> str:
    """The answer when there is no time left: what the fallback says about a prompt."""
    try:
        event = read_event(settings.dialect, content)
        is_silent = settings.shadow or settings.fallback != "use"
        if event.kind != "prompt" or not event.text or not settings.skills or is_silent:
            return ""
        result = _fallen_back(settings, "no time left")._replace(texts=_file_texts(settings).texts)
        return _delivery(settings, result, settings.part)
    except Exception:
        return ""


# A prompt


def _prompt(settings: HookSettings, event: HookEvent, ask_bank: Ask) -> Answered:
    wish = _wished(settings, event.text)
    if wish is not None:
        return _granted(settings, event, wish, ask_bank)
    message = read_message(event.text)
    if not message.is_task:
        return Answered()  # "hi" or "continue" binds nothing, and changes nothing that is bound
    event = event._replace(text=message.text)
    conversation = _conversation(settings, event)
    tasks = conversation.tasks() if conversation else []
    if conversation is None or not tasks:
        return _first_prompt(settings, event, conversation, _decided(settings, event, ask_bank))
    same = next((task for task in tasks if task.is_about(event.text)), None)
    if same is None:
        return _another_task(settings, event, tasks, ask_bank)
    if not same.claim(settings.part.number):
        return Answered()
    result = _Decided(same.known() or (), _file_texts(settings).texts)
    if _lacks_text(settings, result):
        result = result._replace(texts=_decided(settings, event, ask_bank).texts)
    return Answered(_delivery(settings, result, settings.part))


def _another_task(settings: HookSettings, event: HookEvent, tasks: list[Conversation], ask_bank: Ask) -> Answered:
    """The answer to a later message: if the gate decides otherwise about it, the task has changed, and it is decided anew."""
    injected = _injected(tasks)
    if all(skill.name in injected for skill in settings.skills):
        return Answered()  # the texts are there, and stay
    trial = _decided(replace(settings, record=False), event._replace(conversation=""), ask_bank)
    latest = {decision.skill: decision for task in tasks for decision in task.known() or () if decision.has_evidence}
    changed = [
        decision
        for decision in trial.decisions
        if decision.has_evidence
        and decision.skill not in injected
        and (decision.chosen or is_denied(decision) > is_denied(latest.get(decision.skill)))
    ]
    if not changed:
        return Answered(failure=trial.failure)
    numbered = event._replace(conversation=f"{event.conversation}#{len(tasks)}")
    result = _decided(settings, numbered, ask_bank) if settings.record else trial
    decisions = tuple(
        decision._replace(reason=f"{TASK_CHANGED}: {decision.reason}") if decision.has_evidence else decision
        for decision in result.decisions
    )
    return _first_prompt(settings, event, tasks[0]._replace(task=len(tasks)), result._replace(decisions=decisions))


def is_denied(decision: HookDecision | None) -> bool:
    """Whether the model's own call is denied: unless the evidence of harm is sure, the harness works as without a gate."""
    return decision is not None and decision.action == "skip" and decision.certainty == "sure"


def _injected(tasks: list[Conversation]) -> set[str]:
    return {decision.skill for task in tasks for decision in task.known() or () if decision.chosen}


def _wished(settings: HookSettings, text: str) -> OfferedSkill | None:
    """The skill that the user asks for by name."""
    beginning = text[:_LONGEST_WISH]
    if re.search(r"\b(not|don't|never|without)\b", beginning, re.IGNORECASE):
        return None
    for skill in settings.skills:
        name = rf"[\"'`]?{re.escape(skill.name)}[\"'`]?"
        pattern = rf"\b(use|apply|load|invoke|follow)\b[^.!?\n]{{0,30}}\s{name}(\s+skill\b|\s*$|[.,!?])|\bskill\s+{name}(\s|$|[.,!?])"
        if re.search(pattern, beginning, re.IGNORECASE):
            return skill
    return None


def _granted(settings: HookSettings, event: HookEvent, skill: OfferedSkill, ask_bank: Ask) -> Answered:
    """An explicit wish always wins: the text, unless it is in the conversation already. It is a task of its own."""
    conversation = _conversation(settings, event)
    tasks = conversation.tasks() if conversation else []
    same = next((task for task in tasks if task.is_about(event.text)), None)  # another entry of this prompt was faster
    numbered = event if conversation is None else event._replace(conversation=f"{event.conversation}#{len(tasks)}")
    # The other entries of the prompt do not record it again.
    asked = settings if same is None and settings.part.number == 1 else replace(settings, record=False)
    result = _wish_result(asked, numbered, skill, ask_bank)
    if conversation is not None:
        task = same or conversation._replace(task=len(tasks))
        task.keep(result.decisions, event.text)
        earlier = tasks[: task.task]
        if not task.claim(settings.part.number) or skill.name in _injected(earlier):
            return Answered(decisions=result.decisions)
    return Answered(_delivery(settings, result, settings.part), decisions=result.decisions)


def _wish_result(settings: HookSettings, event: HookEvent, skill: OfferedSkill, ask_bank: Ask) -> _Decided:
    """The wish as a decision, in the log where that can be written."""
    recorded = _decided(replace(settings, skills=(skill,)), event, ask_bank, wished=True)
    answer = next(iter(recorded.decisions), None)
    if answer is not None and answer.action != "use" and not recorded.failure:
        return _Decided((answer._replace(chosen=False),), {})  # an arm of a collection has no wishes
    number = None if answer is None else answer.decision_id
    granted = HookDecision(skill.name, "use", WISHED, decision_id=number, chosen=True)
    return _Decided((granted,), recorded.texts)


def _texts_of_bank(settings: HookSettings, skill: OfferedSkill, ask_bank: Ask) -> dict[str, str]:
    """The text of a skill that has no file; nothing is decided."""
    question = HookEvent("prompt", text=skill.name)
    return _decided(replace(settings, skills=(skill,), record=False), question, ask_bank, wished=True).texts


def _is_in_transcript(settings: HookSettings, result: _Decided, transcript: str) -> bool:
    """Whether the harness's record of the conversation has the skill's text: a fork repeats what was said before it."""
    skill = _chosen(settings, result)
    text = result.texts.get(skill.name) if skill else None
    if not transcript or not text:
        return False
    try:
        content = read_regular(transcript, _MOST_TRANSCRIPT)
    except OSError:
        return False
    beginning = text[:_ENOUGH_TO_KNOW]
    return any(json.dumps(beginning, ensure_ascii=is_ascii)[1:-1].encode() in content for is_ascii in (True, False))


class _FileTexts(NamedTuple):
    texts: dict[str, str]
    """By skill."""
    unreadable: dict[str, str]
    """Why, by skill."""


def _file_texts(settings: HookSettings) -> _FileTexts:
    """The texts of the skills that have files, each read once: what is asked about is what is injected."""
    result = _FileTexts({}, {})
    for skill in settings.skills:
        try:
            if skill.file is not None:
                result.texts[skill.name] = skill_body(skill.file)
        except OSError as error:
            result.unreadable[skill.name] = f"{skill.file}: cannot be read ({error.strerror or error})"
    return result


def _first_prompt(
    settings: HookSettings, event: HookEvent, conversation: Conversation | None, result: _Decided
) -> Answered:
    """The answer with which the decision is known; of hooks that decide at the same moment, the first one counts."""
    part = Part(settings.part.number, 1)
    is_decided = any(decision.action != "abstain" or decision.has_evidence for decision in result.decisions)
    if not is_decided:
        return Answered(failure=result.failure)  # about none of the skills: the next task is asked about anew
    if conversation is not None and conversation.keep(result.decisions, event.text):
        part = settings.part
        result = result._replace(decisions=conversation.known() or result.decisions)
        conversation.tidy()
        if not conversation.claim(part.number):
            return Answered(failure=result.failure)
    # Whoever decided before has injected; a fork repeats what was said before it.
    if (result.repeated and part.of == 1) or _is_in_transcript(settings, result, event.transcript):
        return Answered(failure=result.failure, decisions=() if result.repeated else result.decisions)
    output = _delivery(settings, result, part) if _chosen(settings, result) else _message(settings, result)
    return Answered(output, result.failure, () if result.repeated else result.decisions)


def _lacks_text(settings: HookSettings, result: _Decided) -> bool:
    """Whether the skill to inject is in the bank only."""
    skill = _chosen(settings, result)
    return settings.delivery == "text" and skill is not None and skill.file is None and skill.name not in result.texts


def _conversation(settings: HookSettings, event: HookEvent) -> Conversation | None:
    if settings.state is None or not event.conversation:
        return None
    return Conversation(settings.state / "conversations", settings.harness, event.conversation)


def _decided(settings: HookSettings, event: HookEvent, ask_bank: Ask, *, wished: bool = False) -> _Decided:
    files = _file_texts(settings)
    failure = "; ".join(files.unreadable.values())
    # A skill whose text cannot be read is not on offer; the others are.
    readable = tuple(skill for skill in settings.skills if skill.name not in files.unreadable)
    offered = replace(settings, skills=readable)
    if not offered.skills:
        return _Decided((), {}, failure=failure)
    try:
        question = _question(offered, event, files.texts)
        if wished:
            question["wished"] = True
        result = _of_choice(_asked(settings, CHOOSE, question, ask_bank))
    except NobodyWaitsError:
        raise
    except Exception as error:
        result = _fallen_back(offered, _one_line(error))
    # A server hands out the text that was set up, or none: whoever could change it there would speak to the model.
    pinned = {skill.name: skill.digest for skill in offered.skills if skill.digest}
    foreign = [name for name, text in result.texts.items() if _digest(text) != pinned.get(name, _digest(text))]
    texts = {name: text for name, text in result.texts.items() if name not in foreign}
    changed = [
        f"the text of {name} is not the one that was installed; run skilldelta install again" for name in foreign
    ]
    reasons = "; ".join(reason for reason in (failure, result.failure, *changed) if reason)
    return result._replace(texts={**texts, **files.texts}, failure=reasons)


def _digest(text: str) -> str:
    """As the bank names versions of a skill."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _question(settings: HookSettings, event: HookEvent, texts: dict[str, str]) -> dict[str, Any]:
    names = [skill.name for skill in settings.skills]
    digests = {skill.name: skill.digest for skill in settings.skills if skill.digest}
    digests |= {name: _digest(text) for name, text in texts.items()}
    # Where a skill was edited since its runs, how much changed decides how far their evidence is trusted.
    sketches = {name: text_sketch(text) for name, text in texts.items()}
    folders = {skill.name: files_beside(skill.file) for skill in settings.skills if skill.file and skill.name in texts}
    folders = {name: beside for name, beside in folders.items() if beside.listing}
    folder_digests = {skill.name: skill.folder_digest for skill in settings.skills if skill.folder_digest}
    folder_digests |= {name: folder_digest(digests[name], beside.listing) for name, beside in folders.items()}
    versions = {
        "skill_digest": digests,
        "skill_sketch": sketches,
        "skill_folder_digest": folder_digests,
        "skill_folder_sketch": {name: beside.sketch for name, beside in folders.items()},
    }
    needs_text = settings.delivery == "text" and any(skill.file is None for skill in settings.skills)
    question: dict[str, Any] = {
        "text": event.text,
        "skills": names,
        "source": settings.harness,
        **({} if settings.record else {"record": False}),
    }
    optional = {
        **{VERSION_FIELDS[name]: values for name, values in versions.items()},
        "conversation": f"{settings.harness}:{event.conversation}" if event.conversation else "",
        "agent": settings.agent,
        "suite": settings.suite,
        "family": settings.family,
        "gate": dict(settings.gate),
        "include_skill_text": needs_text,
    }
    return question | {name: value for name, value in optional.items() if value}


def _asked(settings: HookSettings, path: str, document: dict[str, Any], ask_bank: Ask) -> dict[str, Any]:
    if settings.ask == "bank":
        return ask_bank(path, document)
    try:
        return ask_server(settings.server, path, document)
    except ServerSilentError as silent:
        if settings.ask == "server":
            raise RuntimeError(silent.in_full) from None
        try:
            return ask_bank(path, document)
        except Exception as error:
            raise RuntimeError(f"{_one_line(error)} (and before that: {silent.in_full})") from error


def _of_choice(document: dict[str, Any]) -> _Decided:
    rows = document["decisions"]
    decisions = [HookDecision.from_row(row) for row in rows]
    choice = document["choice"]
    return _Decided(
        tuple(decision._replace(chosen=decision.skill == choice) for decision in decisions),
        {row["skill"]: row["skill_text"] for row in rows if isinstance(row.get("skill_text"), str)},
        repeated=any(row.get("repeated") is True for row in rows),
        failure="; ".join(decision.reason for decision in decisions if decision.reason.startswith(ROUTING_FAILED)),
    )


def _fallen_back(settings: HookSettings, reason: str) -> _Decided:
    """The configured fallback for every skill; where it is `use`, the first one is injected."""
    message = f"{settings.fallback} because the gate could not be asked: {reason}"
    decisions = [HookDecision(skill.name, settings.fallback, message) for skill in settings.skills]
    first = decisions[0]._replace(chosen=settings.fallback == "use")
    return _Decided((first, *decisions[1:]), {}, failure=reason)


def _delivery(settings: HookSettings, result: _Decided, part: Part, at: str = "") -> str:
    """The skill's text for the model, beside a prompt or at another event."""
    skill = _chosen(settings, result)
    if skill is None:
        return ""
    text = result.texts.get(skill.name) if settings.delivery == "text" else None
    if text is not None and skill.file is None and len(in_parts(skill.name, text, settings.dialect.longest)) > part.of:
        skill = skill._replace(file=_written_down(settings, text))
    context = delivered(skill, text, settings.dialect, part=part, delivery=settings.delivery)
    if not context:
        return ""
    line = {"systemMessage": _line(result)} if settings.dialect.shows_messages and part.number == 1 else {}
    return _written({**settings.dialect.context(context, at, skill.name), **line})


def _message(settings: HookSettings, result: _Decided) -> str:
    """One quiet line for the person about a skill that was skipped, where the harness can show one."""
    is_told = settings.dialect.shows_messages and settings.part.number == 1
    line = _line(result) if is_told and any(decision.has_evidence for decision in result.decisions) else ""
    return _written({"systemMessage": line}) if line else ""


def _line(result: _Decided) -> str:
    verbs = {"use": "used", "skip": "skipped", "abstain": "left alone"}
    decision = next((decision for decision in result.decisions if decision.chosen), None)
    decision = decision or next(decision for decision in result.decisions if decision.has_evidence)
    certainty = f", {decision.certainty}" if decision.certainty else ""
    gain = f" ({100 * decision.gain:+.0f} points{certainty})" if decision.has_evidence else ""
    return f"SkillDelta: {verbs[decision.action]} {decision.skill}{gain} · skilldelta why"


def _written(document: dict[str, Any]) -> str:
    """In ASCII, which every pipe takes, whatever its encoding."""
    return json.dumps(document, ensure_ascii=True)


def _written_down(settings: HookSettings, text: str) -> Path | None:
    """A file with the text of a skill that only the bank has, for a model that is told to read it."""
    if settings.state is None:
        return None
    content = text.encode("utf-8", "replace")
    path = settings.state / "skills" / f"{hashlib.sha256(content).hexdigest()[:32]}.md"
    if path.is_file():
        return path
    part = path.with_suffix(f".{os.urandom(8).hex()}.partial")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with created(part) as file:
            file.write(content)
        os.replace(part, path)  # whole or not at all: a model follows what it reads
    except OSError:
        with suppress(OSError):
            part.unlink()
        return None
    return path


def _chosen(settings: HookSettings, result: _Decided) -> OfferedSkill | None:
    name = next((decision.skill for decision in result.decisions if decision.chosen), None)
    return next((skill for skill in settings.skills if skill.name == name), None)


# The call of a skill, and the end


def _skill_call(settings: HookSettings, event: HookEvent) -> Answered:
    # What the latest task that was about the skill has decided.
    decision = next((decision for decision in reversed(_taken(settings, event)) if decision.skill == event.skill), None)
    if decision is None or not is_denied(decision):
        return Answered()
    return Answered(_written(settings.dialect.denial(denial_reason(decision))))


def denial_reason(decision: HookDecision) -> str:
    """What the model reads in place of a skill."""
    return f"SkillDelta: {decision.reason} (sure). Proceed without this skill."


def denied_skills(settings: HookSettings, content: bytes) -> dict[str, str]:
    """The skills whose calls are denied in the conversation of an event, with the reasons."""
    latest = {decision.skill: decision for decision in _taken(settings, read_event(settings.dialect, content))}
    return {name: denial_reason(decision) for name, decision in latest.items() if is_denied(decision)}


def _taken(settings: HookSettings, event: HookEvent) -> list[HookDecision]:
    """The decisions of a conversation, those of its first task first, without skills that a task was not about."""
    conversation = _conversation(settings, event)
    taken = [decision for task in (conversation.tasks() if conversation else ()) for decision in task.known() or ()]
    return [decision for decision in taken if decision.action != "abstain" or decision.has_evidence]


def _compacted(settings: HookSettings, event: HookEvent, ask_bank: Ask) -> Answered:
    """The text of the skill that was used last, again: a compaction has taken it out of the conversation."""
    chosen = [decision for decision in _taken(settings, event) if decision.chosen]
    result = _Decided(tuple(chosen[-1:]), _file_texts(settings).texts)
    skill = _chosen(settings, result)
    if skill is None:
        return Answered()
    if _lacks_text(settings, result):
        result = result._replace(texts=_texts_of_bank(settings, skill, ask_bank))
    return Answered(_delivery(settings, result, settings.part, settings.dialect.start))


def _end(settings: HookSettings, event: HookEvent, ask_bank: Ask) -> Answered:
    """The tokens of the conversation, with each decision that was taken in it; the same end twice adds nothing."""
    from skilldelta.harnesses.session_transcript import transcript_tokens

    recorded = [decision.decision_id for decision in _taken(settings, event) if decision.decision_id]
    tokens = transcript_tokens(settings.dialect, event.transcript) if recorded and event.transcript else None
    for decision_id in recorded if tokens is not None else []:
        _asked(settings, OUTCOMES, {"decision_id": decision_id, "tokens": tokens}, ask_bank)
    return Answered()


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:400] or type(error).__name__
