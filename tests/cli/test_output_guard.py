"""No output option of any command writes over evidence: not over a bank, a suite, or what the command reads."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from skilldelta.bank import Bank
from skilldelta.cli.main import COMMANDS, cli
from skilldelta.cli.settings import OutputPath

from .conftest import Skilldelta

Words = tuple[str, ...]


def leaves() -> Iterator[tuple[Words, click.Command]]:
    """Every command that runs, with its words."""
    ctx = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from (((name, member), made) for member, made in command.commands.items())
        else:
            yield (name,), command


def outputs() -> list[tuple[Words, str]]:
    """Every output option with the shortest command line that has it."""
    return [
        (words, option.opts[0])
        for words, command in leaves()
        for option in command.params
        if isinstance(option.type, OutputPath) and not option.type.folder
    ]


def folder_outputs() -> list[tuple[Words, str]]:
    """Every option that names a folder to write files into."""
    return [
        (words, option.opts[0])
        for words, command in leaves()
        for option in command.params
        if isinstance(option.type, OutputPath) and option.type.folder
    ]


def shortest(words: Words, flag: str, destination: str) -> Words:
    """The command with what it requires; its arguments are files that exist."""
    command = dict(leaves())[words]
    needed: list[str] = [*words, flag, destination]
    for param in command.params:
        if param.required and param.opts[0] != flag:
            value = "other.out" if isinstance(param.type, OutputPath) else "read.jsonl"
            needed += [value] if isinstance(param, click.Argument) else [param.opts[0], value]
    takes_bank = any(param.name == "bank" for param in command.params)
    return (*needed, "--bank", "toy.bank") if takes_bank else tuple(needed)


def test_every_option_that_writes_is_guarded() -> None:
    """An option that is said to write and is not declared so would escape the guard."""
    for words, command in leaves():
        for param in command.params:
            assert isinstance(param.type, OutputPath) or "--output" not in param.opts, words
            if isinstance(param, click.Option) and isinstance(param.type, click.Path | click.File):
                says_so = param.name != "bank" and re.search(r"\b(write|save)", param.help or "", re.IGNORECASE)
                assert isinstance(param.type, OutputPath) or not says_so, (words, param.opts)
    assert {words for words, _ in outputs()} >= {
        ("bank", "export"),
        ("predict",),
        ("evaluate",),
        ("sweep", "threshold"),
        ("sweep", "evidence"),
        ("freeze",),
        ("audit",),
        ("calibrate",),
        ("report",),
        ("simulate",),
    }


def link(name: str, target: str) -> str:
    os.symlink(target, name)
    return name


def hard_link(name: str, target: str) -> str:
    os.link(target, name)
    return name


def folder_in(path: str) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return path


HOSTILE: dict[str, Callable[[], str]] = {
    "the bank": lambda: "toy.bank",
    "the bank in another spelling": lambda: folder_in("sub/x") and "sub/../toy.bank",
    "the bank's absolute path": lambda: str(Path("toy.bank").absolute()),
    "a link to the bank": lambda: link("out.json", "toy.bank"),
    "a hard link of the bank": lambda: hard_link("out.json", "toy.bank"),
    "its write-ahead log": lambda: "toy.bank-wal",
    "its shared memory": lambda: "toy.bank-shm",
    "its lock": lambda: "toy.bank.lock",
    "another bank": lambda: "other.bank",
    "another bank's log": lambda: "other.bank-wal",
    "a suite's settings": lambda: "suite/suite.yaml",
    "a suite's tasks": lambda: "suite/tasks.jsonl",
    "a suite's skill": lambda: "suite/skills/plain-sums/SKILL.md",
    "a new file in a suite": lambda: "suite/new.json",
    "a ledger": lambda: folder_in("toy.bank.collect/run/ledger.jsonl"),
    "the settings file": lambda: "skilldelta.toml",
    "a link to an ordinary file": lambda: link("out.json", "read.jsonl"),
    "a folder": lambda: str(Path("suite")),
    "a device": lambda: os.devnull,
    "a folder that does not exist": lambda: "absent/out.json",
}
ON_WINDOWS = ("a folder", "the bank", "its lock", "another bank", "a suite's tasks", "the settings file")


@pytest.fixture
def place(skilldelta: Skilldelta, toy_bank: str) -> Path:
    """A folder with two banks, a suite, a settings file, and a file to read."""
    assert skilldelta("suite", "init", "suite").code == 0
    Bank.open("other.bank", create=True).close()
    Path("skilldelta.toml").write_text("seed = 1\n")
    Path("read.jsonl").write_text('{"task_id": "t", "text": "how far", "skill": "units-skill"}\n')
    return Path.cwd()


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file with its bytes; the lock's holder changes with each writer and is no evidence."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}


@pytest.mark.parametrize("name", [name for name in HOSTILE if sys.platform != "win32" or name in ON_WINDOWS])
def test_no_command_writes_over_evidence(place: Path, skilldelta: Skilldelta, name: str) -> None:
    destination = HOSTILE[name]()
    before = contents(place)
    for words, flag in outputs():
        ran = skilldelta(*shortest(words, flag, destination))
        assert (ran.code, ran.out) == (2, ""), (words, ran)
        assert len(ran.err.splitlines()) == 1, ran.err
        assert "cannot write" in ran.err or "is a directory" in ran.err, ran.err
        assert contents(place) == before, words


@pytest.mark.parametrize(("words", "flag"), [(("freeze",), "--output"), (("audit",), "--output")])
def test_a_file_that_the_command_reads_is_not_its_output(
    place: Path, skilldelta: Skilldelta, words: Words, flag: str
) -> None:
    for destination in ("read.jsonl", "./read.jsonl"):
        ran = skilldelta(*shortest(words, flag, destination), *(["--overwrite"] if words == ("freeze",) else []))
        assert ran.code == 2
        assert "this command reads read.jsonl; choose another file" in ran.err
    assert Path("read.jsonl").read_text().startswith('{"task_id"')


@pytest.mark.parametrize("bank", ["sqlite:///toy.bank", "toy.bank"])
def test_a_bank_named_by_url_or_by_the_environment_is_the_same_bank(
    place: Path, skilldelta: Skilldelta, monkeypatch: pytest.MonkeyPatch, bank: str
) -> None:
    monkeypatch.setenv("SKILLDELTA_BANK", bank)
    before = Path("toy.bank").read_bytes()
    for destination in ("toy.bank", "toy.bank-shm"):
        assert skilldelta("evaluate", "--output", destination).code == 2
    assert Path("toy.bank").read_bytes() == before


def test_a_bank_that_is_still_all_in_its_log_is_a_bank(skilldelta: Skilldelta) -> None:
    """SQLite leaves the file empty until the first checkpoint."""
    Path("new.bank").touch()
    Path("new.bank-wal").write_bytes(b"log")
    ran = skilldelta("simulate", "--tasks", "20", "--families", "2", "--resamples", "0", "--pairs", "new.bank")
    assert ran.code == 2
    assert Path("new.bank").read_bytes() == b""


def test_images_stay_out_of_a_suite(place: Path, skilldelta: Skilldelta) -> None:
    ran = skilldelta("report", "--bank", "toy.bank", "--png", "suite/figures")
    assert ran.code == 2
    assert "is a suite, and a file in it would change the suite" in ran.err
    assert not Path("suite/figures").exists()


def test_no_folder_of_outputs_is_a_suite_or_a_file(place: Path, skilldelta: Skilldelta) -> None:
    before = contents(place)
    assert {words for words, _ in folder_outputs()} >= {("suite", "prepare"), ("study",), ("report",)}
    for words, flag in folder_outputs():
        for destination in ("suite", "toy.bank", "read.jsonl"):
            ran = skilldelta(*shortest(words, flag, destination))
            assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1), (words, ran)
            assert contents(place) == before, words


def test_two_outputs_need_two_files(skilldelta: Skilldelta) -> None:
    ran = skilldelta("simulate", "--pairs", "same.json", "--output", "same.json")
    assert (ran.code, "two outputs name same.json" in ran.err) == (2, True)
    assert not Path("same.json").exists()


def test_an_ordinary_file_is_replaced(place: Path, skilldelta: Skilldelta) -> None:
    Path("out.jsonl").write_text("old")
    assert skilldelta("bank", "export", "--bank", "toy.bank", "--output", "out.jsonl").code == 0
    assert len(Path("out.jsonl").read_text().splitlines()) == 16
    assert not list(Path.cwd().glob(".skilldelta-*"))
