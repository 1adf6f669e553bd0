"""`skilldelta import`: executions from result files into the bank."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import bytes_from_stdin, console, file_labels, note, number, table, write_json
from skilldelta.cli.reading_options import reading_of, reading_options
from skilldelta.cli.settings import GivenPath, OutputPath
from skilldelta.errors import InputError
from skilldelta.nouns import listed, plural
from skilldelta.redaction import redacted

# More than a person answers one by one; a mapping file is the better way then.
_MOST_QUESTIONS = 12

if TYPE_CHECKING:
    from skilldelta.bank import Known
    from skilldelta.bank.importers import Defaults, Reading, Source, UnsaidError
    from skilldelta.studies.importing import ImportReport


def _list_formats(context: click.Context, _: click.Parameter, is_set: bool) -> None:
    """Every format in two lines, and nothing else."""
    if not is_set:
        return
    from skilldelta.bank.importers import FORMATS, tool_formats

    for tool in tool_formats().values():
        click.echo(f"{tool.name}: {tool.description}\n    looks for {tool.looks_for}")
    for name, format_ in FORMATS.items():
        click.echo(f"{name}: {format_.description}\n    looks at the beginning of the file")
    context.exit()


@click.command("import")
@click.argument("sources", nargs=-1, required=True, type=GivenPath(), metavar="SOURCE…")
@reading_options
@click.option(
    "--list-formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_formats,
    help="Explain every format in two lines, and stop.",
)
@click.option("--agent", help="The agent, for what a file does not say.")
@click.option("--skill", help="The skill, for what a file does not say.")
@click.option("--suite", help="The suite, for what a file does not say.")
@click.option(
    "--condition", type=click.Choice(["use", "skip"]), help="The arm of every run, for a file that holds one arm."
)
@click.option(
    "--repetitions", type=click.IntRange(1, 1000), metavar="N", help="The runs behind each mean, for files of means."
)
@click.option(
    "--write-mapping",
    type=OutputPath(),
    metavar="FILE",
    help="Write a mapping with the best guess to FILE, and import nothing.",
)
@click.option(
    "--explain", is_flag=True, help="Show what is understood of the sources and what is missing, and import nothing."
)
@settings.bank_option
@settings.json_option
def command(
    sources: tuple[Path, ...],
    write_mapping: Path | None,
    explain: bool,
    bank: str,
    as_json: bool,
    **said: Any,
) -> None:
    """Add paired executions from results of other tools, from files, or from standard input (-).

    A source is a folder, a log, an archive of a folder, or a file. The format is recognized by its content, and the
    import says which it took and why; --list-formats explains them. What the files do not say is asked for once, by
    options or in a mapping file. A source is added whole or not at all; what is there already is not added twice.

    \b
    skilldelta import pdf-workspace/ --agent my-agent
    skilldelta import with.eval without.eval --skill my-skill
    skilldelta import results.csv --agent my-agent --skill my-skill \\
      --map text=prompt --map y0=baseline
    """
    from skilldelta.bank import Bank
    from skilldelta.studies.importing import import_readings

    own = {name: said.pop(name) for name in ("agent", "skill", "suite", "condition", "repetitions")}
    defaults, format_ = reading_of(said, sources, **own)
    # Read everything before the bank is touched: a bad last file must not leave half an import behind.
    opened_sources = [_source(path, sources) for path in sources]
    if write_mapping is not None:
        _write_mapping(write_mapping, opened_sources, defaults, format_)
        return
    if explain:
        _explain(opened_sources, defaults, format_, as_json=as_json)
        return
    readings = [_read(source, defaults, format_) for source in opened_sources]
    with Bank.open(bank, create=True) as opened:
        report = import_readings(opened, readings)
    for reading in report.readings:
        _note_reading(reading)
    for line in report.lines():
        note(line)
    if as_json:
        write_json(report.document(redacted(bank)))
    else:
        _show(bank, report)


def _read(source: Source, defaults: Defaults, format_: str) -> Reading:
    """What a source holds; a person at a terminal is asked for what it does not say."""
    from skilldelta.bank.importers import UnsaidError, read_any

    try:
        return read_any(source, defaults, format=format_)
    except UnsaidError as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()) or len(error.questions) > _MOST_QUESTIONS:
            raise
        answered, options = _asked(error, defaults)
        reading = read_any(source, answered, format=format_)
        note(f"next time say {options}")
        return reading


def _asked(error: UnsaidError, defaults: Defaults) -> tuple[Defaults, str]:
    """The answers of a person, and the options that say the same."""
    from skilldelta.bank.importers.tool_run import ARM_MEANINGS

    note(f"{str(error).partition(';')[0]}.")
    answers: dict[str, str] = {}
    arms: dict[str, str] = {}
    options = []
    for question in error.questions:
        if question.about == "arm":
            arms[question.name] = click.prompt(
                f"What is the arm {question.name}?", type=click.Choice(ARM_MEANINGS), default=question.guess, err=True
            )
            options.append(f"--arm {shlex.quote(f'{question.name}={arms[question.name]}')}")
        else:
            answer = click.prompt(f"Which {question.about}?", default=question.guess or None, err=True)
            answers[question.about] = answer
            options.append(f"--{question.about} {shlex.quote(answer)}")
    return replace(defaults, arms={**defaults.arms, **arms}, **answers), " ".join(options)  # type: ignore[arg-type]


def _write_mapping(path: Path, sources: list[Source], defaults: Defaults, format_: str) -> None:
    """The best guess at every name of the sources, as a file to edit."""
    from skilldelta.bank.importers import NameMapping, UnsaidError, read_any
    from skilldelta.bank.importers.source import UnknownColumnsError
    from skilldelta.files import write_text

    mapping: NameMapping | None = None
    columns: dict[str, str] = {name: columns[0] for name, columns in defaults.columns.items() if columns}
    for source in sources:
        names: tuple[Any, Any, Any] = ({}, {}, {})
        name = format_
        try:
            reading = read_any(source, defaults, format=format_)
            names = (reading.arms, reading.agents, reading.skills)
            name = reading.format
        except UnknownColumnsError as error:
            columns |= {column: ", ".join(of_it[:1]) for column, of_it in error.guess.items()}
            note(str(error))
        except UnsaidError as error:
            names, name = (error.guess.arms, error.guess.agents, error.guess.skills), error.format
        before = mapping or NameMapping()
        mapping = NameMapping(
            name,
            defaults.suite,
            defaults.score,
            defaults.arm_from,
            defaults.pair_by,
            columns,
            *({**old, **new} for old, new in zip((before.arms, before.agents, before.skills), names, strict=True)),
        )
    write_text(path, (mapping or NameMapping()).as_text())
    note(f"wrote {path}; nothing is imported yet. Edit it, then import with --mapping {path}")


def _note_reading(reading: Reading) -> None:
    """Which format was taken and why, where it is another tool's, and every remark."""
    from skilldelta.bank.importers import tool_formats

    if reading.format in tool_formats():
        note(f"{reading.path}: read as {reading.format}, because {reading.why}")
    for remark in reading.notes:
        note(f"{reading.path}: {remark}")


def _source(path: Path, sources: tuple[Path, ...]) -> Source:
    """The file or folder that is named, or what comes over standard input."""
    from skilldelta.bank.importers import Source

    if str(path) != "-":
        return Source(path)
    if sources.count(path) > 1:
        raise InputError("standard input (-) is named twice; name it once")
    return Source(Path("stdin"), bytes_from_stdin())


def _show(bank: str, report: ImportReport) -> None:
    added = report.added
    names = file_labels([reading.path for reading in report.readings])
    has_vectors = any(addition.vectors for addition in added)
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
            number(addition.tasks),
            number(addition.executions),
            *([number(addition.vectors)] if has_vectors else []),
            _known_in_words(addition.known),
        ]
        for name, addition in zip(names, added, strict=True)
    ]
    for reading in report.readings:
        show_understood(reading)
    console().print(table(f"Imported into {redacted(bank)}", columns, rows))
    if not any(addition.executions for addition in added):
        note("nothing new: every execution was in the bank already")


def show_understood(reading: Reading) -> None:
    """The tasks, arms and versions that were understood, where a source has more than one row of them to tell."""
    from skilldelta.bank.importers.source_reading import understood

    rows = [
        [
            row.skill or "none",
            row.version[:24] or "–",
            row.agent,
            *map(number, (row.tasks, row.with_skill, row.without_skill)),
        ]
        for row in understood(reading)
    ]
    titles = ("skill", "version", "agent", "tasks", "runs with", "runs without")
    console().print(table(f"Understood of {reading.path.name or reading.path}", titles, rows, left=3))


def _explain(sources: list[Source], defaults: Defaults, format_: str, *, as_json: bool) -> None:
    """What is found in each source, what is left out, what is missing, and what to type next."""
    from dataclasses import asdict

    from skilldelta.bank.importers import UnsaidError, read_any, tool_formats
    from skilldelta.bank.importers.source_reading import left_out_lines, understood

    documents = []
    for source in sources:
        missing: tuple[str, ...] = ()
        reading = None
        reason = ""
        try:
            reading = read_any(source, defaults, format=format_)
        except UnsaidError as error:
            missing = tuple(dict.fromkeys(question.option for question in error.questions))
            reason = str(error)
            asks_arms = any(question.about == "arm" for question in error.questions)
            if not asks_arms:
                reading = read_any(source, defaults, format=format_, stand_ins=defaults.__class__("NAME", "NAME"))
        except InputError as error:
            reason = str(error)
        words = ["skilldelta", "import", shlex.quote(str(source.path)), *missing]
        if as_json:
            documents.append(
                {
                    "path": str(source.path),
                    "format": reading.format if reading else None,
                    "why": reading.why if reading else reason,
                    "understood": [asdict(row) for row in understood(reading)] if reading else [],
                    "left_out": [asdict(omission) for omission in reading.left_out] if reading else [],
                    "notes": list(reading.notes) if reading else [],
                    "missing": list(missing),
                    "next": " ".join(words) if reading or missing else None,
                }
            )
            continue
        out = console()
        if reading is None:
            out.print(f"{source.path}: nothing can be imported yet", style="bold")
            out.remark(reason)
            if not missing:
                nearest = [f"{tool.name}: {tool.looks_for}" for tool in list(tool_formats().values())[:4]]
                out.remark("nearest formats: " + "; ".join(nearest) + "; --list-formats has all", style="dim")
        else:
            out.print(f"{source.path}: {reading.format}, because {reading.why}", style="bold")
            show_understood(reading)
            for line in (*reading.notes, *left_out_lines(reading.left_out, most=20)):
                out.remark(line)
            _show_pairs(reading)
        if missing:
            out.remark(f"missing: {', '.join(missing)}", style="yellow")
        if reading is not None or missing:
            out.print(f"next: {' '.join(words)}")
    if as_json:
        write_json({"sources": documents})


def _show_pairs(reading: Reading) -> None:
    pairing = reading.pairing()
    lacking = {"use": "no run with the skill", "skip": "no run without it", "both": "no outcome in either arm"}
    console().remark(f"{plural(len(pairing.pairs), 'pair')} of runs with and without the skill")
    for missing, words in lacking.items():
        names = [f"{arms.task_id}" for arms in pairing.unpaired if arms.missing == missing]
        if names:
            console().remark(f"{plural(len(names), 'task has', 'tasks have')} {words}: {listed(names, 6)}")


def _known_in_words(names: Known) -> str:
    """`8 tasks, 16 executions`; skills are left out, because every file names them again."""
    counts = ((names.tasks, "task"), (names.executions, "execution"), (names.vectors, "vector"))
    return ", ".join(plural(count, noun) for count, noun in counts if count) or "nothing"
