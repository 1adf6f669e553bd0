"""The paper authors' `panel.json`, with the embeddings NPZ beside it where there is one.

A panel names neither agent nor skill: the agent must be said at the import, and without `--skill` each family counts as
one skill, which is how the paper supplies them. y0 and y1 are one repetition each, or the means of as many as
`--repetitions` or the columns r0, r1 or repetitions say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.columns import PAIRS, left_out_note
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import skill_name, word
from skilldelta.bank.importers.pairs_jsonl import take_pair
from skilldelta.bank.importers.paper_vectors import load_npz, text_vectors
from skilldelta.bank.importers.source import Row, Source, json_document, take_each
from skilldelta.errors import InputError, shown
from skilldelta.files import Place, fault

COLUMNS = PAIRS | {"id"}


def read(source: Source, defaults: Defaults) -> Batch:
    """The batch of a panel."""
    path = source.path
    draft = Draft(path, defaults)
    extra: dict[str, None] = {}

    def take(place: Place, row: Row) -> None:
        extra.update(dict.fromkeys(row.keys() - COLUMNS))
        take_pair(draft, place, _as_pair(row, defaults))

    take_each(path, listed_rows(path, json_document(source), "rows"), take)
    draft.notes += left_out_note(extra, COLUMNS)
    batch = draft.batch(text_from_id=True)
    embeddings = None if source.content is not None else embeddings_beside(path)
    return batch if embeddings is None else _with_vectors(batch, path, embeddings)


def _as_pair(row: Row, defaults: Defaults) -> Row:
    """A panel's row in the words of `pairs.jsonl`; the family serves as the skill where none is named."""
    named = skill_name(row) or defaults.skill or word(row, "family")
    kept = {name: value for name, value in row.items() if name in PAIRS}
    return {**kept, "task_id": row.get("id", row.get("task_id")), "skill": named}


def listed_rows(path: Path, document: Row, name: str) -> Iterator[tuple[Place, Row]]:
    """The objects of a document's list, each with its position in it."""
    rows = document.get(name)
    if not isinstance(rows, list):
        raise fault(path, 1, f'there is no list "{name}"; check that this is the right format')
    for position, row in enumerate(rows):
        if not isinstance(row, dict):
            raise fault(path, f"{name}[{position}]", f"expected an object, got {shown(row)}")
        yield f"{name}[{position}]", row


def embeddings_beside(path: Path) -> Path | None:
    """The NPZ that belongs to a panel: its own name first, then the usual names in its folder."""
    for name in (f"{path.stem}.npz", f"{path.stem}_embeddings.npz", "embeddings.npz"):
        if (path.parent / name).is_file():
            return path.parent / name
    return None


def _with_vectors(batch: Batch, path: Path, embeddings: Path) -> Batch:
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
