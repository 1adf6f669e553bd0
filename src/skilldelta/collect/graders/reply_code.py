"""Python code in a reply: the block that defines what is asked for, without examples of its use; and where it runs.

As BigCodeBench sanitises replies: of the code, imports stay, and whatever the wanted function needs; calls on the top
level, prints and other functions go.
"""

from __future__ import annotations

import ast
import json
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.graders.base import LIMIT_OPTIONS, chosen_limits, take_options
from skilldelta.collect.graders.final_answer import without_thoughts
from skilldelta.collect.process import Finished
from skilldelta.collect.sandbox import PACKAGES, Limits, Payload, Sandbox, SandboxName, find_sandbox
from skilldelta.errors import InputError

_FENCE = re.compile(r"```[ \t]*(?:[\w+-]*)[ \t]*\n(.*?)(?:\n?```|\Z)", re.DOTALL)
_CODE_LINE = re.compile(r"(?:from|import|def|class|async)\b|@")
# Lines of a reply that are looked at, and lines at which code is taken to begin: a bound on the work for one reply.
_MOST_LINES = 2000
_MOST_STARTS = 20
# Hostile replies have many lines that look like code; an ordinary one is found at once.
_MOST_CUTS = 50
_KEPT = (ast.Import, ast.ImportFrom)


# How the remark begins about code that a limit of the sandbox ended.
STOPPED = "stopped at the limit of"


@dataclass(frozen=True, slots=True)
class CodeGrader:
    """Where an agent's code runs, what it can import there, and what it may take."""

    sandbox: Sandbox
    packages: Path
    limits: Limits

    async def run_script(self, script: str, payload: Mapping[str, Any], workdir: Path) -> Finished:
        """Run a script of ours, which reads what it is given as JSON from its stdin."""
        stdin = json.dumps({**payload, "packages": PACKAGES})
        command = [self.sandbox.python, "-I", "-c", script]
        return await self.sandbox.run(Payload(command, self.limits, stdin, workdir, self.packages))

    def stopped(self, finished: Finished) -> str:
        """In words, the limit that ended the code; empty when it ended by itself."""
        limit = finished.stopped or ("time" if finished.exit_code is None else "")
        return f"{STOPPED} {limit}" if limit else ""


def code_settings(
    spec: Mapping[str, Any], sandbox: SandboxName, usual: Limits, where: str
) -> tuple[Sandbox, Path, Limits]:
    """The settings of graders that run code: limits, the `environment` with its packages, Docker's `image`.

    `environment` is a virtual environment for the same Python. With Docker, the image has the packages.
    """
    options = take_options(spec, where, environment=str, image=str, mode=str, **LIMIT_OPTIONS)
    image = {"docker_image": options["image"]} if "image" in options else {}
    return (
        find_sandbox(sandbox, **image),
        packages_of(options.get("environment", ""), where),
        chosen_limits(usual, options),
    )


def packages_of(environment: str, where: str) -> Path:
    """The packages of a virtual environment; of this interpreter's own where none is named."""
    if not environment:
        return Path(sysconfig.get_paths()["purelib"])
    folders = sorted(Path(environment).expanduser().glob("lib/python*/site-packages"))
    if not folders:
        raise InputError(f"{where}: {environment} is no virtual environment; expected lib/python*/site-packages in it")
    return folders[0]


def code_blocks(reply: str) -> list[str]:
    """The fenced blocks of a reply, else the whole of it."""
    spoken = without_thoughts(reply)
    return [block for block in _FENCE.findall(spoken) if block.strip()] or [spoken]


def code_defining(reply: str, name: str) -> str:
    """The part of a reply's code that `name` needs; empty where no code that can be parsed defines it.

    Of several blocks that define it the longest counts: models show a sketch first and a variant last.
    """
    blocks = code_blocks(reply)
    longest_first = sorted(
        blocks, key=lambda block: sum(bool(line.strip()) for line in block.splitlines()), reverse=True
    )
    for source in (*longest_first, "\n\n".join(blocks), _longest_code("\n".join(blocks))):
        tree = _parsed(source)
        if tree is not None and name in _defined(tree.body):
            return _written(list(_needed(tree.body, name))) or source
    return ""


def _written(statements: list[ast.stmt]) -> str:
    """The statements as code; empty for those that are nested too deeply to be written down."""
    try:
        return ast.unparse(ast.Module(statements, type_ignores=[]))
    except RecursionError:
        return ""


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defined(statements: Iterable[ast.stmt]) -> dict[str, ast.stmt]:
    """Top-level names and the statement that binds each last."""
    definitions: dict[str, ast.stmt] = {}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            definitions[statement.name] = statement
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                definitions.update(dict.fromkeys(_names(target), statement))
    return definitions


def _needed(statements: list[ast.stmt], name: str) -> Iterator[ast.stmt]:
    """Imports, and what the name leads to by the names that it uses; in the order of the code."""
    defined, needed = _defined(statements), {name}
    queue = [name]
    while queue:
        statement = defined.get(queue.pop())
        fresh = (set(_names(statement)) & set(defined)) - needed if statement else set()
        needed |= fresh
        queue += fresh
    statement_ids = {id(defined[name_needed]) for name_needed in needed}
    yield from (
        name_needed for name_needed in statements if isinstance(name_needed, _KEPT) or id(name_needed) in statement_ids
    )


def _names(node: ast.AST) -> list[str]:
    return [name_node.id for name_node in ast.walk(node) if isinstance(name_node, ast.Name)]


def _longest_code(text: str) -> str:
    """The lines from the first that looks like code on, as far as they parse: prose around it is left out."""
    lines = text.splitlines()[:_MOST_LINES]
    for start in [i for i, line in enumerate(lines) if _CODE_LINE.match(line)][:_MOST_STARTS]:
        end = len(lines)
        for _ in range(_MOST_CUTS):
            source = "\n".join(lines[start:end])
            wrong = _wrong_line(source)
            if wrong is None:
                return source
            end = min(start + wrong - 1, end - 1)  # each cut ends before the line that was wrong
            if end <= start:
                break
    return ""


def _wrong_line(source: str) -> int | None:
    """The line at which a source stops being Python; None where it does not."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return max(error.lineno or 1, 1)
    except (ValueError, RecursionError, MemoryError):
        return 1
    return None
