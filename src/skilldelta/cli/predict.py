"""`skilldelta predict`: will this skill help on this task?"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.advice_display import show_advice
from skilldelta.cli.arguments import gate_body, gate_of, known_suite
from skilldelta.cli.output import note, text_from_stdin, write_json
from skilldelta.cli.remote import Remote, answer_of, refuse_local, remote_of, server_option
from skilldelta.cli.settings import GivenPath
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.advisor import Answer, Question
    from skilldelta.arrays import Vectors
    from skilldelta.bank.store import Bank
    from skilldelta.gate import Gate
    from skilldelta.records import Agent


@click.command("predict")
@click.argument("text", required=False)
@click.option("--skill", type=settings.NameInBank("skill"), metavar="NAME", help="The skill on offer.")
@click.option(
    "--skill-file",
    type=GivenPath(),
    metavar="PATH",
    help="The skill as it is now, a SKILL.md or its folder: evidence of a version before an edit counts less.",
)
@click.option("--family", help="The task's family, where it is known.")
@click.option("--task-id", help="The task's id: its own record, if the bank has one, is left out.")
@settings.panel_options
@server_option
@click.option(
    "--query-vector",
    type=GivenPath(dir_okay=False),
    metavar="FILE",
    help="TEXT's vector, as a JSON list or .npy, for imported vectors.",
)
@settings.gate_options
@click.option("--explain", is_flag=True, help="Add what the gain is made of, the chances, the cost and the settings.")
@settings.fallback_option(
    "The decision when routing fails, as with a locked bank or a silent encoder. Without it, a failure is an error."
)
@click.option("--record", is_flag=True, help="Write the decision into the bank's decision log, and show its id.")
@settings.document_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    text: str | None,
    bank: str,
    server: str | None,
    as_json: bool,
    output: Path | None,
    **options: Any,
) -> None:
    """Predict the gain of a skill on a task, decide, and show the evidence.

    TEXT is the task as the agent will see it; "-" reads it from stdin.

    \b
    skilldelta predict --skill dates "What is the date one week from 3/5/1979?"
    """
    gate = gate_of(ctx)
    is_document = as_json or output is not None
    weighs_cost = gate.cost_rule is not None and not is_document  # then the cost is part of the reason
    options["explain"] = options["explain"] or weighs_cost
    remote = remote_of(ctx, server)
    answer = _answer(bank, text, gate, options) if remote is None else _of_server(ctx, remote, text, options)
    if is_document:
        write_json(answer.to_dict(), output)
        return
    show_advice(answer, gate, explain=ctx.params["explain"])
    if remote is not None:
        note(f"answered by {remote.url}")
    if answer.decision_id is not None:
        note(f"recorded as decision {answer.decision_id}")


_OF_A_BANK = {
    "query_vector": "--query-vector",
    "encoder": "--encoder",
    "encoder_url": "--encoder-url",
    "encoder_model": "--encoder-model",
    "fallback": "--fallback",
}


def _of_server(ctx: click.Context, remote: Remote, text: str | None, options: dict[str, Any]) -> Answer:
    """The answer of a server to the same question, decided as its gate is set, but for the settings of this call."""
    from skilldelta.advisor.carried_over import SkillVersion
    from skilldelta.bank.skill_versions import read_skill
    from skilldelta.skill_folder import VERSION_FIELDS

    refuse_local(ctx, _OF_A_BANK)
    if text is None:
        raise InputError("no task text; a server needs it as the last argument, or - to read it from stdin")
    if not options["skill"]:
        raise InputError("no skill; say which one is on offer with --skill NAME")
    body: dict[str, Any] = {
        "text": text_from_stdin() if text == "-" else text,
        "skill": options["skill"],
        "family": options["family"] or "",
        "task_id": options["task_id"] or "",
        "suite": options["suite"] or "",
        "agent": options["agent"],
        "explain": options["explain"],
        "record": options["record"],
        "gate": gate_body(ctx) or None,
    }
    if options["skill_file"] is not None:
        version = SkillVersion.of(read_skill(options["skill_file"]))
        body |= {name: getattr(version, name.removeprefix("skill_")) for name in VERSION_FIELDS}
    return remote.read(answer_of, remote.ask("/v1/decide", body))


def _answer(bank: str, text: str | None, gate: Gate, options: dict[str, Any]) -> Answer:
    """The advice, or the fallback where one is configured and routing fails; bad input is an error in any case."""
    from skilldelta.advisor.failure import ROUTING_FAILURES, fallback_advice
    from skilldelta.bank import Bank

    try:
        with Bank.open(bank, create=False) as opened:
            agent = opened.resolve_agent(options["agent"])
            question = _question(opened, agent, text, options)
            advice = _advice(opened, agent, question, gate, options)
            if not options["record"]:
                return advice
            return replace(advice, decision_id=_recorded(opened, advice, agent, question))
    except ROUTING_FAILURES as error:
        if not options["fallback"]:
            raise
        names = {name: options[name] or "" for name in ("skill", "family", "agent", "suite")}
        return fallback_advice(error, options["fallback"], gate, **names)


def _advice(opened: Bank, agent: Agent, question: Question, gate: Gate, options: dict[str, Any]) -> Answer:
    """An encoder that fails leaves a bank in which the fallback can be recorded."""
    from skilldelta.advisor import Advisor
    from skilldelta.advisor.failure import fallback_advice
    from skilldelta.cli.arguments import chosen_encoder
    from skilldelta.encoders import EncoderError

    try:
        encoder = chosen_encoder(opened, options, given=_given_vector(question, options))
        advice = Advisor(opened, encoder, agent=agent, gate=gate).ask(question, explain=options["explain"])
        return advice if options["skill_file"] is None else _of_file(opened, advice, gate, question, options)
    except EncoderError as error:
        if not options["fallback"]:
            raise
        names = {"skill": question.skill, "family": question.family, "suite": question.suite}
        return fallback_advice(error, options["fallback"], gate, agent=agent.name, **names)


def _of_file(opened: Bank, advice: Answer, gate: Gate, question: Question, options: dict[str, Any]) -> Answer:
    """The advice for a skill's text as it is on disk; the paper's rule carries nothing over."""
    from skilldelta.advisor.carried_over import SkillVersion, edits_of, for_version
    from skilldelta.advisor.failure import fallback_advice
    from skilldelta.bank.skill_versions import read_skill

    recorded, offered = opened.resolve_skill(question.skill), SkillVersion.of(read_skill(options["skill_file"]))
    if not offered.is_recorded(recorded) and gate.estimator == "paper":
        error = InputError(
            f"the evidence is of version {recorded.digest[:12]}; the paper asks for a re-check after an edit"
        )
        names = {"skill": question.skill, "family": question.family, "suite": question.suite}
        return fallback_advice(error, "abstain", gate, agent=advice.agent, **names)
    return for_version(advice, gate, recorded, offered, edits_of(opened.skills(), opened.executions()))


def _recorded(opened: Bank, advice: Answer, agent: Agent, question: Question) -> int:
    from skilldelta.advisor.recording import decision_record

    skill = opened.resolve_skill(question.skill)
    record = decision_record(
        advice, agent=agent, skill=skill, text=question.text, task_id=question.task_id, time=time.time()
    )
    return opened.record_decision(record)


def _question(bank: Bank, agent: Agent, text: str | None, options: dict[str, Any]) -> Question:
    """The question as asked; a task that the bank knows by id may leave its text and family out."""
    from skilldelta.advisor import Question

    task_id = options["task_id"] or ""
    if text is None and not task_id:
        raise InputError("no task text; give it as the last argument, or - to read it from stdin")
    if not options["skill"]:
        raise InputError("no skill; say which one is on offer with --skill NAME")
    skill = bank.resolve_skill(options["skill"]).skill_id
    suite = known_suite(bank, options["suite"]) or bank.resolve_suite(agent, skill_id=skill, task_id=task_id)
    if text is None:
        tasks = bank.tasks(suite, task_id)
        if not tasks:
            where = f" in suite {options['suite']!r}" if options["suite"] else ""
            raise InputError(f"the bank has no task {task_id!r}{where}; give the task's text")
        text = tasks[0].text
    text = text_from_stdin() if text == "-" else text
    return Question(text=text, skill=skill, family=options["family"] or "", task_id=task_id, suite=suite or "")


def _given_vector(question: Question, options: dict[str, Any]) -> dict[str, Vectors]:
    """The question's own vector, where a file gives it."""
    if options["query_vector"] is None:
        return {}
    from skilldelta.encoders.imported import read_query_vector

    return {question.text: read_query_vector(options["query_vector"])}
