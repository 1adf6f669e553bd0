"""Telling formats apart by content, files that are none, and the way into a bank."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank import Bank
from skilldelta.bank.importers import FORMATS, detect, read_source
from skilldelta.errors import InputError

from .conftest import Write
from .test_csv_table import LONG, WIDE
from .test_paper_files import PANEL, SUPPORT, native

Row = dict[str, Any]


def test_every_format_is_told_from_its_content(write: Write, pair: Row, run: Row) -> None:
    import json

    examples: dict[str, list[Any]] = {
        "pairs.jsonl": [[pair]],
        "runs.jsonl": [[run]],
        "json": [
            "[" + json.dumps(pair) + "]",
            json.dumps({"results": [pair]}),
            json.dumps({"results": [pair]}, indent=1),
        ],
        "parquet": [b"PAR1"],
        "csv": [WIDE + "x", LONG + "x", WIDE.replace(",", ";")],
        "paper-panel": [PANEL, json.dumps(PANEL), json.dumps(PANEL, indent=4)],
        "paper-support": [SUPPORT, json.dumps(SUPPORT)],
        "paper-runs": [[native("no_skill")]],
    }

    assert {*examples, "workbook"} == set(FORMATS)  # told by its name and first bytes: test_messy_tables
    for name, contents in examples.items():
        assert [detect(write(content)) for content in contents] == [name] * len(contents)


def test_a_format_that_is_named_is_used(write: Write, run: Row) -> None:
    with pytest.raises(InputError, match=":1: there is no y0"):
        read_source(write([run]), format="pairs.jsonl")


def test_an_unknown_format_is_refused_with_the_nearest(write: Write, pair: Row) -> None:
    with pytest.raises(InputError, match=r"unknown format 'pair'; did you mean .*pairs\.jsonl"):
        read_source(write([pair]), format="pair")


@pytest.mark.parametrize("content", ["", " \n\n", "\n"])
@pytest.mark.parametrize("format", ["auto", *FORMATS])
def test_an_empty_file_is_refused(write: Write, content: str, format: str) -> None:
    with pytest.raises(InputError, match=r"source:( not a readable (Parquet file|workbook)|1: )"):
        read_source(write(content), format=format)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.jsonl: there is no such file; check the path"):
        read_source(tmp_path / "absent.jsonl")


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InputError, match="not a regular file"):
        read_source(tmp_path / "pipe")


def test_a_file_that_may_not_be_read_is_named(write: Write, pair: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write([pair])

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    # Root may read every file, so the refusal is put where the file is opened.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"cannot be read \(Permission denied\)"):
        read_source(path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_a_path_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_source(Path(name))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1, 2]", r" \[0\]: expected an object, got 1"),
        ("hello world", "1: the first line 'hello world' is neither JSON nor a header of known columns"),
        (b"\x89PNG\r\n\x1a\n", "1: the first line .* is neither JSON nor a header"),
        ('{"a": 1}', "1: a JSON object with the keys"),
        ('{"embeddings": {"a": [1]}}', "1: a JSON object with the keys"),
        ('{"task_id": 1}\n[]\n', r"1: "),
        ('{"task_id": ' + "[" * 100_000, "1: the JSON is nested too deeply"),
        ('{"task_id": ' + "9" * 10_000 + "}", "1: "),
    ],
)
def test_content_of_no_known_format_is_refused(write: Write, content: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=f"source:{said}") as caught:
        read_source(write(content))
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


def test_a_line_that_is_no_object_is_refused(write: Write, pair: Row) -> None:
    with pytest.raises(InputError, match="source:2: expected one JSON object per line, got int"):
        read_source(write([pair, 7]))


def test_importing_the_same_file_twice_adds_nothing(write: Write, pair: Row, tmp_path: Path) -> None:
    path = write([pair, {**pair, "task_id": "t2"}])
    with Bank.open(tmp_path / "bank", create=True) as bank:
        first = bank.add(read_source(path))
        second = bank.add(read_source(path))

    assert (first.tasks, first.executions) == (2, 10)
    assert (second.tasks, second.skills, second.executions) == (0, 0, 0)
    assert second.unchanged > 0


def test_a_graded_file_may_follow_the_ungraded_one(write: Write, tmp_path: Path) -> None:
    with Bank.open(tmp_path / "bank", create=True) as bank:
        bank.add(read_source(write([native("no_skill", correct=None), native("oracle_skill")])))
        bank.add(read_source(write([native("no_skill", correct=False), native("oracle_skill")])))
        pairs = bank.pairing(agent=bank.resolve_agent(None)).pairs

    assert [(p.y0, p.y1) for p in pairs] == [(0.0, 1.0)]


def test_imported_vectors_serve_a_support_without_their_model(write: Write, tmp_path: Path) -> None:
    from skilldelta.encoders import load_encoder

    with Bank.open(tmp_path / "bank", create=True) as bank:
        batch = read_source(write(SUPPORT), agent="ada")
        bank.add(batch)
        encoder = load_encoder(batch.vectors[0].encoder)
        support = bank.support(encoder, agent=bank.resolve_agent("ada"))

    assert support.gains.tolist() == [1.0, -0.5, 0.0]
    assert support.encoder == "imported/small-model/2/l2"


def test_what_a_bank_exports_comes_back_the_same(write: Write, pair: Row, run: Row, tmp_path: Path) -> None:
    from skilldelta.bank.export import export_runs

    failed = {**run, "status": "transport_error", "success": None}
    baseline = {**run, "skill": "", "condition": "skip", "agent_fingerprint": "f1"}
    with Bank.open(tmp_path / "one", create=True) as one, Bank.open(tmp_path / "two", create=True) as two:
        one.add(read_source(write([pair], "a")))
        one.add(read_source(write([failed, run, baseline], "b")))
        export_runs(one, tmp_path / "out.jsonl")
        two.add(read_source(tmp_path / "out.jsonl"))

        assert list(two.executions()) == list(one.executions())
        assert two.tasks() == one.tasks()
