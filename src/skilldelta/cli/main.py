"""`skilldelta`: finds the command, loads only its file, and turns errors into one line and an exit code.

Exit codes: 0 done, 1 a check failed, 2 bad input. Command files are imported when they run, so that `--help` is quick.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import warnings
from typing import Any

import click

from skilldelta.cli.output import note, one_line, open_closed_streams, spell_out
from skilldelta.cli.setting_sources import take_project_file, trace, with_source
from skilldelta.errors import BankWarning, SkillDeltaError, unknown_name
from skilldelta.redaction import guarded_streams, keep_secrets_of
from skilldelta.renames import RenamedWarning
from skilldelta.version import __version__

COMMANDS: dict[str, str] = {
    "demo": "The main job on the bundled bank of real executions.",
    "import": "Executions from results of other tools and from tables: Inspect, JSONL, CSV, …",
    "bank": "What is in the bank; integrity, export, removal.",
    "predict": "Will this skill help on this task? Gain, decision, neighbors, interval.",
    "evaluate": "What the gate would have bought: every policy, every interval.",
    "compare": "Two runs task by task: difference, interval, exact tests, flipped tasks.",
    "skills": "Keep, gate or drop each skill of a bank, a workspace or a table; which tasks it breaks.",
    "history": "A skill's gain version by version, with intervals.",
    "check": "A gate for CI: exit 1 when a skill's gain is too small or got worse.",
    "drift": "Which skills still help after a model, a harness or the skill was updated.",
    "sweep": "Success and tokens over thresholds; error over the amount of evidence.",
    "freeze": "Seal predictions before their outcomes exist.",
    "audit": "Evaluate sealed predictions; refuse if anything changed.",
    "calibrate": "A threshold from a use rate, a token budget or a margin.",
    "report": "One HTML file with all figures and tables.",
    "simulate": "Panels with known truth, for planning a study.",
    "plan": "Which executions to buy next, what they may change and what they cost.",
    "collect": "Paired executions of a real agent: plan, caps, resume.",
    "record": "What happened after a decision.",
    "log": "The decisions that were taken, and what shadow mode would have done.",
    "why": "The last decision of a hook, explained.",
    "serve": "The gate as a local service: HTTP API and dashboard.",
    "hook": "The gate as a hook of an agent harness.",
    "mcp": "The gate as tools of the Model Context Protocol.",
    "install": "Set up an agent harness so that it asks the gate, and take that back.",
    "library": "All skills of a harness: what they cost and bring; which to keep, name only or switch off.",
    "doctor": "Check server, bank, encoder and installed hooks; say how to fix what is wrong.",
    "token": "Access tokens of the server: create, list, revoke.",
    "study": "One of the paper's suites from data files to tables, in one go.",
    "suite": "Suites of your own, and the paper's five: init, list, prepare, check.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"skilldelta.cli.{name}_" if name == "import" else f"skilldelta.cli.{name}")
        return trace(module.command)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.BadParameter, SkillDeltaError) as error:
            sourced = with_source(error, ctx)
            if sourced is error:
                raise
            raise sourced from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["help"]:  # `help` and `help predict` are what they say
            args = [*args[1:2], "--help"]
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise unknown_name("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
)
@click.version_option(__version__, prog_name="skilldelta")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Will this skill make the agent more likely to succeed at this task?

    SkillDelta answers from a bank of paired executions: the same agent on the same task, with and without the skill.
    Start with `skilldelta demo`.
    """
    if ctx.invoked_subcommand and "--help" not in sys.argv and "-h" not in sys.argv:
        command = cli.get_command(ctx, ctx.invoked_subcommand)
        if command is not None:
            take_project_file(ctx, ctx.invoked_subcommand, command, COMMANDS)


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    # One BLAS thread unless asked otherwise: products here are small, and a second thread on a busy machine waits in a
    # spin for a core, which turns a fraction of a millisecond into several.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_closed_streams()
    keep_secrets_of(os.environ, sys.argv if args is None else args)
    for stream in (sys.stdout, sys.stderr):
        spell_out(stream)
    with guarded_streams():
        code = run(args)
    sys.exit(code)


def run(args: list[str] | None = None) -> int:
    """Run the command line and return its exit code; errors and warnings are one line each on stderr."""
    show = warnings.showwarning

    def show_in_one_line(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
        if issubclass(category, (BankWarning, RenamedWarning)):
            note(f"warning: {' '.join(str(message).split())}")
        else:
            show(message, category, *place, **options)

    with warnings.catch_warnings():
        warnings.showwarning = show_in_one_line
        return _run(args)


def _run(args: list[str] | None) -> int:
    try:
        result: Any = cli.main(args=args, prog_name="skilldelta", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return 2
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.NoSuchOption as error:
        near = difflib.get_close_matches(error.option_name, error.possibilities or (), n=3, cutoff=0.75)
        return _fail(click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx).format_message())
    except click.ClickException as error:
        return _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return 130
    except BrokenPipeError:
        # The reader went away (`| head`): not an error of ours. Keep the interpreter from flushing into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SkillDeltaError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename}" if error.filename else error.strerror or str(error))
    except RuntimeError as error:
        if not str(error).startswith("Symlink loop"):  # what Path.resolve raises before Python 3.13
            raise
        return _fail(f"{error}; name the file or folder itself")
    return result if isinstance(result, int) else 0


def _fail(message: str) -> int:
    note(f"error: {one_line(message)}")
    return 2
