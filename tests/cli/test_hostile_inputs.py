"""The trial of an attacker, kept: every command gets what it must not trust, and answers or refuses in one line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.conftest import pair_rows
from skilldelta.cli.main import cli, run

TEXTS = ("", " ", "\0", "\ud800", "\x1b[2J[/x]", "a" * 5_000)
NUMBERS = ("", "nan", "inf", "-1", "9" * 40)
PATHS = ("", "folder", "pipe", "binary", "/dev/full", "a" * 300, "x\0y", "\ud800")
BANKS = (*PATHS, "empty", "torn", "other.db", "pairs.jsonl", "sqlite://", "postgresql://u@[::1/x", "mysql://x", "://")
_HARMFUL = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff]")
URLS = ("", "http://", "ftp://x", "http://[::1", "http://127.0.0.1:99999", "http://127.0.0.1:1/ x", "\ud800")

# A good start of each command, to which one hostile value is added. Nothing in them takes long.
COMMANDS: dict[str, list[str]] = {
    "import": ["pairs.jsonl", "--bank", "fresh.bank"],
    "predict": ["--bank", "toy.bank", "--skill", "units-skill", "--encoder", "tfidf", "convert a mile"],
    "evaluate": ["--bank", "toy.bank", "--resamples", "2", "--shuffles", "0", "--exclude", "no such task"],
    "compare": ["pairs.jsonl", "--resamples", "10"],
    "check": ["pairs.jsonl", "--resamples", "100"],
    "skills": ["--bank", "toy.bank", "--resamples", "10", "--encoder", "tfidf"],
    "sweep threshold": ["--bank", "toy.bank", "--estimator", "family_mean"],
    "sweep evidence": ["--bank", "toy.bank"],
    "freeze": ["targets.jsonl", "--bank", "toy.bank", "--output", "new.json", "--overwrite", "--encoder", "tfidf"],
    "audit": ["sealed.json", "--bank", "toy.bank", "--resamples", "2"],
    "calibrate": ["--bank", "toy.bank", "--use-rate", "0.5", "--resamples", "2", "--estimator", "family_mean"],
    "report": ["--bank", "toy.bank", "--suite", "no such suite"],
    "simulate": ["--tasks", "4", "--families", "2", "--resamples", "0"],
    "collect": ["suite", "--command", "./agent.sh", "--bank", "fresh.bank", "--dry-run"],
    "suite check": ["suite"],
    "bank status": ["--bank", "toy.bank"],
    "bank list": ["--bank", "toy.bank"],
    "bank verify": ["--bank", "toy.bank"],
    "bank export": ["--bank", "toy.bank", "--output", "out.jsonl"],
    "bank forget": ["--bank", "toy.bank", "--skill", "no such skill", "--yes"],
    "bank add-skill": ["units-skill", "skill.md", "--bank", "fresh.bank"],
}


def named(command: str) -> click.Command:
    found: click.Command = cli
    for word in command.split():
        assert isinstance(found, click.Group)
        member = found.get_command(click.Context(found), word)
        assert member is not None
        found = member
    return found


def hostile_values(option: click.Parameter) -> tuple[str, ...]:
    if option.name == "bank" or option.name == "reexecuted":
        return BANKS
    if option.name in ("encoder_url", "base_url", "judge_base_url"):
        return URLS
    if isinstance(option.type, click.Path):
        return PATHS
    if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType):
        return NUMBERS
    return TEXTS


def inputs(*commands: str) -> Iterator[list[str]]:
    """One hostile value in one option at a time, over every option of the commands."""
    for command, good in ((name, COMMANDS[name]) for name in commands):
        words = command.split()
        for option in named(command).params:
            flag = max(option.opts, key=len)
            if isinstance(option, click.Argument):
                place = len(good) - 1 if command == "predict" else 0
                values = PATHS if isinstance(option.type, click.Path) else TEXTS
                changed = ([*good[:place], value, *good[place + 1 :]] for value in values)
                yield from ([*words, *one] for one in changed)
            elif option.nargs == 1 and not getattr(option, "is_flag", False):
                yield from ([*words, *good, f"{flag}={value}"] for value in hostile_values(option))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank, a sealed file and a suite, among files that are none of these."""
    made = tmp_path_factory.mktemp("hostile")
    with contextlib.chdir(made), quiet():
        Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pair_rows()))
        target = {"task_id": "new", "text": "convert ten miles", "family": "units", "skill": "units-skill"}
        Path("targets.jsonl").write_text(json.dumps(target))
        Path("skill.md").write_text("Convert step by step.")
        Path("agent.sh").write_text("#!/bin/sh\ncat\n")
        Path("agent.sh").chmod(0o755)
        for words in (
            ["import", "pairs.jsonl", "--bank", "toy.bank"],
            ["freeze", "targets.jsonl", "--bank", "toy.bank", "--output", "sealed.json"],
            ["suite", "init", "suite"],
        ):
            assert run(words) == 0
        Path("folder").mkdir()
        Path("empty").touch()
        Path("binary").write_bytes(bytes(range(256)))
        Path("torn").write_bytes(Path("toy.bank").read_bytes()[:5_000])
        with contextlib.closing(sqlite3.connect("other.db")) as other:
            other.execute("create table t (x)")
        if hasattr(os, "mkfifo"):
            os.mkfifo("pipe")
    return made


@contextlib.contextmanager
def quiet() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err


def test_there_are_more_than_a_thousand() -> None:
    assert len(list(inputs(*COMMANDS))) > 1_000


@pytest.mark.parametrize("command", COMMANDS)
def test_a_hostile_value_is_answered_or_refused_in_one_line(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    kept = {path: path.read_bytes() for path in map(Path, ("pairs.jsonl", "targets.jsonl", "sealed.json", "skill.md"))}
    for words in inputs(command):
        with quiet() as (out, err):
            code = run(words)
        lines = err.getvalue().splitlines()
        assert code in (0, 1, 2), words
        assert code != 2 or (len(lines) == 1 and lines[0].startswith("error: ")), (words, lines)
        assert code != 2 or not out.getvalue(), words
        assert len(err.getvalue()) < 20_000, words
        assert not _HARMFUL.search(out.getvalue() + err.getvalue()), words
        assert {path: path.read_bytes() for path in kept} == kept, words
        assert not list(folder.glob(".skilldelta-*")), words


def test_the_bank_is_whole_after_all_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with quiet():
        assert run(["bank", "verify", "--bank", "toy.bank"]) == 0


def test_a_loop_of_links_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with quiet() as (_, err):
        assert run(["suite", "init", str(tmp_path / "a")]) == 2
    assert len(err.getvalue().splitlines()) == 1
