"""CSV in its long and its wide form, held to the same answer as JSONL."""

from __future__ import annotations

from typing import Any

import pytest

from skilldelta.bank.importers import read_source
from skilldelta.errors import InputError

from .conftest import Write

Row = dict[str, Any]

WIDE = "task_id,text,family,skill,agent,y0,y1,tokens0,tokens1\n"
LONG = "task_id,text,skill,agent,condition,repetition,success,tokens,status\n"


def test_the_wide_form_equals_pairs_jsonl(write: Write) -> None:
    table = write(WIDE + 't1,"What is 2, plus 3?",sums,adding,ada,0,1,10,\nt2,Two?,sums,adding,ada,,0.5,,7\n', "a")
    base = {"family": "sums", "skill": "adding", "agent": "ada"}
    rows = write(
        [
            {"task_id": "t1", "text": "What is 2, plus 3?", "y0": [0], "y1": [1], "tokens0": [10], **base},
            {"task_id": "t2", "text": "Two?", "y0": [], "y1": [0.5], "tokens1": [7], **base},
        ],
        "b",
    )

    assert read_source(table) == read_source(rows)


def test_the_long_form_equals_runs_jsonl(write: Write, run: Row) -> None:
    second = {**run, "condition": "skip", "success": 0, "tokens": None, "status": "completed"}
    cells = [[("" if row[name] is None else str(row[name])) for name in run] for row in (run, second)]
    table = write("\n".join(",".join(line) for line in ([*run], *cells)), "a")

    assert read_source(table) == read_source(write([run, second], "b"))


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_recognised(write: Write, separator: str) -> None:
    text = WIDE + "t1,Two?,sums,adding,ada,0,1,10,20\n"

    assert read_source(write(text.replace(",", separator), "a")) == read_source(write(text, "b"))


def test_a_quoted_text_may_span_lines_and_the_next_fault_has_its_line(write: Write) -> None:
    text = WIDE + '"t1","line one\nline two",sums,adding,ada,0,1,,\nt2,Two?,sums,adding,ada,0,7,,\n'

    with pytest.raises(InputError, match=r"source:4: y1 must lie in \[0, 1\], got 7"):
        read_source(write(text))


def test_truth_values_and_whole_floats_are_understood(write: Write) -> None:
    text = LONG + "t1,Two?,adding,ada,use,1.0,True,5,\nt1,Two?,adding,ada,skip,0,FALSE,5,completed\n"
    batch = read_source(write(text))

    assert [(e.repetition, e.success) for e in batch.executions] == [(1, 1.0), (0, 0.0)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WIDE.replace("family", "text") + "x", "1: the column 'text' stands twice"),
        ("task_id,text,y0\nt1,Two?,1\n", "2: there is no y1|2: there is no agent"),
        (
            "task_id,text,why\nt1,Two?,1\n",
            "2: neither y0 and y1 .* among the columns 'task_id', 'text', 'why'; say --map y0=",
        ),
        (WIDE, "1: the file has no rows"),
        (WIDE + "t1,Two?\n", "2: 2 cells for 9 columns"),
        (WIDE + "t1,Two, or three?,sums,adding,ada,0,1,,\n", "2: 10 cells for 9 columns"),
        (WIDE + 't1,"Two?,sums,adding,ada,0,1,,\n', r"2: not valid CSV \("),
        (
            WIDE + "t1,Two?,sums,adding,ada,maybe,1,,\n",
            r"2: y0 must be a number in \[0, 1\] or a word such as .*'maybe'",
        ),
        (WIDE + "t1,Two?,sums,adding,ada,85,1,,\n", r"2: y0 must lie in \[0, 1\], got 85; scale it"),
        (WIDE + "t1,,sums,adding,ada,0,1,,\n", "2: the task 't1' has no text"),
        (LONG + "t1,Two?,adding,ada,both,0,1,,\n", "2: condition must be"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(write: Write, text: str, said: str) -> None:
    with pytest.raises(InputError, match=f"source:{said}"):
        read_source(write(text))


def test_an_optional_cell_that_is_no_number_stops_nothing(write: Write) -> None:
    batch = read_source(write(WIDE + "t1,Two?,sums,adding,ada,0,1,1_000,70\n"))
    assert [run.tokens for run in batch.executions] == [None, 70]
    assert any("1 value of tokens0 cannot be read as a number" in note for note in batch.notes)
