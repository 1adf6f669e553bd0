"""`suite check --gold`: right answers pass and wrong ones fail in both arms, or the suite is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from collect.sandboxed import needs_bwrap
from skilldelta.cli.main import run
from skilldelta.collect.gold_check import read_references
from skilldelta.paper.suites import find_suite
from skilldelta.paper.suites.base import GivenFiles
from skilldelta.paper.suites.preparation import prepare
from suites import sra_files


def prepared(folder: Path, name: str, file: str, rows: list[dict[str, Any]], content: str = "Think.") -> Path:
    corpus = [{**row, "content": content} for row in sra_files.corpus(rows)]
    given = GivenFiles(sra_files.write(folder, f"{file}.json", rows), sra_files.write(folder, "corpus.json", corpus))
    prepare(find_suite(name), given, folder / "suite")
    return folder / "suite"


def gold(suite: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["suite", "check", str(suite), "--gold", "--json", *options]) == 1  # the counts are not the paper's
    document: dict[str, Any] = json.loads(capsys.readouterr().out)["gold"]
    return document


@pytest.mark.parametrize(
    ("name", "file", "rows"),
    [
        ("toolqa", "toolqa", sra_files.toolqa(tasks=4)),
        ("medcalc", "medcalcbench", sra_files.medcalc(tasks=4)),
        ("logicbench", "logicbench", sra_files.logicbench(tasks=4)),
    ],
)
def test_text_suites_pass_in_both_arms(
    name: str, file: str, rows: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gold(prepared(tmp_path, name, file, rows), capsys) == {"answers": 16, "faults": [], "skipped": []}


def test_a_skill_that_asks_for_a_form_that_the_grader_cannot_read_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = sra_files.medcalc(tasks=2)
    suite = prepared(tmp_path, "medcalc", "medcalcbench", rows, content="End with \\boxed{value}.")
    settings = suite / "suite.yaml"
    settings.write_text(settings.read_text().replace("type: clinical_value", "type: clinical_value\n  mode: exact"))
    assert gold(suite, capsys)["faults"] == []  # the last number is read
    settings.write_text(
        settings.read_text().replace("type: clinical_value", "type: exact").replace("  mode: exact\n", "")
    )
    assert run(["suite", "check", str(suite), "--gold"]) == 1


def test_a_grader_that_accepts_everything_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = sra_files.toolqa(tasks=2)
    suite = prepared(tmp_path, "toolqa", "toolqa", rows)
    settings = suite / "suite.yaml"
    settings.write_text(settings.read_text().replace("type: short_answer", "type: contains"))
    for line in (suite / "tasks.jsonl").read_text().splitlines():
        task = json.loads(line)
    (suite / "tasks.jsonl").write_text(json.dumps({**task, "answer": "z"}) + "\n")
    found = gold(suite, capsys)
    assert {fault["kind"] for fault in found["faults"]} == {"wrong"}
    assert run(["suite", "check", str(suite), "--gold"]) == 1
    assert "do not collect with this suite" in capsys.readouterr().err


@needs_bwrap
def test_reference_code_runs_through_the_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = sra_files.bigcodebench(tasks=2)
    suite = prepared(tmp_path, "bigcodebench", "bigcodebench", rows)
    assert gold(suite, capsys)["skipped"] == ["bigcodebench_00000", "bigcodebench_00001"]
    references = tmp_path / "references.jsonl.gz"
    lines = [
        {"task_id": "BigCodeBench/0", "prompt_wo_doc": "def task_func(n):", "canonical_solution": "    return n + 7\n"},
        {"task_id": "BigCodeBench/1", "canonical_solution": "def task_func(n):\n    return n + 8\n"},
    ]
    references.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    assert read_references(references)["bigcodebench_00000"].startswith("def task_func(n):\n    return")
    found = gold(suite, capsys, "--references", str(references))
    assert {(fault["task_id"], fault["kind"]) for fault in found["faults"]} == {
        ("bigcodebench_00001", "right"),
        ("bigcodebench_00001", "right, with prose around it"),
    }


@needs_bwrap
@pytest.mark.parametrize("mode", ["exact", "lenient"])
def test_golden_workbooks_pass_also_with_the_lines_that_the_skill_asks_for(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from suites.workbooks import write_benchmark_with_answer_sheets

    data = write_benchmark_with_answer_sheets(tmp_path / "data", tasks=2)
    skill = tmp_path / "skill.md"
    skill.write_text("Begin with lines that set INPUT_PATH and OUTPUT_PATH.\n")
    prepare(find_suite("spreadsheetbench"), GivenFiles(data, skill), tmp_path / "suite")
    settings = tmp_path / "suite" / "suite.yaml"
    settings.write_text(settings.read_text().replace("type: workbook", f"type: workbook\n  mode: {mode}"))
    assert gold(tmp_path / "suite", capsys) == {"answers": 10, "faults": [], "skipped": []}
