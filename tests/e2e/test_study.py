"""A whole study of each of the paper's suites against a loopback model: prepare, collect, judge, tables, report."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import Endpoint, serving
from collect.sandboxed import needs_bwrap
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from suites import fake_models, sra_files
from suites.grader_fixtures import fixture_folder

Model = Callable[[dict[str, Any]], Any]


def sra_options(folder: Path, name: str, rows: list[dict[str, Any]], **corpus: bool) -> list[str]:
    data = sra_files.write(folder, f"{name}.json", rows)
    skills = sra_files.write(folder, "corpus.json", sra_files.corpus(rows, **corpus))
    return ["--from", str(data), "--skills", str(skills)]


def study(name: str, endpoint: Endpoint, folder: Path, *options: str, model: str = "m") -> int:
    """One start of a study; sampling is short and the intervals few, to be quick."""
    where = ["--base-url", endpoint.url, "--model", model, "--output", str(folder / "study"), "--retries", "0"]
    return run(["study", name, *where, "--resamples", "20", "--repetitions", "1", "--yes", *options])


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def policies(tables: Any, suite: str) -> Any:
    (row,) = [row for row in tables["policies"] if row["suite"] == suite]
    return row


def test_logicbench_from_files_to_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = sra_options(tmp_path, "logicbench", sra_files.logicbench())
    with serving(fake_models.logicbench) as endpoint:
        assert study("logicbench", endpoint, tmp_path, *options, "--json") == 0
        calls = len(endpoint.bodies)
        tables = document(capsys)["tables"]
        row = policies(tables, "logicbench")
        assert (row["tasks"], row["off"], row["on"], row["Self-judge"]) == (12, 4 / 12, 1.0, 1.0)
        assert calls == 12 * 3  # two arms and one judgement per task
        assert json.loads((tmp_path / "study" / "tables.json").read_text()) == tables
        assert "| agent | suite |" in (tmp_path / "study" / "tables.md").read_text()
        assert (tmp_path / "study" / "report.html").stat().st_size > 10_000
        assert set(tables) == {
            *(
                "inventory",
                "policies",
                "ranking",
                "intervals",
                "means",
                "suite_means",
                "counts",
                "no_history",
                "estimators",
            ),
            *("ridge", "ablations", "thresholds", "evidence", "structure", "effects", "graders"),
        }
        assert "\\label{tab:policies}" in (tmp_path / "study" / "tables.tex").read_text()
        with (tmp_path / "study" / "tables" / "policies.csv").open() as file:
            (line,) = csv.DictReader(file)
        assert (line["suite"], float(line["on"])) == ("logicbench", 1.0)
        figures = {path.stem: path.read_bytes()[:4] for path in (tmp_path / "study" / "figures").iterdir()}
        assert set(figures) >= {
            "main-results",
            "matched-rate",
            "selection-components",
            "threshold-tradeoff",
            "help-harm",
        }
        assert set(figures.values()) == {b"\x89PNG"}
        (graders,) = tables["graders"]
        assert (graders["mode"], graders["replies"], graders["differ with"], graders["difference"]) == (
            "lenient",
            24,
            0,
            0,
        )
        # Another agent in the same folder is another panel; nothing of the first is called again.
        assert study("logicbench", endpoint, tmp_path, "--json", model="other") == 0
        assert len(endpoint.bodies) == 2 * calls
    tables = document(capsys)["tables"]
    assert [row["agent"] for row in tables["policies"]] == ["m", "other"]
    (rule,) = [row for row in tables["means"] if row["policy"] == "SkillDelta"]
    assert rule["above off"] == "2/2"
    assert [row["rule"] for row in tables["ablations"]] == ["k = 6, cosine", "k = 3, cosine", "k = 6, uniform"]


def test_tables_of_first_runs_with_ridge_and_relevance_from_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = sra_files.logicbench(tasks=6)
    options = sra_options(tmp_path, "logicbench", rows)
    scores = [f"{row['instance_id']},{place}" for place, row in enumerate(rows)]
    (tmp_path / "relevance.csv").write_text("\n".join(["task_id,score", *scores]))
    elsewhere = ["--headline-runs", "logicbench=1", "--relevance", str(tmp_path / "relevance.csv")]
    with serving(fake_models.logicbench) as endpoint:
        for fault in (
            ["--headline-runs", "one"],
            ["--relevance", str(tmp_path / "corpus.json")],
            ["--ridge-agent", "m"],
        ):
            assert study("logicbench", endpoint, tmp_path, *options, *fault) == 2
        assert not endpoint.bodies  # nothing is paid before these are read
        repeated = [*options, *elsewhere, "--ridge-encoder", "tfidf", "--no-self-judge", "--repetitions", "3", "--json"]
        capsys.readouterr()
        assert study("logicbench", endpoint, tmp_path, *repeated) == 0
        assert len(endpoint.bodies) == 6 * 2 * 3
    tables = document(capsys)["tables"]
    written = (tmp_path / "study" / "tables.md").read_text()
    assert "outcomes of the first run of each arm; evidence curves use every run" in written
    assert "Ridge has the vectors of tfidf" in written
    with serving(fake_models.logicbench) as endpoint:
        # The same model with other settings is another agent of the same name; --ridge-agent means all of them.
        again = ["--ridge-encoder", "tfidf", "--ridge-agent", "m", "--no-self-judge", "--output-tokens", "99", "--json"]
        assert study("logicbench", endpoint, tmp_path, *again) == 0
        assert study("logicbench", endpoint, tmp_path, *again[:3], "nobody", *again[4:]) == 2
    assert len(document(capsys)["tables"]["ridge"]) == 2
    assert "Ridge has the vectors of tfidf" in (tmp_path / "study" / "tables.md").read_text()
    # Half of the tasks lie above the median of the given scores: the last three.
    with Bank.open(tmp_path / "study" / "study.bank", create=False) as bank:
        agent = bank.agents()[0]
        pairs = {pair.task_id: pair for pair in bank.pairing(agent=agent, suite="logicbench").pairs}
    used = [row["instance_id"] for row in rows[3:]]
    success = sum(pairs[name].y1 if name in used else pairs[name].y0 for name in pairs) / 6
    (relevance,) = [row["relevance"] for row in tables["no_history"]]
    assert relevance == pytest.approx(success)
    assert {row["to"] for row in tables["evidence"] if row["over"] == "repetitions"} == {3}


def test_the_arms_of_a_study_differ_by_the_skill_alone(tmp_path: Path) -> None:
    options = sra_options(tmp_path, "logicbench", sra_files.logicbench(tasks=3))
    with serving(fake_models.logicbench) as endpoint:
        assert study("logicbench", endpoint, tmp_path, *options, "--no-self-judge") == 0
    texts = sorted(request["messages"][-1]["content"] for request in endpoint.requests)
    with_skill = [text for text in texts if "SKILL" in text]
    assert len(with_skill) == 3
    assert {text.partition("---\n\n")[2] for text in with_skill} == set(texts) - set(with_skill)
    assert {request["temperature"] for request in endpoint.requests} == {0.0}


@needs_bwrap
def test_bigcodebench_runs_its_bundles_as_one_intervention(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = sra_options(tmp_path, "bigcodebench", sra_files.bigcodebench(tasks=8))
    with serving(fake_models.bigcodebench) as endpoint:
        assert study("bigcodebench", endpoint, tmp_path, *options, "--json", "--no-self-judge") == 0
    tables = document(capsys)["tables"]
    assert (policies(tables, "bigcodebench")["off"], policies(tables, "bigcodebench")["on"]) == (3 / 8, 1.0)
    (structure,) = tables["structure"]
    assert (structure["groups"], structure["bundles"], structure["edges"]) == (2, 3, 18)
    (transcript,) = (tmp_path / "study").glob("study.bank.collect/*/transcript.jsonl")
    remarks = {json.loads(line)["remark"] for line in transcript.read_text().splitlines()}
    assert "1 test passed" in remarks


@needs_bwrap
def test_spreadsheetbench_compares_the_workbooks_that_code_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from suites.workbooks import write_benchmark

    data = write_benchmark(tmp_path / "data")
    (tmp_path / "skill.md").write_text("Use openpyxl well.\n")
    options = ["--from", str(data), "--skills", str(tmp_path / "skill.md"), "--json"]
    with serving(fake_models.spreadsheetbench) as endpoint:
        assert study("spreadsheetbench", endpoint, tmp_path, *options) == 0
    row = policies(document(capsys)["tables"], "spreadsheetbench")
    assert (row["tasks"], row["off"], row["on"], row["Self-judge"]) == (8, 1 / 8, 1.0, 1 / 8)


@needs_bwrap
def test_a_skill_that_asks_for_lines_with_the_paths_costs_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from suites.workbooks import write_benchmark_with_answer_sheets

    data = write_benchmark_with_answer_sheets(tmp_path / "data")
    (tmp_path / "skill.md").write_text("Begin every script with lines that set INPUT_PATH and OUTPUT_PATH.\n")
    options = ["--from", str(data), "--skills", str(tmp_path / "skill.md"), "--json", "--no-self-judge"]
    with serving(fake_models.sheet_worker) as endpoint:
        assert study("spreadsheetbench", endpoint, tmp_path, *options) == 0
    row = policies(document(capsys)["tables"], "spreadsheetbench")
    assert (row["tasks"], row["off"], row["on"]) == (20, 1.0, 1.0)
    assert all("Cells of the answer: Data!B2:B4" in fake_models.said(request) for request in endpoint.requests)


@needs_bwrap
def test_medcalc_offers_its_calculator_in_the_arm_with_the_skill_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("inspect_ai")
    options = sra_options(tmp_path, "medcalcbench", sra_files.medcalc(tasks=6), tools=True)
    with serving(fake_models.medcalc) as endpoint:
        assert study("medcalc", endpoint, tmp_path, *options, "--json", "--no-self-judge") == 0
    row = policies(document(capsys)["tables"], "medcalc")
    assert (row["off"], row["on"]) == (2 / 6, 1.0)
    offered = [request for request in endpoint.requests if request.get("tools")]
    assert all("SKILL medcalcbench" in fake_models.said(request) for request in offered)
    assert len(offered) == 12  # a call of the calculator and the answer, per task with the skill


def test_toolqa_looks_values_up_in_the_users_corpora(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("inspect_ai")
    corpora = tmp_path / "corpora"
    (corpora / "coffee").mkdir(parents=True)
    prices = "".join(f"{day},{day}.5\n" for day in range(12))
    (corpora / "coffee" / "coffee_price.csv").write_text(f"Day,Price\n{prices}")
    options = [*sra_options(tmp_path, "toolqa", sra_files.toolqa(tasks=6)), "--corpora", str(corpora), "--json"]
    with serving(fake_models.toolqa) as endpoint:
        assert study("toolqa", endpoint, tmp_path, *options, "--no-self-judge") == 0
    row = policies(document(capsys)["tables"], "toolqa")
    assert (row["off"], row["on"]) == (2 / 6, 1.0)
    assert not list(corpora.rglob("*.sqlite"))


@needs_bwrap
def test_toolqa_and_medcalc_speak_the_authors_text_protocol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("inspect_ai")
    stubs = str(fixture_folder() / "stub_checkouts")
    corpora = tmp_path / "corpora"
    (corpora / "coffee").mkdir(parents=True)
    prices = "".join(f"{day},{day}.5\n" for day in range(12))
    (corpora / "coffee" / "coffee_price.csv").write_text(f"Day,Price\n{prices}")
    options = [*sra_options(tmp_path, "toolqa", sra_files.toolqa(tasks=4)), "--from", stubs, "--protocol", "authors"]
    with serving(fake_models.text_toolqa) as endpoint:
        assert study("toolqa", endpoint, tmp_path, *options, "--corpora", str(corpora), "--json") == 0
    row = policies(document(capsys)["tables"], "toolqa")
    assert (row["off"], row["on"], row["Self-judge"]) == (1 / 4, 1.0, 1 / 4)
    steps = [request for request in endpoint.requests if "Query:" in fake_models.said(request)]
    assert {tuple(request["stop"]) for request in steps} == {(f"\nObservation {n}:",) for n in range(1, 5)}
    assert {request["max_tokens"] for request in steps} == {384}
    assert all(request["messages"][1]["content"].startswith("Stub examples:") for request in steps)
    judged = [request for request in endpoint.requests if request not in steps]
    assert {request["messages"][0]["content"] for request in judged} == {"Stub judge system."}

    options = [*sra_options(tmp_path / "m", "medcalcbench", sra_files.medcalc(tasks=3), tools=True), "--from", stubs]
    with serving(fake_models.text_medcalc) as endpoint:
        options += ["--protocol", "authors", "--json", "--no-self-judge"]
        assert study("medcalc", endpoint, tmp_path / "m", *options) == 0
    row = policies(document(capsys)["tables"], "medcalc")
    assert (row["off"], row["on"]) == (1 / 3, 1.0)
    assert not any(request.get("tools") for request in endpoint.requests)
    results = [request for request in endpoint.requests if "TOOL_RESULT: " in fake_models.said(request)]
    assert [message["role"] for message in results[0]["messages"]] == ["system", "user", "assistant", "user"]


def test_a_dry_run_calls_nobody_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = sra_options(tmp_path, "logicbench", sra_files.logicbench())
    with serving(fake_models.logicbench) as endpoint:
        assert study("logicbench", endpoint, tmp_path, *options, "--dry-run", "--json") == 0
        assert endpoint.bodies == []
    plan = document(capsys)
    assert (plan["collect"]["executions"], plan["self_judge"]["calls"]) == (24, 12)
    assert plan["collect"]["largest"]["tokens"] > 0
    assert not (tmp_path / "study").exists()


def test_without_a_terminal_and_without_yes_nothing_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = sra_options(tmp_path, "logicbench", sra_files.logicbench())
    with serving(fake_models.logicbench) as endpoint:
        where = ["--base-url", endpoint.url, "--model", "m", "--output", str(tmp_path / "study")]
        assert run(["study", "logicbench", *where, *options]) == 2
        assert endpoint.bodies == []
    assert "say --yes" in capsys.readouterr().err


def test_other_files_are_refused_and_a_first_start_needs_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = sra_options(tmp_path, "logicbench", sra_files.logicbench(tasks=3))
    with serving(fake_models.logicbench) as endpoint:
        assert study("logicbench", endpoint, tmp_path) == 2
        assert "name its data with --from" in capsys.readouterr().err
        assert study("logicbench", endpoint, tmp_path, *options[:2]) == 2
        assert "no text for 3 skills of LogicBench, such as logicbench_000" in capsys.readouterr().err
        assert not (tmp_path / "study").exists()
        assert study("logicbench", endpoint, tmp_path, *options, "--no-self-judge") == 0
        changed = sra_options(tmp_path / "other", "logicbench", sra_files.logicbench(tasks=6))
        capsys.readouterr()
        assert study("logicbench", endpoint, tmp_path, *changed) == 2
        assert "was prepared from other files (data" in capsys.readouterr().err
        assert study("logicbench", endpoint, tmp_path, "--skills", str(tmp_path)) == 2


def test_the_prospective_protocol_seals_before_it_collects_and_audits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = sra_options(tmp_path, "logicbench", sra_files.logicbench(tasks=18))
    with serving(fake_models.logicbench) as endpoint:
        assert study("logicbench", endpoint, tmp_path, *options, "--prospective", "--known", "2", "--json") == 0
        shown = capsys.readouterr()
        found = json.loads(shown.out)
        assert f"12 predictions sealed in {tmp_path / 'study' / 'sealed'}" in shown.err
        assert (found["audit"]["known"], found["audit"]["evaluated"], len(endpoint.bodies)) == (6, 12, 36)
        assert found["seal"] in shown.err
        (sealed,) = (tmp_path / "study" / "sealed").iterdir()
        before = sealed.read_bytes()
        # Again: nothing is called, nothing is sealed anew, the audit is the same.
        assert study("logicbench", endpoint, tmp_path, "--prospective", "--known", "2", "--json") == 0
        assert (len(endpoint.bodies), sealed.read_bytes()) == (36, before)
        assert json.loads(capsys.readouterr().out) == found
        assert study("logicbench", endpoint, tmp_path, "--prospective", "--known", "3") == 2
        assert "holds predictions for other tasks" in capsys.readouterr().err
        # Predictions cannot be made when the outcomes are there.
        sealed.unlink()
        assert study("logicbench", endpoint, tmp_path, "--prospective", "--known", "2") == 2
        assert "already ran" in capsys.readouterr().err


def test_prospective_panels_form_a_chain_whose_later_ones_are_sequential(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = sra_files.logicbench(tasks=18)
    options = sra_options(tmp_path, "logicbench", rows)
    names = [row["instance_id"] for row in rows]
    for name, known, target in (("pilot", names[:6], names[6:12]), ("rest", names[:12], names[12:])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"known": known, "target": target}))
    with serving(fake_models.logicbench) as endpoint:
        for name in ("pilot", "rest"):
            split = ["--split", str(tmp_path / f"{name}.json"), "--prospective", "--json"]
            assert study("logicbench", endpoint, tmp_path, *options, *split) == 0
        panels = json.loads(capsys.readouterr().out.rpartition("\n{\n")[2].join(["{\n", ""]))["tables"]["prospective"]
        assert [(row["panel"], row["made"], row["known"], row["target"]) for row in panels] == [
            ("pilot", "first", 6, 6),
            ("rest", "sequential", 12, 6),
        ]
        (tmp_path / "both.json").write_text(json.dumps({"known": names[:2], "target": names[1:3]}))
        split = ["--split", str(tmp_path / "both.json"), "--prospective"]
        assert study("logicbench", endpoint, tmp_path, *split) == 2
        assert "is both known and a target" in capsys.readouterr().err


def test_the_seal_is_made_before_the_first_held_out_call(tmp_path: Path) -> None:
    options = sra_options(tmp_path, "logicbench", sra_files.logicbench(tasks=9))
    sealed_at_call: list[bool] = []

    def reply(request: dict[str, Any]) -> str:
        sealed_at_call.append(any((tmp_path / "study").glob("sealed/*.json")))
        return fake_models.logicbench(request)

    with serving(reply) as endpoint:
        assert study("logicbench", endpoint, tmp_path, *options, "--prospective", "--known", "1") == 0
    assert sealed_at_call == [False] * 6 + [True] * 12
    with Bank.open(tmp_path / "study" / "study.bank") as bank:
        assert bank.verify() == []


def test_a_command_is_asked_in_the_words_of_the_suite_and_not_for_its_judgement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = tmp_path / "agent.sh"
    agent.write_text(
        "#!/bin/sh\ncat > told.txt; grep -q 'The answer is: yes (or no)' told.txt && echo 'The answer is: yes'\n"
    )
    agent.chmod(0o755)
    options = sra_options(tmp_path, "logicbench", sra_files.logicbench(tasks=6))
    where = ["--command", str(agent), "--agent-version", "1", "--output", str(tmp_path / "study"), "--repetitions", "1"]
    assert run(["study", "logicbench", *where, *options, "--resamples", "20", "--yes", "--json"]) == 0
    shown = capsys.readouterr()
    row = policies(json.loads(shown.out)["tables"], "logicbench")
    assert (row["off"], row["on"], row["Self-judge"]) == (0.5, 0.5, None)
    assert "cannot be asked for its own judgement" in shown.err
    # The command's version, which it says itself, is part of who was sealed; only the selected tasks take part.
    where = ["--command", str(agent), "--output", str(tmp_path / "sealed"), "--limit", "4", "--known", "1"]
    assert run(["study", "logicbench", *where, *options, "--prospective", "--repetitions", "1", "--yes", "--json"]) == 0
    audit = json.loads(capsys.readouterr().out)["audit"]
    assert (audit["known"], audit["evaluated"]) == (1, 3)
