"""What reaches a person's screen: foreign text made harmless, tables that fit."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from skilldelta.cli.main import COMMANDS
from skilldelta.cli.output import one_line, readable
from skilldelta.cli.screen import Screen, fitted

from .conftest import Skilldelta, pair_rows

HOSTILE = "docs[/api]\x1b]0;owned\x07\u202e[bold]"


def printed(width: int, columns: list[str], rows: list[list[str]], left: int = 1) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, markup=False).print(fitted("Title", columns, rows, left=left, width=width))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_controls_and_marks_of_direction_are_spelled_out() -> None:
    assert readable("a\x1b[31mb\u202ec\ud800\td\n") == "a\\x1b[31mb\\u202ec\\ud800\td\n"


def test_a_message_is_one_line_with_an_end() -> None:
    assert one_line("a\n  b\x1b") == "a b\\x1b"
    assert len(one_line("x" * 10_000)) == 299
    assert len(one_line("words and " * 10_000)) < 1_501


def test_a_table_that_fits_is_one_table() -> None:
    lines = printed(40, ["name", "one", "two"], [["alpha", "1", "2"]])
    assert sum("name" in line for line in lines) == 1


def test_columns_that_do_not_fit_go_into_a_second_table_with_the_first_column() -> None:
    columns = ["policy", *(f"number {i}" for i in range(8))]
    lines = printed(60, columns, [["always on", *("12.345" for _ in range(8))]])
    assert max(map(len, lines)) <= 60
    assert sum("policy" in line for line in lines) == 2
    assert sum("always on" in line for line in lines) == 2
    assert all(any(column in line for line in lines) for column in columns)


def test_long_words_are_shortened_before_numbers_move() -> None:
    lines = printed(40, ["task", "gain"], [["a very long name of a task that goes on and on", "+1.00"]])
    assert max(map(len, lines)) <= 40
    assert sum("task" in line for line in lines if "gain" in line) == 1
    assert any("…" in line and "+1.00" in line for line in lines)


@pytest.mark.parametrize("columns", ["80", "60"])
def test_every_command_fits_a_narrow_screen_and_survives_hostile_names(
    skilldelta: Skilldelta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rows = [{**row, "skill": HOSTILE, "family": HOSTILE, "agent": f"toy {HOSTILE}"} for row in pair_rows()]
    rows = [{**row, "text": f"{HOSTILE} {row['text']}"} for row in rows]
    source = tmp_path / "hostile.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for words in (
        ["import", source, "--suite", HOSTILE],
        ["bank", "status"],
        ["bank", "list"],
        ["predict", "--skill", HOSTILE, "convert five miles"],
        ["predict", "--skill", HOSTILE, "--paper", "convert five miles"],
        ["evaluate", "--resamples", "50"],
        ["sweep", "threshold"],
        ["sweep", "evidence"],
        ["calibrate", "--use-rate", "0.5"],
        ["predict", "--skill", "[/nowhere]\x1b[2J", "convert"],
    ):
        ran = skilldelta(*words, "--bank", "hostile.bank")
        assert ran.code in (0, 2)
        for stream in (ran.out, ran.err):
            assert "\x1b" not in stream
            assert "\u202e" not in stream
            assert "\x07" not in stream
        wide = [line for line in ran.out.splitlines() if len(line) > int(columns)]
        assert not wide, (words, wide)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_fits_eighty_columns(
    skilldelta: Skilldelta, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    helped = skilldelta(name, "--help")
    assert helped.code == 0
    assert not [line for line in helped.out.splitlines() if len(line) > 80]


def test_words_of_three_columns_share_a_screen_that_is_too_narrow_for_them() -> None:
    lines = printed(40, ["task", "text", "family", "gain"], [["t" * 30, "x" * 30, "f" * 30, "+1.00"]], left=3)
    assert max(map(len, lines)) <= 40
    assert sum("task" in line for line in lines) == 2
    assert sum("family" in line for line in lines) == 1  # later tables repeat the first column alone


def test_a_remark_keeps_its_indent_where_it_wraps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    Screen().remark("one two three four five six seven", indent=4)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all(line.startswith("    ") and len(line) <= 20 for line in lines)


def test_a_width_of_nothing_still_shows_the_table(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = skilldelta("bank", "list", "--bank", toy_bank).out
    monkeypatch.setenv("COLUMNS", "0")
    assert skilldelta("bank", "list", "--bank", toy_bank).out == shown
