"""From the options of `skilldelta collect` to a session: which agent, which graders, how far."""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilldelta.cli.arguments import environment_proxy
from skilldelta.cli.output import note
from skilldelta.errors import InputError
from skilldelta.redaction import keep_secret, redacted
from skilldelta.settings_text import yaml_value

if TYPE_CHECKING:
    from skilldelta.collect.agents.base import Asks, CollectAgent
    from skilldelta.collect.budget import Budget, Prices
    from skilldelta.collect.graders import Grader, GraderTools
    from skilldelta.collect.session import Session
    from skilldelta.collect.suite import AgentSettings, Suite
    from skilldelta.harnesses.harness import Harness


def make_session(folder: Path, options: dict[str, Any]) -> Session:
    """Read the suite and check every option against it, before anything is paid."""
    from skilldelta.collect.budget import Caps, Prices, Retries
    from skilldelta.collect.graders import make_graders
    from skilldelta.collect.plan import Selection
    from skilldelta.collect.session import Session
    from skilldelta.collect.suite import load_suite

    _check_numbers(options)
    if (
        options["max_usd"] is not None
        and options["price"] is None
        and not options["cost_field"]
        and _harness_of(options) is None
    ):
        raise InputError("--max-usd needs prices; give --price IN OUT in dollars per million tokens")
    caps = Caps(options["max_calls"], options["max_tokens"], options["max_usd"], options["max_seconds"])
    prices = Prices(*options["price"]) if options["price"] else None
    suite = load_suite(_suite_folder(folder, options["bank"]))
    judge = _judge(suite, options, prices)
    graders = make_graders(suite, _tools(options, judge, None))
    agent = _agent(suite, options, prices)
    return Session(
        suite=suite,
        agent=agent,
        bank=options["bank"],
        make_graders=lambda budget: make_graders(suite, _tools(options, judge, budget)),
        selection=Selection(
            repetitions=options["repetitions"] or suite.repetitions,
            repeat_share=options["repeat_share"],
            families=options["families"],
            task_ids=options["task_ids"],
            limit=options["limit"],
            same_condition=options.get("aa"),
            listed=options.get("listed", False),
        ),
        seed=options["seed"],
        caps=caps,
        retries=Retries(options["retries"]),
        concurrency=options["concurrency"],
        retry_errors=options["retry_errors"],
        accept_changes=options["accept_changes"],
        judge=judge,
        invocation={
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": redacted(shlex.join(["skilldelta", *sys.argv[1:]])),
            **_sandbox_in_use(agent, graders.values()),
        },
        say=note,
    )


def _suite_folder(folder: Path, bank: str) -> Path:
    """The suite itself, or the one made of a skill's own evals, which is kept with the collections of the bank."""
    from skilldelta.collect.session import collections_folder
    from skilldelta.collect.skill_evals import is_skill_with_evals, refresh_suite_of_skill

    if not is_skill_with_evals(folder):
        return folder
    return refresh_suite_of_skill(folder, collections_folder(bank) / f"{folder.resolve().name}-evals")


def _check_numbers(options: dict[str, Any]) -> None:
    """Options that no agent can work with, whichever it is."""
    from skilldelta.endpoint import check_timeout

    check_timeout(options["timeout"])
    temperature, output_tokens = options["temperature"], options["output_tokens"]
    if temperature is not None and not 0 <= temperature < math.inf:
        raise InputError(f"--temperature must be a number of at least 0, got {temperature:g}")
    if output_tokens is not None and output_tokens < 1:
        raise InputError(f"--output-tokens must be at least 1, got {output_tokens}")


def _sandbox_in_use(agent: CollectAgent, graders: Iterable[Grader]) -> dict[str, str]:
    """The sandbox and what holds its limits, when code of an agent will run."""
    for user in (agent, *graders):
        sandbox = getattr(user, "sandbox", None)
        if sandbox is not None:
            return {"sandbox": sandbox.name, "limits_held_by": sandbox.limiter}
    return {}


def _agent(suite: Suite, options: dict[str, Any], prices: Prices | None) -> CollectAgent:
    if options["command_line"] and not options.get("listed"):
        return _command_agent(suite, options)
    harness = _harness_of(options)
    if options.get("listed") and harness is None:
        raise InputError("--listed needs a harness that lists skills; name one with --harness")
    if harness is not None:
        return _harness_agent(suite, harness, options)
    if options["passed_variables"]:
        raise InputError("--pass-env belongs to a --command; a model's key is named with --key-variable")
    chosen = {
        "solver": options["solver"],
        "temperature": options["temperature"],
        "max_tokens": options["output_tokens"],
        "reasoning_effort": options["reasoning_effort"],
        "thinking": options["thinking"],
        "extra_body": _extra_body(options["extra_body"]),
        "send_seed": options["send_seed"] or None,
    }
    settings = replace(suite.agent, **{key: value for key, value in chosen.items() if value is not None})
    return _model_agent(options["model"], options["base_url"], settings, suite.folder, options, prices)


def _extra_body(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise InputError(f"--extra-body is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise InputError(f'--extra-body must be a JSON object such as {{"top_k": 1}}, got {text[:60]!r}')
    return fields


def _model_agent(
    model: str | None,
    base_url: str,
    settings: AgentSettings,
    folder: Path,
    options: dict[str, Any],
    prices: Prices | None,
) -> Asks:
    """A chat endpoint is talked to directly; everything else, and every other solver, runs on Inspect AI."""
    from skilldelta.collect.agents.chat_agent import CHAT_SOLVERS, ChatAgent
    from skilldelta.collect.chat_endpoint import ChatEndpoint
    from skilldelta.collect.sandbox import find_sandbox
    from skilldelta.endpoint import check_base_url, check_key

    if not model:
        raise InputError("no agent named; give --model NAME (with --base-url URL), or --command 'program …'")
    sandbox = find_sandbox(options["sandbox"]) if settings.solver == "code" else None
    key = check_key(os.environ.get(options["key_variable"]))
    keep_secret(key)
    if base_url:
        check_base_url(base_url)
    if base_url and settings.solver in CHAT_SOLVERS:
        endpoint = ChatEndpoint(
            base_url,
            key,
            timeout=options["timeout"],
            expected_model=options["returned_model"],
            proxy=environment_proxy(base_url),
        )
        return ChatAgent(
            name=options["agent"] or model,
            model=model,
            wanted=settings,
            endpoint=endpoint,
            sandbox=sandbox,
            prices=prices,
        )
    from skilldelta.collect.agents.inspect_agent import InspectAgent

    return InspectAgent(
        name=options["agent"] or model,
        model=f"openai-api/skilldelta/{model}" if base_url else model,
        wanted=settings,
        solver_arguments=_arguments(options["solver_args"]),
        solver_folder=folder,
        tool_sandbox=_tool_sandbox(options["tool_sandbox"]),
        base_url=base_url,
        api_key=key,
        expected_model=options["returned_model"],
        sandbox=sandbox,
        prices=prices,
        retries=options["retries"],
        timeout=options["timeout"],
    )


def _command_agent(suite: Suite, options: dict[str, Any]) -> CollectAgent:
    from skilldelta.collect.agents.command_agent import CommandAgent, OutputFields, command_words
    from skilldelta.collect.agents.program_agent import agent_environment

    if options["solver"]:
        raise InputError("--solver belongs to a model; a --command is an agent of its own")
    fields = None
    if options["answer_field"]:
        fields = OutputFields(
            options["answer_field"], tuple(options["token_fields"]), options["cost_field"], options["model_field"]
        )
    variables = (*suite.agent.environment, *options["passed_variables"])
    environment = agent_environment(os.environ, variables)
    keep_secret(*(environment[name] for name in variables))
    return CommandAgent(
        name=options["agent"] or Path(command_words(options["command_line"])[0]).name,
        command=options["command_line"],
        task_as=options["task_as"],
        skill_as=options["skill_as"],
        output=fields,
        version=options["agent_version"],
        expected_model=options["model"] or "",
        timeout=options["timeout"],
        environment=environment,
    )


def _harness_of(options: dict[str, Any]) -> Harness | None:
    """The harness to run; --agent named it before --harness did."""
    from skilldelta.harnesses import harness_named, harness_names

    if options["harness"]:
        if options["base_url"] or options["solver"]:
            raise InputError("--harness runs an agent of its own; leave out --base-url and --solver")
        return harness_named(options["harness"])
    if options["agent"] in harness_names() and not options["base_url"] and not options["solver"]:
        note(f"--agent {options['agent']} is now --harness {options['agent']}")
        options["harness"], options["agent"] = options["agent"], None
        return harness_named(options["harness"])
    return None


def _harness_agent(suite: Suite, harness: Harness, options: dict[str, Any]) -> CollectAgent:
    from skilldelta.collect.agents.program_agent import agent_environment
    from skilldelta.harnesses.harness_agent import HarnessAgent
    from skilldelta.harnesses.wanted_setup import skilldelta_command

    keys = [name for name in (harness.recipe.passed if harness.recipe else ()) if name in os.environ]
    variables = (*keys, *suite.agent.environment, *options["passed_variables"])
    environment = agent_environment(os.environ, variables)
    keep_secret(*(environment[name] for name in variables))
    return HarnessAgent(
        harness,
        skilldelta_command(sys.argv[0]),
        environment=environment,
        model=options["model"] or "",
        permission=options["permission"],
        home=options["agent_home"],
        name=options["agent"] or "",
        version=options["agent_version"],
        timeout=options["timeout"],
        skills=suite.skills_folder,
    )


def _judge(suite: Suite, options: dict[str, Any], prices: Prices | None) -> Asks | None:
    from skilldelta.collect.suite import AgentSettings

    if not options["judge_model"]:
        return None
    judge_options = {
        **options,
        "agent": None,
        "harness": None,
        "returned_model": "",
        "solver_args": (),
        "tool_sandbox": None,
    }
    base_url = options["judge_base_url"]
    return _model_agent(options["judge_model"], base_url, AgentSettings(), suite.folder, judge_options, prices)


def _tools(options: dict[str, Any], judge: Asks | None, budget: Budget | None) -> GraderTools:
    from skilldelta.collect.arms import Message
    from skilldelta.collect.graders import GraderTools

    async def ask(name: str, messages: list[Message]) -> str:
        assert judge is not None
        assert budget is not None
        return (await judge.ask(name, messages, budget)).text

    return GraderTools(
        sandbox=options["sandbox"], judge=ask if judge else None, both_grades=options.get("both_grades", False)
    )


def _arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE, the value read as YAML: numbers, truth values and lists are what they look like."""
    arguments = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"--solver-arg must be KEY=VALUE, got {pair!r}")
        arguments[key] = yaml_value(value, f"--solver-arg {key}")
    return arguments


def _tool_sandbox(name: str | None) -> str | None:
    if name == "local":
        raise InputError("--tool-sandbox local would run an agent's code on this machine unprotected; use docker")
    return name
