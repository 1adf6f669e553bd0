"""The paper authors' JSON documents: a panel, with the embeddings NPZ beside it where there is one, and a support index.

Neither names an agent, which must be said at the import, and without `--skill` each family counts as one skill, which is
how the paper supplies them.

In `panel.json`, y0 and y1 are one repetition each, or the means of as many as `--repetitions` or the columns r0, r1 or
repetitions say. A support index (`skilldelta-support-v1`) has a vector and a gain for each task, and no outcomes. A gain d
is stored as the two outcomes nearest to zero that have it: y1 = max(d, 0), y0 = max(-d, 0). Predictions need only gains
and are right; levels of success computed from these outcomes mean nothing, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.columns import PAIRS, left_out_note
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import skill_name, word
from skilldelta.bank.importers.pair_and_run_rows import take_pair
from skilldelta.bank.importers.paper_vectors import load_npz, text_vectors, unit_matrix
from skilldelta.bank.importers.source import Row, RowError, Source, json_document, numbered_objects, take_each
from skilldelta.errors import InputError, shown
from skilldelta.files import Place, fault
from skilldelta.nouns import plural

SUPPORT_SCHEMA = "skilldelta-support-v1"
_PANEL_COLUMNS = PAIRS | {"id"}
_SUPPORT_COLUMNS = frozenset(["id", "text", "question", "family", "skill", "d", "embedding"])


def read_panel(source: Source, defaults: Defaults) -> Batch:
    """The batch of a panel."""
    path = source.path

    def as_pair(draft: Draft, place: Place, row: Row) -> Row:
        pair = {name: value for name, value in row.items() if name in PAIRS}
        return {**pair, "task_id": row.get("id", row.get("task_id"))}

    batch = _read(source, defaults, json_document(source), "rows", _PANEL_COLUMNS, as_pair)
    embeddings = None if source.content is not None else embeddings_beside(path)
    return batch if embeddings is None else _with_embeddings(batch, path, embeddings)


def read_support(source: Source, defaults: Defaults) -> Batch:
    """The batch of a support index."""
    path, document = source.path, json_document(source)
    if document.get("schema") != SUPPORT_SCHEMA:
        raise fault(
            path, 1, f'schema must be "{SUPPORT_SCHEMA}", got {shown(document.get("schema"))}; convert the file'
        )
    model = _model(path, document)
    embeddings: list[list[float]] = []

    def as_pair(draft: Draft, place: Place, row: Row) -> Row:
        said = f"the task {shown(row.get('id'))} stands at"
        draft.once(place, word(row, "id"), lambda at: f"{said} {at} already; give different tasks different ids")
        embeddings.append(_embedding(row, embeddings))
        gain = _gain(row.get("d"))
        pair = {name: row.get(name) for name in ("text", "question", "family", "skill")}
        return {**pair, "task_id": row.get("id"), "y0": max(-gain, 0.0), "y1": max(gain, 0.0)}

    batch = _read(source, defaults, document, "tasks", _SUPPORT_COLUMNS, as_pair)
    vectors = text_vectors(path, batch.tasks, unit_matrix(path, embeddings), model=model)
    notes = (
        "the file holds gains only: y0 and y1 stand for them, and levels of success computed from them mean nothing",
        f"its vectors are stored as the encoder {vectors[0].encoder!r}",
    )
    return replace(batch, vectors=tuple(vectors), notes=(*batch.notes, *notes))


def _read(
    source: Source,
    defaults: Defaults,
    document: Row,
    name: str,
    columns: frozenset[str],
    as_pair: Callable[[Draft, Place, Row], Row],
) -> Batch:
    """The objects of a document's list, each in the words of `pairs.jsonl`; the family serves as the skill where none is named."""
    listed = document.get(name)
    if not isinstance(listed, list):
        raise fault(source.path, 1, f'there is no list "{name}"; check that this is the right format')
    draft = Draft(source.path, defaults)
    extra: dict[str, None] = {}

    def take(place: Place, row: Row) -> None:
        extra.update(dict.fromkeys(row.keys() - columns))
        pair = as_pair(draft, place, row)
        take_pair(draft, place, {**pair, "skill": skill_name(row) or defaults.skill or word(row, "family")})

    take_each(source.path, numbered_objects(source.path, name, listed), take)
    draft.notes += left_out_note(extra, columns)
    return draft.batch(text_from_id=True)


def embeddings_beside(path: Path) -> Path | None:
    """The NPZ that belongs to a panel: its own name first, then the usual names in its folder."""
    for name in (f"{path.stem}.npz", f"{path.stem}_embeddings.npz", "embeddings.npz"):
        if (path.parent / name).is_file():
            return path.parent / name
    return None


def _with_embeddings(batch: Batch, path: Path, embeddings: Path) -> Batch:
    by_id = load_npz(embeddings)
    for task in batch.tasks:
        if task.task_id not in by_id:
            raise InputError(
                f"{embeddings}: the task {shown(task.task_id)} of {path.name} has no vector; "
                "encode it, or move the file away to import the panel alone"
            )
    matrix = np.stack([by_id[task.task_id] for task in batch.tasks])
    vectors = text_vectors(embeddings, batch.tasks, matrix)
    note = f"vectors of {embeddings.name} are stored as the encoder {vectors[0].encoder!r}"
    return replace(batch, vectors=tuple(vectors), notes=(*batch.notes, note))


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
