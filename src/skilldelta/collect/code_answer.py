"""The `code` solver's part beside the model: a reply becomes a function `solve()`, its return value the answer.

The function was written by an agent, so it runs in the sandbox. No code, broken code, an exception or a timeout is an
empty answer: a failure of the agent, not an error.
"""

from __future__ import annotations

import re

from skilldelta.collect.reply_text import without_surrogates
from skilldelta.collect.sandbox import Limits, Sandbox

PREFILL = "```python\ndef solve():\n"
STOP = ("\n```", "\nprint(", "\n#")
PROTOCOL = "code/1"
"""Part of the fingerprint: raised when messages, extraction or execution change."""

LIMITS = Limits(seconds=5.0, memory_mb=512)

_WRAPPER = """\
import contextlib, io, sys
code = sys.stdin.read()
space = {"__name__": "agent"}
with contextlib.redirect_stdout(io.StringIO()):
    exec(compile(code, "answer.py", "exec"), space)
    value = space["solve"]()
if isinstance(value, float) and value.is_integer():
    value = int(value)
sys.stdout.write("" if value is None else str(value).strip())
"""


async def run_answer(code: str, sandbox: Sandbox) -> str:
    """What `solve()` returns, as text; empty when it does not."""
    if not code.strip():
        return ""
    finished = await sandbox.run([sandbox.python, "-I", "-c", _WRAPPER], stdin=without_surrogates(code), limits=LIMITS)
    return finished.stdout.strip() if finished.exit_code == 0 else ""


def extract_code(reply: str) -> str:
    """The function in a reply, whether it repeats the prefill, only continues it, or starts over.

    A continuation begins with an indented body, so nothing is stripped on its left.
    """
    text = reply if "def solve" in reply else PREFILL + reply
    start = text.index("def solve")
    fences = [match for match in re.finditer(r"```[ \t]*(?:python|py)?[ \t]*\n?", text) if match.end() <= start]
    code = text[fences[-1].end() :] if fences else text[_with_imports(text, start) :]
    return code.split("```", 1)[0]


def _with_imports(text: str, start: int) -> int:
    """Where the import lines directly above the function begin."""
    lines = text[:start].splitlines(keepends=True)
    while lines and re.match(r"(import|from)\s", lines[-1]):
        start -= len(lines.pop())
    return start
