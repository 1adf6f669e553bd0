"""`skilldelta library`: all skills of a harness, what they cost and bring, and which to keep, name only or switch off."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import confirm, console, note, progress, signed, table, write_json
from skilldelta.cli.settings import GivenPath
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.evaluation.skill_verdicts import SkillVerdict
    from skilldelta.harnesses.installation import FileChange, Installations
    from skilldelta.library.library_reading import Library
    from skilldelta.library.proposals import KnownGain, LibraryRow

_COLUMNS = ("skill", "proposal", "list", "loaded", "used", "gain", "why")
# Pairs of like skills that are shown; --json has them all.
_MOST_OVERLAPS = 5


@click.command("library")
@click.argument("harness", metavar="HARNESS")
@settings.bank_option
@settings.agent_option
@click.option(
    "--project",
    type=GivenPath(file_okay=False),
    default=Path(),
    metavar="DIR",
    help="The project whose skills count too.  [default: this folder]",
    show_default=False,
)
@click.option("--apply", "is_applied", is_flag=True, help="Write the proposals into the harness's own settings.")
@click.option("--undo", is_flag=True, help="Restore the settings as they were before --apply, byte for byte.")
@click.option(
    "--keep-changes",
    is_flag=True,
    help="With --undo, where the file was changed since: take out only the switches that it did not have before.",
)
@settings.yes_option
@settings.document_options
@progress("reading skills")
def command(
    harness: str,
    bank: str,
    agent: str | None,
    project: Path,
    is_applied: bool,
    undo: bool,
    keep_changes: bool,
    yes: bool,
    as_json: bool,
    output: Path | None,
) -> None:
    """What every skill of a harness costs per session, how often it is used, what it brings, and what to do with it.

    Tokens are estimated at four characters each. Uses are counted in the harness's session files, which are only read.
    Gains come from the bank; without one nothing is known of them. Nothing is written without --apply.

    \b
    skilldelta library claude-code --bank my.bank
    skilldelta library claude-code --apply
    skilldelta library claude-code --undo
    """
    from skilldelta.cli.state_folder import state_folder
    from skilldelta.harnesses import harness_named
    from skilldelta.harnesses.installation import Installations
    from skilldelta.library.library_reading import read_library

    if is_applied and undo:
        raise InputError("--apply and --undo exclude each other; give one of them")
    declared = harness_named(harness)
    folder = declared.folder(Path.home(), os.environ).absolute()
    state = state_folder(None, os.environ)
    if (is_applied or undo) and state is None:
        raise InputError("there is no home folder to keep what was there before; set XDG_STATE_HOME")
    installed = None if state is None else Installations(state)
    name = f"library of {harness} in {folder}"
    if undo and installed is not None:
        _undo(installed, name, harness if keep_changes else None, yes)
        return
    library = read_library(
        declared,
        _known_gains(bank, agent),
        folder=folder,
        home=Path.home(),
        project=project.absolute(),
        environment=os.environ,
    )
    for problem in library.problems:
        note(problem)
    if is_applied and installed is not None:
        _apply(installed, name, harness, folder, library.rows, yes)
    elif as_json or output:
        write_json(library.document(), output)
    else:
        _show(library)


def _known_gains(location: str, agent: str | None) -> dict[str, KnownGain]:
    """What the bank says about each skill; nothing where there is no bank."""
    from skilldelta.bank import Bank
    from skilldelta.library.library_reading import known_gains

    if "://" not in location and not Path(location).exists():
        note(f"{location}: there is no bank, so nothing is known of gains")
        return {}
    with Bank.open(location, create=False) as bank:
        return known_gains(bank, agent)


def machine_libraries(verdicts: Iterable[SkillVerdict]) -> list[dict[str, Any]]:
    """What the dashboard shows: the libraries of the harnesses on this machine that have skills, as they are now."""
    from skilldelta.harnesses import harness_named, harness_names
    from skilldelta.library.library_reading import gains_of, read_library

    gains, home, libraries = gains_of(verdicts), Path.home(), []
    for name in harness_names():
        harness = harness_named(name)
        folder = harness.folder(home, os.environ).absolute()
        if folder.is_dir():
            library = read_library(harness, gains, folder=folder, home=home, project=home, environment=os.environ)
            libraries += [library.document()] if library.rows else []
    return libraries


def _show(library: Library) -> None:
    from skilldelta.library.proposals import summary
    from skilldelta.library.skill_switches import switchable

    out, (harness, rows, sessions, _) = console(), library
    if rows:
        out.print(table(f"Skills of {harness.title}", _COLUMNS, [_row(row) for row in rows], left=2))
    alike = [(row.skill.name, row.overlap) for row in rows if row.overlap is not None]
    for name, overlap in alike[:_MOST_OVERLAPS]:
        out.remark(f"{name} offers about the same as {overlap.skill} (similarity {overlap.similarity:.2f})")
    if len(alike) > _MOST_OVERLAPS:
        out.remark(f"and {len(alike) - _MOST_OVERLAPS} more that are like another; --json has them all", style="dim")
    out.remark(summary(rows, sessions))
    locked = sum(row.proposal in ("off", "name only") and not row.skill.is_switchable for row in rows)
    if locked:
        out.remark(f"{locked} of them come from plugins, which the harness switches as a whole.", style="dim")
    if any(row.wanted_listing for row in rows):
        if switchable(harness.name):
            out.remark(f"Write the proposals with: skilldelta library {harness.name} --apply", style="dim")
        else:
            out.remark(f"{harness.title} has no setting for single skills; install the gate instead.", style="dim")


def _row(row: LibraryRow) -> list[str]:
    used = "–" if row.loads is None else str(row.loads)
    gain = "–" if row.gain is None else f"{signed(100 * row.gain.mean, 1)} points"
    return [row.skill.name, row.proposal, str(row.tokens_now), str(row.skill.loaded_tokens), used, gain, row.reason]


def _apply(
    installed: Installations, name: str, harness: str, folder: Path, rows: Sequence[LibraryRow], yes: bool
) -> None:
    from skilldelta.library.skill_switches import listing_change

    listings = {row.skill: listing for row in rows if (listing := row.wanted_listing) is not None}
    change = listing_change(harness, folder, listings)
    if change.is_empty:
        note("there is nothing to change")
        return
    _agree([change], yes)
    installed.install(name, [change])
    saved = sum(row.tokens_now - row.tokens_then for row in rows)
    note(f"{change.path}: {len(listings)} skills switched, about {saved:,} tokens less per session")
    note(f"Take it back with: skilldelta library {harness} --undo")


def _undo(installed: Installations, name: str, cleaned_for: str | None, yes: bool) -> None:
    from skilldelta.library.skill_switches import without_switches

    record = installed.record(name)
    if record is None:
        raise InputError("nothing was applied here; there is nothing to undo")
    before = {file.path: (file.before or b"").decode("utf-8", "replace") for file in record.files}

    def cleaned(path: Path, content: bytes) -> bytes | None:
        return without_switches(cleaned_for or "", before[path], content.decode("utf-8")).encode()

    changes = installed.undoing(name, cleaned=cleaned if cleaned_for else None)
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
