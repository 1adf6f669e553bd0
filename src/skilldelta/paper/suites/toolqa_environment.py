"""ToolQA's tools behind the text protocol: one action in, its observation out.

An environment belongs to one worker. A new task forgets the table and the graph that were loaded; SQL tables, and whatever
queries changed in them, last through all tasks of the worker. SQL, Python and formulas are an agent's code and run in the
sandbox. Nothing an agent writes raises: what cannot be done is an observation.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.process import Finished
from skilldelta.collect.sandbox import Limits, Payload, Sandbox
from skilldelta.paper.suites.graph_files import GRAPHS, load_graphs
from skilldelta.paper.suites.lookup_corpora import TABLES, columns_of, quoted, table_file

ACTIONS = (
    *("Calculate", "RetrieveAgenda", "RetrieveScirex", "LoadDB", "FilterDB", "GetValue", "LoadGraph"),
    *("NeighbourCheck", "NodeCheck", "EdgeCheck", "SQLInterpreter", "PythonInterpreter", "Finish"),
)
# Observations in words of our own, by outcome; a suite that was prepared under the authors' protocol brings theirs.
OWN_SENTENCES: Mapping[str, str] = {
    "no_action": "Your reply had no action. Write one line that begins with Action and its number.",
    "empty_action": "The action is empty. Write one of the actions.",
    "several_actions": "Write one action at a time.",
    "invalid_action": f"This is no action. The actions are {', '.join(ACTIONS)}, each with its argument in brackets.",
    "action_failed": "{action_type} failed: {e}",
    "formula_error": "The formula has no value. Write another one.",
    "agenda_error": "The agenda cannot be searched.",
    "scirex_error": "The papers cannot be searched.",
    "db_loaded": "The table {target_db} is loaded. Its columns: {column_names}.",
    "db_unknown": "There is no such table.",
    "filter_empty": "No row fits {cmd}. Change the condition.",
    "filter_failed": "The condition {cmd} cannot be applied.",
    "filter_error": "The table cannot be filtered.",
    "filtered": "{current_length} rows are left.",
    "value_missing": "There is no such value.",
    "graph_loaded": "The graphs PaperNet and AuthorNet are loaded.",
    "graph_unknown": "There is no such graph.",
    "neighbour_error": "The neighbours cannot be listed. Write the graph and the node.",
    "node_missing": "There is no such node.",
    "node_error": "The node cannot be looked up. Write the graph and the node.",
    "edge_missing": "There is no such edge.",
    "edge_error": "The edge cannot be looked up. Write the graph and both nodes.",
    "sql_done": "The statement was executed.",
    "sql_error": "The statement cannot be executed.",
    "python_error": "The program failed: {e}",
    "skill_missing": "There is no skill '{name}' to load. Go on with the task.",
    "cut": "... (cut, {len(obs)} characters)",
}
MOST_SHOWN = 3000
_FORM = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_COMPARISONS = (">=", "<=", ">", "<", "=")
_LIST_FORMULA = re.compile(r"(mean|median|sum|max|min)\((.*)\)", re.IGNORECASE | re.DOTALL)
_QUALIFIED = re.compile(rf"\b({'|'.join(TABLES)})\.\w+_data\b")
_SQL_LIMITS = Limits(seconds=10.0, memory_mb=2048, disk_mb=16_384, processes=16)
_PYTHON_LIMITS = Limits(seconds=30.0, memory_mb=2048, disk_mb=512, processes=64)
_FORMULA_LIMITS = Limits(seconds=10.0, memory_mb=512, processes=16)
_SQL_SCRIPT = """\
import json, sqlite3, sys
given = json.load(sys.stdin)
connection = sqlite3.connect("/workspace/worker.sqlite")
cursor = connection.execute(given["sql"])
if cursor.description is None:
    shown = None
else:
    names = [column[0] for column in cursor.description]
    shown, size = [], 0
    for row in cursor:
        line = ", ".join(f"{name}: {value}" for name, value in zip(names, row))
        size += len(line) + 1
        if size < 100_000:
            shown.append(line)
    shown = ["\\n".join(shown), max(size - 1, 0)]
connection.commit()
sys.stdout.write(json.dumps(shown))
"""
_PYTHON_SCRIPT = """\
import sys
space = {"__name__": "__main__", "ans": 0}
exec(compile(sys.stdin.read(), "program.py", "exec"), space)
print(space["ans"])
"""
_FORMULA_SCRIPT = """\
import math, sys
names = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}
value = eval(sys.stdin.read().strip(), {**names, "abs": abs, "round": round, "pow": pow})
if isinstance(value, float):
    value = round(value, 3)
    value = int(value) if value == int(value) else value
sys.stdout.write(str(value))
"""


# Three passages of a corpus near a question, the nearest first, one per line.
Retriever = Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Observation:
    """What an action came to: an outcome by name, its value, and the sentence that the agent is shown."""

    outcome: str
    value: Any
    text: str
    length: int = -1
    """Characters of the whole text, where `text` is only its beginning."""

    def shown(self, sentences: Mapping[str, str]) -> str:
        length = len(self.text) if self.length < 0 else self.length
        if length <= MOST_SHOWN:
            return self.text
        return self.text[:MOST_SHOWN] + sentences["cut"].replace("{len(obs)}", str(length))


@dataclass(slots=True)
class ToolEnvironment:
    """The tools of one worker. `cache` holds converted tables and graphs and is shared, `place` is the worker's own."""

    corpora: Path
    cache: Path
    place: Path
    sandbox: Sandbox
    retrieve: Retriever
    sentences: Mapping[str, str] = field(default_factory=lambda: OWN_SENTENCES)
    _table: str = ""
    _columns: list[str] = field(default_factory=list)
    _conditions: list[tuple[str, str, str]] = field(default_factory=list)
    _graphs: Mapping[str, Any] | None = None
    _in_sql: set[str] = field(default_factory=set)
    _waiting: set[str] = field(default_factory=set)

    def next_task(self) -> None:
        """Forget the table and the graph; SQL tables stay."""
        self._table, self._columns, self._conditions, self._graphs = "", [], [], None

    async def execute(self, action: str) -> Observation:
        """The observation of one action."""
        action = action.strip()
        if not action:
            return self._say("empty_action")
        if "], " in action and not action.startswith("PythonInterpreter["):
            return self._say("several_actions")
        parts = _FORM.fullmatch(action)
        if not parts or parts[1] not in ACTIONS or (not parts[2] and parts[1] != "PythonInterpreter"):
            return self._say("invalid_action")
        name, argument = parts.groups()
        if name == "Finish":
            return Observation("finish", argument, argument)
        tools: Mapping[str, Callable[[str], Awaitable[Observation]]] = {
            "Calculate": self._calculate,
            "RetrieveAgenda": lambda question: self._passages("agenda", question),
            "RetrieveScirex": lambda question: self._passages("scirex", question),
            "LoadDB": self._load_table,
            "FilterDB": self._filter,
            "GetValue": self._get_value,
            "LoadGraph": self._load_graph,
            "NeighbourCheck": self._neighbours,
            "NodeCheck": self._node,
            "EdgeCheck": self._edge,
            "SQLInterpreter": self._sql,
            "PythonInterpreter": self._python,
        }
        return await tools[name](argument)

    def _say(self, outcome: str, value: Any = None, **fields: object) -> Observation:
        text = self.sentences[outcome]
        for key, content in fields.items():
            text = text.replace(f"{{{key}}}", str(content))
        return Observation(outcome, value, text)

    async def _run(self, script: str, stdin: str, limits: Limits, workdir: Path | None = None) -> Finished:
        return await self.sandbox.run(Payload([self.sandbox.python, "-I", "-c", script], limits, stdin, workdir))

    async def _calculate(self, formula: str) -> Observation:
        whole = _LIST_FORMULA.fullmatch(formula.strip())
        if whole:
            try:
                return _number(_of_list(whole[1].lower(), [float(part) for part in whole[2].split(",")]))
            except (ValueError, ZeroDivisionError):
                return self._say("formula_error")
        finished = await self._run(_FORMULA_SCRIPT, formula, _FORMULA_LIMITS)
        return _number(finished.stdout) if finished.exit_code == 0 else self._say("formula_error")

    async def _passages(self, corpus: str, question: str) -> Observation:
        try:
            text = await in_own_thread(self.retrieve, corpus, question, name="retrieve")
        except (OSError, LookupError, ValueError):
            return self._say(f"{corpus}_error")
        return Observation("texts", text, text)

    async def _load_table(self, table: str) -> Observation:
        if table not in TABLES or not (self.corpora / TABLES[table]).is_file():
            return self._say("db_unknown")
        self._table, self._conditions = table, []
        with closing(await self._connect()) as connection:
            self._columns = columns_of(connection)
        # The SQL table is copied when the first statement needs it: few agents write one.
        self._waiting |= {table} - self._in_sql
        return self._say("db_loaded", list(self._columns), target_db=table, column_names=", ".join(self._columns))

    async def _connect(self) -> sqlite3.Connection:
        def convert() -> Path:
            with _conversion:
                return table_file(self.corpora, self._table, self.cache)

        file = await in_own_thread(convert, name="table")
        return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)

    async def _query(self, select: str, end: str = "") -> list[tuple[Any, ...]]:
        where = " AND ".join(f"{quoted(name)} {sign} ?" for name, sign, _ in self._conditions) or "1"
        with closing(await self._connect()) as connection:
            statement = f"{select} FROM data WHERE {where} {end}"
            values = [value for *_, value in self._conditions]
            return await in_own_thread(lambda: connection.execute(statement, values).fetchall(), name="table")

    async def _filter(self, argument: str) -> Observation:
        before = list(self._conditions)
        for condition in argument.split(", "):
            sign = next((sign for sign in _COMPARISONS if sign in condition), "")
            if sign:
                column, value, *_ = condition.split(sign)
                if column not in self._columns:
                    return self._say("filter_failed", condition, cmd=condition)
                self._conditions.append((column, sign, _unquoted(value.strip())))
                if not (await self._query("SELECT 1", "LIMIT 1")):
                    self._conditions = before
                    return self._say("filter_empty", condition, cmd=condition)
        if not self._table:
            return self._say("filter_error")
        rows = (await self._query("SELECT COUNT(*)"))[0][0]
        return self._say("filtered", rows, current_length=rows)

    async def _get_value(self, column: str) -> Observation:
        if column not in self._columns:
            return self._say("value_missing")
        name = quoted(column)
        ((rows, size),) = await self._query(f"SELECT COUNT(*), SUM(LENGTH({name}))")
        # As many values as can be shown, and one more; the length of all of them is counted, not built.
        values = await self._query(f"SELECT {name}", f"LIMIT {MOST_SHOWN}")
        text = ", ".join(str(row[0]) for row in values)
        return Observation("value", text, text, (size or 0) + 2 * max(rows - 1, 0))

    async def _load_graph(self, graph: str) -> Observation:
        if graph != "dblp":
            return self._say("graph_unknown")
        self._graphs = await load_graphs(self.corpora, self.cache, self.sandbox)
        return self._say("graph_loaded")

    async def _neighbours(self, argument: str) -> Observation:
        graph, _, node = argument.partition(", ")
        answers = (self._graphs or {}).get(graph, {}).get("neighbours", {})
        return (
            Observation("neighbours", answers[node], answers[node]) if node in answers else self._say("neighbour_error")
        )

    async def _node(self, argument: str) -> Observation:
        graph, comma, node = argument.partition(", ")
        if self._graphs is None or graph not in GRAPHS or not comma:
            return self._say("node_error")
        text = self._graphs[graph]["nodes"].get(node)
        return self._say("node_missing") if text is None else Observation("node", text, text)

    async def _edge(self, argument: str) -> Observation:
        graph, *nodes = argument.split(", ", 2)
        if self._graphs is None or graph not in GRAPHS or len(nodes) != 2:
            return self._say("edge_error")
        text = self._graphs[graph]["edges"].get(nodes[0], {}).get(nodes[1])
        return self._say("edge_missing") if text is None else Observation("edge", text, text)

    async def _sql(self, statement: str) -> Observation:
        self.place.mkdir(parents=True, exist_ok=True)
        for table in sorted(self._waiting):
            await in_own_thread(_copy_table, self.cache / f"{table}.sqlite", self.place, table, name="table")
            self._in_sql.add(table)
        self._waiting.clear()
        stdin = json.dumps({"sql": _QUALIFIED.sub(r"\1_data", statement)})
        finished = await self._run(_SQL_SCRIPT, stdin, _SQL_LIMITS, self.place)
        if finished.exit_code != 0:
            return self._say("sql_error")
        text = json.loads(finished.stdout)
        return self._say("sql_done") if text is None else Observation("sql_rows", text[0], *text)

    async def _python(self, program: str) -> Observation:
        finished = await self._run(_PYTHON_SCRIPT, program, _PYTHON_LIMITS)
        if finished.exit_code == 0:
            text = finished.stdout.strip()
            return Observation("python_output", text, text)
        lines = finished.stderr.strip().splitlines()
        reason = lines[-1] if lines else f"stopped at the limit of {finished.stopped or 'time'}"
        return self._say("python_error", reason, e=reason)


_conversion = threading.Lock()


def _number(text: str) -> Observation:
    return Observation("number", text, text)


def _of_list(function: str, values: list[float]) -> str:
    numbers = sorted(value for value in values if value == value)  # nan is the value that is not itself
    if function in ("max", "min"):
        return str(numbers[-1 if function == "max" else 0]) if numbers else _raise()
    if function == "sum":
        return str(round(sum(numbers), 3))
    if not numbers:
        return _raise()
    middle = len(numbers) // 2
    median = numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2
    return str(round(sum(numbers) / len(numbers) if function == "mean" else median, 3))


def _raise() -> str:
    raise ValueError("no numbers")


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def _copy_table(source: Path, place: Path, table: str) -> None:
    """A table of the cache as `NAME_data` in the worker's own database, all columns texts."""
    target = place / "worker.sqlite"
    if not target.exists():
        shutil.copyfile(source, target)
        with closing(sqlite3.connect(target)) as connection:
            connection.execute(f"ALTER TABLE data RENAME TO {table}_data")
            connection.commit()
        return
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("ATTACH ? AS cached", [str(source)])
        (definition,) = connection.execute("SELECT sql FROM cached.sqlite_master WHERE name = 'data'").fetchone()
        connection.execute(re.sub(r"CREATE TABLE \S+", f"CREATE TABLE {table}_data", definition, count=1))
        connection.execute(f"INSERT INTO {table}_data SELECT * FROM cached.data")
        connection.commit()
