"""What commands print and read: tables for people, one JSON document for programs, remarks and a bar on stderr.

Colors switch off by themselves when the output is not a terminal. With --json nothing but the document reaches stdout.
There is one bar at a time: a step inside another takes it over and gives it back, and what is printed meanwhile pauses
it. Streams may be closed, and their encodings may lack characters.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.errors import InputError
from skilldelta.files import MOST_DOCUMENT, MOST_TEXT, jsonable, write_text
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from rich.console import Group
    from rich.progress import Progress as Bar

    from skilldelta.cli.screen import Screen
    from skilldelta.evaluation.results import Range
    from skilldelta.studies import StudyProgress


def console() -> Screen:
    """Stdout for people, with foreign text made harmless. Not a terminal: plain text, as wide as COLUMNS or 120."""
    from skilldelta.cli.screen import Screen

    return Screen()


def note(message: str) -> None:
    """A remark on stderr, out of the way of --json."""
    with paused():
        click.echo(readable(redacted(message)), err=True)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Group:
    """A plain table under its title; the first `left` columns are words, the others numbers.

    Where the screen is too narrow, long words are shortened, then further columns go into a table of their own.
    """
    from skilldelta.cli.screen import fitted

    return fitted(title, columns, rows, left=left, width=console().width)


def write_json(document: Any, output: Path | None = None) -> None:
    """One JSON document to stdout, or atomically to a file."""
    has_all = output is not None or has_every_character(sys.stdout)
    text = json.dumps(jsonable(document), ensure_ascii=not has_all, indent=2, allow_nan=False)
    if output is None:
        with paused():
            click.echo(text)
    else:
        write_text(output, text + "\n")


def answer(words: str, document: Any, *, as_json: bool) -> None:
    """What a command of one line has to say: in words, or with --json as a document."""
    if as_json:
        write_json(document)
    else:
        console().print(words, soft_wrap=True)


def percent(value: float | None, digits: int = 1) -> str:
    """A fraction as a percentage; unknown is a dash."""
    return "–" if value is None or not math.isfinite(value) else f"{100 * value:.{digits}f}%"


def signed(value: float | None, digits: int = 3) -> str:
    """A number with its sign; unknown is a dash."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{round(value, digits) + 0.0:+.{digits}f}"  # + 0.0 turns a negative zero into zero


def number(value: float | None, digits: int = 0) -> str:
    """A number with thousands separated; unknown is a dash."""
    return "–" if value is None or not math.isfinite(value) else f"{value:,.{digits}f}"


def span(interval: Range | None, *, scale: int = 100, digits: int = 1, is_open: bool = False) -> str:
    """An interval, empty where there is none; `is_open` also leaves out one without width."""
    if interval is None or interval.low is None or interval.high is None or (is_open and interval.low == interval.high):
        return ""
    low, high = (round(scale * end, digits) + 0.0 for end in (interval.low, interval.high))
    return f"{low:.{digits}f}…{high:.{digits}f}"


def plain_minus(text: str) -> str:
    """A sentence of a report for the terminal: not every one has the long minus."""
    return text.replace("\u2212", "-")


def file_labels(paths: Sequence[Path]) -> list[str]:
    """The names of files without their folders, where that tells them apart."""
    names = [path.name or str(path) for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def shorten(text: str, width: int) -> str:
    """One line of a text, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


# Called with what is done and what there is to do.
Progress = Callable[[int, int], None]

_bar: Bar | None = None


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A bar with rate and remaining time; nothing at all when stderr is not a terminal.

    Around a whole command it comes before heavy imports, so that these are waited for with a sign of life.
    """
    if _bar is not None:
        with _as_step(_bar, label) as advance:
            yield advance
    elif sys.stderr.isatty():
        with _shown() as bar, _as_step(bar, label) as advance:
            yield advance
    else:
        yield lambda done, total: None


@contextmanager
def steps() -> Iterator[StudyProgress]:
    """A callback for a study, which says its steps itself; each takes the bar over from the one before."""
    with ExitStack() as stack:
        current = ""
        advance: Progress

        def tell(step: str, done: int, total: int | None) -> None:
            nonlocal current, advance
            if step != current:
                stack.close()
                current, advance = step, stack.enter_context(progress(step))
            if total is not None:
                advance(done, total)

        yield tell


@contextmanager
def paused() -> Iterator[None]:
    """Away with the bar while something else is printed."""
    if _bar is None:
        yield
        return
    _bar.stop()
    try:
        yield
    finally:
        _bar.start()


@contextmanager
def _shown() -> Iterator[Bar]:
    global _bar
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[count]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        _bar = bar
        try:
            yield bar
        finally:
            _bar = None


@contextmanager
def _as_step(bar: Bar, label: str) -> Iterator[Progress]:
    """The bar for one step; the step around it is hidden meanwhile."""
    around = [task.id for task in bar.tasks if task.visible]
    for other in around:
        bar.update(other, visible=False)
    own = bar.add_task(readable(label), total=None, count="")

    def advance(done: int, total: int) -> None:
        speed = next(task.speed for task in bar.tasks if task.id == own)
        rate = f"  {speed:,.0f}/s" if speed else ""
        bar.update(own, completed=done, total=total, count=f"{done:,}/{total:,}{rate}")

    try:
        yield advance
    finally:
        bar.remove_task(own)
        for other in around:
            bar.update(other, visible=True)


def open_closed_streams() -> None:
    """Give a closed stream (`<&-`) the null device. Otherwise the next file that is opened gets its number, and a bank
    would be where the system looks for the standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as the process


def confirm(question: str, *, otherwise: str) -> None:
    """Ask a person; a program, which nobody can ask, must have said --yes."""
    if not sys.stdin.isatty():
        raise InputError(f"{otherwise} there is no terminal to ask, so say --yes")
    click.confirm(question, abort=True, err=True)


def text_from_stdin() -> str:
    """Standard input as text."""
    try:
        text = sys.stdin.read(MOST_TEXT + 1)
        text.encode()
    except UnicodeError:
        raise InputError("standard input is not UTF-8 text; write it in UTF-8") from None
    if len(text) > MOST_TEXT:
        raise InputError(f"standard input has more than {MOST_TEXT >> 20} MiB; give a shorter text")
    return text


def bytes_from_stdin() -> bytes:
    """Standard input as it comes."""
    content = sys.stdin.buffer.read(MOST_DOCUMENT + 1)
    if len(content) > MOST_DOCUMENT:
        raise InputError(f"standard input has more than {MOST_DOCUMENT >> 20} MiB; save it to a file and name that")
    return content


_NAME = "skilldelta.plain"
_PLAIN = {"→": ">", "…": "~", "–": "-", "−": "-", "×": "x", "·": ".", "≤": "<", "≥": ">", "“": '"', "”": '"', "’": "'"}


def spell_out(stream: Any) -> None:
    """Let a stream write whatever it is given; one that has every character stays as it is."""
    if isinstance(stream, TextIOWrapper) and not has_every_character(stream):
        codecs.register_error(_NAME, _spelled)
        stream.reconfigure(errors=_NAME)


def has_every_character(stream: Any) -> bool:
    """Whether a stream's encoding is one of Unicode."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return encoding.lower().replace("_", "-").startswith("utf")


def _spelled(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    plain = (_PLAIN.get(character) or character.encode("ascii", "backslashreplace").decode() for character in missing)
    return "".join(plain), error.end


# Controls that a terminal obeys, marks that turn the direction of text around, and halves of characters.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    """The text with what a terminal would obey or cannot show spelled out, such as \\x1b."""
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


# Characters of a word and of a line in an error message: a message quotes what people wrote, which may be a whole file.
_LONGEST_WORD = 300
_LONGEST_LINE = 1_500


def one_line(message: str) -> str:
    """A message on one line; what a file or a flag put into it is cut in its middle where it goes on and on."""
    words = (_cut(word, _LONGEST_WORD) for word in message.split())
    return _cut(readable(" ".join(words)), _LONGEST_LINE)


def _cut(text: str, most: int) -> str:
    half = most // 2 - 1
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"
