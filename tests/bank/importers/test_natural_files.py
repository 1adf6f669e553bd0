"""Files as people have them: their own column names, words for outcomes, repetitions in rows and columns."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank import Bank
from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import Source, parse_mapping, read_source
from skilldelta.bank.importers.vocabulary import arm_column, condition_of
from skilldelta.errors import InputError
from skilldelta.records import Execution

from .conftest import Write

Row = dict[str, Any]
Outcomes = list[tuple[str, str, int, float | None]]


def outcomes(batch: Batch) -> Outcomes:
    return [(e.task_id, e.condition, e.repetition, e.success) for e in batch.executions]


def read(path: Path | Source, *mapped: str, **said: Any) -> Batch:
    return read_source(path, **{"agent": "ada", "skill": "adding", **said}, columns=parse_mapping(mapped))


ONE_PAIR: Outcomes = [("t1", "skip", 0, 0.0), ("t1", "use", 0, 1.0)]


@pytest.mark.parametrize(
    ("header", "guessed"),
    [
        ("id,prompt,baseline,with_skill", ["id", "prompt", "baseline", "with_skill"]),
        ("Task ID,Question,Without,With", [None, None, "Without", "With"]),
        (" task_id , TEXT ,Control,Treatment", [None, None, "Control", "Treatment"]),
        ("taskId,input,no_skill,skill_score", [None, "input", "no_skill", "skill_score"]),
        ("question_id,instruction,score_without_skill,score_with_skill", ["question_id", "instruction", None, None]),
        ("id,query,baseline_passed,treatment_passed", ["id", "query", "baseline_passed", "treatment_passed"]),
        ("sample_id,problem,Y0,Y1", ["sample_id", "problem", None, None]),
        ("task,prompt,score_0,score_1", ["task", "prompt", "score_0", "score_1"]),
    ],
)
def test_common_names_are_guessed_in_any_case_and_said(write: Write, header: str, guessed: list[str | None]) -> None:
    batch = read(write(f"{header}\nt1,What is 2 + 3?,fail,pass\n"))

    assert outcomes(batch) == ONE_PAIR
    assert batch.tasks[0].text == "What is 2 + 3?"
    fields = zip(guessed, ("task_id", "text", "y0", "y1"), strict=True)
    assert {f"took column '{name}' as {field}" for name, field in fields if name} <= set(batch.notes)


def test_a_mapping_goes_before_every_guess(write: Write) -> None:
    rows = [{"id": "t1", "prompt": "no", "meta": {"q": "Two?"}, "baseline": 1, "runs": {"a": 0}, "with": 1}]
    batch = read(write(rows), "text=meta.q", "y0=runs.a")

    assert outcomes(batch) == ONE_PAIR
    assert batch.tasks[0].text == "Two?"
    assert "left out: 'prompt', 'baseline'" in batch.notes


def test_an_empty_mapping_leaves_a_field_out(write: Write) -> None:
    rows = [{"task_id": "t1", "text": "Two?", "y0": 0, "y1": 1, "category": "x"}]

    assert read(write(rows)).tasks[0].family == "x"
    assert read(write(rows), "family=").tasks[0].family == ""


@pytest.mark.parametrize(
    ("mapped", "said"),
    [
        (("text=promt",), r"--map text=promt: there is no such column; the columns are 'id', 'prompt'"),
        (("txt=prompt",), r"--map txt=prompt: write FIELD=COLUMN, such as text=prompt; did you mean 'text'"),
        (("text",), "--map text: write FIELD=COLUMN"),
        (("text=prompt", "text=id"), "--map text is given twice"),
    ],
)
def test_a_mapping_that_fits_nothing_is_refused(write: Write, mapped: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(write("id,prompt,baseline,with\nt1,Two?,0,1\n"), *mapped)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (
            "id,prompt,instruction,y0,y1",
            r"the columns 'prompt', 'instruction' could each be text; say --map text=prompt",
        ),
        ("id,sample_id,text,y0,y1", r"the columns 'id', 'sample_id' could each be task_id; say --map task_id=id"),
        ("id,text,baseline,control,y1", r"'baseline', 'control' could each be y0; say --map y0=baseline for that one"),
        ("id,text,y0,y0_1,y1", r"'y0', 'y0_1' could each be y0; .* --map y0=y0 --map y0=y0_1 for repetitions"),
        ("id,text,arm,score,passed", r"the columns 'score', 'passed' could each be success; say --map success=score"),
        ("id,text,score_1,score_2,score_3", r"neither y0 and y1 .* say --map y0=COLUMN"),
    ],
)
def test_where_two_columns_could_be_meant_one_line_asks(write: Write, header: str, said: str) -> None:
    with pytest.raises(InputError, match=rf"source:2: .*{said}"):
        read(write(f"{header}\nt1,Two?,0,1,1\n"))


def test_an_optional_field_with_two_candidates_is_left_out_and_said(write: Write) -> None:
    batch = read(write("id,text,category,topic,y0,y1\nt1,Two?,a,b,0,1\n"))

    assert batch.tasks[0].family == ""
    assert any("'category' and 'topic' could each be family" in n and "--map family=category" in n for n in batch.notes)


@pytest.mark.parametrize("header", [",id,text,y0,y1", "Unnamed: 0,id,text,y0,y1", "index,id,text,y0,y1"])
def test_the_index_of_a_data_frame_is_ignored(write: Write, header: str) -> None:
    batch = read(write(f"{header}\n0,t1,Two?,0,1\n"))

    assert outcomes(batch) == ONE_PAIR
    assert batch.notes == ("took column 'id' as task_id",)


def test_a_file_without_ids_names_tasks_by_their_text_and_twice_the_same(write: Write, tmp_path: Path) -> None:
    path = write("prompt,baseline,with\nTwo?,0,1\nThree?,1,1\n")
    with Bank.open(tmp_path / "bank", create=True) as bank:
        first, second = bank.add(read(path)), bank.add(read(path))

    assert (first.tasks, second.tasks, second.executions) == (2, 0, 0)
    assert "there is no id column: each task is named by its words" in read(path).notes


@pytest.mark.parametrize(
    ("word", "success"),
    [
        *[(word, 1.0) for word in ("pass", "PASSED", "yes", "True", "1", "1.0", " correct ", "100%", "success")],
        *[(word, 0.0) for word in ("fail", "Failed", "no", "FALSE", "0", "0.0", "incorrect", "0%")],
        ("85%", 0.85),
        ("0.25", 0.25),
        ("", None),
        ("NaN", None),
        ("N/A", None),
    ],
)
def test_words_for_outcomes_are_understood_and_none_is_never_a_failure(
    write: Write, word: str, success: float | None
) -> None:
    expected = [] if success is None else [("t1", "skip", 0, success)]

    assert outcomes(read(write(f"id,text,y0,y1\nt1,Two?,{word},1\n"))) == [*expected, ("t1", "use", 0, 1.0)]
    assert outcomes(read(write([{"id": "t1", "text": "Two?", "y0": [word], "y1": 1}]))) == [
        *expected,
        ("t1", "use", 0, 1.0),
    ]


def test_a_fault_names_the_row_the_value_and_the_files_own_column(write: Write) -> None:
    with pytest.raises(
        InputError, match=r"source:3: y0 must lie in \[0, 1\], got 85; .* \(y0 is the column 'baseline'\)"
    ):
        read(write("id,text,baseline,with\nt1,Two?,0,1\nt2,Three?,85,1\n"))


def test_repetitions_stand_in_columns(write: Write) -> None:
    text = "id,text,y0_1,y0_2,baseline_tokens_1,baseline_tokens_2,with_1,with_2\nt1,Two?,0,1,10,20,1,\n"
    batch = read(write(text))

    assert outcomes(batch) == [("t1", "skip", 0, 0.0), ("t1", "skip", 1, 1.0), ("t1", "use", 0, 1.0)]
    assert [e.tokens for e in batch.executions] == [10.0, 20.0, None]
    assert "took columns 'y0_1', 'y0_2' as repetitions of y0" in batch.notes


def test_repetitions_in_ten_columns_stay_in_order(write: Write) -> None:
    names = [f"with_run{n}" for n in range(1, 12)]
    cells = [str(n % 2) for n in range(1, 12)]
    batch = read(write(f"id,text,y0,{','.join(names)}\nt1,Two?,0,{','.join(cells)}\n"))

    assert [e.success for e in batch.executions if e.condition == "use"] == [n % 2 for n in range(1, 12)]


def test_repetitions_stand_in_rows(write: Write, tmp_path: Path) -> None:
    path = write("id,text,y0,y1\nt1,Two?,0,1\nt1,Two?,1,1\nt1,Two?,0,0\n")
    batch = read(path)

    assert [(r, s) for _, c, r, s in outcomes(batch) if c == "use"] == [(0, 1.0), (1, 1.0), (2, 0.0)]
    with Bank.open(tmp_path / "bank", create=True) as bank:
        bank.add(batch)
        again = bank.add(read(path))
        (pair,) = bank.pairing(agent=bank.resolve_agent(None)).pairs
    assert again.executions == 0
    assert (pair.r0, pair.r1, pair.y0) == pytest.approx((3, 3, 1 / 3))


def test_a_list_in_a_cell_is_a_list(write: Write) -> None:
    assert len(read(write('id,text,y0,y1\nt1,Two?,"[0, 1]","[1]"\n')).executions) == 3


@pytest.mark.parametrize(
    ("skip", "use"),
    [
        ("without", "with"),
        ("control", "treatment"),
        ("no_skill", "skill"),
        ("baseline", "with skill"),
        ("skip", "use"),
        ("off", "on"),
        ("false", "true"),
        ("0", "1"),
    ],
)
def test_a_condition_column_makes_rows_runs(write: Write, skip: str, use: str) -> None:
    batch = read(write(f"id,prompt,arm,passed\nt1,Two?,{skip},no\nt1,Two?,{use},yes\nt1,Two?,{use},no\n"))

    assert outcomes(batch) == [*ONE_PAIR, ("t1", "use", 1, 0.0)]
    assert skip == "skip" or f"took condition '{skip}' as skip" in batch.notes


def test_with_skill_beside_a_success_says_the_arm(write: Write) -> None:
    batch = read(write("id,prompt,with_skill,passed\nt1,Two?,False,no\nt1,Two?,True,yes\n"))

    assert outcomes(batch) == ONE_PAIR
    assert "took column 'with_skill' as condition" in batch.notes


def test_one_arm_a_file_comes_in_with_its_condition_said(write: Write, tmp_path: Path) -> None:
    with Bank.open(tmp_path / "bank", create=True) as bank:
        bank.add(read(write("id,prompt,score\nt1,Two?,0\n", "a"), condition="skip"))
        bank.add(read(write("id,prompt,score\nt1,Two?,1\n", "b"), condition="use"))
        (pair,) = bank.pairing(agent=bank.resolve_agent(None)).pairs

    assert (pair.y0, pair.y1, pair.skill_id) == (0.0, 1.0, "adding")


def test_the_options_spare_the_guess_and_a_named_column_stays(write: Write) -> None:
    text = "id,text,model,agent_name,y0,y1\nt1,Two?,gpt,x,0,1\n"

    assert {e.agent.name for e in read(write(text)).executions} == {"ada"}
    assert {e.agent.name for e in read(write(text.replace("agent_name", "agent"))).executions} == {"x"}


def test_a_json_array_and_a_document_with_one_come_in(write: Write, pair: Row) -> None:
    lines = read_source(write([pair, {**pair, "task_id": "t2"}], "lines"))
    rows = [pair, {**pair, "task_id": "t2"}]

    assert read_source(write(json.dumps(rows, indent=2), "array")) == lines
    assert read_source(write(json.dumps(rows), "flat")) == lines
    assert read_source(write({"model": "x", "results": rows}, "document")) == lines
    with pytest.raises(InputError, match=r"source: \[1\]: y0 must lie in"):
        read_source(write(json.dumps([pair, {**pair, "y0": 7}])))


@pytest.mark.parametrize("name", ["pairs.jsonl.gz", "renamed"])
def test_gzip_is_unpacked_whatever_it_is_called(write: Write, pair: Row, name: str) -> None:
    plain = write([pair])

    assert read_source(write(gzip.compress(plain.read_bytes()), name)) == read_source(plain)


def test_damaged_gzip_is_one_line(write: Write, pair: Row) -> None:
    packed = gzip.compress(json.dumps(pair).encode() * 50)
    for broken in (packed[:-20], packed[:40] + b"xx" + packed[42:]):
        with pytest.raises(InputError, match="source: damaged gzip data"):
            read_source(write(broken), format="pairs.jsonl")


def test_a_gzip_file_that_unpacks_to_too_much_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="source:1: the line has more than 64 MiB"):
        read_source(write(gzip.compress(b'{"y0": "' + b" " * (65 << 20), 1)), format="pairs.jsonl")
    monkeypatch.setattr("skilldelta.bank.importers.source.MOST_BYTES", 2 << 20)
    with pytest.raises(InputError, match="source: the file unpacks to more than 2 MiB"):
        read_source(write(gzip.compress((b" " * 4_000 + b"\n") * 1_300, 1)), format="pairs.jsonl")


def test_bytes_come_in_under_the_name_that_they_are_given(pair: Row, write: Write) -> None:
    content = json.dumps(pair).encode()

    assert read_source(Source(Path("stdin"), content)) == read_source(write([pair]))
    with pytest.raises(InputError, match=r"^stdin:1: not valid JSON"):
        read_source(Source(Path("stdin"), content[:-9]))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_what_spreadsheets_write_is_read(write: Write, encoding: str) -> None:
    text = "id;Prompt;Baseline;With\r\nt1;Größe?;0;1\r\n"

    assert read(write(text.encode(encoding))).tasks[0].text == "Größe?"


def test_another_encoding_is_refused_with_the_line(write: Write) -> None:
    with pytest.raises(InputError, match=r"source:2: byte 6 \(0xf6\) is not UTF-8; save the file as UTF-8"):
        read(write("id;Prompt;Baseline;With\nt1;Größe?;0;1\n".encode("cp1252")))


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e"])
def test_only_a_line_feed_ends_a_line(write: Write, pair: Row, separator: str) -> None:
    text = f"one{separator}two"
    rows = json.dumps({**pair, "text": text}, ensure_ascii=False).replace("\\u001e", "\x1e")
    table = f"id,text,y0,y1\nt1,{text},0,1\n"

    if separator >= "\x7f":
        assert read_source(write(rows)).tasks[0].text == text
    assert read(write(table)).tasks[0].text == text


def test_a_folder_is_one_set_of_files(write: Write, pair: Row, tmp_path: Path) -> None:
    (tmp_path / "runs" / "deep").mkdir(parents=True)
    write([pair], "runs/a.jsonl")
    write([{**pair, "task_id": "t2"}], "runs/deep/b.jsonl")
    write([{**pair, "task_id": "t2"}], "runs/deep/copy.jsonl")
    write("hello", "runs/README.md")
    write({"seed": 1}, "runs/config.json")
    write([{**pair, "task_id": "t3"}], "runs/.hidden.jsonl")
    batch = read_source(tmp_path / "runs")

    assert {task.task_id for task in batch.tasks} == {"t1", "t2"}
    assert len(batch.executions) == 10
    assert set(batch.notes) == {
        "config.json has no known format: passed over",
        f"{Path('deep/copy.jsonl')} is a copy of {Path('deep/b.jsonl')}: passed over",
    }


def test_the_same_pairs_in_two_files_of_a_folder_are_repetitions(write: Write, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    write("id,text,y0,y1\nt1,Two?,0,1\nt2,Three?,0,1\n", "runs/1.csv")
    write("id,text,y0,y1\nt1,Two?,0,1\nt2,Three?,1,1\n", "runs/2.csv")
    with Bank.open(tmp_path / "bank", create=True) as bank:
        bank.add(read(tmp_path / "runs"))
        again = bank.add(read(tmp_path / "runs"))
        pairs = bank.pairing(agent=bank.resolve_agent(None)).pairs

    assert [(p.task_id, p.r0, p.r1, p.y0) for p in pairs] == [("t1", 2, 2, 0.0), ("t2", 2, 2, 0.5)]
    assert again.executions == 0
    assert "4 arms of pairs stand in several files: taken as repetitions" in read(tmp_path / "runs").notes


def test_a_folder_with_a_bad_row_is_refused_with_its_file(write: Write, pair: Row, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    write([pair], "runs/a.jsonl")
    write([{**pair, "y0": 3}], "runs/b.jsonl")
    with pytest.raises(InputError, match=r"b\.jsonl:1: y0 must lie"):
        read_source(tmp_path / "runs")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: the folder is empty; name the folder"):
        read_source(tmp_path / "empty")


def test_parquet_comes_in(tmp_path: Path, pair: Row, write: Write) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: skilldelta[parquet]")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [pair, {**pair, "task_id": "t2", "y0": [1, 0]}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "pairs.parquet")

    assert read_source(tmp_path / "pairs.parquet") == read_source(write(rows))
    content = (tmp_path / "pairs.parquet").read_bytes()
    assert read_source(Source(Path("stdin"), content)) == read_source(write(rows))
    (tmp_path / "pairs.parquet").write_bytes(content[:-30])
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read_source(tmp_path / "pairs.parquet")


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="needs the extra parquet; install it with: pip install 'pyarrow"):
        read_source(write(b"PAR1"))


def test_bundles_are_one_name_in_whatever_order_they_come(write: Write, pair: Row, run: Row) -> None:
    for skill in (["b", "a"], ["a", "b", "a"], "b+a", "b + a"):
        assert {e.skill_id for e in read_source(write([{**pair, "skill": skill}])).executions} == {"a+b"}
        assert {e.skill_id for e in read_source(write([{**run, "skill": skill}])).executions} == {"a+b"}
    table = write("id,text,skill,y0,y1\nt1,Two?,b+a,0,1\n", "table")
    assert {e.skill_id for e in read(table).executions} == {"a+b"}
    assert {e.skill_id for e in read(write("id,text,y0,y1\nt1,Two?,0,1\n"), skill="b+a").executions} == {"a+b"}
    assert read_source(write([{**pair, "skill": "c++"}])).skills[0].skill_id == "c++"


@pytest.mark.parametrize(
    "name", ["used_tokens", "tokens_used", "no_of_tokens", "skill", "skill_name", "base_model", "control_group", "name"]
)
def test_names_that_are_no_arm_are_not_taken_for_one(name: str) -> None:
    assert arm_column(name) is None


@pytest.mark.parametrize("value", [None, "", "maybe", 2, 0.5, [], "gpt-4", "with and maybe"])
def test_values_that_are_no_condition_are_not_taken_for_one(value: object) -> None:
    assert condition_of(value) is None


def test_means_of_several_runs_take_their_count(write: Write) -> None:
    text = "id,text,y0,y1,tokens0,tokens1\nt1,Two?,0.667,0.33,30,60\n"
    batch = read(write(text), repetitions=3)

    assert [e.success for e in batch.executions] == [1, 1, 0, 1, 0, 0]
    assert [e.tokens for e in batch.executions] == [30.0] * 3 + [60.0] * 3
    by_column = text.replace("tokens1\n", "tokens1,r0,r1\n").replace("60\n", "60,3,3\n")
    assert read(write(by_column)).executions == batch.executions
    assert len(read(write(by_column.replace(",3,3\n", ",3,6\n"))).executions) == 9


def test_a_mean_of_graded_outcomes_keeps_mean_and_count_and_says_what_is_unknown(write: Write) -> None:
    batch = read(write("id,text,y0,y1,repetitions\nt1,Two?,0.5,1,3\n"))

    assert [e.success for e in batch.executions] == [0.5, 0.5, 0.5, 1, 1, 1]
    assert any("1 mean is none of successes and failures" in note for note in batch.notes)


def test_counts_that_contradict_a_list_are_refused(write: Write, pair: Row) -> None:
    with pytest.raises(InputError, match=":1: y0 has 2 repetitions, but 3 are said to stand behind it"):
        read_source(write([pair]), repetitions=3)
    executions: tuple[Execution, ...] = tuple(read_source(write([{**pair, "r0": 2}])).executions)
    assert len(executions) == 5
