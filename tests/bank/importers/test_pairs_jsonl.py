"""pairs.jsonl: what a row becomes, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank.importers import read_source
from skilldelta.errors import InputError
from skilldelta.pairing import pair_executions
from skilldelta.records import Agent, Execution, Skill, Task

from .conftest import Write

Row = dict[str, Any]


def test_a_row_becomes_a_task_a_skill_and_one_execution_a_repetition(write: Write, pair: Row) -> None:
    batch = read_source(write([pair]))

    def execution(condition: Any, repetition: int, success: float, tokens: float | None) -> Execution:
        return Execution(Agent("ada"), "school", "t1", condition, repetition, success, skill_id="adding", tokens=tokens)

    assert batch.tasks == (Task("t1", "What is 2 + 3?", "sums", "school"),)
    assert batch.skills == (Skill("adding"),)
    assert batch.executions == (
        execution("skip", 0, 0.0, 10.0),
        execution("skip", 1, 1.0, 20.0),
        execution("use", 0, 1.0, 30.0),
        execution("use", 1, 1.0, None),
        execution("use", 2, 0.5, 50.0),
    )
    assert batch.notes == ()


def test_question_is_another_name_for_text(write: Write, pair: Row) -> None:
    question = {**pair, "question": pair["text"]}
    del question["text"]

    assert read_source(write([question])).tasks == read_source(write([pair])).tasks


def test_text_and_question_must_agree(write: Write, pair: Row) -> None:
    assert len(read_source(write([{**pair, "question": pair["text"]}])).tasks) == 1
    with pytest.raises(InputError, match=r":1: text .* and question 'other' differ; keep one"):
        read_source(write([{**pair, "question": "other"}]))


@pytest.mark.parametrize(
    ("y0", "successes"),
    [
        ([], []),
        (None, []),
        ([None], []),
        ([None, 1], [(1, 1.0)]),
        (1, [(0, 1.0)]),
        (0.25, [(0, 0.25)]),
        (True, [(0, 1.0)]),
        ([False, True], [(0, 0.0), (1, 1.0)]),
    ],
)
def test_missing_is_never_a_failure(write: Write, pair: Row, y0: object, successes: list[tuple[int, float]]) -> None:
    del pair["tokens0"]
    batch = read_source(write([{**pair, "y0": y0}]))

    skipped = [(e.repetition, e.success) for e in batch.executions if e.condition == "skip"]
    assert skipped == successes


def test_a_missing_arm_leaves_the_task_unpaired(write: Write, pair: Row) -> None:
    batch = read_source(write([{**pair, "y0": [], "tokens0": []}]))
    pairing = pair_executions(batch.executions, families={("school", "t1"): "sums"})

    assert pairing.pairs == ()
    assert [(one.task_id, one.missing) for one in pairing.unpaired] == [("t1", "skip")]


@pytest.mark.parametrize(
    ("y1", "said"),
    [
        ([1.5], r"y1 must lie in \[0, 1\], got 1\.5"),
        ([-0.1], r"y1 must lie in \[0, 1\], got -0\.1"),
        ([float("nan")], r"y1 must lie in \[0, 1\], got nan"),
        ([float("inf")], r"y1 must lie in \[0, 1\], got inf"),
        (["2"], r"y1 must lie in \[0, 1\], got 2"),
        ("perhaps", r"y1 must be a number in \[0, 1\] or a word such as pass or fail, got 'perhaps'"),
        ("110%", r"y1 must lie in \[0, 1\], got 110%"),
        ([[1]], r"y1 must be a number in \[0, 1\], got \[1\]"),
        ({"a": 1}, r"y1 must be a number in \[0, 1\], got \{'a': 1\}"),
    ],
)
def test_a_success_that_is_none_is_refused_with_its_value(write: Write, pair: Row, y1: object, said: str) -> None:
    del pair["tokens1"]
    with pytest.raises(InputError, match=rf"source:2: {said}"):
        read_source(write([{**pair, "task_id": "t0"}, {**pair, "y1": y1}]))


@pytest.mark.parametrize("tokens", [[10], [10, 20, 30], [], 10])
def test_tokens_of_another_length_than_the_successes_are_unknown_and_said(
    write: Write, pair: Row, tokens: object
) -> None:
    batch = read_source(write([{**pair, "tokens0": tokens}]))

    assert [(e.success, e.tokens) for e in batch.executions if e.condition == "skip"] == [(0.0, None), (1.0, None)]
    assert [e.tokens for e in batch.executions if e.condition == "use"] == [30.0, None, 50.0]
    assert batch.notes == ("1 list of tokens has another length than the successes; those tokens are unknown",)


@pytest.mark.parametrize(
    "tokens", [[-1, 1], ["many", 1], [True, 1], [float("nan"), 1], [float("inf"), 1], [10**400, 1]]
)
def test_tokens_must_be_finite_numbers(write: Write, pair: Row, tokens: object) -> None:
    with pytest.raises(InputError, match=":1: tokens0 must be a finite number of at least 0"):
        read_source(write([{**pair, "tokens0": tokens}]))


@pytest.mark.parametrize("tokens", [None, [None, None]])
def test_unknown_tokens_stay_unknown(write: Write, pair: Row, tokens: object) -> None:
    batch = read_source(write([{**pair, "tokens0": tokens}]))

    assert [e.tokens for e in batch.executions if e.condition == "skip"] == [None, None]


@pytest.mark.parametrize(
    ("misspelled", "meant"), [("famly", "family"), ("tokns0", "tokens0"), ("skil_digest", "skill_digest")]
)
def test_a_misspelled_column_is_left_out_with_the_nearest_known_one(
    write: Write, pair: Row, misspelled: str, meant: str
) -> None:
    pair.pop(meant, None)
    batch = read_source(write([{**pair, misspelled: 1}]))

    assert batch.notes == (f"left out: '{misspelled}' (did you mean '{meant}'? say --map {meant}={misspelled})",)


def test_extra_columns_are_left_out_and_said_once(write: Write, pair: Row) -> None:
    extras = {"score0": [0.5], "score1": [1.0], "metadata": {"a": 1}, "source": "x", "zzz": 1}
    batch = read_source(write([{**pair, **extras}, {**pair, "task_id": "t2", **extras}]))

    assert batch.notes == ("left out: 'score0', 'score1', 'metadata', 'source', 'zzz'",)
    assert batch.executions == read_source(write([pair, {**pair, "task_id": "t2"}])).executions


def test_what_the_file_does_not_say_is_said_at_the_import(write: Write, pair: Row) -> None:
    for name in ("agent", "skill", "suite"):
        del pair[name]
    batch = read_source(write([pair]), agent="bob", skill="counting", suite="home")

    assert {(e.agent.name, e.skill_id, e.suite) for e in batch.executions} == {("bob", "counting", "home")}
    assert batch.tasks[0].suite == "home"


def test_what_the_file_says_is_kept(write: Write, pair: Row) -> None:
    batch = read_source(write([pair]), agent="bob", skill="counting", suite="home")

    assert {(e.agent.name, e.skill_id, e.suite) for e in batch.executions} == {("ada", "adding", "school")}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("agent", 'there is no agent; add an "agent" column, or say --agent NAME'),
        ("skill", 'there is no skill; add a "skill" column, or say --skill NAME'),
        ("y0", r"there is no y0; write \[\] for an arm that was not run"),
        ("text", "the task 't1' has no text in any row"),
    ],
)
def test_a_row_without_what_it_needs_is_refused(write: Write, pair: Row, name: str, said: str) -> None:
    del pair[name]
    with pytest.raises(InputError, match=f":1: {said}"):
        read_source(write([pair]))


def test_a_missing_suite_is_the_default_one_and_a_missing_family_is_none(write: Write, pair: Row) -> None:
    del pair["suite"], pair["family"]

    assert read_source(write([pair])).tasks == (Task("t1", pair["text"], "", "default"),)


def test_a_row_without_an_id_is_refused_where_others_have_one(write: Write, pair: Row) -> None:
    bare = {name: value for name, value in pair.items() if name != "task_id"}
    with pytest.raises(InputError, match=":2: there is no task id; give every row one"):
        read_source(write([pair, bare]))


def test_a_pair_in_several_rows_was_run_several_times(write: Write, pair: Row) -> None:
    second = {**pair, "y0": [1], "y1": [0], "tokens0": [7], "tokens1": [8]}
    batch = read_source(write([pair, {**pair, "task_id": "t2"}, second]))

    of_t1 = [(e.condition, e.repetition, e.success, e.tokens) for e in batch.executions if e.task_id == "t1"]
    assert of_t1[5:] == [("skip", 3, 1.0, 7.0), ("use", 3, 0.0, 8.0)]
    assert batch.notes == ("1 row names a pair that an earlier row has: taken as further repetitions",)


def test_rows_that_may_be_copies_are_kept_and_said(write: Write, pair: Row) -> None:
    batch = read_source(write([pair, pair]))

    assert len(batch.executions) == 10
    assert "1 of them has the tokens and outcomes of the row before it" in batch.notes[1]
    without_tokens = {name: value for name, value in pair.items() if not name.startswith("tokens")}
    assert len(read_source(write([without_tokens, without_tokens])).notes) == 1


def test_one_task_may_stand_under_several_skills_agents_suites_and_versions(write: Write, pair: Row) -> None:
    others: list[Row] = [{"skill": "b"}, {"agent": "bob"}, {"suite": "home"}, {"skill_digest": "d2"}]
    others.append({"agent_fingerprint": "f"})
    batch = read_source(write([pair, *({**pair, **other} for other in others)]))

    assert len(batch.tasks) == 2
    assert batch.skills == (Skill("adding"), Skill("b"), Skill("adding", "", "d2"))
    assert {e.agent for e in batch.executions} == {Agent("ada"), Agent("bob"), Agent("ada", "f")}


@pytest.mark.parametrize(("name", "other"), [("text", "Another?"), ("family", "products")])
def test_one_task_with_two_texts_or_families_is_refused(write: Write, pair: Row, name: str, other: str) -> None:
    with pytest.raises(InputError, match=rf":2: the task 't1' has another {name} at line 1"):
        read_source(write([pair, {**pair, "skill": "b", name: other}]))


@pytest.mark.parametrize("text", ["", "  \n", 7, ["a"], "nul \u0000 inside", "half \ud800 pair"])
def test_a_text_that_cannot_be_encoded_or_stored_is_refused(write: Write, pair: Row, text: object) -> None:
    with pytest.raises(InputError, match=r"source:1: text "):
        read_source(write([{**pair, "text": text}]))


def test_a_numeric_id_is_taken_as_text(write: Write, pair: Row) -> None:
    assert read_source(write([{**pair, "task_id": 17}])).tasks[0].task_id == "17"


def test_a_line_that_was_cut_off_is_named(write: Write, pair: Row) -> None:
    path = write([pair, {**pair, "task_id": "t2"}])
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(InputError, match=r"source:2: not valid JSON \(.* at column \d+\); a line that was cut off"):
        read_source(path)


def test_a_first_line_that_was_cut_off_is_named(write: Write, pair: Row) -> None:
    path = write([pair])
    path.write_bytes(path.read_bytes()[:60])

    with pytest.raises(InputError, match=r"source:1: not valid JSON"):
        read_source(path)


def test_a_key_that_stands_twice_in_a_row_is_refused(write: Write) -> None:
    with pytest.raises(InputError, match=r":1: the key 'y0' stands twice"):
        read_source(write('{"task_id": "t", "y0": [1], "y0": [0]}'))


def test_blank_lines_windows_line_ends_and_a_byte_order_mark_are_harmless(write: Write, pair: Row) -> None:
    plain = write([pair, {**pair, "task_id": "t2"}])
    odd = write(b"\xef\xbb\xbf\n" + plain.read_bytes().replace(b"\n", b"\r\n\r\n"), "odd")

    assert read_source(odd) == read_source(plain)


def test_bytes_that_are_not_utf_8_are_placed(write: Write, pair: Row) -> None:
    path = write([pair])
    path.write_bytes(path.read_bytes() + b'{"task_id": "\xff"}\n')

    with pytest.raises(InputError, match=r"source:2: byte 14 \(0xff\) is not UTF-8; save the file as UTF-8"):
        read_source(path)


def test_the_big_real_file_imports_whole(shared_data: Path) -> None:
    batch = read_source(shared_data / "bbh_cot" / "pairs.jsonl")

    assert (len(batch.tasks), len(batch.skills), len(batch.executions)) == (6511, 27, 13022)
    families = {(task.suite, task.task_id): task.family for task in batch.tasks}
    pairing = pair_executions(batch.executions, families=families)
    assert len(pairing.pairs) == 6511
    assert pairing.unpaired == ()


def test_the_real_file_with_scores_imports_whole(shared_data: Path) -> None:
    batch = read_source(shared_data / "sample_agent_skill_eval" / "pairs.jsonl")

    assert (len(batch.tasks), len(batch.executions)) == (29, 58)
    assert batch.notes == ("left out: 'score0', 'score1'",)


@pytest.mark.parametrize("missing", [None, []])
def test_tokens_of_an_arm_that_was_not_run_are_nobodys(write: Write, pair: Row, missing: Any) -> None:
    batch = read_source(write([{**pair, "y0": missing, "tokens0": [5, 6]}]))

    assert {one.condition for one in batch.executions} == {"use"}
