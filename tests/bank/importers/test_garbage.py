"""Random garbage against every importer: a batch that a bank can hold, or one line for a person, and nothing else."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import FORMATS, read_source
from skilldelta.errors import InputError

from .test_csv_table import LONG, WIDE
from .test_paper_files import PANEL, SUPPORT, native

PAIR = {
    "task_id": "t1",
    "text": "What is 2 + 3?",
    "family": "sums",
    "skill": "adding",
    "agent": "ada",
    "y0": [0, 1],
    "y1": [1],
    "tokens0": [1, 2],
}
RUN = {
    "task_id": "t1",
    "text": "Two?",
    "skill": "adding",
    "agent": "ada",
    "condition": "use",
    "repetition": 0,
    "success": 1,
    "status": "completed",
}
DOCUMENTS: list[Any] = [PAIR, RUN, PANEL, SUPPORT, native("no_skill"), native("oracle_skill")]
TABLES = [
    WIDE + "t1,Two?,sums,adding,ada,0,1,10,20\n",
    LONG + "t1,Two?,adding,ada,use,0,1,10,completed\n",
    ",ID,Prompt,Baseline_1,Baseline_2,With Skill,tokens_with\n0,t1,Two?,pass,fail,85%,7\n1,t1,Two?,1,,0,\n",
    "id;question;arm;passed\nt1;Two?;without;no\nt1;Two?;with;yes\n",
]
FORMAT_NAMES = ["auto", *FORMATS]
GARBAGE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 2**63, "", " ", "\0", "\ud800", "nan", "1", "use", "skip", "no_skill"])
    | st.floats()
    | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=6,
)
keys = st.sampled_from(
    sorted({*PAIR, *RUN, *native("x"), "rows", "tasks", "schema", "d", "id", "embedding"})
) | st.text(max_size=6)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as place:
        yield Path(place)


def check(folder: Path, content: bytes, format: str) -> None:
    path = folder / "source"
    path.write_bytes(content)
    result = _read(path, format)
    if isinstance(result, InputError):
        message = str(result)
        assert message.startswith(str(folder))
        assert "\n" not in message
        assert len(message) < 1000
    else:
        _check_batch(result)


def _read(path: Path, format: str) -> Batch | InputError:
    try:
        return read_source(path, format=format, agent="ada", skill="adding")
    except InputError as error:
        return error


def _check_batch(batch: Batch) -> None:
    tasks = {(task.suite, task.task_id) for task in batch.tasks}
    assert all(task.text.strip() and task.task_id for task in batch.tasks)
    assert len(tasks) == len(batch.tasks)
    for execution in batch.executions:
        assert (execution.suite, execution.task_id) in tasks
        assert execution.success is None or 0 <= execution.success <= 1
        assert execution.skill_id or execution.condition == "skip"
        json.dumps([execution.task_id, execution.skill_id, execution.agent.name], ensure_ascii=False).encode()


@settings(GARBAGE, max_examples=150)
@given(content=st.binary(max_size=200), format=st.sampled_from(FORMAT_NAMES))
def test_random_bytes(folder: Path, content: bytes, format: str) -> None:
    check(folder, content, format)


@settings(GARBAGE, max_examples=100)
@given(
    rows=st.lists(st.dictionaries(keys, values, max_size=8) | values, max_size=3), format=st.sampled_from(FORMAT_NAMES)
)
def test_random_json(folder: Path, rows: list[Any], format: str) -> None:
    check(folder, "\n".join(map(json.dumps, rows)).encode(), format)


@settings(GARBAGE, max_examples=200)
@given(
    document=st.sampled_from(DOCUMENTS),
    seed=st.randoms(use_true_random=False),
    replacement=values,
    name=keys,
    twice=st.booleans(),
    format=st.sampled_from(FORMAT_NAMES),
)
def test_valid_rows_with_one_value_replaced_removed_or_added(
    folder: Path, document: Any, seed: random.Random, replacement: Any, name: str, twice: bool, format: str
) -> None:
    changed = json.loads(json.dumps(document))
    place = _random_place(changed, seed)
    target = seed.choice([*place, name]) if isinstance(place, dict) else seed.randrange(len(place) or 1)
    if seed.random() < 0.25 and place and (not isinstance(place, dict) or target in place):
        del place[target]
    elif isinstance(place, dict) or place:
        place[target] = replacement
    rows = [document, changed] if twice else [changed]
    check(folder, "\n".join(map(json.dumps, rows)).encode(), format)


@settings(GARBAGE, max_examples=200)
@given(
    source=st.sampled_from(
        [
            *(json.dumps(one, indent=seed).encode() for one in DOCUMENTS for seed in (None, 1)),
            *(t.encode() for t in TABLES),
        ]
    ),
    position=st.integers(0, 10_000),
    length=st.integers(0, 12),
    insert=st.binary(max_size=6)
    | st.sampled_from([b'"', b"\n", b",", b"NaN", b"1e999", b"\xff", b"\x00", b"\r", b"[" * 3000]),
    format=st.sampled_from(FORMAT_NAMES),
)
def test_valid_files_with_bytes_cut_out_and_put_in(
    folder: Path, source: bytes, position: int, length: int, insert: bytes, format: str
) -> None:
    start = position % (len(source) + 1)
    check(folder, source[:start] + insert + source[start + length :], format)


@pytest.mark.filterwarnings("error")
@settings(GARBAGE, max_examples=100)
@given(position=st.integers(0, 10_000), insert=st.binary(max_size=4), length=st.integers(0, 8))
def test_damaged_embeddings_beside_a_panel(position: int, insert: bytes, length: int) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, ids=np.array(["a", "b"]), vectors=np.array([[1.0, 0.0], [0.5, 0.5]]))
    content = buffer.getvalue()
    start = position % len(content)
    with TemporaryDirectory() as place:
        (Path(place) / "source.npz").write_bytes(content[:start] + insert + content[start + length :])
        check(Path(place), json.dumps(PANEL).encode(), "auto")


def _random_place(document: Any, seed: random.Random) -> Any:
    """A dict or list somewhere inside a document."""
    place = document
    while True:
        inner = [v for v in (place.values() if isinstance(place, dict) else place) if isinstance(v, dict | list)]
        if not inner or seed.random() < 0.4:
            return place
        place = seed.choice(inner)
