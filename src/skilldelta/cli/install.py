"""`skilldelta install`: the gate in an agent harness, and out of it again."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from skilldelta.cli import settings
from skilldelta.cli.output import confirm, note
from skilldelta.cli.settings import GivenPath
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skilldelta.harnesses.harness import Harness
    from skilldelta.harnesses.installation import FileChange, Installations
    from skilldelta.harnesses.offered_skill import OfferedSkill
    from skilldelta.harnesses.wanted_setup import WantedSetup
    from skilldelta.records import Skill


@click.command("install")
@click.argument("harness", metavar="HARNESS")
@click.option(
    "--skill",
    type=settings.NameInBank("skill"),
    multiple=True,
    metavar="NAME",
    help="A skill on offer, by its name in the bank.",
)
@click.option(
    "--skill-file", multiple=True, type=GivenPath(), metavar="PATH", help="A SKILL.md on offer, or its folder."
)
@click.option(
    "--all",
    "all_skills",
    is_flag=True,
    help="Govern every skill that the harness has, also those that are added later; those without evidence are left alone.",
)
@click.option(
    "--http",
    is_flag=True,
    help="Let the harness send its events to the server by itself: faster, but it cannot check who answers.",
)
@click.option("--shadow", is_flag=True, help="Only log what the gate would have done; see skilldelta log --shadow.")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@click.option("--server", envvar="SKILLDELTA_SERVER", metavar="URL", help="The server to ask.  [default: this machine]")
@click.option(
    "--ask",
    type=click.Choice(["auto", "server", "bank"]),
    help="Whom hooks ask: the server alone, the bank alone, or (auto) the bank where no server answers.  [default: auto]",
)
@click.option("--timeout", type=click.FloatRange(0, 600, min_open=True), metavar="S", help="Seconds it may take.")
@settings.fallback_option("The decision when neither a server nor the bank can answer.  [default: skip]")
@click.option("--inject", type=click.Choice(["text", "invoke"]), help="The text, or the instruction to load the skill.")
@click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    help="The user's own settings, or those of the project in this folder.",
)
@click.option("--undo", is_flag=True, help="Restore what was there before the installation.")
@click.option(
    "--keep-changes",
    is_flag=True,
    help="With --undo, where the file was changed since: take out only what is SkillDelta's.",
)
@settings.yes_option
def command(harness: str, undo: bool, keep_changes: bool, yes: bool, **options: Any) -> None:
    """Set up an agent harness so that it asks the gate: claude-code, codex, gemini, opencode, pi or dsh.

    Shows the difference first, and asks. Everything else in the harness's settings stays as it is.

    \b
    skilldelta install claude-code --all --bank my.bank
    skilldelta install claude-code --skill-file skills/dates --bank my.bank
    skilldelta install claude-code --undo
    """
    from skilldelta.cli.state_folder import state_folder
    from skilldelta.harnesses import harness_named
    from skilldelta.harnesses.installation import Installations, settings_folder

    declared = harness_named(harness)
    folder = settings_folder(declared, options["scope"], Path.home(), Path.cwd(), os.environ)
    state = state_folder(None, os.environ)
    if state is None:
        raise InputError("there is no home folder to keep what was there before; set XDG_STATE_HOME")
    installed = Installations(state)
    name = f"{harness} in {folder.absolute()}"
    if undo:
        _undo(installed, name, declared if keep_changes else None, yes)
    else:
        _install(installed, name, declared, folder.absolute(), options, yes)


def _install(
    installed: Installations, name: str, harness: Harness, folder: Path, options: dict[str, Any], yes: bool
) -> None:
    from skilldelta.harnesses.installation import planned_changes

    if options["http"]:
        _check_http(harness, options)
    planned = planned_changes(harness, folder, _wanted(options))
    changes = [change for change in planned if not change.is_empty]
    if not changes:
        note(f"{planned[0].path}: is as it should be; nothing to do")
        return
    _agree(changes, yes)
    installed.install(name, changes)
    note(f"{', '.join(str(change.path) for change in changes)}: written. {harness.next_step}")
    back = f"skilldelta install {harness.name}{' --scope project' if options['scope'] == 'project' else ''} --undo"
    for doubt in _doubts(options):
        note(f"warning: {doubt}")
    note(f"Check it with: skilldelta doctor. Take it back with: {back}")


def _check_http(harness: Harness, options: dict[str, Any]) -> None:
    """Refuse what an HTTP hook cannot do, and say what is given up."""
    if harness.dialect is None or not harness.dialect.speaks_http:
        raise InputError(f"{harness.name} has no HTTP hooks; install it without --http")
    if options["skill_file"] or options["all_skills"] or options["shadow"]:
        raise InputError(
            "with --http the server hands out texts of the bank: name skills with --skill, and put their texts into the "
            "bank with skilldelta bank add-skill; --skill-file, --all and --shadow need a hook command"
        )
    note(
        "warning: with --http nobody checks who answers at that address: while your server is down, a process of another "
        "user there could read your prompts and put text into the agent's context"
    )


def _doubts(options: dict[str, Any]) -> list[str]:
    """What would make every hook skip; not an error, because the bank may be made later, or be a server's alone."""
    from skilldelta.bank import Bank
    from skilldelta.errors import SkillDeltaError, unknown_name

    if options["server"] or options["ask"] == "server" or "://" in options["bank"]:
        return []
    try:
        with Bank.open(options["bank"], create=False) as bank:
            recorded = {one.skill_id for one in bank.skills()}
    except SkillDeltaError as error:
        return [f"{error}; until then every skill is left as it is"]
    return [str(unknown_name("skill", skill, recorded)) for skill in options["skill"] if skill not in recorded]


def _undo(installed: Installations, name: str, cleaned_for: Harness | None, yes: bool) -> None:
    from skilldelta.harnesses.installation import cleaned

    without_ours = partial(cleaned, cleaned_for) if cleaned_for else None
    changes = installed.undoing(name, cleaned=without_ours)
    _agree(changes, yes)
    installed.undo(name, changes)
    for change in changes:
        note(f"{change.path}: {'removed' if change.after is None else 'restored'}")


def _agree(changes: Sequence[FileChange], yes: bool) -> None:
    """Show the difference and ask a person; a program must have said --yes."""
    for change in changes:
        click.echo(change.diff(), nl=False)
    if not yes:
        confirm("Write this?", otherwise="nothing was written:")


def _wanted(options: dict[str, Any]) -> WantedSetup:
    from skilldelta.harnesses.wanted_setup import WantedSetup, skilldelta_command

    options_of_hook = {
        # A machine that only asks a server has no bank to name.
        "bank": "" if options["ask"] == "server" else _bank(options["bank"]),
        **{name: options[name] for name in ("agent", "suite", "server", "ask", "fallback", "inject")},
    }
    options_of_hook["timeout"] = None if options["timeout"] is None else f"{options['timeout']:g}"
    options_set = {name: value for name, value in options_of_hook.items() if value}
    return WantedSetup(
        skilldelta_command(sys.argv[0]),
        _skills(options),
        options_set,
        options["all_skills"],
        options["http"],
        options["shadow"],
    )


def _bank(path: str) -> str:
    """A path from anywhere, or a URL; a password has no place in the settings of a harness."""
    if "://" not in path:
        return str(Path(path).absolute())
    if urlsplit(path).password:
        raise InputError("the bank's URL holds a password, which would stand in the harness's settings; use ~/.pgpass")
    return path


def _skills(options: dict[str, Any]) -> tuple[OfferedSkill, ...]:
    """The skills on offer, each of which has a text that can be read."""
    from skilldelta.advisor.carried_over import SkillVersion
    from skilldelta.bank.skill_versions import read_skill
    from skilldelta.cli.hook import offered_skills
    from skilldelta.gate.answer import change_words
    from skilldelta.records import text_digest

    for file in options["skill_file"]:
        read_skill(file)  # refuses one that has no text
    skills = offered_skills(options["skill"], [str(file) for file in options["skill_file"]])
    if not skills and not options["all_skills"]:
        raise InputError("no skill on offer; name one with --skill NAME or --skill-file PATH, or say --all")
    known = {skill.skill_id: skill for skill in _known_skills(options)}
    for offered in skills:
        if offered.file is not None and offered.name in known:
            recorded, on_disk = known[offered.name], SkillVersion.of(read_skill(offered.file))
            if not on_disk.is_recorded(recorded):
                change = change_words(on_disk.changed_since(recorded))
                note(
                    f"{offered.file} was changed since its runs ({change}): evidence of version {recorded.digest[:12]} is carried "
                    "over, until the skill is run again"
                )
    # What the bank hands out is checked against this: the text, whatever else belongs to the version.
    digests = {name: text_digest(skill.text) for name, skill in known.items() if skill.text}
    return tuple(skill._replace(digest="" if skill.file else digests.get(skill.name, "")) for skill in skills)


def _known_skills(options: dict[str, Any]) -> list[Skill]:
    """The skills of the bank, the newest version of each last; none where there is no bank here."""
    from skilldelta.bank import Bank
    from skilldelta.errors import SkillDeltaError

    if options["server"] or options["ask"] == "server" or "://" in options["bank"]:
        return []
    try:
        with Bank.open(options["bank"], readonly=True) as bank:
            return [bank.resolve_skill(name) for name in dict.fromkeys(skill.skill_id for skill in bank.skills())]
    except SkillDeltaError:
        return []
