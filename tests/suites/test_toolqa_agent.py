"""ToolQA's agent: every action, split reply and trajectory of the original, and what its sandboxed tools may not do."""

from __future__ import annotations

import asyncio
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from collect.sandboxed import needs_bwrap
from skilldelta.collect.sandbox import find_sandbox
from skilldelta.errors import InputError
from skilldelta.paper.suites.lookup_corpora import table_file
from skilldelta.paper.suites.skill_tools import written_call
from skilldelta.paper.suites.toolqa_agent import Dialogue, Wording, split_reply, stop_texts
from skilldelta.paper.suites.toolqa_environment import OWN_SENTENCES, ToolEnvironment
from suites.grader_fixtures import fixture_folder, fixture_rows
from suites.toolqa_corpora import stand_in_search, write_corpora


class Room:
    """A corpora folder and fresh environments on it."""

    def __init__(self, folder: Path) -> None:
        document = json.loads((fixture_folder() / "toolqa_corpora.json").read_text())
        corpus = document["corpora"]["plain"]
        self.folder = folder
        self.corpora = write_corpora(folder / "corpora", corpus)
        self.search = stand_in_search(self.corpora, corpus, document["query_vectors"])
        self.workers = 0

    def environment(self, **options: Any) -> ToolEnvironment:
        self.workers += 1
        place = self.folder / f"worker{self.workers}"
        return ToolEnvironment(self.corpora, self.folder / "cache", place, find_sandbox(), self.search, **options)


def authors_sentences(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The original's observations, taken from the rows themselves."""
    sentences = dict(OWN_SENTENCES)
    for row in rows:
        outcome, text = row["outcome"], row["original"]
        value: Any = row.get("value")
        if outcome == "db_loaded":
            name = row["action"].strip().removeprefix("LoadDB[").removesuffix("]")
            sentences[outcome] = text.replace(", ".join(value), "{column_names}").replace(f" {name} ", " {target_db} ")
        elif outcome == "filtered":
            sentences[outcome] = text.replace(f"({value} ", "({current_length} ")
        elif outcome in ("filter_empty", "filter_failed"):
            sentences[outcome] = text.replace(value, "{cmd}")
        elif outcome in sentences:
            sentences[outcome] = text
    sentences |= {"no_action": sentences["empty_action"], "cut": "... (truncated, {len(obs)} chars total)"}
    return sentences


@needs_bwrap
@pytest.mark.slow
def test_every_action_answers_as_the_original_does(tmp_path: Path) -> None:
    rows, room = fixture_rows("toolqa_actions.jsonl"), Room(tmp_path)
    sentences = authors_sentences(rows)

    async def main() -> list[Any]:
        wrong, environment = [], room.environment()
        for row in rows:
            if not row["before"]:
                environment = room.environment(sentences=sentences)
            elif row["before"][-1] == "<next task>":
                environment.next_task()
            found = await environment.execute(row["action"])
            value = row["value"] if row.get("value") is not None else found.value
            if (found.outcome, found.value, found.text) != (row["outcome"], value, row["original"]):
                wrong.append((row["action"], row["original"], found))
        return wrong

    assert asyncio.run(main()) == []


@needs_bwrap
def test_every_reply_and_trajectory_goes_as_in_the_original(tmp_path: Path) -> None:
    rows, room = fixture_rows("toolqa_steps.jsonl"), Room(tmp_path)
    sentences = authors_sentences(fixture_rows("toolqa_actions.jsonl"))
    sentences["skill_missing"] = "Skill '{name}' not found. Continue solving the problem."
    replies = [row for row in rows if row["type"] == "reply"]
    assert [split_reply(row["reply"], row["step"]) for row in replies] == [
        (row["thought"], row["action"]) for row in replies
    ]

    async def follow(row: dict[str, Any]) -> dict[str, Any]:
        dialogue, stops = Dialogue(), []
        environment = room.environment(sentences=sentences)
        for reply in row["replies"][: row["max_steps"]]:
            if not dialogue.is_finished:
                stops.append(stop_texts("some-model", dialogue.step))
                await dialogue.take(reply, environment)
        return {
            "graded_text": dialogue.graded,
            "transcript": dialogue.scratchpad,
            "finished": dialogue.is_finished,
            "answer": dialogue.answer,
            "calls": len(stops),
            "stop": stops,
        }

    for row in (row for row in rows if row["type"] == "trajectory"):
        found = asyncio.run(follow(row))
        assert found == {key: row[key] for key in found}
    assert stop_texts("provider/gpt-5-mini", 1) == []


@needs_bwrap
def test_sql_changes_last_through_a_workers_tasks_and_stay_with_the_worker(tmp_path: Path) -> None:
    room = Room(tmp_path)

    async def main() -> list[str]:
        first, second = room.environment(), room.environment()
        count = "SQLInterpreter[SELECT COUNT(*) FROM {}_data]"
        await first.execute("LoadDB[coffee]")
        await first.execute("SQLInterpreter[DELETE FROM coffee_data WHERE Volume = '987']")
        first.next_task()
        await second.execute("LoadDB[coffee]")
        texts = [(await worker.execute(count.format("coffee"))).text for worker in (first, second)]
        await first.execute("LoadDB[coffee]")  # filled at the first load only
        await first.execute("LoadDB[flights]")
        actions = (count.format("coffee"), count.format("flights"), "GetValue[Dest]")
        return texts + [(await first.execute(action)).text for action in actions]

    counts = ["COUNT(*): 3", "COUNT(*): 4", "COUNT(*): 3", "COUNT(*): 6"]
    assert asyncio.run(main()) == [*counts, "BBB, CCC, AAA, AAA, BBB, CCC"]


@needs_bwrap
def test_code_of_the_agent_sees_neither_the_machine_nor_the_corpora(tmp_path: Path) -> None:
    room = Room(tmp_path)
    environment = room.environment()

    def says(action: str) -> str:
        return asyncio.run(environment.execute(action)).outcome

    assert says(f"PythonInterpreter[ans = open('{room.corpora}/coffee/coffee_price.csv').read()]") == "python_error"
    assert says("PythonInterpreter[import os; ans = os.listdir('/home')[0]]") == "python_error"
    assert says("Calculate[__import__('os').listdir('/home')[0]]") == "formula_error"
    assert says(f"SQLInterpreter[ATTACH '{tmp_path}/cache/coffee.sqlite' AS other]") == "sql_error"
    assert says("Calculate[9**9**9]") == "formula_error"


@needs_bwrap
def test_a_pickle_that_would_run_code_is_refused(tmp_path: Path) -> None:
    room = Room(tmp_path)

    class Evil:
        def __reduce__(self) -> Any:
            return (print, ("escaped",))

    (room.corpora / "dblp" / "paper_net.pkl").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(InputError, match=r"builtins\.print has no place in a graph"):
        asyncio.run(room.environment().execute("LoadGraph[dblp]"))


@needs_bwrap
def test_a_long_column_is_cut_and_its_whole_length_is_told(tmp_path: Path) -> None:
    room = Room(tmp_path)
    rows = "".join(f"2022-01-01,{'x' * 50}{number}\n" for number in range(200))
    (room.corpora / "coffee" / "coffee_price.csv").write_text(f"Date,Name\n{rows}")
    environment = room.environment()

    async def main() -> str:
        await environment.execute("LoadDB[coffee]")
        return (await environment.execute("GetValue[Name]")).shown(environment.sentences)

    whole = ", ".join(f"{'x' * 50}{number}" for number in range(200))
    assert asyncio.run(main()) == f"{whole[:3000]}... (cut, {len(whole)} characters)"


def test_values_are_printed_as_pandas_two_prints_them(tmp_path: Path) -> None:
    (tmp_path / "coffee").mkdir()
    (tmp_path / "coffee" / "coffee_price.csv").write_text(
        "whole,gap,number,truth,mixed,text,none,a,a\n"
        "007,1,1e3,TRUE,1,NA,,x,y\n"
        "-5,,2.50,false,x,null,,z,w\n"
        "\n"
        "9223372036854775807,3,inf,true,True,None,n/a,u,v\n"
    )
    import sqlite3

    with sqlite3.connect(table_file(tmp_path, "coffee", tmp_path / "cache")) as connection:
        rows = connection.execute("SELECT * FROM data").fetchall()
        names = [row[1] for row in connection.execute("PRAGMA table_info(data)")]
    assert names == ["whole", "gap", "number", "truth", "mixed", "text", "none", "a", "a.1"]
    assert rows == [
        ("7", "1.0", "1000.0", "True", "1", "nan", "nan", "x", "y"),
        ("-5", "nan", "2.5", "False", "x", "nan", "nan", "z", "w"),
        ("9223372036854775807", "3.0", "inf", "True", "True", "nan", "nan", "u", "v"),
    ]


def test_braces_in_a_task_are_not_filled() -> None:
    wording = Wording("E {examples} U {base_user}{scratchpad} T {step_n}", "ex {base_user}")
    assert (
        wording.request("task {step_n}", "\nseen {examples}", 3)
        == "E ex {base_user} U task {step_n}\nseen {examples} T 3"
    )


def test_calls_of_tools_are_read_as_the_authors_runner_reads_them() -> None:
    for row in fixture_rows("medcalc_tool_calls.jsonl"):
        call = written_call(row["reply"], row["tools"])
        found = None if call is None else {"head": call.head, "name": call.name, "args": dict(call.arguments)}
        assert found == row["original"], row["reply"]
