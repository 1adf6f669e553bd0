"""The paper authors' support index (`skilldelta-support-v1`): a vector and a gain for each task, no outcomes.

A gain d is stored as the two outcomes nearest to zero that have it: y1 = max(d, 0), y0 = max(-d, 0). Predictions need
only gains and are right; levels of success computed from these outcomes mean nothing, and a note says so.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.columns import left_out_note
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import skill_name, word
from skilldelta.bank.importers.pairs_jsonl import take_pair
from skilldelta.bank.importers.paper_panel import listed_rows
from skilldelta.bank.importers.paper_vectors import text_vectors, unit_matrix
from skilldelta.bank.importers.source import Row, RowError, Source, json_document, take_each
from skilldelta.errors import shown
from skilldelta.files import Place, fault
from skilldelta.nouns import plural

SCHEMA = "skilldelta-support-v1"
COLUMNS = frozenset(["id", "text", "question", "family", "skill", "d", "embedding"])


def read(source: Source, defaults: Defaults) -> Batch:
    """The batch of a support index."""
    path = source.path
    extra: dict[str, None] = {}
    draft = Draft(path, defaults)
    embeddings: list[list[float]] = []

    def take(place: Place, row: Row) -> None:
        extra.update(dict.fromkeys(row.keys() - COLUMNS))
        draft.once(
            place,
            word(row, "id"),
            lambda at: f"the task {shown(row.get('id'))} stands at {at} already; give different tasks different ids",
        )
        embeddings.append(_embedding(row, embeddings))
        take_pair(draft, place, _as_pair(row, defaults))

    document = json_document(source)
    if document.get("schema") != SCHEMA:
        raise fault(path, 1, f'schema must be "{SCHEMA}", got {shown(document.get("schema"))}; convert the file')
    model = _model(path, document)
    take_each(path, listed_rows(path, document, "tasks"), take)
    draft.notes += left_out_note(extra, COLUMNS)
    batch = draft.batch(text_from_id=True)
    vectors = text_vectors(path, batch.tasks, unit_matrix(path, embeddings), model=model)
    notes = (
        "the file holds gains only: y0 and y1 stand for them, and levels of success computed from them mean nothing",
        f"its vectors are stored as the encoder {vectors[0].encoder!r}",
    )
    return replace(batch, vectors=tuple(vectors), notes=(*batch.notes, *notes))


def _as_pair(row: Row, defaults: Defaults) -> Row:
    gain = _gain(row.get("d"))
    return {
        "task_id": row.get("id"),
        "text": row.get("text"),
        "question": row.get("question"),
        "family": row.get("family"),
        "skill": skill_name(row) or defaults.skill or word(row, "family"),
        "y0": max(-gain, 0.0),
        "y1": max(gain, 0.0),
    }


def _gain(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and -1 <= value <= 1:
        return float(value)
    raise RowError(f"d must be a number in [-1, 1], got {shown(value)}; leave out a task without a gain")


def _embedding(row: Row, before: list[list[float]]) -> list[float]:
    values = row.get("embedding")
    if not isinstance(values, list) or not values:
        raise RowError(f"embedding must be a list of numbers, got {shown(values)}; encode the task")
    for value in values:
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e300:
            raise RowError(f"embedding holds {shown(value)}, which is not a finite number; encode the task again")
    if before and len(values) != len(before[0]):
        raise RowError(
            f"embedding has {plural(len(values), 'dimension')}, the first has {len(before[0])}; use one model"
        )
    return values


def _model(path: Path, document: Row) -> str:
    """The name of the embedding model, or "" where the file does not give it."""
    try:
        return " ".join(word(document, "embedding_model").split())
    except RowError as error:
        raise fault(path, 1, str(error)) from None
