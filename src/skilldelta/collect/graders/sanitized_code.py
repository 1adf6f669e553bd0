"""The code that BigCodeBench's evaluator takes from a reply, wherever it stands in it.

Of all runs of lines that Python can parse, the one with the most lines that are not empty counts. From it stay the imports,
then the first definition of every name that the entry function leads to, by whatever identifiers stand in them. A decorated
definition is none. Lines at the end that call the entry function go.
"""

from __future__ import annotations

import ast
import io
import keyword
import threading
import tokenize
import warnings
from collections.abc import Iterable

from skilldelta.collect.graders.final_answer import without_thoughts

# More lines than a reply of any of the paper's agents can have; parsing takes the square of their number.
_MOST_LINES = 3000
_parsing = threading.Lock()


def sanitized_code(reply: str, entry_point: str) -> str:
    """The code of a reply as the evaluator runs it; the first line of a reply that has no code."""
    # Python warns of odd escapes in code that it parses, and filters of warnings belong to the whole process.
    with _parsing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = longest_code(without_thoughts(reply))
        return _needed_source(text, entry_point).strip() or text


def longest_code(text: str) -> str:
    """The lines that parse together and are the most, the first such run; the first line where no two lines do."""
    lines = text.split("\n")[:_MOST_LINES]
    filled = [0]
    for line in lines:
        filled.append(filled[-1] + bool(line.strip()))
    best, best_size = (0, 1), 0
    for start in range(len(lines)):
        if filled[-1] - filled[start] <= best_size:
            break
        end = _parsable_end(lines, start)
        if end - start < 2:
            continue
        while end - start > 2 and filled[end] == filled[end - 1]:
            end -= 1
        size = filled[end] - filled[start]
        if size > best_size:
            best, best_size = (start, end), size
    return "\n".join(lines[best[0] : best[1]])


def _parsable_end(lines: list[str], start: int) -> int:
    """Where the longest run of lines ends that begins here and parses.

    A run cannot end at or behind the line that Python complains of: what is wrong there stays wrong with more lines, and an
    open bracket or text stays open.
    """
    end = len(lines)
    while end > start:
        try:
            ast.parse("\n".join(lines[start:end]))
        except SyntaxError as error:
            end = min(start + max(error.lineno or 1, 1) - 1, end - 1)
        except (ValueError, RecursionError, MemoryError):
            return start
        else:
            break
    return end


def _needed_source(text: str, entry_point: str) -> str:
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    source = text.encode().splitlines(keepends=True)
    imports: list[str] = []
    definitions: dict[str, str] = {}
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            if getattr(statement, "module", None) != "__future__":
                imports.append(_segment(source, statement))
        elif name := _defined_name(statement):
            definitions.setdefault(name, _segment(source, statement))
    needed, queue = {entry_point}, [entry_point]
    while queue:
        fresh = _identifiers(definitions.get(queue.pop(), "")) - needed
        needed |= fresh
        queue += fresh
    parts = [*imports, *(code for name, code in definitions.items() if name in needed)]
    return _without_calls("\n".join(parts), entry_point)


def _defined_name(statement: ast.stmt) -> str | None:
    """The name that a statement defines. Of an assignment it is the first side that is nothing but a name."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return None if statement.decorator_list else statement.name
    if isinstance(statement, ast.Assign):
        sides: Iterable[ast.expr | None] = (
            statement.targets[0],
            *((statement.value,) if len(statement.targets) == 1 else ()),
        )
    elif isinstance(statement, ast.AnnAssign):
        sides = (statement.target, statement.value)
    else:
        return None
    return next((side.id for side in sides if isinstance(side, ast.Name)), None)


def _segment(source: list[bytes], statement: ast.stmt) -> str:
    """The text of a statement; of a block with the comments that end it."""
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    body = getattr(statement, "body", None)
    end = source[last][: statement.end_col_offset]
    if body and body[0].lineno > statement.lineno:
        if source[last][len(end) :].strip().startswith(b"#"):
            end = source[last].rstrip(b"\r\n")
        for number in range(last + 1, len(source)):
            line = source[number]
            is_comment = line.lstrip().startswith(b"#") and len(line) - len(line.lstrip()) >= body[0].col_offset
            if line.strip() and not is_comment:
                break
            if is_comment:
                end = b"".join([end, b"\n", *source[last + 1 : number], line.rstrip(b"\r\n")])
                last = number
    lines = source[first : (statement.end_lineno or statement.lineno) - 1]
    text = b"".join([*lines, end])
    return text[statement.col_offset :].decode()


def _identifiers(code: str) -> set[str]:
    """Every identifier of some code: variables, attributes, arguments, names in f-strings."""
    if not code:
        return set()
    names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    names |= {token.string for token in tokens if token.type == tokenize.NAME}
    return names - set(keyword.kwlist)


def _without_calls(code: str, entry_point: str) -> str:
    """Without the lines from the first unindented one on that names the entry point, below the last indented line."""
    lines = code.splitlines()
    cut = None
    for number in range(len(lines) - 1, -1, -1):
        if lines[number].startswith(" "):
            break
        if entry_point in lines[number]:
            cut = number
    return code if cut is None else "\n".join(lines[:cut])
