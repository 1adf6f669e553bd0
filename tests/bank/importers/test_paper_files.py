"""The paper authors' three files: panel, support index, native runs."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import read_source
from skilldelta.errors import InputError
from skilldelta.pairing import Pairing, pair_executions
from skilldelta.records import Skill, Task, text_digest

from .conftest import Write

Row = dict[str, Any]


def pairing_of(batch: Batch) -> Pairing:
    return pair_executions(batch.executions, families={(task.suite, task.task_id): task.family for task in batch.tasks})


# panel.json

PANEL = {
    "rows": [
        {"id": "a", "family": "sums", "y0": 0, "y1": 1, "tokens0": 10, "tokens1": 20},
        {"id": "b", "family": "dates", "y0": 1, "y1": 0.5, "tokens0": None, "tokens1": None},
    ]
}


def test_a_panel_becomes_pairs_with_the_family_as_the_skill(write: Write) -> None:
    batch = read_source(write(PANEL, "panel.json"), agent="ada", suite="toolqa")

    pairs = pairing_of(batch).pairs
    assert [(p.task_id, p.skill_id, p.y0, p.y1, p.tokens0, p.tokens1) for p in pairs] == [
        ("a", "sums", 0.0, 1.0, 10.0, 20.0),
        ("b", "dates", 1.0, 0.5, None, None),
    ]
    assert batch.tasks == (Task("a", "a", "sums", "toolqa"), Task("b", "b", "dates", "toolqa"))
    assert batch.vectors == ()
    assert batch.notes == ("2 tasks have no text in the file; the id stands in for it",)


def test_a_named_skill_replaces_the_family(write: Write) -> None:
    batch = read_source(write(PANEL, "panel.json"), agent="ada", skill="bundle")

    assert batch.skills == (Skill("bundle"),)


def test_the_embeddings_beside_a_panel_come_along_in_any_order(write: Write, tmp_path: Path) -> None:
    np.savez(tmp_path / "panel.npz", ids=np.array(["c", "b", "a"]), vectors=np.array([[1, 1], [0, 5], [3, 4]]))
    batch = read_source(write(PANEL, "panel.json"), agent="ada")

    assert [v.text_digest for v in batch.vectors] == [text_digest("a"), text_digest("b")]
    np.testing.assert_allclose(np.array([v.vector for v in batch.vectors]), [[0.6, 0.8], [0.0, 1.0]], atol=1e-7)
    (encoder,) = {v.encoder for v in batch.vectors}
    assert encoder.startswith("imported/")
    assert encoder.endswith("/2/l2")
    assert encoder in batch.notes[-1]


def test_vectors_of_two_unnamed_models_never_meet(write: Write, tmp_path: Path) -> None:
    encoders = []
    for vectors in ([[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 0], [0, 1]]):
        np.savez(tmp_path / "embeddings.npz", ids=np.array(["a", "b"]), vectors=np.array(vectors))
        encoders.append(read_source(write(PANEL, "panel.json"), agent="ada").vectors[0].encoder)

    assert encoders[0] != encoders[1]
    assert encoders[0] == encoders[2]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"ids": ["a"], "vectors": [[1.0, 0]]}, "the task 'b' of panel.json has no vector"),
        ({"ids": ["a", "b"], "vectors": [[1.0, 0], [0, 0]]}, "vector 1 is zero"),
        ({"ids": ["a", "b"], "vectors": [[1.0, 0], [0, np.nan]]}, "vector 1 has a value that is not finite"),
        ({"ids": ["a", "b"], "vectors": [[1.0, 0]]}, "do not match"),
        ({"ids": ["a", "b"], "vectors": [1.0, 0]}, "do not match"),
        ({"ids": ["a", "b", "b"], "vectors": [[1.0, 0], [0, 1], [1, 1]]}, "1 ids stand twice"),
        ({"ids": ["a", "b"], "vectors": [["x", "y"], ["x", "y"]]}, "vectors numbers"),
        ({"ids": ["a", "b"]}, 'cannot read "ids" and "vectors"'),
        ({"ids": np.array(["a", None]), "vectors": [[1.0, 0], [0, 1]]}, 'cannot read "ids" and "vectors"'),
    ],
)
def test_embeddings_that_do_not_fit_are_refused(write: Write, tmp_path: Path, arrays: Any, said: str) -> None:
    named: dict[str, Any] = {name: np.asarray(value) for name, value in arrays.items()}
    np.savez(tmp_path / "panel.npz", **named)

    with pytest.raises(InputError, match=rf"panel\.npz: .*{said}"):
        read_source(write(PANEL, "panel.json"), agent="ada")


def test_an_npz_that_would_unpack_to_gigabytes_is_refused_unread(write: Write, tmp_path: Path) -> None:
    """A few kilobytes of deflated zeros behind a header that claims 2,000,000 vectors of 1,536 numbers."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (2_000_000, 1536)})
    ids = io.BytesIO()
    np.save(ids, np.array(["a", "b"]))
    with zipfile.ZipFile(tmp_path / "panel.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ids.npy", ids.getvalue())
        archive.writestr("vectors.npy", header.getvalue() + bytes(1_000_000))
    path = write(PANEL, "panel.json")
    tracemalloc.start()
    with pytest.raises(InputError, match=r"panel\.npz: vectors unpacks to 11\.4 GiB, the limit is 1 GiB"):
        read_source(path, agent="ada")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20_000_000


def test_an_npz_that_is_none_is_refused(write: Write) -> None:
    write(b"not a zip", "panel.npz")

    with pytest.raises(InputError, match=r"panel\.npz: cannot read"):
        read_source(write(PANEL, "panel.json"), agent="ada")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"y0": 2}, r"y0 must lie in \[0, 1\], got 2"),
        ({"y1": "2"}, r"y1 must lie in \[0, 1\], got 2"),
        ({"id": ""}, "there is no task id"),
        ({"repetitions": 0}, "repetitions must lie between 1 and 1000, got 0"),
        ({"family": None}, "there is no skill"),
    ],
)
def test_a_bad_row_of_a_panel_is_refused_with_its_position(write: Write, row: Row, said: str) -> None:
    rows = [PANEL["rows"][0], {**PANEL["rows"][0], "id": "b", **row}]

    with pytest.raises(InputError, match=rf"panel\.json: rows\[1\]: {said}"):
        read_source(write({"rows": rows}, "panel.json"), agent="ada")


def test_a_panel_needs_an_agent(write: Write) -> None:
    with pytest.raises(InputError, match=r"rows\[0\]: there is no agent; .* --agent NAME"):
        read_source(write(PANEL, "panel.json"))


def test_a_panel_that_was_cut_off_is_refused_with_the_line(write: Write) -> None:
    path = write(PANEL, "panel.json")
    path.write_bytes(path.read_bytes()[:-60])

    with pytest.raises(InputError, match=r"panel\.json:\d+: not valid JSON"):
        read_source(path, agent="ada")


# support index

SUPPORT = {
    "schema": "skilldelta-support-v1",
    "embedding_model": "small-model",
    "tasks": [
        {"id": "a", "embedding": [3, 4], "d": 1, "text": "Two?", "family": "sums"},
        {"id": "b", "embedding": [0, 2], "d": -0.5, "text": "Three?", "family": "sums"},
        {"id": "c", "embedding": [1, 0], "d": 0, "family": "sums"},
    ],
}


def test_a_support_index_keeps_its_gains_and_vectors(write: Write) -> None:
    batch = read_source(write(SUPPORT), agent="ada", skill="adding")

    assert [(p.task_id, p.gain, p.y0, p.y1) for p in pairing_of(batch).pairs] == [
        ("a", 1.0, 0.0, 1.0),
        ("b", -0.5, 0.5, 0.0),
        ("c", 0.0, 0.0, 0.0),
    ]
    assert {v.encoder for v in batch.vectors} == {"imported/small-model/2/l2"}
    assert [v.text_digest for v in batch.vectors] == [text_digest(t) for t in ("Two?", "Three?", "c")]
    np.testing.assert_allclose(
        np.array([v.vector for v in batch.vectors]), [[0.6, 0.8], [0.0, 1.0], [1.0, 0.0]], atol=1e-7
    )
    assert any("levels of success" in note for note in batch.notes)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"d": 1.5}, r"d must be a number in \[-1, 1\], got 1\.5"),
        ({"d": None}, r"d must be a number in \[-1, 1\], got None"),
        ({"d": True}, r"d must be a number in \[-1, 1\], got True"),
        ({"embedding": [1, 2, 3]}, "embedding has 3 dimensions, the first has 2"),
        ({"embedding": []}, "embedding must be a list of numbers"),
        ({"embedding": [1, "x"]}, "embedding holds 'x'"),
        ({"embedding": [1, float("nan")]}, "embedding holds nan"),
        ({"id": "a"}, r"the task 'a' stands at tasks\[0\] already; give different tasks different ids"),
    ],
)
def test_a_bad_task_of_a_support_index_is_refused_with_its_position(write: Write, row: Row, said: str) -> None:
    tasks = [SUPPORT["tasks"][0], {**SUPPORT["tasks"][1], **row}]  # type: ignore[dict-item]

    with pytest.raises(InputError, match=rf"source: tasks\[1\]: {said}"):
        read_source(write({**SUPPORT, "tasks": tasks}), agent="ada")


def test_a_zero_vector_is_refused(write: Write) -> None:
    tasks = [{**SUPPORT["tasks"][0], "embedding": [0, 0]}]  # type: ignore[dict-item]

    with pytest.raises(InputError, match="source: vector 0 is zero"):
        read_source(write({**SUPPORT, "tasks": tasks}), agent="ada")


def test_one_text_with_two_vectors_is_refused(write: Write) -> None:
    tasks = [SUPPORT["tasks"][0], {**SUPPORT["tasks"][1], "text": "Two?"}]  # type: ignore[dict-item]

    with pytest.raises(InputError, match="the tasks 'a' and 'b' have one text and two vectors"):
        read_source(write({**SUPPORT, "tasks": tasks}), agent="ada")


def test_an_index_of_another_version_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match="schema must be \"skilldelta-support-v1\", got 'skilldelta-support-v2'"):
        read_source(write({**SUPPORT, "schema": "skilldelta-support-v2"}), agent="ada")


# native runs


def native(arm: str, **changes: Any) -> Row:
    return {
        "timestamp": "2026-01-01T00:00:00Z",
        "instance_id": "q1",
        "dataset": "toolqa",
        "gold_skill_id": "flights",
        "arm": arm,
        "repetition": 0,
        "requested_model": "big-model",
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        "valid": True,
        "correct": True,
        "error": None,
        "temperature": 0,
        **changes,
    }


def test_native_runs_become_the_two_arms_of_a_pair(write: Write) -> None:
    rows = [
        native("no_skill", correct=False, usage={"prompt_tokens": 5, "completion_tokens": 6}),
        native("no_skill", repetition=1, usage=None),
        native("oracle_skill", treatment_skill_id="flights"),
    ]
    batch = read_source(write(rows))

    (pair,) = pairing_of(batch).pairs
    assert (pair.task_id, pair.suite, pair.family, pair.skill_id) == ("q1", "toolqa", "flights", "flights")
    assert (pair.agent.name, pair.y0, pair.y1, pair.r0, pair.r1) == ("big-model", 0.5, 1.0, 2, 1)
    assert [e.tokens for e in batch.executions] == [11.0, None, 120.0]
    assert batch.notes == ("1 task has no text in the file; the id stands in for it",)


def test_the_agent_named_at_the_import_replaces_the_model(write: Write) -> None:
    batch = read_source(write([native("no_skill"), native("oracle_skill")]), agent="react@big")

    assert {e.agent.name for e in batch.executions} == {"react@big"}


def test_other_arms_are_left_out_and_counted(write: Write) -> None:
    others = [
        native("hard_negative_skill"),
        native("hard_negative_skill", repetition=1),
        native("fixed_candidate_skill"),
    ]
    batch = read_source(write([native("no_skill"), native("all_gold_skills"), *others]))

    assert len(batch.executions) == 2
    assert "left out 3 runs of other arms: 'fixed_candidate_skill' (1), 'hard_negative_skill' (2)" in batch.notes


def test_a_run_that_is_not_graded_is_missing_and_not_a_failure(write: Write) -> None:
    batch = read_source(write([native("no_skill", correct=None), native("oracle_skill")]))
    pairing = pairing_of(batch)

    assert pairing.pairs == ()
    assert [one.missing for one in pairing.unpaired] == ["skip"]
    assert "1 run is not graded (correct is null) and does not count" in batch.notes


@pytest.mark.parametrize(
    ("changes", "status", "success"),
    [
        ({"valid": False, "correct": False, "error": "timeout"}, "transport_error", None),
        ({"valid": False, "correct": False}, "incomplete", None),
        ({"valid": False, "model_execution_completed": True, "correct": False}, "completed", 0.0),
        ({"valid": None, "model_execution_completed": False}, "incomplete", None),
    ],
)
def test_only_runs_that_are_valid_or_completed_count(
    write: Write, changes: Row, status: str, success: float | None
) -> None:
    (execution,) = read_source(write([native("no_skill", **changes)])).executions

    assert (execution.status, execution.success) == (status, success)


def test_a_failed_attempt_may_be_followed_by_an_outcome_but_not_two_outcomes(write: Write) -> None:
    failed = native("no_skill", valid=False, error="reset")

    assert len(read_source(write([failed, failed, native("no_skill")])).executions) == 3
    with pytest.raises(InputError, match=r"source:3: the outcome of task 'q1', 'skip', repetition 0, stands at line 2"):
        read_source(write([failed, native("no_skill"), native("no_skill")]))


def test_a_bundle_of_gold_skills_is_one_skill_and_the_focal_family_stays_beside_it(write: Write) -> None:
    rows = [
        native("all_gold_skills", gold_skill_id=["b", "a"], focal_skill_id="b"),
        native("all_gold_skills", gold_skill_id=["a", "b"], focal_skill_id="b", repetition=1),
        native("all_gold_skills", instance_id="q2", gold_skill_id=["b", "a"], family="c"),
        native("all_gold_skills", instance_id="q3", gold_skill_id=["b", "a"]),
    ]
    batch = read_source(write(rows))

    assert batch.skills == (Skill("a+b"),)
    assert [task.family for task in batch.tasks] == ["b", "c", "a+b"]


def test_bundles_of_a_panel_and_of_a_support_index_are_lists_too(write: Write) -> None:
    rows = [{**row, "skill": ["z", "a"]} for row in PANEL["rows"]]
    tasks = [{**task, "skill": ["z", "a"]} for task in SUPPORT["tasks"]]  # type: ignore[dict-item]

    for document in ({"rows": rows}, {**SUPPORT, "tasks": tasks}):
        batch = read_source(write(document, "panel.json"), agent="ada")
        assert {e.skill_id for e in batch.executions} == {"a+z"}
        assert batch.tasks[0].family == "sums"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"arm": None}, "there is no arm; known are no_skill"),
        ({"valid": None}, 'there is neither "valid" nor "model_execution_completed"'),
        ({"valid": "yes"}, "valid must be true or false, got 'yes'"),
        ({"correct": "perhaps"}, "correct must be a number .* got 'perhaps'"),
        ({"usage": 7}, "usage must be an object, got 7"),
        ({"usage": {"total_tokens": -1}}, "usage.total_tokens must be a finite number"),
        ({"repetition": "first"}, "repetition must be a whole number"),
        ({"instance_id": None}, "there is no task id"),
        ({"requested_model": None}, "there is no agent"),
        ({"gold_skill_id": None}, "there is no skill"),
    ],
)
def test_a_bad_native_run_is_refused_with_its_line(write: Write, changes: Row, said: str) -> None:
    with pytest.raises(InputError, match=f"source:1: {said}"):
        read_source(write([native("oracle_skill") | changes]))
