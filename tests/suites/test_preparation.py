"""Suites are prepared from files that a user has, whole or not at all, and counted beside the paper."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from skilldelta.cli.main import run
from skilldelta.collect.suite import load_suite
from skilldelta.paper.suites import NAMES, find_suite, paper_suites
from skilldelta.paper.suites.base import SKILL_PROMPT, GivenFiles
from skilldelta.paper.suites.inventory import compared, inventory_of
from skilldelta.paper.suites.preparation import prepare
from suites import sra_files

REAL = {"toolqa": ("toolqa", 1430, 14), "medcalc": ("medcalcbench", 1100, 55), "logicbench": ("logicbench", 760, 19)}


@pytest.mark.parametrize("name", REAL)
def test_the_real_inventories_have_exactly_the_papers_counts(name: str, shared_data: Path, tmp_path: Path) -> None:
    file, tasks, skills = REAL[name]
    suite = find_suite(name)
    made = prepare(suite, GivenFiles(shared_data / "sra_tasks" / f"{file}.json"), tmp_path / "suite")
    assert (made.inventory.tasks, len(made.inventory.skills)) == (tasks, skills)
    assert [one for one in compared(inventory_of(tmp_path / "suite"), suite.counts) if not one.is_equal] == []
    assert len(made.missing_skills) == skills


def test_the_five_suites_have_the_papers_counts_and_say_where_their_data_are() -> None:
    counts = {suite.name: (suite.counts.tasks, suite.counts.skills) for suite in paper_suites()}
    assert tuple(counts) == NAMES
    assert counts == {
        "toolqa": (1430, 14),
        "medcalc": (1100, 55),
        "bigcodebench": (1136, 139),
        "logicbench": (760, 19),
        "spreadsheetbench": (399, 1),
    }
    assert all(suite.licence and suite.origin and "--from" in suite.needs for suite in paper_suites())


def test_the_words_of_the_plain_protocol_change_on_purpose_only() -> None:
    # A rename of variables once turned "choices are given" into "choices are sources": outcomes of other words do not compare.
    words = {
        suite.name: "\n".join((suite.preset.system, suite.preset.prompt, SKILL_PROMPT)) for suite in paper_suites()
    }
    assert {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in words.items()} == {
        "toolqa": "a159629c1d7e5bd4",
        "medcalc": "901718c3d385a985",
        "bigcodebench": "abc52d0c96f0840c",
        "logicbench": "723dc4cd2e9566a5",
        "spreadsheetbench": "28f7e7dcf694fe6a",
    }


def prepared(tmp_path: Path, name: str, file: str, rows: list[dict[str, Any]], **corpus: bool) -> Path:
    data = sra_files.write(tmp_path, f"{file}.json", rows)
    skills = sra_files.write(tmp_path, "corpus.json", sra_files.corpus(rows, **corpus))
    prepare(find_suite(name), GivenFiles(data, skills), tmp_path / "suite")
    return tmp_path / "suite"


def test_a_prepared_suite_is_an_ordinary_suite_with_the_papers_settings(tmp_path: Path) -> None:
    suite = load_suite(prepared(tmp_path, "logicbench", "logicbench", sra_files.logicbench()))
    assert (suite.name, suite.benchmark, suite.repetitions) == ("logicbench", "logicbench", 3)
    assert (suite.agent.temperature, suite.agent.max_tokens) == (0.0, 1024)
    assert suite.skills["logicbench_000"].text == "SKILL logicbench_000: follow these steps."
    assert {task.family for task in suite.tasks} == {"logicbench_000", "logicbench_001", "logicbench_002"}


def test_a_bundle_is_one_intervention_and_keeps_its_focal_group(tmp_path: Path) -> None:
    folder = prepared(tmp_path, "bigcodebench", "bigcodebench", sra_files.bigcodebench())
    suite, counted = load_suite(folder), inventory_of(folder)
    first = suite.tasks[0]
    assert (first.family, first.skill_id) == ("lib_0", "lib_0+lib_2+lib_3")
    assert suite.skills[first.skill_id].text.count("SKILL lib_") == 3
    assert (counted.tasks, counted.bundles, counted.edges, len(counted.skills)) == (12, 3, 27, 4)
    assert counted.groups == {"lib_0": 6, "lib_1": 6}
    record = json.loads((folder / "prepared.json").read_text())
    assert record["left_out"] == [
        {"task_id": "bigcodebench_00039", "reason": "its reference solution fails with NumPy 2"}
    ]


def test_the_spreadsheets_are_grouped_by_type_and_a_task_without_a_case_is_left_out(tmp_path: Path) -> None:
    from suites.workbooks import write_benchmark

    data = write_benchmark(tmp_path / "data", cell_level=3, sheet_level=2)
    (tmp_path / "skill.md").write_text("---\nname: x\ndescription: Sheets\n---\nUse openpyxl.\n")
    made = prepare(find_suite("spreadsheetbench"), GivenFiles(data, tmp_path / "skill.md"), tmp_path / "suite")
    assert made.inventory.groups == {"cell-level": 3, "sheet-level": 2}
    assert [(one.task_id, one.reason) for one in made.left_out] == [
        ("42930", "its folder has no pair of an input and an answer")
    ]
    suite = load_suite(tmp_path / "suite")
    assert suite.skills["spreadsheet"].text == "Use openpyxl."
    assert "1: n | result\n2: 3" in suite.tasks[0].text
    assert (tmp_path / "suite" / suite.tasks[0].metadata["cases"][0][1]).is_file()


def test_only_the_asked_families_are_prepared(tmp_path: Path) -> None:
    rows = sra_files.logicbench()
    data = sra_files.write(tmp_path, "logicbench.json", rows)
    made = prepare(find_suite("logicbench"), GivenFiles(data), tmp_path / "suite", families=["logicbench_001"])
    assert made.inventory.groups == {"logicbench_001": 4}
    assert (
        run(["suite", "prepare", "logicbench", "--from", str(data), "--family", "x", "--output", str(tmp_path / "o")])
        == 2
    )


@pytest.mark.parametrize("form", ["json", "jsonl", "folder", "files", "checkout"])
def test_skill_texts_come_as_a_corpus_or_as_folders(form: str, tmp_path: Path) -> None:
    rows = sra_files.toolqa()
    sheets = sra_files.corpus(rows)
    data = sra_files.write(tmp_path / "data" / "bench" / "instances", "toolqa.json", rows)
    skills: Path | None = tmp_path / "skills"
    if form == "json":
        skills = sra_files.write(tmp_path, "corpus.json", sheets)
    elif form == "jsonl":
        skills = tmp_path / "corpus.jsonl"
        skills.write_text("".join(json.dumps(sheet) + "\n" for sheet in sheets))
    elif form == "checkout":
        sra_files.write(tmp_path / "data" / "bench" / "corpus", "corpus.json", sheets)
        data, skills = tmp_path, None
    else:
        for sheet in sheets:
            file = (
                tmp_path
                / "skills"
                / (f"{sheet['skill_id']}/SKILL.md" if form == "folder" else f"{sheet['skill_id']}.md")
            )
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(sheet["content"])
    prepare(find_suite("toolqa"), GivenFiles(data, skills), tmp_path / "suite")
    assert load_suite(tmp_path / "suite").skills["toolqa_001"].text == "SKILL toolqa_001: follow these steps."


BAD_ROWS: list[tuple[Any, str]] = [
    ({"a": 1}, "expected a JSON list"),
    ([1], "expected an object"),
    ([{"dataset": "medcalcbench"}], "not of toolqa"),
    ([sra_files.instance("toolqa", 0, "", ["a"], {"answer": "1"})], "question must be a text"),
    ([sra_files.instance("toolqa", 0, "q", [], {"answer": "1"})], "skill_annotations must be a list with a skill"),
    ([sra_files.instance("toolqa", 0, "q", ["../x"], {"answer": "1"})], "cannot be an id"),
    ([sra_files.instance("toolqa", 0, "q", ["a", "b"], {"answer": "1"})], "expected one skill"),
    ([sra_files.instance("toolqa", 0, "q", ["a"], {})], "eval_data.answer must be a text"),
    ([sra_files.instance("toolqa", 0, "q", ["a"], {"answer": "1"})] * 2, "is already at"),
    ([], "no task of ToolQA"),
]


@pytest.mark.parametrize(("rows", "said"), BAD_ROWS)
def test_wrong_files_are_one_line_and_leave_nothing_behind(
    rows: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = sra_files.write(tmp_path / "given", "toolqa.json", rows)
    assert run(["suite", "prepare", "toolqa", "--from", str(data), "--output", str(tmp_path / "suite")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert said in line
    assert [path.name for path in tmp_path.iterdir()] == ["given"]


def test_missing_and_wrong_paths_are_named_with_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = sra_files.write(tmp_path, "toolqa.json", sra_files.toolqa())
    (tmp_path / "corpus.json.zip").write_bytes(b"PK")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    (tmp_path / "none").mkdir()
    out = ["--output", str(tmp_path / "suite")]
    for words, said in [
        (["toolqa", "--from", str(tmp_path / "gone.json"), *out], "there is no such file or folder"),
        (["toolqa", "--from", str(tmp_path / "none"), *out], "no toolqa.json in this folder"),
        (["toolqa", "--from", str(data), "--skills", str(tmp_path / "gone"), *out], "--skills names a corpus file"),
        (
            ["toolqa", "--from", str(data), "--skills", str(tmp_path / "corpus.json.zip"), *out],
            "the corpus cannot be read",
        ),
        (["toolqa", "--from", str(data), "--corpora", str(tmp_path / "none"), *out], "none of ToolQA's corpora"),
        (["toolqa", "--from", str(data), "--output", str(tmp_path / "full")], "exists and is not empty"),
        (["spreadsheetbench", "--from", str(data), *out], "--from names the data folder of SpreadsheetBench"),
        (["spreadsheetbench", "--from", str(tmp_path / "none"), *out], "no dataset.json in this folder"),
        (["tolqa", "--from", str(data), *out], "did you mean toolqa"),
    ]:
        assert run(["suite", "prepare", *words]) == 2, words
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert said in line
        assert not (tmp_path / "suite").exists()


def test_check_reports_every_difference_and_missing_text_with_exit_code_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = sra_files.write(tmp_path, "toolqa.json", sra_files.toolqa())
    assert run(["suite", "prepare", "toolqa", "--from", str(data), "--output", str(tmp_path / "suite")]) == 0
    capsys.readouterr()
    assert run(["suite", "check", str(tmp_path / "suite"), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["differences"] == ["tasks", "skills", "groups", "tasks per group"]
    assert document["missing_skills"] == ["toolqa_000", "toolqa_001"]
    assert run(["suite", "check", str(tmp_path / "suite")]) == 1
    shown = capsys.readouterr()
    assert "differs" in shown.out
    assert "no text for 2 skills" in shown.err


def test_list_names_counts_licences_and_origins(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suite", "list", "--json"]) == 0
    suites = json.loads(capsys.readouterr().out)["suites"]
    assert [(one["name"], one["tasks"], one["skills"]) for one in suites][2] == ("bigcodebench", 1136, 139)
    assert {one["repetitions"] for one in suites} == {1, 3}
    assert run(["suite", "list"]) == 0
    assert all(len(line) <= 120 for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer_position": "A1:XFD1048576"}, "more than 2,000,000 cells"),
        ({"answer_position": "nowhere"}, "is no range of cells"),
        ({"instruction_type": "Other"}, "instruction_type must be one of"),
        ({"id": "../escape"}, "cannot be an id"),
    ],
)
def test_a_spreadsheet_row_that_is_wrong_is_named(
    change: dict[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from suites.workbooks import write_benchmark

    data = write_benchmark(tmp_path / "data", cell_level=1, sheet_level=1)
    rows = json.loads((data / "dataset.json").read_text())
    (data / "dataset.json").write_text(json.dumps([{**rows[0], **change}]))
    assert run(["suite", "prepare", "spreadsheetbench", "--from", str(data), "--output", str(tmp_path / "suite")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "suite").exists()


def test_a_spreadsheet_path_that_leads_out_and_a_link_are_not_followed(tmp_path: Path) -> None:
    from suites.workbooks import write_benchmark, write_workbook

    data = write_benchmark(tmp_path / "data", cell_level=1, sheet_level=0)
    rows = json.loads((data / "dataset.json").read_text())
    for name in ("1_x_init.xlsx", "1_x_golden.xlsx"):
        write_workbook(tmp_path / "outside" / name, {"Data": [[1]]})
    (data / "spreadsheet" / "linked").mkdir()
    for name in ("1_x_init.xlsx", "1_x_golden.xlsx"):
        (data / "spreadsheet" / "linked" / name).symlink_to(tmp_path / "outside" / name)
    hostile = [
        {**rows[0], "id": "out", "spreadsheet_path": "../outside"},
        {**rows[0], "id": "linked", "spreadsheet_path": ""},
    ]
    (data / "dataset.json").write_text(json.dumps([rows[0], *hostile]))
    made = prepare(find_suite("spreadsheetbench"), GivenFiles(data), tmp_path / "suite")
    assert (made.inventory.tasks, [one.task_id for one in made.left_out]) == (1, ["out", "linked"])
