"""The unit-test grader: BigCodeBench's tests on the code of a reply, in the sandbox.

A solution and its tests run in one process, as the benchmark runs them. Its verdict leaves the sandbox by a pipe that
the solution is not handed, under a word that it is not told, so that an exit, a printed "OK" or a patched stdout is no
success. Every test of the task has to pass; code that hangs or asks for too much is a failure with its limit named.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.base import Graded, GradingMode
from skilldelta.collect.graders.reply_code import CodeGrader, code_defining
from skilldelta.collect.graders.sanitized_code import sanitized_code
from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.process import Finished
from skilldelta.collect.sandbox import Limits
from skilldelta.collect.suite import SuiteTask
from skilldelta.collect.workspace import temporary_folder
from skilldelta.errors import InputError
from skilldelta.nouns import plural

TEST_LIMITS = Limits(seconds=240.0, memory_mb=4096, disk_mb=1024, processes=128)
"""The benchmark's time; its 30 GB of memory are more than most machines have."""
_MOST_SAID = 300
_RUNNER = """\
import io, json, os, sys, types, unittest
given = json.load(sys.stdin)
word, report = given.pop("word"), os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
os.environ.update(TZ="UTC", OMP_NUM_THREADS="1", MPLBACKEND="Agg", MPLCONFIGDIR="/tmp")
sys.path.append(given["packages"])
sys.stdin, sys.stdout, sys.stderr = io.StringIO(), io.StringIO(), io.StringIO()

def run(code, tests, only_load):
    module = types.ModuleType("__test__")
    module.__dict__.update(os=os, sys=sys, environ=os.environ, __file__="__test__.py")
    sys.modules["__test__"] = module
    result = unittest.TestResult()
    try:
        exec(compile(code, "solution.py", "exec"), module.__dict__)
    except BaseException as error:
        return {"problem": f"the code failed: {type(error).__name__}: {error}", "tests": 0, "failed": []}
    try:
        exec(compile(tests, "tests.py", "exec"), module.__dict__)
        cases = unittest.TestLoader().loadTestsFromTestCase(module.TestCases)
    except BaseException as error:
        return {"problem": f"the tests failed to load: {type(error).__name__}: {error}", "tests": 0, "failed": []}
    if only_load:
        return {"tests": cases.countTestCases(), "failed": []}
    cases.run(result)
    bad = [(case.id(), text.strip().splitlines()[-1]) for case, text in result.failures + result.errors]
    bad += [(case.id(), "unexpected success") for case in result.unexpectedSuccesses]
    for case, why in result.skipped:  # by the test's own mark, or by an exception that the solution raised
        method = getattr(case, getattr(case, "_testMethodName", ""), None)
        if not getattr(method, "__unittest_skip__", getattr(type(case), "__unittest_skip__", False)):
            bad.append((case.id(), f"skipped while it ran: {why}"))
    return {"tests": result.testsRun, "failed": bad}

try:
    found = run(given["code"], given["tests"], given["only_load"])
except BaseException as error:
    found = {"problem": f"the tests ended with {type(error).__name__}: {error}", "tests": 1, "failed": []}
os.write(report, (word + json.dumps(found)[:60000] + "\\n").encode("utf-8", "replace"))
os._exit(0)
"""


@dataclass(frozen=True, slots=True)
class UnitTests(CodeGrader):
    """`metadata` has the `tests`, the `entry_point` that they call, and a `code_prompt` that stands before the solution."""

    mode: GradingMode = "lenient"

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        entry_point = task.metadata["entry_point"]
        if self.mode == "exact":
            # As the benchmark does, whatever is there runs behind the code prompt, and its tests decide.
            code = await in_own_thread(sanitized_code, answer, entry_point, name="sanitize")
        else:
            code = code_defining(answer, entry_point)
            if not code:
                return Graded(0.0, f"no code in the reply that defines {entry_point}")
        found = await self._run(code, task)
        if isinstance(found, str):
            return Graded(0.0, found)
        if not found.tests:
            await self._check_tests(task)
        if found.problem or found.failed:
            return Graded(0.0, found.in_words())
        return Graded(float(found.tests > 0), found.in_words())

    async def _check_tests(self, task: SuiteTask) -> None:
        """Where no test ran, load the tests without the solution: if they cannot be, the fault is the suite's."""
        entry_point = task.metadata["entry_point"]
        alone = await self._run(f"def {entry_point}(*arguments, **options): pass", task, only_load=True)
        if isinstance(alone, str) or alone.problem or not alone.tests:
            said = alone if isinstance(alone, str) else alone.in_words()
            raise GraderError(f"the tests of task {task.task_id!r} cannot be run: {said}")

    async def _run(self, code: str, task: SuiteTask, *, only_load: bool = False) -> _Found | str:
        """What the tests found, or in words why there is no finding."""
        prompt, word = task.metadata.get("code_prompt", ""), secrets.token_hex(16)
        payload = {
            "word": word,
            "code": f"{prompt}\n    pass\n{code}" if prompt else code,
            "tests": task.metadata["tests"],
            "only_load": only_load,
        }
        async with temporary_folder() as place:
            finished = await self.run_script(_RUNNER, payload, place)
        return self.stopped(finished) or _read_report(finished, word)


@dataclass(frozen=True, slots=True)
class _Found:
    tests: int
    failed: tuple[tuple[str, str], ...]
    problem: str = ""

    def in_words(self) -> str:
        if self.problem:
            return self.problem[:_MOST_SAID]
        if not self.failed:
            return f"{plural(self.tests, 'test')} passed" if self.tests else "no test was run"
        name, said = self.failed[0]
        return f"{len(self.failed)} of {plural(self.tests, 'test')} failed, the first {name}: {said}"[:_MOST_SAID]


def check_tested_task(task: SuiteTask, where: str) -> None:
    """A task without tests could never be passed."""
    for key in ("tests", "entry_point"):
        if not isinstance(task.metadata.get(key), str) or not task.metadata[key].strip():
            raise InputError(f"{where}: grader 'unit_tests' needs {key} in the metadata")


def _read_report(finished: Finished, word: str) -> _Found | str:
    lines = [line for line in finished.stdout.splitlines() if line.startswith(word)]
    try:
        report = json.loads(lines[-1].removeprefix(word))
        failed = tuple((str(name), str(said)) for name, said in report["failed"])
        return _Found(int(report["tests"]), failed, str(report.get("problem", "")))
    except (LookupError, ValueError, TypeError):
        return f"the code ended the process (exit code {finished.exit_code}) before its tests were over"
