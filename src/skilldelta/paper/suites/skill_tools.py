"""Functions that a skill brings along, as tools of an agent of Inspect AI, in the arm with the skill alone.

Their code comes from a corpus of others, so it runs in the sandbox. A model without function calling may also write
`TOOL_CALL: name(argument=value)` on a line of its own, and is answered with `TOOL_RESULT: …`. Under the authors' protocol
that is the only way: `text_tools` reads calls exactly as their runner does.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skilldelta.collect.agents.inspect_names import require_inspect
from skilldelta.collect.sandbox import Limits, Payload, Sandbox, find_sandbox
from skilldelta.errors import InputError
from skilldelta.files import json_list
from skilldelta.paper.suites.preparation import TOOLS_FILE

_LIMITS = Limits(seconds=10.0, memory_mb=512, processes=16)
_WRITTEN_CALL = re.compile(r"^[ \t`*]*TOOL_CALL:[ \t]*(\w+)\((.*)\)[ \t`*]*$", re.MULTILINE)
_TYPES: Mapping[str, Literal["number", "integer", "string", "boolean"]] = {
    **dict.fromkeys(("float", "number"), "number"),
    **dict.fromkeys(("int", "integer"), "integer"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
}
_MOST_RESULT = 3000
_WRAPPER = """\
import json, sys
given = json.load(sys.stdin)
space = {"__name__": "tool"}
exec("import math\\nimport datetime as _module\\nfrom datetime import date, datetime, timedelta", space)
exec(compile(given["implementation"], "tool.py", "exec"), space)
sys.stdout.write(str(space[given["name"]](**given["arguments"])))
"""


# As the authors' runner calls a tool: two modules are there, few built-ins, and an error is a text.
_PLAIN_WRAPPER = """\
import builtins, datetime, json, math, re, sys
given = json.load(sys.stdin)
names = "abs round min max int float str len sum pow bool range enumerate zip isinstance".split()
code = re.sub(r"^[ \\t]*(?:import math|import datetime|from datetime import [\\w, ]+|from math import [\\w, *]+)[ \\t]*$", "",
              given["implementation"], flags=re.MULTILINE)
space = {"__builtins__": {name: getattr(builtins, name) for name in names}, "math": math,
         "datetime": datetime.datetime, "timedelta": datetime.timedelta}
try:
    exec(compile(code, "tool.py", "exec"), space)
    shown = str(space[given["name"]](**given["arguments"]))
except Exception as error:
    shown = f"Error: {error}"
sys.stdout.write(shown)
"""
_EXACT_CALL = re.compile(r"^TOOL_CALL:\s*(\w+)\(([^)]*)\)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SkillTool:
    """One function of a skill."""

    name: str
    description: str
    parameters: Mapping[str, str]
    """The type of each argument, in words."""
    implementation: str

    async def call(self, arguments: Mapping[str, Any], sandbox: Sandbox, wrapper: str = _WRAPPER) -> str:
        """What the function returns as text, or why it did not; it runs in the sandbox."""
        call = {"implementation": self.implementation, "name": self.name, "arguments": dict(arguments)}
        stdin = json.dumps(call, default=str)
        finished = await sandbox.run(Payload([sandbox.python, "-I", "-c", wrapper], _LIMITS, stdin))
        if finished.exit_code == 0:
            return finished.stdout[:_MOST_RESULT]
        if finished.stopped:
            return f"Error: stopped at the limit of {finished.stopped}"
        lines = finished.stderr.strip().splitlines()
        return f"Error: {lines[-1][:300] if lines else 'no result'}"


def skill_tools(solver_file: str, *, rounds: int = 5) -> Callable[..., Awaitable[Any]]:
    """A solver of Inspect AI that offers the tools in `skills/NAME/tools.json` beside the solver's own file."""
    require_inspect()
    folder = Path(solver_file).parent / "skills"
    sandbox = find_sandbox()

    async def solve(state: Any, generate: Any) -> Any:
        offered = read_tools(folder, state.metadata["skill"]) if state.metadata["condition"] == "use" else []
        state.tools = [_as_inspect_tool(tool, sandbox) for tool in offered]
        for _ in range(rounds):
            state = await generate(state, tool_calls="single")
            if state.messages[-1].role != "tool" and not await answer_written_call(state, offered, sandbox):
                break
        return state

    return solve


def text_tools(solver_file: str, *, rounds: int = 5) -> Callable[..., Awaitable[Any]]:
    """A solver of Inspect AI that runs calls written as text, as the authors' runner does; what is graded has no results.

    Without the skill there is one request.
    """
    require_inspect()
    folder = Path(solver_file).parent / "skills"
    sandbox = find_sandbox()

    async def solve(state: Any, generate: Any) -> Any:
        from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

        offered = read_tools(folder, state.metadata["skill"]) if state.metadata["condition"] == "use" else []
        messages, graded = list(state.messages), list[str]()
        for _ in range(rounds):
            state.messages = list(messages)
            state = await generate(state, tool_calls="none")
            reply = state.output.completion or ""
            call = written_call(reply, {tool.name: tuple(tool.parameters) for tool in offered})
            if call is None:
                graded.append(reply)
                break
            graded.append(call.head)
            tool = next(tool for tool in offered if tool.name == call.name)
            result = await tool.call(call.arguments, sandbox, _PLAIN_WRAPPER)
            messages += [ChatMessageAssistant(content=call.head), ChatMessageUser(content=f"TOOL_RESULT: {result}")]
        state.output.completion = "\n".join(graded)
        return state

    return solve


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call of a tool in a reply: the text up to and with it, the tool's name, its arguments."""

    head: str
    name: str
    arguments: Mapping[str, Any]


def written_call(reply: str, tools: Mapping[str, Sequence[str]]) -> WrittenCall | None:
    """The first call in a reply that fits one of the tools, given as name and order of parameters; None without one."""
    for match in _EXACT_CALL.finditer(reply):
        arguments = _literals(match[2], tools[match[1]]) if match[1] in tools else None
        if arguments is not None:
            return WrittenCall(reply[: match.end()], match[1], arguments)
    return None


def _literals(written: str, parameters: Sequence[str]) -> dict[str, Any] | None:
    """Arguments by name, those by place under the parameter's name or their number; None where one is no literal."""
    try:
        call = ast.parse(f"f({written})", mode="eval").body
        if not isinstance(call, ast.Call) or any(keyword.arg is None for keyword in call.keywords):
            return None
        places = [*parameters, *(f"_pos_{place}" for place in range(len(parameters), len(call.args)))]
        arguments = {name: ast.literal_eval(value) for name, value in zip(places, call.args, strict=False)}
        return arguments | {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def read_tools(folder: Path, skill_id: str) -> list[SkillTool]:
    """The tools of a skill, or of every skill of a bundle; none where it brings none."""
    return [
        _tool(row, f"{path}: [{number}]")
        for name in skill_id.split("+")
        if (path := folder / name / TOOLS_FILE).is_file()
        for number, row in enumerate(json_list(path))
    ]


def _tool(row: Mapping[str, Any], where: str) -> SkillTool:
    name, code = row.get("name"), row.get("implementation")
    if not isinstance(name, str) or not name.isidentifier() or not isinstance(code, str):
        raise InputError(f"{where}: a tool needs a name and an implementation")
    parameters = row.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise InputError(f"{where}: the parameters of {name} must be an object")
    types = {str(key): value.get("type", "") if isinstance(value, dict) else value for key, value in parameters.items()}
    described = {key: str(kind) for key, kind in types.items()}
    return SkillTool(name, str(row.get("description") or name), described, code)


def _as_inspect_tool(tool: SkillTool, sandbox: Sandbox) -> Any:
    from inspect_ai.tool import ToolDef, ToolParam, ToolParams

    async def execute(**arguments: Any) -> str:
        return await tool.call(arguments, sandbox)

    properties = {
        name: ToolParam(type=_TYPES.get(kind.split()[0].lower() if kind else "", "string"), description=kind or name)
        for name, kind in tool.parameters.items()
    }
    params = ToolParams(properties=properties, required=[])
    return ToolDef(execute, name=tool.name, description=tool.description, parameters=params).as_tool()


async def answer_written_call(state: Any, offered: Sequence[SkillTool], sandbox: Sandbox) -> bool:
    """Run a call that the model wrote as text, and put its result into the conversation; False where there is none."""
    from inspect_ai.model import ChatMessageUser

    for name, written in _WRITTEN_CALL.findall(state.output.completion or ""):
        tool = next((offer for offer in offered if offer.name == name), None)
        if tool is not None:
            arguments = read_arguments(written, tool)
            result = "Error: the arguments cannot be read" if arguments is None else await tool.call(arguments, sandbox)
            state.messages.append(ChatMessageUser(content=f"TOOL_RESULT: {result}"))
            return True
    return False


def read_arguments(written: str, tool: SkillTool) -> dict[str, Any] | None:
    """Literal arguments by name, or by place; None for anything that is not a literal."""
    try:
        call = ast.parse(f"f({written})", mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        by_place = dict(zip(tool.parameters, map(ast.literal_eval, call.args), strict=False))
        by_name = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
        return None
    return {**by_place, **by_name}
