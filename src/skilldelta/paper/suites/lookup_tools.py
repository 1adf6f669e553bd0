"""ToolQA's tools for an agent of Inspect AI: load, filter and read a table, search a text, compute.

Each execution has a table of its own, filtered as far as that execution has come. What a tool cannot do is said to the
agent, in words; a tool never raises.
"""

from __future__ import annotations

import ast
import asyncio
import math
import operator
import re
import sqlite3
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.collect.agents.inspect_names import require_inspect
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.paper.suites.lookup_corpora import available, check_corpora, columns_of, quoted, read_texts, table_file

# Characters of an observation that an agent is shown.
_MOST_SHOWN = 3000
_PASSAGES = 3
_QUERY_SECONDS = 30.0
_CONDITION = re.compile(r"\s*(.+?)\s*(>=|<=|>|<|=)\s*(.*?)\s*")
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: math.pow,  # of floats: a tower of exponents overflows instead of running for ever
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "mean": lambda *values: statistics.fmean(values),
    "median": lambda *values: statistics.median(values),
    "sum": lambda *values: math.fsum(values),
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "sqrt": math.sqrt,
    "abs": abs,
    "round": lambda value, digits=0: round(float(value), int(digits)),
    "pow": math.pow,
}


def lookup_agent(
    corpora: Path, cache: Path, *, encoder: str = "wordllama", steps: int = 8
) -> Callable[..., Awaitable[Any]]:
    """A solver of Inspect AI that has the tools at hand and makes at most `steps` calls of the model.

    Tables are turned into files of the folder `cache`.
    """
    require_inspect()
    check_corpora(corpora)
    tables, texts = available(corpora)
    search = PassageSearch(corpora, load_encoder(encoder))

    async def solve(state: Any, generate: Any) -> Any:
        desk = TableDesk(corpora, cache)
        state.tools = _tools(desk, search, tables, texts)
        for _ in range(steps):
            state = await generate(state, tool_calls="single")
            if state.messages[-1].role != "tool":
                break
        return state

    return solve


@dataclass(slots=True)
class TableDesk:
    """The table that one execution has loaded, and the conditions that it has set."""

    folder: Path
    cache: Path
    conditions: list[tuple[str, str, str]] = field(default_factory=list)
    _file: Path | None = None
    _columns: list[str] = field(default_factory=list)

    def load(self, table: str) -> str:
        """Take a table; its columns in words."""
        tables, _ = available(self.folder)
        if table not in tables:
            return f"There is no table {table!r}. Tables: {', '.join(tables)}."
        with _conversion:
            self._file = table_file(self.folder, table, self.cache)
        self.conditions = []
        with _opened(self._file) as connection:
            self._columns = columns_of(connection)
        return f"The table {table} is loaded. Its columns: {', '.join(self._columns)}."

    def filter(self, conditions: str) -> str:
        """Narrow the table down; a condition that leaves nothing is not kept."""
        if self._file is None:
            return "Load a table first."
        added = []
        for text in conditions.split(", "):
            condition = _CONDITION.fullmatch(text)
            if not condition or condition[1] not in self._columns:
                return f"The condition {text!r} cannot be read. Write COLUMN=VALUE with a column of the table."
            added.append((condition[1], condition[2], condition[3].strip("\"'")))
        before, self.conditions = self.conditions, [*self.conditions, *added]
        number = self._query("SELECT COUNT(*)")[0][0]
        if not number:
            self.conditions = before
            return f"No row fits {conditions!r}, so the condition was not kept."
        return f"{number} rows are left."

    def values(self, column: str) -> str:
        """A column of the rows that are left."""
        if self._file is None:
            return "Load a table first."
        if column not in self._columns:
            return f"There is no column {column!r}. Columns: {', '.join(self._columns)}."
        # One value more than fits is enough to know that there are more.
        return _shown(", ".join(str(row[0]) for row in self._query(f"SELECT {quoted(column)}", limit=_MOST_SHOWN)))

    def _query(self, select: str, limit: int = 1) -> list[tuple[Any, ...]]:
        assert self._file is not None
        where = " AND ".join(f"{quoted(name)} {sign} ?" for name, sign, _ in self.conditions) or "1"
        with _opened(self._file) as connection:
            cursor = connection.execute(
                f"{select} FROM data WHERE {where} LIMIT {limit}", [value for *_, value in self.conditions]
            )
            return cursor.fetchall()


@dataclass(slots=True)
class PassageSearch:
    """The nearest passages of a text corpus by meaning; a corpus is encoded when it is first asked."""

    folder: Path
    encoder: Encoder
    _encoded: dict[str, tuple[list[str], Vectors]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, name: str, question: str) -> str:
        """The passages as an agent is shown them."""
        return _shown(self.nearest(name, question) or "The corpus is empty.")

    def nearest(self, name: str, question: str) -> str:
        """The three nearest passages, the nearest first; of equally near ones the later first, as the benchmark has it."""
        with self._lock:
            if name not in self._encoded:
                passages = read_texts(self.folder, name)
                self._encoded[name] = passages, self.encoder.encode(passages)
        passages, vectors = self._encoded[name]
        if not passages:
            return ""
        near = np.argsort(vectors @ self.encoder.encode([question])[0], kind="stable")[::-1][:_PASSAGES]
        return "\n".join(passages[i] for i in near)


def compute(formula: str) -> str:
    """The value of a formula of numbers, + - * / // % **, brackets, and mean, median, sum, max, min, sqrt, abs, round."""
    try:
        if len(formula) > 1000:
            raise ValueError(formula)
        value = _value(ast.parse(formula.strip(), mode="eval").body)
        if not math.isfinite(value):
            raise ValueError(formula)
    except (ValueError, SyntaxError, KeyError, TypeError, ArithmeticError, RecursionError, MemoryError):
        return f"This is not a formula of numbers, + - * / // % **, brackets, {', '.join(_FUNCTIONS)} that has a value."
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _value(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value) if abs(node.value) > 1e15 else node.value  # type: ignore[return-value, arg-type]
    if isinstance(node, ast.BinOp):
        return float(_OPERATORS[type(node.op)](_value(node.left), _value(node.right)))
    if isinstance(node, ast.UnaryOp):
        return float(_OPERATORS[type(node.op)](_value(node.operand)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return float(_FUNCTIONS[node.func.id.lower()](*map(_value, node.args)))
    raise ValueError(ast.dump(node)[:80])


def _tools(desk: TableDesk, search: PassageSearch, tables: list[str], texts: list[str]) -> list[Any]:
    tools = []
    if tables:
        names = ", ".join(tables)
        tools += [
            _tool("load_table", f"Load a table: {names}.", desk.load, table="Its name."),
            _tool(
                "filter_table",
                "Keep the rows that fit conditions such as COLUMN=VALUE, COLUMN>=VALUE; several are joined by ', '.",
                desk.filter,
                conditions="The conditions.",
            ),
            _tool("get_values", "The values of a column in the rows that are left.", desk.values, column="Its name."),
        ]
    for name in texts:

        def find(question: str, corpus: str = name) -> str:
            return search.find(corpus, question)

        tools.append(_tool(f"search_{name}", f"Passages of {name} near a question.", find, question="The question."))
    tools.append(
        _tool("compute", "The value of a formula.", compute, formula="Such as (3 + 4) / 2, mean(3, 4) or sqrt(2).")
    )
    return tools


def _tool(name: str, description: str, function: Callable[..., str], **parameters: str) -> Any:
    from inspect_ai.tool import ToolDef, ToolParam, ToolParams

    async def execute(**arguments: Any) -> str:
        try:
            return await asyncio.to_thread(lambda: function(**{key: str(value) for key, value in arguments.items()}))
        except (sqlite3.Error, OSError, TypeError) as error:
            return f"The tool failed: {type(error).__name__}. Try another way."

    properties = {key: ToolParam(type="string", description=text) for key, text in parameters.items()}
    params = ToolParams(properties=properties, required=list(parameters))
    return ToolDef(execute, name=name, description=description, parameters=params).as_tool()


_conversion = threading.Lock()


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """A table opened to be read, for no longer than a query may take."""
    end = time.monotonic() + _QUERY_SECONDS
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        connection.set_progress_handler(lambda: int(time.monotonic() > end), 10_000)
        yield connection


def _shown(text: str) -> str:
    if len(text) <= _MOST_SHOWN:
        return text
    return f"{text[:_MOST_SHOWN]}… (shortened; narrow the question down)"
