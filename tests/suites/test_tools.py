"""Tools of skills and corpora: calculators in the sandbox, tables on disk, texts by meaning, arithmetic."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from collect.sandboxed import needs_bwrap
from skilldelta.collect.sandbox import find_sandbox
from skilldelta.encoders import load_encoder
from skilldelta.errors import InputError
from skilldelta.paper.suites.lookup_corpora import check_corpora, read_texts, table_file
from skilldelta.paper.suites.lookup_tools import PassageSearch, TableDesk, compute
from skilldelta.paper.suites.skill_tools import SkillTool, answer_written_call, read_arguments, read_tools

FLIGHTS = """\
FlightDate,Airline,DepDelay,Airline
2022-01-01,Blue,5,x
2022-01-02,Blue,0,y
2022-01-02,"Green, Inc",17,z
"""


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    folder = tmp_path / "corpora"
    for name, file, text in (
        ("flights", "Combined_Flights_2022.csv", FLIGHTS),
        ("yelp", "yelp_academic_dataset_business.json", '{"name": "Snip", "stars": 4.5}\n{"name": "Clip"}\n'),
        (
            "agenda",
            "agenda_descriptions_merged.jsonl",
            '{"event": "Grace sings in the opera"}\n{"event": "Tom rows a boat"}\n',
        ),
    ):
        (folder / name).mkdir(parents=True)
        (folder / name / file).write_text(text)
    return folder


def test_a_table_is_loaded_filtered_and_read_step_by_step(corpora: Path, tmp_path: Path) -> None:
    desk = TableDesk(corpora, tmp_path / "cache")
    assert desk.filter("Airline=Blue") == desk.values("Airline") == "Load a table first."
    assert "There is no table 'coffee'" in desk.load("coffee")
    assert desk.load("flights") == "The table flights is loaded. Its columns: FlightDate, Airline, DepDelay, Airline.1."
    assert desk.filter("FlightDate=2022-01-02") == "2 rows are left."
    assert desk.values("DepDelay") == "0, 17"
    assert desk.filter("Airline=Red") == "No row fits 'Airline=Red', so the condition was not kept."
    assert desk.filter("DepDelay>=1, Airline>Blue") == "1 rows are left."
    assert desk.values("Airline") == "Green, Inc"
    assert "There is no column 'Price'" in desk.values("Price")
    assert "cannot be read" in desk.filter("drop table data")
    assert desk.load("yelp") == "The table yelp is loaded. Its columns: name, stars."
    assert desk.filter("name=Snip") == "1 rows are left."
    assert desk.values("stars") == "4.5"


def test_two_executions_do_not_see_each_others_filters(corpora: Path, tmp_path: Path) -> None:
    one, other = TableDesk(corpora, tmp_path / "cache"), TableDesk(corpora, tmp_path / "cache")
    one.load("flights")
    other.load("flights")
    one.filter("Airline=Blue")
    assert (one.values("DepDelay"), other.values("DepDelay")) == ("5, 0", "5, 0, 17")


@pytest.mark.parametrize(
    "attack", ['FlightDate"=1 OR 1=1 --=x', "FlightDate=1'; DROP TABLE data; --", 'x" FROM data; --=1']
)
def test_a_condition_is_never_sql(attack: str, corpora: Path, tmp_path: Path) -> None:
    desk = TableDesk(corpora, tmp_path / "cache")
    desk.load("flights")
    said = desk.filter(attack)
    assert "cannot be read" in said or "No row fits" in said
    assert desk.values("DepDelay") == "5, 0, 17"


def test_a_table_is_turned_into_a_file_once_and_whole(corpora: Path, tmp_path: Path) -> None:
    first = table_file(corpora, "flights", tmp_path / "cache")
    stamp = first.stat().st_mtime_ns
    assert table_file(corpora, "flights", tmp_path / "cache").stat().st_mtime_ns == stamp
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["flights.sqlite"]
    assert sqlite3.connect(first).execute("SELECT COUNT(*) FROM data").fetchone() == (3,)


def test_texts_are_found_by_meaning(corpora: Path) -> None:
    search = PassageSearch(corpora, load_encoder("wordllama"))
    assert search.find("agenda", "Who was singing?").splitlines()[0] == "Grace sings in the opera"
    assert read_texts(corpora, "agenda") == ["Grace sings in the opera", "Tom rows a boat"]


def test_corpora_that_are_missing_are_named(corpora: Path, tmp_path: Path) -> None:
    notes = check_corpora(corpora)
    assert any("no coffee/coffee_price.csv: questions about coffee have no tool" in note for note in notes)
    with pytest.raises(InputError, match="none of ToolQA's corpora"):
        check_corpora(tmp_path)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        *(
            ("(3 + 4) / 2", "3.5"),
            ("2 - -1", "3"),
            ("10 % 4", "2"),
            ("0.1 + 0.2", "0.3"),
            ("7", "7"),
            ("2 ** 10", "1024"),
        ),
        *(("mean(1, 2, 6)", "3"), ("Median(5, 1, 9)", "5"), ("sum(1.5, 2)", "3.5"), ("max(3, 10) - min(3, 10)", "7")),
        *(("sqrt(16) + abs(-3)", "7"), ("round(2.345, 1)", "2.3"), ("pow(2, 3)", "8"), ("7 // 2", "3")),
    ],
)
def test_formulas_are_computed(formula: str, value: str) -> None:
    assert compute(formula) == value


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os')",
        "2 ** 99999999",
        "1/0",
        "a",
        "",
        "(" * 5000,
        "1 if 1 else 2",
        "'a' * 9",
        "mean()",
        "sqrt(-1)",
        "open(1)",
    ],
)
def test_what_is_no_formula_is_refused(formula: str) -> None:
    assert compute(formula).startswith("This is not a formula")


BMI = SkillTool(
    "bmi",
    "Body mass index",
    {"kilograms": "float", "metres": "float"},
    "def bmi(kilograms, metres):\n    import math\n    return round(kilograms / math.pow(metres, 2), 2)\n",
)


@needs_bwrap
def test_a_calculator_of_a_skill_runs_in_the_sandbox_and_says_what_went_wrong() -> None:
    sandbox = find_sandbox("bubblewrap")

    def call(tool: SkillTool, **arguments: object) -> str:
        return asyncio.run(tool.call(arguments, sandbox))

    assert call(BMI, kilograms=80, metres=1.7) == "27.68"
    assert "ZeroDivisionError" in call(BMI, kilograms=80, metres=0)
    assert "TypeError" in call(BMI, kilograms=80)
    dates = SkillTool(
        "due", "", {}, "def due(day):\n    return datetime.strptime(day, '%m/%d/%Y') + timedelta(days=280)"
    )
    assert call(dates, day="02/29/2024") == "2024-12-05 00:00:00"
    writes = SkillTool("w", "", {}, "def w():\n    open('/etc/escaped', 'w').write('x')")
    assert "Error" in call(writes)
    reads = SkillTool("r", "", {}, "def r():\n    import os\n    return dict(os.environ)")
    assert "SKILLDELTA" not in call(reads)


def test_a_call_that_is_written_as_text_takes_literals_only() -> None:
    assert read_arguments("kilograms=80, metres=1.7", BMI) == {"kilograms": 80, "metres": 1.7}
    assert read_arguments("80, metres=1.7", BMI) == {"kilograms": 80, "metres": 1.7}
    assert read_arguments("", BMI) == {}
    for text in ("kilograms=open('x')", "__import__('os')", "kilograms=", "1)(2"):
        assert read_arguments(text, BMI) is None


def test_tools_of_a_bundle_are_those_of_its_skills_and_bad_ones_are_named(tmp_path: Path) -> None:
    for name, rows in (("a", [{"name": "f", "implementation": "def f(): pass"}]), ("b", [{"name": "not a name"}])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tools.json").write_text(json.dumps(rows))
    assert [tool.name for tool in read_tools(tmp_path, "a+missing")] == ["f"]
    with pytest.raises(InputError, match="a tool needs a name and an implementation"):
        read_tools(tmp_path, "a+b")


@needs_bwrap
def test_a_call_that_a_model_writes_as_text_is_answered_in_the_conversation() -> None:
    pytest.importorskip("inspect_ai")
    sandbox = find_sandbox("bubblewrap")
    said = "I compute it.\nTOOL_CALL: bmi(kilograms=80, metres=2.0)\n"
    state = SimpleNamespace(output=SimpleNamespace(completion=said), messages=[])
    assert asyncio.run(answer_written_call(state, [BMI], sandbox))
    assert state.messages[-1].content == "TOOL_RESULT: 20.0"
    state.output.completion = "TOOL_CALL: unknown(1)"
    assert not asyncio.run(answer_written_call(state, [BMI], sandbox))
