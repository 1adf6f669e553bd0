"""The options of commands that run an agent: which agent, which part of a suite, how far, and how careful.

`collect` and `study` share them, so that what runs in one runs in the other.
"""

from __future__ import annotations

from functools import partial

import click

from skilldelta.cli.settings import GivenPath, together

KEY_VARIABLE = "SKILLDELTA_API_KEY"
_text_option = partial(click.option, default="", show_default=False)

collect_options = together(
    click.option(
        "--model", envvar="SKILLDELTA_MODEL", metavar="NAME", help="The model; provider/name without --base-url."
    ),
    _text_option("--base-url", envvar="SKILLDELTA_BASE_URL", metavar="URL", help="An OpenAI-compatible endpoint."),
    click.option("--key-variable", default=KEY_VARIABLE, help="Environment variable with its key."),
    _text_option("--returned-model", metavar="NAME", help="What the endpoint calls the model in its answers."),
    click.option("--solver", metavar="NAME", help="generate, code, an Inspect solver or agent, or file.py@name."),
    click.option(
        "--solver-arg", "solver_args", multiple=True, metavar="KEY=VALUE", help="For the solver (repeatable)."
    ),
    click.option("--tool-sandbox", metavar="NAME", help="Inspect's sandbox for tools, such as docker."),
    click.option("--command", "command_line", metavar="TEXT", help="A command-line agent instead of a model."),
    click.option(
        "--task-as",
        type=click.Choice(["stdin", "argument"]),
        default="stdin",
        help="How a command gets the task.",
    ),
    click.option("--skill-as", default="text", metavar="HOW", help="text, file:PATH or 'args:… {skill}'."),
    click.option("--answer-field", metavar="PATH", help="The command prints JSON with the answer here."),
    click.option(
        "--tokens-field", "token_fields", multiple=True, metavar="PATH", help="Tokens in it (repeatable, added up)."
    ),
    _text_option("--cost-field", metavar="PATH", help="Dollars in it."),
    _text_option("--model-field", metavar="PATH", help="The model's name in it, checked against --model."),
    click.option(
        "--pass-env",
        "passed_variables",
        multiple=True,
        metavar="NAME",
        help="A variable the command gets (repeatable).",
    ),
    _text_option("--agent-version", metavar="TEXT", help="The command's version; default: what it says."),
    click.option(
        "--agent",
        envvar="SKILLDELTA_AGENT",
        metavar="NAME",
        help="A harness to run: claude-code, codex, gemini, opencode, pi or dsh. Else the agent's name in the bank.",
    ),
    click.option(
        "--permission",
        type=click.Choice(["default", "edits", "full"]),
        default="default",
        help="What a harness may do without asking: its default, edit files of its working copy, or everything.",
    ),
    click.option(
        "--agent-home",
        type=GivenPath(file_okay=False),
        metavar="FOLDER",
        help="Copied as a harness's home for every run: its settings and login.",
    ),
    click.option("--temperature", type=float, help="Default: what the suite says."),
    click.option("--output-tokens", type=int, help="Most tokens of one reply. Default: what the suite says."),
    click.option("--judge-model", metavar="NAME", help="The model of the judge grader."),
    _text_option("--judge-base-url", metavar="URL", help="Its endpoint, when it is not one of Inspect's."),
    click.option(
        "--repetitions",
        type=click.IntRange(1, 1000),
        help="Runs of each task in each arm. Default: what the suite says, else 1.",
    ),
    click.option("--repeat-share", type=float, default=1.0, help="Share of tasks with all repetitions."),
    click.option("--family", "families", multiple=True, help="Only this family (repeatable)."),
    click.option("--task", "task_ids", multiple=True, help="Only this task (repeatable)."),
    click.option("--limit", type=int, metavar="N", help="Only N tasks, spread over the families."),
    click.option("--concurrency", type=click.IntRange(1, 1024), default=4, help="Executions at once."),
    click.option("--max-calls", type=int, help="Cap on calls, over all restarts."),
    click.option("--max-tokens", type=float, help="Cap on tokens, over all restarts."),
    click.option("--max-usd", type=float, help="Cap on dollars, over all restarts; needs --price or --cost-field."),
    click.option("--max-seconds", type=float, help="Cap on the collector's time, over all restarts."),
    click.option("--price", type=(float, float), metavar="IN OUT", help="Dollars per million tokens in and out."),
    click.option("--retries", type=click.IntRange(min=0), default=4, help="Per call without answer."),
    click.option("--timeout", type=float, default=600.0, help="Seconds to wait for one answer."),
    click.option(
        "--sandbox",
        type=click.Choice(["auto", "bubblewrap", "docker"]),
        default="auto",
        help="What runs code written by a model.",
    ),
    click.option("--retry-errors", is_flag=True, help="Run again what ended as incomplete or in a grader error."),
    click.option("--accept-changes", is_flag=True, help="Go on although the suite was edited."),
)
