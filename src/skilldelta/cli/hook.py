"""`skilldelta hook`: an event of a harness on standard input, one answer on standard output, exit code 0.

Claude Code takes exit code 2 for an order to throw the prompt away, and what a hook prints for its answer, so nothing that
goes wrong may show there. A deadline runs beside everything: when it is reached, the fallback answers.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from skilldelta.cli import settings
from skilldelta.cli.hook_deadline import DEFAULT_SECONDS, Deadline
from skilldelta.cli.state_folder import state_folder
from skilldelta.errors import InputError, SkillDeltaError
from skilldelta.gate_settings import SETTING
from skilldelta.harnesses import harness_named
from skilldelta.harnesses.offered_skill import OfferedSkill, Part, skill_name
from skilldelta.regular_file import is_below
from skilldelta.serve.hooks.hook_event import MOST_BYTES
from skilldelta.serve.hooks.hook_run import HookSettings, answer, fallback_answer
from skilldelta.serve.hooks.server_client import ServerAddress
from skilldelta.server_proof import DEFAULT_SERVER, KEY_VARIABLE, known_key

if TYPE_CHECKING:
    from skilldelta.cli.setting_sources import ProjectFile

# Set, it switches on the further entries of a plugin, which are a process each per prompt.
_LONG_SKILLS = "SKILLDELTA_LONG_SKILLS"
_ENTRIES_OF_A_PLUGIN = 3
# As many as a server takes in one question.
_MOST_SKILLS = 500
_SECONDS = click.FloatRange(0, 3600, min_open=True)


class _Listed(click.types.StringParamType):
    """Several values in one variable are separated as in PATH."""

    envvar_list_splitter = os.pathsep


class HookCommand(click.Command):
    """Also reads the project's file, of which it believes less than other commands do."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """A context with the defaults that the nearest skilldelta.toml gives."""
        file = _project_file(Path.cwd())
        defaults = {} if file is None else _defaults(file, self)
        ctx = super().make_context(info_name, args, parent, **{**extra, "default_map": defaults})
        if file is not None:
            _check_believed(ctx, file.path)
        if ctx.params["gate"]:
            _take_named_gate(ctx, {} if file is None else file.gates)
        return ctx


def _project_file(folder: Path) -> ProjectFile | None:
    """The nearest file, which must be the project's own."""
    if not any((place / "skilldelta.toml").is_file() for place in (folder, *folder.parents)):
        return None
    from skilldelta.cli.setting_sources import project_file

    file = project_file("hook", None, folder)
    if file is not None and not is_below(file.path, file.path.parent):
        raise InputError(f"{file.path}: is a link out of its folder; a project's settings are a file of the project")
    return file


def _defaults(file: ProjectFile, command: click.Command) -> dict[str, Any]:
    """What the file says; paths in it are meant from there."""
    defaults = file.defaults(command)
    if "skill_file" in defaults:
        paths = [defaults["skill_file"]] if isinstance(defaults["skill_file"], str) else defaults["skill_file"]
        defaults["skill_file"] = [str(file.path.parent / path) for path in paths]
    return defaults


def _check_believed(ctx: click.Context, file: Path) -> None:
    """Refuse what a stranger could misuse in a project's file."""
    for name, is_allowed in _BELIEVED.items():
        values = ctx.params[name] if isinstance(ctx.params[name], tuple) else (ctx.params[name],)
        is_from_file = ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
        if is_from_file and not all(is_allowed(str(value), str(file.parent)) for value in values):
            raise InputError(
                f"{file}: {name}: not taken from a project's file; say it by flag or variable, which are your own"
            )


def _take_named_gate(ctx: click.Context, gates: Mapping[str, Mapping[str, Any]]) -> None:
    """Put the settings of a named gate in place of those that no flag gives."""
    from skilldelta.cli.arguments import unknown_gate

    name = ctx.params["gate"]
    if name not in gates:
        raise InputError(unknown_gate(name, gates), setting="gate")
    for setting in SETTING:
        if ctx.get_parameter_source(setting) is not ParameterSource.COMMANDLINE:
            ctx.params[setting] = gates[name].get(setting)


# What a project's file may say of the settings that a stranger could misuse: a hook runs in every folder. The file can
# neither say where prompts are sent, nor which text from elsewhere goes to the model, nor how long that may take.
_BELIEVED: Mapping[str, Callable[[str, str], bool]] = {
    "server": lambda url, project: (
        re.fullmatch(r"http://(127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}/?", url) is not None
    ),
    "bank": lambda bank, project: "://" not in bank,
    "state": lambda state, project: state == "-",
    "encoder": lambda encoder, project: encoder in ("wordllama", "tfidf"),
    "encoder_url": lambda url, project: False,
    "encoder_model": lambda model, project: False,
    "time_limit": lambda seconds, project: False,
    "skill_file": is_below,
}


@click.command("hook", cls=HookCommand)
@click.argument("harness", metavar="HARNESS")
@click.option(
    "--skill",
    multiple=True,
    type=_Listed(),
    metavar="NAME",
    envvar="SKILLDELTA_SKILL",
    help="A skill on offer; of several, the one with the largest gain is used.",
)
@click.option(
    "--skill-file",
    multiple=True,
    type=_Listed(),
    metavar="PATH",
    envvar="SKILLDELTA_SKILL_FILE",
    help="A SKILL.md on offer, named as in its front matter, or by --skill where there is one of each.",
)
@click.option(
    "--skill-digest",
    multiple=True,
    metavar="NAME=SHA256",
    help="The text that a server may hand out for a skill without a file; another one is not injected.",
)
@click.option("--all", "all_skills", is_flag=True, help="Every skill in the user's folders and plugins of the harness.")
@settings.bank_option
@click.option("--server", default=DEFAULT_SERVER, envvar="SKILLDELTA_SERVER", metavar="URL", help="The server to ask.")
@click.option(
    "--timeout",
    type=_SECONDS,
    default=1.0,
    envvar="SKILLDELTA_TIMEOUT",
    metavar="S",
    help="Seconds that the server may take.",
)
@click.option(
    "--ask",
    type=click.Choice(["auto", "server", "bank"]),
    default="auto",
    envvar="SKILLDELTA_ASK",
    help="The server, the bank in this process, or (auto) the bank where no server answers.",
)
@click.option(
    "--fallback",
    type=click.Choice(["use", "skip", "abstain"]),
    default="skip",
    envvar="SKILLDELTA_FALLBACK",
    help="The decision when neither a server nor the bank can answer.",
)
@click.option(
    "--inject",
    type=click.Choice(["text", "invoke"]),
    default="text",
    envvar="SKILLDELTA_INJECT",
    help="The skill's text, or the instruction to invoke the skill first.",
)
@click.option(
    "--part",
    default="1/1",
    metavar="N/M",
    help="Which part of a long skill this entry delivers, as in 2/3; 1/auto is 1/3 if SKILLDELTA_LONG_SKILLS is set, else 1/1.",
)
@click.option(
    "--state",
    metavar="FOLDER",
    envvar="SKILLDELTA_STATE",
    help="Where decisions of conversations are kept; - keeps none.",
)
@click.option(
    "--time-limit",
    type=_SECONDS,
    default=DEFAULT_SECONDS,
    metavar="S",
    help="Seconds after which the fallback answers in any case.",
)
@click.option("--shadow", is_flag=True, help="Log what the gate would have done, and change nothing.")
@click.option(
    "--no-record",
    is_flag=True,
    envvar="SKILLDELTA_NO_RECORD",
    help="Leave the decision log alone, for trying a hook out.",
)
@settings.agent_option
@settings.suite_option
@settings.encoder_options
@settings.gate_options
@click.pass_context
def command(ctx: click.Context, /, harness: str, **options: Any) -> None:
    """Answer one event of an agent harness's hook: JSON on stdin, JSON or nothing on stdout.

    HARNESS is claude-code, codex or gemini, or one that a package adds; the adapters of opencode, pi and dsh run it where no
    server answers. A submitted prompt gets the skill's text where the
    gate says use, and nothing where it says skip; the call of a skipped skill is denied; the end of a conversation is
    recorded. A failure never stops the agent: the fallback decides and the exit code is 0.

    `skilldelta install HARNESS` writes the entries into the harness's settings.
    """
    hook = hook_settings(harness, options, os.environ)
    if sys.stdin is not None and sys.stdin.isatty():
        raise InputError("a hook reads its harness's event from standard input; see skilldelta hook --help")
    deadline = ctx.obj if isinstance(ctx.obj, Deadline) else None
    if deadline is None:  # started through the command line as a whole
        deadline = Deadline(options["time_limit"])
        deadline.start()
    reply = _Reply(hook, options)
    deadline.last_words = reply.time_is_up
    reply.give()
    deadline.meet()


def run(words: Sequence[str], deadline: Deadline) -> int:
    """The hook of a harness: 0, or 2 where a person at a terminal has mistyped something."""
    try:
        command.main(list(words), "skilldelta hook", standalone_mode=False, obj=deadline)
    except (click.ClickException, SkillDeltaError, OSError) as error:
        _tell(f"error: {error.format_message() if isinstance(error, click.ClickException) else error}")
        return 2 if sys.stdin is not None and sys.stdin.isatty() else 0
    return 0


# -- settings -------------------------------------------------------------------------------------------------------


def hook_settings(harness: str, options: Mapping[str, Any], environment: Mapping[str, str]) -> HookSettings:
    """The settings that the options spell out."""
    dialect = harness_named(harness).dialect
    if dialect is None:
        from skilldelta.serve.hooks.adapter_event import ADAPTER

        dialect = ADAPTER
    is_pinned = bool(environment.get(KEY_VARIABLE))
    token = environment.get("SKILLDELTA_TOKEN", "")
    return HookSettings(
        harness=harness,
        dialect=dialect,
        skills=offered_skills(options["skill"], options["skill_file"], options["skill_digest"]),
        more_skills=partial(installed_skills, harness, environment) if options["all_skills"] else None,
        agent=options["agent"] or "",
        suite=options["suite"] or "",
        gate={name: options[name] for name in SETTING if options[name] not in (None, False)},
        server=ServerAddress(options["server"], token, options["timeout"], known_key(environment), is_pinned),
        ask=options["ask"],
        fallback=options["fallback"],
        part=_part(options["part"], bool(environment.get(_LONG_SKILLS))),
        delivery=options["inject"],
        record=not options["no_record"],
        shadow=options["shadow"],
        state=state_folder(options["state"], environment),
    )


def offered_skills(names: Sequence[str], files: Sequence[str], digests: Sequence[str] = ()) -> tuple[OfferedSkill, ...]:
    """Names and files as skills, each once; one of each is one skill. A digest is written NAME=SHA256."""
    digest_of = dict(text.rpartition("=")[::2] for text in digests)
    paths = [_skill_file(Path(file).expanduser()) for file in files]
    if len(names) == 1 and len(paths) == 1:
        return (OfferedSkill(names[0], paths[0]),)
    skills = {name: OfferedSkill(name, digest=digest_of.get(name, "")) for name in names}
    skills |= {skill.name: skill for skill in (OfferedSkill(skill_name(path), path) for path in paths)}
    return tuple(skills.values())


def installed_skills(harness: str, environment: Mapping[str, str]) -> tuple[OfferedSkill, ...]:
    """The skills that a harness has now. Those of the project are left to the harness: a stranger may have written them."""
    from skilldelta.library.installed_skills import find_skills, skill_roots

    folder = harness_named(harness).folder(Path.home(), environment)
    roots = skill_roots(harness, folder, Path.home(), Path.cwd(), environment)
    skills = find_skills([root for root in roots if root.origin != "project"]).skills
    return tuple(OfferedSkill(skill.name, skill.path) for skill in skills[:_MOST_SKILLS])


def _skill_file(path: Path) -> Path:
    path = Path(os.path.abspath(path))
    return path / "SKILL.md" if path.is_dir() else path


def _part(text: str, long_skills: bool) -> Part:
    if text == "1/auto":  # the other entries of a plugin run only where the variable is set
        return Part(1, _ENTRIES_OF_A_PLUGIN if long_skills else 1)
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number[:9]) <= int(of[:9]) <= 1000):
        raise InputError(f"--part: {text[:60]!r} is not like 2/3")
    return Part(int(number), int(of))


# -- the answer -----------------------------------------------------------------------------------------------------


class _Reply:
    """One answer, by whoever is first: the gate, or the deadline."""

    def __init__(self, hook: HookSettings, options: Mapping[str, Any]) -> None:
        self._hook = hook
        self._options = options
        self._event = b""
        self._given = threading.Lock()

    def give(self) -> None:
        """Answer the event on standard input."""
        with suppress(OSError, ValueError, AttributeError):
            self._event = sys.stdin.buffer.read(MOST_BYTES + 1)
        output, failure = self._answer()
        self._given.acquire()  # never released: there is one answer
        _write(output)
        if failure:
            self._report(failure)

    def _answer(self) -> tuple[str, str]:
        ask = partial(ask_bank, self._options)
        if harness_named(self._hook.harness).dialect is not None:
            result = answer(self._hook, self._event, ask_bank=ask)
            return result.output, result.failure
        from skilldelta.serve.hooks.adapter_event import answer_adapter

        told = answer_adapter(self._hook, self._event, ask_bank=ask)
        return json.dumps(told.document), told.failure

    def time_is_up(self) -> None:
        """What the fallback says, unless an answer is on its way."""
        if self._given.acquire(blocking=False):
            with suppress(Exception):
                _write(fallback_answer(self._hook, self._event))
                self._report(f"no answer within {self._options['time_limit']:g} s")

    def _report(self, failure: str) -> None:
        from skilldelta.redaction import keep_secrets_of, redacted
        from skilldelta.serve.hooks.failure_log import log_failure

        keep_secrets_of(os.environ)
        if self._hook.state is not None:
            log_failure(self._hook.state, self._hook.harness, redacted(failure))
        _tell(f"skilldelta: {redacted(failure)}")


def ask_bank(options: Mapping[str, Any], path: str, document: dict[str, Any]) -> dict[str, Any]:
    """What the server would answer at a path: the bank, the encoder and the log, loaded for one question."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from skilldelta.cli.arguments import chosen_encoder
    from skilldelta.files import check_file
    from skilldelta.redaction import keep_secrets_of
    from skilldelta.serve.gate_service import GateService, GateSettings
    from skilldelta.serve.hooks.bank_answer import answer_from

    keep_secrets_of(os.environ)
    if "://" not in options["bank"]:
        check_file(Path(options["bank"]))  # a database library would wait for a pipe
    gate = GateSettings(agent=options["agent"], fallback=options["fallback"])
    with (
        redirect_stdout(sys.stderr),
        GateService.open(options["bank"], gate, encoder=lambda bank: chosen_encoder(bank, options)) as service,
    ):
        return answer_from(service, path, document, fallback=options["fallback"])


def _write(output: str) -> None:
    if output:
        with suppress(OSError, ValueError):
            sys.stdout.write(output + "\n")
            sys.stdout.flush()


def _tell(line: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(" ".join(line.split()) + "\n")
