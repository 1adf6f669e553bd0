"""The unit-test grader: BigCodeBench's tests on the code of a reply, in the sandbox.

A solution and its tests run in one process, as the benchmark runs them. Its verdict leaves the sandbox by a pipe that
the solution is not handed, under a word that it is not told, so that an exit, a printed "OK" or a patched stdout is no
success. Every test of the task has to pass; code that hangs or asks for too much is a failure with its limit named.

Code in the same process can still tamper with what grades it. An answer that passes is therefore run once more, against
tests that must fail (`canaries`); and while tests run, an audit hook notices code that searches frames or memory, and
built-in functions are checked for having been replaced. Such an answer is suspect: it fails, unless the suite asks for the
benchmark's own grade (`mode: exact`), which is then kept with the suspicion beside it.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.base import Graded, GradingMode
from skilldelta.collect.graders.canaries import canary_tests, method_names
from skilldelta.collect.graders.reply_code import STOPPED, CodeGrader, code_defining
from skilldelta.collect.graders.sanitized_code import sanitized_code
from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.process import Finished
from skilldelta.collect.sandbox import Limits
from skilldelta.collect.suite import SuiteTask
from skilldelta.collect.workspace import temporary_folder
from skilldelta.errors import InputError
from skilldelta.nouns import plural

# The benchmark's time; its 30 GB of memory are more than most machines have.
TEST_LIMITS = Limits(seconds=240.0, memory_mb=4096, disk_mb=1024, processes=128)
# Characters of a reason in the transcript.
_MOST_SAID = 300
_RUNNER = """\
import builtins, io, json, os, sys, types, unittest

def main():
    given = json.load(sys.stdin)
    word, report, write, leave = given.pop("word"), os.dup(1), os.write, os._exit
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.environ.update(TZ="UTC", OMP_NUM_THREADS="1", MPLBACKEND="Agg", MPLCONFIGDIR="/tmp")
    sys.path.append(given["packages"])
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(), io.StringIO(), io.StringIO()
    usual, searches, busy, frame_of = dict(vars(builtins)), set(), [], sys._getframe
    attributes = ("tb_frame", "gi_frame", "cr_frame", "ag_frame", "__code__")

    def watch(event, arguments):
        # Only what the solution itself does counts: libraries look at frames all the time.
        if event == "object.__getattr__" or event == "object.__setattr__":
            name = arguments[1]
            if name not in attributes:
                return
        elif event == "open":
            name = str(arguments[0])
            if not name.startswith("/proc/") or not name.endswith(("/mem", "/environ")):
                return
        elif event not in ("sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile", "gc.get_objects",
                           "gc.get_referrers", "gc.get_referents", "ctypes.dlopen"):
            return
        if busy:
            return
        busy.append(1)
        try:
            frame = frame_of(1)
            if frame.f_code.co_filename.endswith("inspect.py") and frame.f_back is not None:
                frame = frame.f_back
            if frame.f_code.co_filename == "solution.py":
                searches.add(event)
        finally:
            busy.clear()

    def run(code, tests, only_load):
        module = types.ModuleType("__test__")
        module.__dict__.update(os=os, sys=sys, environ=os.environ, __file__="__test__.py")
        sys.modules["__test__"] = module
        result = unittest.TestResult()
        sys.addaudithook(watch)
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
        bad = [(case.id(), text.strip().splitlines()[-1][:300]) for case, text in result.failures + result.errors]
        bad += [(case.id(), "unexpected success") for case in result.unexpectedSuccesses]
        for case, why in result.skipped:  # by the test's own mark, or by an exception that the solution raised
            method = getattr(case, getattr(case, "_testMethodName", ""), None)
            if not getattr(method, "__unittest_skip__", getattr(type(case), "__unittest_skip__", False)):
                bad.append((case.id(), f"skipped while it ran: {why}"[:300]))
        replaced = [name for name, value in usual.items() if vars(builtins).get(name) is not value and name != "_"]
        return {"tests": result.testsRun, "failed": bad, "searches": sorted(searches), "replaced": replaced[:5]}

    try:
        found = run(given["code"], given["tests"], given["only_load"])
    except BaseException as error:
        found = {"problem": f"the tests ended with {type(error).__name__}: {error}"[:1000], "tests": 1, "failed": []}
    content = (word + json.dumps(found)[:1000000] + "\\n").encode("utf-8", "replace")
    while content:
        content = content[write(report, content):]
    leave(0)

main()
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
        outcome = await self._run(code, task, task.metadata["tests"])
        if isinstance(outcome, str):
            return Graded(0.0, outcome)
        if not outcome.tests:
            await self._check_tests(task)
        if outcome.problem or outcome.failed or not outcome.tests:
            return Graded(0.0, outcome.in_words())
        suspicion = await self._suspicion(code, task, outcome)
        if suspicion:
            success = float(self.mode == "exact")  # the benchmark's own grade
            return Graded(success, f"suspect: {outcome.in_words()}, but {suspicion}")
        return Graded(1.0, outcome.in_words())

    async def _suspicion(self, code: str, task: SuiteTask, outcome: _Outcome) -> str:
        """Why an answer that passed cannot be trusted; empty where nothing speaks against it."""
        tests = task.metadata["tests"]
        if outcome.tampering:
            return outcome.tampering
        expected = len(method_names(tests))
        if expected and outcome.tests < expected:
            return f"only {outcome.tests} of its {expected} tests were run"
        canaries, names = canary_tests(tests)
        if not names:
            return ""
        trial = await self._run(code, task, canaries)
        if isinstance(trial, str):
            # Three times as many tests may well take too long; that says nothing about the code.
            return "" if trial.startswith(STOPPED) else f"with tests that must fail {trial}"
        if trial.problem:
            return f"with tests that must fail {trial.problem[:_MOST_SAID]}"
        # The id of a subtest goes on with its parameters behind the method's name.
        failed = {match[1] for name, _ in trial.failed if (match := re.match(r".*?TestCases\.(\w+)", name))}
        passed = [name for name in names if name not in failed]
        return trial.tampering or (f"so do tests that must fail, {passed[0]} among them" if passed else "")

    async def _check_tests(self, task: SuiteTask) -> None:
        """Where no test ran, load the tests without the solution: if they cannot be, the fault is the suite's."""
        entry_point = task.metadata["entry_point"]
        stub = f"def {entry_point}(*arguments, **options): pass"
        alone = await self._run(stub, task, task.metadata["tests"], only_load=True)
        if isinstance(alone, str) or alone.problem or not alone.tests:
            reason = alone if isinstance(alone, str) else alone.in_words()
            raise GraderError(f"the tests of task {task.task_id!r} cannot be run: {reason}")

    async def _run(self, code: str, task: SuiteTask, tests: str, *, only_load: bool = False) -> _Outcome | str:
        """The outcome of the tests, or in words why there is none."""
        prompt, word = task.metadata.get("code_prompt", ""), secrets.token_hex(16)
        payload = {
            "word": word,
            "code": f"{prompt}\n    pass\n{code}" if prompt else code,
            "tests": tests,
            "only_load": only_load,
        }
        async with temporary_folder() as place:
            finished = await self.run_script(_RUNNER, payload, place)
        return self.stopped(finished) or _read_report(finished, word)


@dataclass(frozen=True, slots=True)
class _Outcome:
    tests: int
    failed: tuple[tuple[str, str], ...]
    problem: str = ""
    tampering: str = ""

    def in_words(self) -> str:
        if self.problem:
            return self.problem[:_MOST_SAID]
        if not self.failed:
            return f"{plural(self.tests, 'test')} passed" if self.tests else "no test was run"
        name, message = self.failed[0]
        return f"{len(self.failed)} of {plural(self.tests, 'test')} failed, the first {name}: {message}"[:_MOST_SAID]


def check_tested_task(task: SuiteTask, where: str) -> None:
    """A task without tests could never be passed."""
    for key in ("tests", "entry_point"):
        if not isinstance(task.metadata.get(key), str) or not task.metadata[key].strip():
            raise InputError(f"{where}: grader 'unit_tests' needs {key} in the metadata")


def _read_report(finished: Finished, word: str) -> _Outcome | str:
    lines = [line for line in finished.stdout.splitlines() if line.startswith(word)]
    try:
        report = json.loads(lines[-1].removeprefix(word))
        failed = tuple((str(name), str(message)) for name, message in report["failed"])
        searches, replaced = report.get("searches"), report.get("replaced")
        tampering = f"the code searched the interpreter ({', '.join(map(str, searches))})" if searches else ""
        tampering = tampering or (
            f"built-in functions were replaced ({', '.join(map(str, replaced))})" if replaced else ""
        )
        return _Outcome(int(report["tests"]), failed, str(report.get("problem", "")), tampering)
    except (LookupError, ValueError, TypeError):
        return f"the code ended the process (exit code {finished.exit_code}) before its tests were over"
