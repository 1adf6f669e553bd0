"""The authors' protocol from checkouts: every message of the stand-ins, what is missing by name, and the published splits."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skilldelta.cli.main import run
from skilldelta.collect.arms import Message, arm_messages
from skilldelta.collect.graders.workbook_file import harness_preview
from skilldelta.collect.plan import arm_order
from skilldelta.collect.self_judging import read_label
from skilldelta.collect.suite import Suite, load_suite
from skilldelta.errors import InputError
from skilldelta.paper.suites import find_suite
from skilldelta.paper.suites.authors_protocol import arm_order_by_name, logicbench_panels, medcalc_split
from skilldelta.paper.suites.base import GivenFiles
from skilldelta.paper.suites.checkouts import find_checkouts, read_self_judge, read_spreadsheet
from skilldelta.paper.suites.preparation import prepare
from skilldelta.paper.suites.toolqa_agent import read_wording
from suites import sra_files
from suites.grader_fixtures import fixture_folder, fixture_rows

SKILL_IDS = ("sheet_one", "sheet_two")
DATA: dict[str, tuple[str, dict[str, Any]]] = {
    "logicbench": ("logicbench", {"answer": "yes", "task_type": "BQA"}),
    "medcalc": (
        "medcalcbench",
        {"answer": "1", "calculator_id": 6, "output_type": "decimal", "lower_limit": "0", "upper_limit": "2"},
    ),
    "toolqa": ("toolqa", {"answer": "1"}),
    "bigcodebench": ("bigcodebench", {"entry_point": "f", "test": "pass", "code_prompt": "def f():"}),
}


@pytest.fixture
def checkouts(tmp_path: Path) -> Path:
    """A copy of the stand-ins, to take files away from."""
    return Path(shutil.copytree(fixture_folder() / "stub_checkouts", tmp_path / "checkouts"))


def prepared(folder: Path, checkouts: Path, name: str, skills: list[str], **options: Any) -> Suite:
    """A suite of one task with these skill texts, under the authors' protocol."""
    dataset, answers = DATA[name]
    ids = list(SKILL_IDS[: max(len(skills), 1)])
    row = sra_files.instance(dataset, 0, "Q?", ids, dict(answers))
    texts = dict(zip(SKILL_IDS, skills or ["none"], strict=False))
    corpus = [{"skill_id": skill, "name": skill, "description": "d", "content": text} for skill, text in texts.items()]
    data = sra_files.write(folder, f"{dataset}.json", [row])
    corpora = folder / "corpora"
    (corpora / "coffee").mkdir(parents=True, exist_ok=True)
    (corpora / "coffee" / "coffee_price.csv").write_text("Date\n1\n")
    given = GivenFiles(
        data, sra_files.write(folder, "corpus.json", corpus), corpora, (checkouts,), "authors", **options
    )
    prepare(find_suite(name), given, folder / "suite")
    return load_suite(folder / "suite")


def messages_of(suite: Suite, arm: str) -> list[Message]:
    (task,) = suite.tasks
    condition = "use" if arm == "with" else "skip"
    return arm_messages(task.question, condition, suite.agent, skill_text=suite.skill_text(task))  # type: ignore[arg-type]


def as_pairs(messages: list[Message]) -> list[list[str]]:
    return [[message.role, message.content] for message in messages]


def test_every_message_of_the_stand_ins_comes_out_to_the_letter(checkouts: Path, tmp_path: Path) -> None:
    for number, row in enumerate(fixture_rows("stub_messages.jsonl")):
        name, place = row["suite"], tmp_path / str(number)
        if name == "spreadsheetbench":
            texts = read_spreadsheet(find_checkouts([checkouts]))
            system = texts.system + "".join(
                texts.skill_system.replace("{skill}", text.strip()) for text in row["skills"]
            )
            position = row["answer_position_shown"]
            user = texts.request(row["instruction"], row["instruction_type"], position, row["preview"])
            found = [["system", system], ["user", user]]
        elif name == "self_judge":
            judge = read_self_judge(find_checkouts([checkouts]))
            assert judge is not None
            user = judge["user"].replace("{question}", row["question"]).replace("{skills}", row["skills"][0])
            found = [["system", judge["system"]], ["user", user]]
        elif name == "toolqa":
            suite = prepared(place, checkouts, name, row["skills"], examples=row["profile"])
            *before, last = messages_of(suite, row["arm"])
            wording = read_wording(place / "suite" / "toolqa.json")
            user = wording.request(last.content, row["scratchpad"], row["step"])
            found = [*as_pairs(before), ["user", user]]
        else:
            found = as_pairs(messages_of(prepared(place, checkouts, name, row["skills"]), row["arm"]))
        assert found == row["messages"], row


def test_the_wording_of_every_observation_is_read(checkouts: Path, tmp_path: Path) -> None:
    prepared(tmp_path / "t", checkouts, "toolqa", ["x"])
    sentences = read_wording(tmp_path / "t" / "suite" / "toolqa.json").sentences
    own = {"action_failed", "skill_missing"}
    assert {name for name, text in sentences.items() if not text.lower().lstrip(".( ").startswith("stub")} == own
    assert sentences["edge_missing"] == "Stub: no such edge."
    assert sentences["edge_error"] == "Stub: bad edge question."
    assert sentences["filtered"] == "Stub: {current_length} rows stay."


def test_the_facts_of_each_suite_are_set(checkouts: Path, tmp_path: Path) -> None:
    suites = {name: prepared(tmp_path / name, checkouts, name, ["x"]) for name in DATA}
    assert {name: suite.agent.max_tokens for name, suite in suites.items()} == {
        "logicbench": 1024,
        "medcalc": 512,
        "toolqa": 384,
        "bigcodebench": 4096,
    }
    assert all((suite.protocol, suite.agent.temperature) == ("authors", 0.0) for suite in suites.values())
    assert suites["toolqa"].tasks[0].grader == {"type": "short_answer", "mode": "exact", "evaluator": "release"}
    assert suites["medcalc"].tasks[0].grader["evaluator"] == "release"
    assert suites["bigcodebench"].tasks[0].grader["seconds"] == 61
    assert all(suite.self_judge is not None and suite.self_judge.system for suite in suites.values())


def test_one_set_of_skills_in_two_orders_is_one_skill_with_the_tasks_own_text(checkouts: Path, tmp_path: Path) -> None:
    answers = DATA["bigcodebench"][1]
    rows = [
        sra_files.instance("bigcodebench", n, "Q?", skills, dict(answers))
        for n, skills in enumerate((["b", "a"], ["a", "b"]))
    ]
    corpus = [{"skill_id": name, "name": name, "description": "d", "content": f"{name}\n"} for name in ("a", "b")]
    given = GivenFiles(
        sra_files.write(tmp_path, "bigcodebench.json", rows),
        sra_files.write(tmp_path, "corpus.json", corpus),
        None,
        (checkouts,),
        "authors",
    )
    prepare(find_suite("bigcodebench"), given, tmp_path / "suite")
    suite = load_suite(tmp_path / "suite")
    assert list(suite.skills) == ["a+b"]
    assert [suite.skill_text(task) for task in suite.tasks] == ["b\n\n~~~\na\n", "a\n\n~~~\nb\n"]


@pytest.mark.parametrize(
    ("name", "file", "complaint"),
    [
        ("toolqa", "SR-Agents/src/sragents/toolqa/fewshots.py", "fewshots.py is missing; clone github.com/oneal2000"),
        (
            "logicbench",
            "SR-Agents/src/sragents/prompts.py",
            "prompts.py is missing; clone github.com/oneal2000/SR-Agents",
        ),
        ("medcalc", "SR-Agents/src/sragents/prompts.py", "277fd8d2bbd7"),
    ],
)
def test_a_file_that_moved_is_named_with_where_to_get_it(
    name: str, file: str, complaint: str, checkouts: Path, tmp_path: Path
) -> None:
    (checkouts / file).unlink()
    (checkouts / "SR-Agents" / "data" / "bench" / "instances").mkdir(parents=True, exist_ok=True)
    with pytest.raises(InputError, match=complaint):
        prepared(tmp_path / "t", checkouts, name, ["x"])
    assert not (tmp_path / "t" / "suite").exists()


def test_a_checkout_whose_prompts_moved_is_not_taken_for_none(
    checkouts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkouts / "SR-Agents" / "src" / "sragents" / "prompts.py").rename(checkouts / "prompts.py")
    row = sra_files.instance("logicbench", 0, "Q?", ["logicbench_000"], {"answer": "yes", "task_type": "BQA"})
    data = sra_files.write(tmp_path, "logicbench.json", [row])
    options = ["--from", str(data), "--from", str(checkouts / "SR-Agents"), "--output", str(tmp_path / "suite")]
    assert run(["suite", "prepare", "logicbench", *options]) == 2
    complaint = " ".join(capsys.readouterr().err.split())
    assert (
        "src/sragents/prompts.py is missing; clone github.com/oneal2000/SR-Agents at commit 277fd8d2bbd7" in complaint
    )
    assert (
        "It decides every figure: with --protocol plain, which does without it, these cannot be compared" in complaint
    )
    assert not (tmp_path / "suite").exists()
    assert run(["suite", "prepare", "logicbench", *options, "--protocol", "plain"]) == 0


def test_another_commit_is_named_with_what_it_may_change(checkouts: Path, tmp_path: Path) -> None:
    folder = checkouts / "SR-Agents"
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    commit = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    row = sra_files.instance("logicbench", 0, "Q?", ["logicbench_000"], {"answer": "yes", "task_type": "BQA"})
    given = GivenFiles(sra_files.write(tmp_path, "logicbench.json", [row]), None, None, (folder,), "authors")
    notes = prepare(find_suite("logicbench"), given, tmp_path / "suite").notes
    assert any(f"SR-Agents is at commit {commit.stdout[:12]}, the authors pin 277fd8d2bbd7" in note for note in notes)
    assert any("prompts.py is not the file" in note and "every figure can be compared" in note for note in notes)
    corpus = [note for note in notes if "corpus" in note and "is not the file" in note]
    assert all("figures of the arm with the skill, and gains" in note for note in corpus)


def test_a_symbol_that_is_gone_and_a_field_that_is_new_are_named(checkouts: Path, tmp_path: Path) -> None:
    prompts = checkouts / "SR-Agents" / "src" / "sragents" / "toolqa" / "prompts.py"
    prompts.write_text("OTHER = 'x'\n")
    with pytest.raises(InputError, match=r"prompts\.py: REACT_INSTRUCTION is not there"):
        prepared(tmp_path / "a", checkouts, "toolqa", ["x"])
    general = checkouts / "SR-Agents" / "src" / "sragents" / "prompts.py"
    general.write_text(general.read_text().replace("{skill_block}", "{skill_block}{instance['level']}"))
    with pytest.raises(InputError, match="unexpected field"):
        prepared(tmp_path / "b", checkouts, "logicbench", ["x"])


def test_a_corpus_without_a_skill_that_a_task_names_is_refused(checkouts: Path, tmp_path: Path) -> None:
    row = sra_files.instance("logicbench", 0, "Q?", ["logicbench_017"], {"answer": "yes", "task_type": "BQA"})
    given = GivenFiles(
        sra_files.write(tmp_path, "logicbench.json", [row]), None, None, (checkouts / "SR-Agents",), "authors"
    )
    with pytest.raises(InputError, match="no text for 1 skill of LogicBench, such as logicbench_017"):
        prepare(find_suite("logicbench"), given, tmp_path / "suite")


def test_a_corpus_in_its_archive_is_read(checkouts: Path, tmp_path: Path) -> None:
    corpus = checkouts / "SR-Agents" / "data" / "bench" / "corpus"
    (corpus / "corpus.json").unlink()
    row = sra_files.instance("logicbench", 0, "Q?", ["logicbench_000"], {"answer": "yes", "task_type": "BQA"})
    given = GivenFiles(
        sra_files.write(tmp_path, "logicbench.json", [row]), None, None, (checkouts / "SR-Agents",), "authors"
    )
    prepare(find_suite("logicbench"), given, tmp_path / "suite")
    assert load_suite(tmp_path / "suite").skills["logicbench_000"].text == "# Stub logic\nThink."


def test_the_record_says_what_was_read_and_how_it_differs(
    checkouts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = sra_files.instance("logicbench", 0, "Q?", ["logicbench_000"], {"answer": "yes", "task_type": "BQA"})
    instances = checkouts / "SR-Agents" / "data" / "bench" / "instances"
    instances.mkdir(parents=True)
    (instances / "logicbench.json").write_text(json.dumps([row]))
    options = ["--from", str(checkouts / "SR-Agents"), "--output", str(tmp_path / "suite"), "--json"]
    assert run(["suite", "prepare", "logicbench", *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["protocol"] == "authors"
    assert any("src/sragents/prompts.py is not the file" in note for note in document["notes"])
    assert any("the self-judge is asked in other words" in note for note in document["notes"])
    record = json.loads((tmp_path / "suite" / "prepared.json").read_text())
    assert len(record["checkout_files"]["SR-Agents/src/sragents/prompts.py"]) == 64
    assert (
        run(["suite", "prepare", "logicbench", *options[:2], "--protocol", "plain", "--output", str(tmp_path / "p")])
        == 0
    )
    assert "not comparable with the paper's tables" in capsys.readouterr().err


def test_the_preview_of_a_workbook_is_the_harness_one(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows = [row for row in fixture_rows("prompt_digests.jsonl") if row["suite"] == "spreadsheetbench"]
    for row in rows:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, cells in row["workbook"].items():
            sheet = book.create_sheet(name)
            for place, value in cells.items():
                sheet[place] = value
        book.save(tmp_path / "book.xlsx")
        assert harness_preview(tmp_path / "book.xlsx") == row["preview"]


def test_a_label_inside_a_thought_is_no_answer() -> None:
    assert read_label("<think>USE_SKILL would be wrong</think>NO_SKILL") is False
    assert read_label("<think>USE_SKILL") is None


def real_suite(name: str, file: str, folder: Path) -> Suite:
    data = fixture_folder().parent / "sra_tasks" / f"{file}.json"
    ids = {skill for row in json.loads(data.read_text()) for skill in row["skill_annotations"]}
    corpus = [{"skill_id": skill, "name": skill, "description": "d", "content": "x"} for skill in sorted(ids)]
    prepare(find_suite(name), GivenFiles(data, sra_files.write(folder, "corpus.json", corpus)), folder / "suite")
    return load_suite(folder / "suite")


def test_the_published_splits_and_orders_come_out(tmp_path: Path) -> None:
    published = json.loads((fixture_folder() / "splits.json").read_text())
    support, audit = medcalc_split(real_suite("medcalc", "medcalcbench", tmp_path / "m").tasks)
    assert (sorted(support), sorted(audit)) == (
        sorted(published["medcalc"]["support"]),
        sorted(published["medcalc"]["audit"]),
    )
    panels = logicbench_panels(real_suite("logicbench", "logicbench", tmp_path / "l").tasks)
    assert {name: sorted(tasks) for name, tasks in panels.items()} == {
        name: sorted(published["logicbench"][name]) for name in panels
    }
    words = {"skip": "without", "use": "with"}
    for key, order in published["arm_order_examples"].items():
        seed, task, repetition = key.split(":")
        assert [words[arm] for arm in arm_order(task, int(repetition), seed=int(seed))] == order
    for key, order in published["arm_order_examples_bigcodebench"].items():
        seed, task, repetition = key.split(":")
        assert [words[arm] for arm in arm_order_by_name(task, int(repetition), seed=int(seed))] == order
