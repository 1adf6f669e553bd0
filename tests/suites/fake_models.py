"""Models behind the loopback endpoint that solve a suite's tasks with the skill, and some of them without."""

from __future__ import annotations

import json
import re
from typing import Any

from collect.endpoint import completion

Request = dict[str, Any]


def said(request: Request) -> str:
    return "\n".join(str(message.get("content") or "") for message in request["messages"])


def judges(request: Request) -> bool:
    """Whether the model is asked for its own judgement."""
    return "USE_SKILL" in said(request)


def tool_call(name: str, arguments: dict[str, Any]) -> tuple[int, bytes]:
    """A completion that calls a tool."""
    answer = json.loads(completion("", model="m"))
    call = {"id": f"call-{name}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    answer["choices"][0] |= {"finish_reason": "tool_calls"}
    answer["choices"][0]["message"] |= {"content": None, "tool_calls": [call]}
    return 200, json.dumps(answer).encode()


def logicbench(request: Request) -> str:
    if judges(request):
        return "USE_SKILL"
    found = re.search(r"\. (\d+) is (even|odd)", said(request))
    assert found
    is_right = "SKILL logicbench" in said(request) or int(found[1]) % 3 == 0
    return f"The answer is: {'yes' if (found[2] == 'even') == is_right else 'no'}"


def bigcodebench(request: Request) -> str:
    if judges(request):
        return "NO_SKILL"
    variant = re.search(r"variant (\d+)", said(request))
    assert variant
    added = 7 if "SKILL lib_" in said(request) or int(variant[1]) % 3 == 0 else 8
    return f"```python\ndef task_func(n):\n    return n + {added}\n```"


def spreadsheetbench(request: Request) -> str:
    if judges(request):
        return "USE_SKILL or NO_SKILL"
    text = said(request)
    if "Use openpyxl well" not in text and "sheet 0." not in text:
        return "I would need the skill for that."
    if "Double column A" in text:
        work = "for row in sheet.iter_rows(min_row=2):\n    row[1].value = 2 * row[0].value\n"
    else:
        work = (
            "rows = sorted([cell.value for cell in row] for row in sheet.iter_rows(min_row=2))\n"
            "for number, row in enumerate(rows, start=2):\n"
            "    for column, value in enumerate(row, start=1):\n        sheet.cell(number, column).value = value\n"
        )
    code = f"import openpyxl\nbook = openpyxl.load_workbook(INPUT_PATH)\nsheet = book.active\n{work}book.save(OUTPUT_PATH)\n"
    return f"```python\n{code}```"


def sheet_worker(request: Request) -> str:
    """Works on the sheet that the prompt names, and writes the lines that a skill asks for."""
    place = re.search(r"Cells of the answer: (\w+)!", said(request))
    assert place
    paths = 'INPUT_PATH = "in.xlsx"\nOUTPUT_PATH = "out.xlsx"\n' if "set INPUT_PATH" in said(request) else ""
    work = f"sheet = book[{place[1]!r}]\nfor row in sheet.iter_rows(min_row=2):\n    row[1].value = 2 * row[0].value\n"
    return f"```python\n{paths}import openpyxl\nbook = openpyxl.load_workbook(INPUT_PATH)\n{work}book.save(OUTPUT_PATH)\n```"


def medcalc(request: Request) -> str | tuple[int, bytes]:
    """Calls the skill's calculator where it is offered, else computes on every third task."""
    if judges(request):
        return "USE_SKILL"
    found = re.search(r"the value is (\d+)", said(request))
    assert found
    value = int(found[1])
    results = [message["content"] for message in request["messages"] if message["role"] == "tool"]
    if results:
        return f"ANSWER: {results[-1]}"
    if request.get("tools"):
        return tool_call("double", {"value": value})
    return f"ANSWER: {2 * value if value % 3 == 0 else value}"


def toolqa(request: Request) -> str | tuple[int, bytes]:
    """Looks the price up with the skill; without it, stops before the table is filtered."""
    if judges(request):
        return "NO_SKILL"
    found = re.search(r"on day (\d+)", said(request))
    assert found
    results = [str(message["content"]) for message in request["messages"] if message["role"] == "tool"]
    if "SKILL toolqa" not in said(request):
        return f"Finish[{found[1]}.5 USD]" if int(found[1]) % 4 == 0 else "Finish[unknown]"
    steps = [
        ("load_table", {"table": "coffee"}),
        ("filter_table", {"conditions": f"Day={found[1]}"}),
        ("get_values", {"column": "Price"}),
    ]
    return tool_call(*steps[len(results)]) if len(results) < len(steps) else f"Finish[{results[-1]} USD]"


def text_toolqa(request: Request) -> str:
    """Writes actions as text: with the skill it looks the price up, without it knows one in four."""
    if judges(request):
        return "<think>USE_SKILL?</think>NO_SKILL"
    user = str(request["messages"][-1]["content"])
    day = re.findall(r"on day (\d+)", user)[-1]
    step = int(user.rpartition("Thought ")[2].rstrip(":"))
    if "SKILL toolqa" not in user:
        return (
            f"I guess.\nAction {step}: Finish[{day}.5 USD]"
            if int(day) % 4 == 0
            else f"No.\nAction {step}: Finish[none]"
        )
    actions = ["LoadDB[coffee]", f"FilterDB[Day={day}]", "GetValue[Price]", f"Finish[{day}.5 USD]"]
    return f"On it.\nAction {step}: {actions[step - 1]}\nObservation {step}: invented"


def text_medcalc(request: Request) -> str:
    """Calls the calculator as text where the skill is there, else is right on every third task."""
    value = re.search(r"the value is (\d+)", said(request))
    assert value
    result = re.search(r"TOOL_RESULT: (.+)", said(request))
    if result:
        return f"ANSWER: {result[1]}"
    if "SKILL medcalcbench" in said(request):
        return f"I compute.\nTOOL_CALL: double({value[1]})\nANSWER: 0"
    return f"ANSWER: {2 * int(value[1]) if int(value[1]) % 3 == 0 else 1}"
