"""`skilldelta import`: executions from result files into the bank."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.given_values import GivenPath
from skilldelta.cli.output import console, note, number, table, write_json
from skilldelta.cli.standard_streams import bytes_from_stdin
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from skilldelta.bank import Known
    from skilldelta.bank.batch import Added, Batch
    from skilldelta.bank.importers import Source


@click.command("import")
@click.argument("sources", nargs=-1, required=True, type=GivenPath(), metavar="SOURCE…")
@click.option("--format", "format_", default="auto", show_default=True, help="The files' format; auto looks inside.")
@click.option("--map", "columns", multiple=True, metavar="FIELD=COLUMN", help="Which column holds a field; repeatable.")
@click.option("--agent", help="The agent, for what a file does not say.")
@click.option("--skill", help="The skill, for what a file does not say.")
@click.option("--suite", help="The suite, for what a file does not say.")
@click.option(
    "--condition", type=click.Choice(["use", "skip"]), help="The arm of every run, for a file that holds one arm."
)
@click.option(
    "--repetitions", type=click.IntRange(1, 1000), metavar="N", help="The runs behind each mean, for files of means."
)
@settings.bank_option
@settings.json_option
def command(
    sources: tuple[Path, ...], format_: str, columns: tuple[str, ...], bank: str, as_json: bool, **said: Any
) -> None:
    """Add paired executions from files, folders of files, or standard input (-).

    JSONL, JSON, CSV and Parquet are read, plain or gzip. Columns are found by common names, and every guess is said;
    --map FIELD=COLUMN decides. A source is added whole or not at all; what is there already is not added twice.

    \b
    skilldelta import pairs.jsonl
    skilldelta import results.csv --agent my-agent --skill my-skill \\
      --map text=prompt --map y0=baseline
    skilldelta import results/ --agent my-agent
    """
    from skilldelta.bank import Bank
    from skilldelta.bank.importers import parse_mapping, read_source

    # Read everything before the bank is touched: a bad last file must not leave half an import behind.
    mapping = parse_mapping(columns)
    opened_sources = [_source(path, sources) for path in sources]
    batches = [read_source(source, format=format_, columns=mapping, **said) for source in opened_sources]
    for source, batch in zip(opened_sources, batches, strict=True):
        for remark in batch.notes:
            note(f"{source.path}: {remark}")
    with Bank.open(bank, create=True) as opened:
        added = [opened.add(batch) for batch in batches]
    _show(bank, [str(source.path) for source in opened_sources], batches, added, as_json=as_json)


def _source(path: Path, sources: tuple[Path, ...]) -> Source:
    """The file or folder that is named, or what comes over standard input."""
    from skilldelta.bank.importers import Source

    if str(path) != "-":
        return Source(path)
    if sources.count(path) > 1:
        raise InputError("standard input (-) is named twice; name it once")
    return Source(Path("stdin"), bytes_from_stdin())


def _show(bank: str, names: list[str], batches: list[Batch], added: list[Added], *, as_json: bool) -> None:
    if as_json:
        sources = [
            {"path": name, **asdict(one), "notes": list(batch.notes)}
            for name, batch, one in zip(names, batches, added, strict=True)
        ]
        write_json({"bank": redacted(bank), "sources": sources})
        return
    has_vectors = any(one.vectors for one in added)
    columns = [
        "source",
        "new tasks",
        "new executions",
        *(["new vectors"] if has_vectors else []),
        "was in the bank already",
    ]
    rows = [
        [
            name,
            number(one.tasks),
            number(one.executions),
            *([number(one.vectors)] if has_vectors else []),
            _known_in_words(one.known),
        ]
        for name, one in zip(_short(names), added, strict=True)
    ]
    console().print(table(f"Imported into {redacted(bank)}", columns, rows))
    if not any(one.executions for one in added):
        note("nothing new: every execution was in the bank already")


def _short(names: list[str]) -> list[str]:
    """The names of files without their folders, where that tells them apart."""
    short = [Path(name).name or name for name in names]
    return short if len(set(short)) == len(names) else names


def _known_in_words(known: Known) -> str:
    """`8 tasks, 16 executions`; skills are left out, because every file names them again."""
    counts = ((known.tasks, "task"), (known.executions, "execution"), (known.vectors, "vector"))
    return ", ".join(plural(count, noun) for count, noun in counts if count) or "nothing"
