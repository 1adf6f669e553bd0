"""`skilldelta import`: executions from result files into the bank."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, number, table, write_json
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.bank import Known


@click.command("import")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE…")
@click.option("--format", "format_", default="auto", show_default=True, help="The files' format; auto looks inside.")
@click.option("--agent", help="The agent, for what a file does not say.")
@click.option("--skill", help="The skill, for what a file does not say.")
@click.option("--suite", help="The suite, for what a file does not say.")
@settings.bank_option
@settings.json_option
def command(
    sources: tuple[Path, ...],
    format_: str,
    agent: str | None,
    skill: str | None,
    suite: str | None,
    bank: str,
    as_json: bool,
) -> None:
    """Add paired executions from files. A file is added whole or not at all; what is there already is not added twice.

    \b
    skilldelta import pairs.jsonl
    skilldelta import runs.csv --agent my-agent --skill my-skill
    """
    from skilldelta.bank import Bank
    from skilldelta.bank.importers import read_source

    # Read everything before the bank is touched: a bad last file must not leave half an import behind.
    batches = [read_source(path, format=format_, agent=agent, skill=skill, suite=suite) for path in sources]
    with Bank.open(bank) as opened:
        added = [opened.add(batch) for batch in batches]
    for path, batch in zip(sources, batches, strict=True):
        for remark in batch.notes:
            note(f"{path}: {remark}")
    if as_json:
        write_json(
            {
                "bank": bank,
                "sources": [{"path": str(path), **asdict(one)} for path, one in zip(sources, added, strict=True)],
            }
        )
        return
    columns = ("source", "new tasks", "new executions", "new vectors", "was in the bank already")
    rows = [
        [str(path), number(one.tasks), number(one.executions), number(one.vectors), _known_in_words(one.known)]
        for path, one in zip(sources, added, strict=True)
    ]
    console().print(table(f"Imported into {bank}", columns, rows))
    if not any(one.executions for one in added):
        note("nothing new: every execution was in the bank already")


def _known_in_words(known: Known) -> str:
    """`8 tasks, 16 executions`; skills are left out, because every file names them again."""
    counts = ((known.tasks, "task"), (known.executions, "execution"), (known.vectors, "vector"))
    return ", ".join(plural(count, noun) for count, noun in counts if count) or "nothing"
