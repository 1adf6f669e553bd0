"""`skilldelta report` from a file of pairs to a report and images."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from skilldelta.cli.main import run

from .parsed_page import parse


@pytest.fixture
def bank(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    """Twelve pairs in two families, one of them with a missing arm."""
    lines = []
    for family, y0, y1 in (("sums", 0, 1), ("names", 1, 0)):
        for i in range(6):
            pair = {"task_id": f"{family}/{i}", "text": f"{family} question {i}", "family": family, "skill": family}
            lines.append(
                {**pair, "agent": "toy", "y0": [y0], "y1": [y1 if i else y0], "tokens0": [100], "tokens1": [300]}
            )
    lines.append(
        {"task_id": "odd", "text": "odd", "family": "sums", "skill": "sums", "agent": "toy", "y0": [1], "y1": []}
    )
    source = tmp_path / "pairs.jsonl"
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    location = tmp_path / "toy.bank"
    assert run(["import", str(source), "--bank", str(location), "--suite", "toy"]) == 0
    capfd.readouterr()
    return location


def test_the_command_writes_the_report_and_says_where(
    bank: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.html"
    arguments = ["report", "--bank", str(bank), "--resamples", "50", "--paper", "--gate", "paper"]
    assert run([*arguments, "--output", str(output), "--png", str(tmp_path / "png"), "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["report"] == str(output)
    assert told["bytes"] == output.stat().st_size
    assert {Path(image).name for image in told["images"]} >= {"ranking.png", "tradeoff-tokens.png", "accounting.png"}
    page = parse(output)
    made = page.all("section", id="made")[0].text
    assert f"skilldelta report --bank {bank} --gate paper --paper --resamples 50" in made
    assert "1 task lacks an arm and is left out: odd" in page.all("section", id="panel-1-remarks")[0].text
    assert "Unknown, no task was run twice under one condition" in page.all("div", id="panel-1")[0].text
    assert "25 executions" in page.all("section", id="panel-1-accounting")[0].text


def test_the_command_that_makes_the_report_again_leaves_out_what_the_paper_overrides(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLDELTA_THRESHOLD", "0.4")
    output = tmp_path / "out.html"
    assert run(["report", "--bank", str(bank), "--resamples", "0", "--paper", "--output", str(output)]) == 0
    made = parse(output).all("section", id="made")[0].text
    assert f"skilldelta report --bank {bank} --paper --resamples 0 --output" in made


def test_without_the_extra_the_command_says_so_before_it_evaluates(
    bank: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert run(["report", "--bank", str(bank)]) == 2
    assert capfd.readouterr().err.startswith(
        "error: the report needs the extra report; install it with: pip install 'vl-convert-python"
    )


def test_a_report_on_files_needs_no_bank_and_shows_what_each_version_gained(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for iteration, marks in ((1, [True, False]), (2, [True, True])):
        for name in ("sum", "carry", "borrow"):
            for arm, passed in (("with_skill", marks), ("without_skill", [False, False])):
                folder = tmp_path / "adding-workspace" / f"iteration-{iteration}" / name / arm
                folder.mkdir(parents=True)
                checks = [{"text": f"{name} {at}", "passed": mark} for at, mark in enumerate(passed)]
                (folder / "grading.json").write_text(json.dumps({"expectations": checks}), encoding="utf-8")
    output = tmp_path / "out.html"
    arguments = ["report", str(tmp_path / "adding-workspace"), "--newest", "iteration-2", "--resamples", "50"]
    assert run([*arguments, "--output", str(output)]) == 0
    versions = parse(output).all("section", id="versions")[0].text
    assert "iteration-1" in versions
    assert "iteration-2 (newest)" in versions
    assert "+50.0 (3)" in versions
