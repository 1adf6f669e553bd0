"""Rows of any natural file into a batch: JSONL, a JSON array, CSV and Parquet differ only in how they bring them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.columns import Columns, Form
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import task_text
from skilldelta.bank.importers.pairs_jsonl import take_pair
from skilldelta.bank.importers.runs_jsonl import take_run
from skilldelta.bank.importers.source import Row, RowError, Source, json_lines, take_each
from skilldelta.files import Place
from skilldelta.records import text_digest


def read_rows(source: Source, defaults: Defaults, rows: Iterable[tuple[Place, Row]], form: Form | None = None) -> Batch:
    """The batch of rows that are pairs or runs; without `form` their columns say which."""
    draft = Draft(source.path, defaults)
    columns = Columns(defaults.columns, form, defaults.given)
    counts: Counter[Hashable] = Counter()
    unnamed = _Unnamed(draft)

    def take(place: Place, row: Row) -> None:
        plan = columns.plan(row)
        try:
            named = plan.applied(row) if plan.places else row
            if "task_id" not in named:
                named = unnamed.with_id(named)
            if plan.form == "pairs":
                take_pair(draft, place, named)
            else:
                take_run(draft, counts, place, named)
        except RowError as error:
            raise RowError(plan.placed(str(error))) from None

    take_each(source.path, rows, take)
    draft.notes += columns.notes() + unnamed.notes()
    return draft.batch()


def read_pairs_jsonl(source: Source, defaults: Defaults) -> Batch:
    """The batch of a file with one pair per line."""
    return read_rows(source, defaults, json_lines(source), "pairs")


def read_runs_jsonl(source: Source, defaults: Defaults) -> Batch:
    """The batch of a file with one execution per line."""
    return read_rows(source, defaults, json_lines(source), "runs")


class _Unnamed:
    """Ids for the tasks of a file that has none: a digest of the text, which stays the same at every import."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._named = 0

    def with_id(self, row: Row) -> Row:
        """The row with an id, unless an earlier row of the file brought its own: then this one lacks what it needs."""
        if not self._named and self._draft.executions:
            return row
        text = task_text(row)
        self._named += bool(text)
        return {**row, "task_id": f"task-{text_digest(text)[:12]}" if text else ""}

    def notes(self) -> list[str]:
        return ["there is no id column: each task is named by a digest of its text"] if self._named else []
