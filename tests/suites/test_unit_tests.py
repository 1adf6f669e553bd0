"""BigCodeBench's grading in the real sandbox: right and wrong code, and code that tries to get out or to cheat."""

from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collect.sandboxed import needs_bwrap
from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.base import Graded, GradingMode
from skilldelta.collect.graders.reply_code import code_defining, code_settings, packages_of
from skilldelta.collect.graders.unit_tests import TEST_LIMITS, UnitTests
from skilldelta.collect.sandbox import find_sandbox
from skilldelta.errors import InputError
from suites.grading import task_of

PROMPT = "def solve(n):"
TESTS = """\
import unittest

class TestCases(unittest.TestCase):
    def test_small(self):
        self.assertEqual(solve(2), 5)
    def test_zero(self):
        self.assertEqual(solve(0), 1)
"""
RIGHT = "def solve(n):\n    return 2 * n + 1\n"
WRONG = "def solve(n):\n    return 2 * n\n"


def fenced(code: str) -> str:
    return f"Here it is:\n\n```python\n{code}```\nDone."


def metadata(**changes: Any) -> dict[str, Any]:
    return {"tests": TESTS, "entry_point": "solve", "code_prompt": PROMPT, **changes}


def grade_all(
    replies: list[tuple[str, dict[str, Any]]], *, mode: GradingMode = "lenient", **limits: Any
) -> list[Graded]:
    """Several replies at once: a sandbox takes a fraction of a second each."""
    sandbox = find_sandbox("bubblewrap")
    settings = replace(TEST_LIMITS, **{"seconds": 60.0, **limits})
    grader = UnitTests(sandbox, packages_of("", "test"), settings, mode)

    async def main() -> list[Graded]:
        room = asyncio.Semaphore(4)

        async def one(reply: str, data: dict[str, Any]) -> Graded:
            async with room:
                return await grader.grade(reply, task_of(metadata=data), None)

        return await asyncio.gather(*(one(*case) for case in replies))

    return asyncio.run(main())


CASES = [
    # how code is given
    (fenced(RIGHT), True),
    (f"```\n{RIGHT}```", True),
    (RIGHT, True),
    (fenced(f"import math\n{RIGHT}"), True),
    (fenced(RIGHT + "\nprint(solve(3))\n"), True),
    (fenced(RIGHT + "\nraise SystemExit(1)\n"), True),
    (fenced(RIGHT + '\nif __name__ == "__main__":\n    solve("x")\n'), True),
    (fenced(RIGHT + "\nresult = solve(None)\n"), True),
    (fenced("def twice(n):\n    return 2 * n\n\ndef solve(n):\n    return twice(n) + 1\n"), True),
    (fenced("ONE = 1\n\ndef solve(n):\n    return 2 * n + ONE\n"), True),
    (fenced("solve = lambda n: 2 * n + 1\n"), True),
    (
        fenced(
            "class Sum:\n    @staticmethod\n    def of(n):\n        return 2 * n + 1\n\ndef solve(n):\n    return Sum.of(n)\n"
        ),
        True,
    ),
    (f"```python\n{RIGHT}", True),
    (f"First a try:\n```python\nprint(1)\n```\nThen:\n```python\n{RIGHT}```", True),
    ("```python\nONE = 1\n```\n```python\ndef solve(n):\n    return 2 * n + ONE\n```", False),
    (f"<think>```python\n{WRONG}```</think>{fenced(RIGHT)}", True),
    (f"The function:\n{RIGHT}\nIt doubles and adds.", True),
    (fenced(RIGHT).replace("return", "return  "), True),
    (fenced("def solve(n):\n    print('x' * 100000)\n    return 2 * n + 1\n"), True),
    (fenced("import json\n\ndef solve(n):\n    return json.loads(str(2 * n + 1))\n"), True),
    (fenced("def solve(n):\n    open('out.txt', 'w').write('kept in the sandbox')\n    return 2 * n + 1\n"), True),
    # wrong code
    (fenced(WRONG), False),
    (f"{fenced(WRONG)}\nBetter:\n{fenced(RIGHT)}", False),
    (fenced("def solve(n):\n    return 5\n"), False),
    (fenced("def solve(n):\n    raise ValueError(n)\n"), False),
    (fenced("def solve(n)\n    return 2 * n + 1\n"), False),
    (fenced("def other(n):\n    return 2 * n + 1\n"), False),
    (fenced("import no_such_package_at_all\n" + RIGHT), False),
    (fenced("def solve():\n    return 5\n"), False),
    (fenced("def solve(n):\n    return str(2 * n + 1)\n"), False),
    (fenced("def solve(n):\n    return solve(n)\n"), False),
    ("", False),
    ("I cannot write this.", False),
    ("```python\n```", False),
    # attempts to pass without solving
    (fenced("import os\ndef solve(n):\n    os._exit(0)\n"), False),
    (fenced("import sys\ndef solve(n):\n    sys.exit(0)\n"), False),
    (fenced("def solve(n):\n    print('OK'); raise KeyboardInterrupt\n"), False),
    (fenced('import os\ndef solve(n):\n    os.write(1, b\'{"tests": 2, "failed": []}\'); os._exit(0)\n'), False),
    (fenced("import os, signal\ndef solve(n):\n    os.kill(os.getpid(), signal.SIGKILL)\n"), False),
    (fenced("import unittest\ndef solve(n):\n    raise unittest.SkipTest('later')\n"), False),
    (fenced("unittest = None\ndef solve(n, unittest=unittest):\n    return unittest\n"), False),
    # code that deletes files, and code that opens a socket
    (fenced("import shutil\ndef solve(n):\n    shutil.rmtree('/', ignore_errors=True)\n    return 2 * n + 1\n"), True),
    (fenced("import os\ndef solve(n):\n    os.remove('/usr/bin/env')\n    return 2 * n + 1\n"), False),
]


@needs_bwrap
def test_code_is_graded_as_a_person_would() -> None:
    found = grade_all([(reply, metadata()) for reply, _ in CASES])
    wrong = [(reply, one) for (reply, truth), one in zip(CASES, found, strict=True) if one.success != float(truth)]
    assert wrong == []
    assert Path("/usr/bin/env").exists()


def test_there_are_at_least_forty_truth_cases() -> None:
    assert len(CASES) >= 40


@needs_bwrap
def test_escapes_are_stopped_and_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        port = server.getsockname()[1]
        outside = tmp_path / "escaped"
        attempts = {
            "network": f"import socket\ndef solve(n):\n    socket.create_connection(('127.0.0.1', {port}), 2)\n",
            "a name on the network": "import socket\ndef solve(n):\n    socket.getaddrinfo('example.org', 80)\n",
            "a write outside": f"def solve(n):\n    open({str(outside)!r}, 'w').write('x')\n",
            "a write into the packages": "def solve(n):\n    open('/packages/escaped.py', 'w').write('x')\n",
            "a fork bomb": "import os\ndef solve(n):\n    while True:\n        os.fork()\n",
            "memory": "def solve(n):\n    return len(bytearray(10**10))\n",
            "memory in small pieces": "def solve(n):\n    kept = []\n    while True:\n        kept.append(bytearray(10**6))\n",
            "a loop without end": "def solve(n):\n    while True:\n        pass\n",
        }
        cases = [(fenced(code), metadata()) for code in attempts.values()]
        found = dict(zip(attempts, grade_all(cases, seconds=3.0, memory_mb=256, processes=32), strict=True))
        with pytest.raises(TimeoutError):
            server.accept()
    assert [name for name, one in found.items() if one.success] == []
    remarks = {name: one.remark for name, one in found.items()}
    assert "2 of 2 tests failed" in remarks["network"]
    assert "gaierror" in remarks["a name on the network"]
    assert "No such file" in remarks["a write outside"] or "Read-only" in remarks["a write outside"]
    assert "Read-only" in remarks["a write into the packages"]
    assert remarks["a loop without end"] == "stopped at the limit of time"
    assert remarks["memory in small pieces"] in ("stopped at the limit of memory", "stopped at the limit of time") or (
        "MemoryError" in remarks["memory in small pieces"]
    )
    assert not outside.exists()
    assert not (packages_of("", "test") / "escaped.py").exists()


@needs_bwrap
def test_tests_that_cannot_be_run_are_a_grader_error_and_not_a_failure() -> None:
    for tests in (
        "import no_such_package_at_all\n" + TESTS,
        "x = 1\n",
        "class TestCases:\n    pass\n",
        "def broken(:\n",
    ):
        with pytest.raises(GraderError, match="cannot be run"):
            grade_all([(fenced(RIGHT), metadata(tests=tests))])


@needs_bwrap
def test_code_that_breaks_its_tests_is_a_failure_and_not_a_grader_error() -> None:
    sabotage = "import sys\ndef solve(n):\n    return 1\nsolve.x = sys.modules.update(unittest=None)\n"
    hidden = "import sys\n\nclass Early:\n    sys.modules['unittest'] = None\n\ndef solve(n, early=Early):\n    return 2 * n + 1\n"
    found = grade_all([(fenced(sabotage), metadata()), (fenced(hidden), metadata())])
    assert [one.success for one in found] == [0.0, 0.0]
    assert "failed to load" in found[1].remark


def test_of_a_reply_only_what_the_function_needs_is_run() -> None:
    code = (
        "import os\nA = 1\nB = A + 1\nunused = os.remove('x')\n\ndef solve(n):\n    return n + B\n\nprint(solve(1))\n"
    )
    assert (
        code_defining(f"```python\n{code}```", "solve")
        == "import os\nA = 1\nB = A + 1\n\ndef solve(n):\n    return n + B"
    )


def test_an_environment_without_packages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no virtual environment"):
        packages_of(str(tmp_path), "task 't1'")


def test_with_docker_the_suite_names_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    spec = {"type": "unit_tests", "image": "bench:1", "memory_mb": 512}
    sandbox, _, limits = code_settings(spec, "docker", TEST_LIMITS, "task 't1'")
    assert (sandbox.name, limits.memory_mb, limits.seconds) == ("docker:bench:1", 512, 240.0)
    with pytest.raises(InputError, match="has no option 'images'"):
        code_settings({"type": "unit_tests", "images": "x"}, "docker", TEST_LIMITS, "task 't1'")


def test_hostile_replies_are_read_in_a_moment() -> None:
    started = time.monotonic()
    long = "def solve(n):\n" + "    x = 1\n" * 3000 + "    return (\n" * 3000
    for reply in (long, "def a(\n" * 20_000, "```python\n" * 50_000, "(" * 200_000, "<think>" * 50_000):
        code_defining(reply, "solve")
    assert time.monotonic() - started < 20
    for depth in (100, 300, 600, 900, 3000):  # Python gives up on the deep ones: a failure, and no crash of the grader
        found = code_defining(fenced("def solve(n):\n    return n" + " + n" * depth + "\n"), "solve")
        assert "def solve" in found or depth > 100
    assert code_defining("Sure!\nimport os\ndef solve(n):\n    return n\nThat is all.", "solve").startswith("import os")
