"""`skilldelta compare` for people, for programs and for pull requests, and what bad input gets."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cli.conftest import Skilldelta

HOSTILE = "<img src=x onerror=alert(1)> `x` | @someone https://example.org \x1b[31m"


def write_log(path: Path, successes: list[float], prefix: str = "task ") -> Path:
    rows = [{"task_id": f"{prefix}{i}", "text": f"question {i}", "success": one} for i, one in enumerate(successes)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def logs(skilldelta: Skilldelta, tmp_path: Path) -> tuple[Path, Path]:
    """A hundred tasks of which B solves thirty more than A, and loses two."""
    a = write_log(tmp_path / "a.jsonl", [1.0] * 20 + [0.0] * 80)
    b = write_log(tmp_path / "b.jsonl", [0.0] * 2 + [1.0] * 48 + [0.0] * 50)
    return a, b


def test_two_files_need_no_bank(
    skilldelta: Skilldelta, logs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = skilldelta("compare", *logs)
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80
    words = " ".join(ran.out.split())
    assert "30 better, 2 worse, 68 the same; sign test p < 0.001" in words
    assert "B is better: +28.0 points (95%: " in words
    assert not list(Path.cwd().glob("*.bank"))


def test_json_is_alone_on_stdout_and_has_every_task(skilldelta: Skilldelta, logs: tuple[Path, Path]) -> None:
    document = skilldelta("compare", *logs, "--json").document
    assert document["difference"] == pytest.approx(0.28)
    assert document["interval"]["low"] < 0.28 < document["interval"]["high"]
    assert document["flipped"]["worse"] == ["task 0", "task 1"]
    assert len(document["per_task"]) == 100
    assert document["noise_floor"]["expected_abs_gain"] is None


def test_one_file_with_both_arms_compares_them(skilldelta: Skilldelta, pairs_file: Path) -> None:
    document = skilldelta("compare", pairs_file, "--json").document
    assert (document["a"]["condition"], document["b"]["condition"]) == ("skip", "use")
    assert document["difference"] == pytest.approx(0.125)
    assert document["verdict"] == "not enough evidence"
    assert document["more_tasks"] > 0
    assert [(one["unit"], one["ratio"]) for one in document["both_solve"]] == [("tokens", 1.5)]


def test_a_bank_alone_compares_its_arms_and_names_compare_its_agents(skilldelta: Skilldelta, toy_bank: str) -> None:
    assert skilldelta("compare", "--bank", toy_bank, "--json").document["tasks"] == 8
    by_skill = skilldelta("compare", "--bank", toy_bank, "--skill", "units-skill", "--json").document
    assert (by_skill["tasks"], by_skill["better"]) == (4, 3)
    same = skilldelta("compare", "--bank", toy_bank, "toy", "toy", "--json").document
    assert (same["tasks"], same["same"]) == (8, 8)


def test_a_seed_makes_the_numbers_again(skilldelta: Skilldelta, logs: tuple[Path, Path]) -> None:
    first, second = (skilldelta("compare", *logs, "--json", "--seed", "3").out for _ in range(2))
    assert first == second


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


def test_the_page_and_the_comment_hold_hostile_names_harmlessly(skilldelta: Skilldelta, tmp_path: Path) -> None:
    a = write_log(tmp_path / "a.jsonl", [0.0] * 12, prefix=HOSTILE)
    b = write_log(tmp_path / "b.jsonl", [1.0] * 12, prefix=HOSTILE)
    ran = skilldelta("compare", a, b, "--html", "c.html", "--markdown", "c.md")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    page = Path("c.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert "img" not in tags.found
    assert "http" not in page.partition("</head>")[0].replace("http-equiv", "")
    comment = Path("c.md").read_text(encoding="utf-8")
    rows = [line for line in comment.splitlines() if "onerror" in line]
    assert rows
    assert all(row.startswith("| ``<img") and len(re.findall(r"(?<!\\)\|", row)) == 6 for row in rows)  # no cell more
    assert "\x1b" not in comment


def test_the_summary_of_a_workflow_run_is_added_to(
    skilldelta: Skilldelta, logs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert skilldelta("compare", *logs, "--step-summary").code == 0
    assert summary.read_text(encoding="utf-8").startswith("before\n### B is better")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    ran = skilldelta("compare", *logs, "--step-summary")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.jsonl", "none.jsonl"], "none.jsonl: there is no such file"),
        (["none.jsonl"], "none.jsonl: there is no such file"),
        (["one", "two"], "one: there is no such file"),
        (["a.jsonl", "b.jsonl", "c.jsonl"], "compare takes two sides, got 3"),
        (["a.jsonl"], "name the file of the other arm, too"),
        (["a.jsonl", "b.jsonl", "--margin", "nan"], "margin must be at least 0"),
        (["a.jsonl", "b.jsonl", "--html", "a.jsonl"], "a.jsonl"),
        (["pairs.jsonl", "--skill", "none"], "no run fits skill 'none'"),
        (["empty.jsonl", "b.jsonl"], "the file is empty"),
        (["--bank", "none.bank"], "none.bank"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(
    skilldelta: Skilldelta, logs: tuple[Path, Path], pairs_file: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    ran = skilldelta("compare", *words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1), ran
    assert said in ran.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
