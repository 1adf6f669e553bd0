"""Run under the shim of `faults.c`: every step of some writes fails once, and the bank is looked at afterwards.

Prints a JSON object: how many steps there are, how many failed writes were reported, and what went wrong, which is
nothing.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from bank.small import DECISION, THREE_PAIRS
from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError
from skilldelta.records import Task

_MANY = Batch([Task(f"n{i}", f"Question {i}? " * 20, "f") for i in range(300)])
Content = tuple[int, int, int]


def create(path: Path) -> None:
    Bank.open(path, create=True).close()


def add_few(path: Path) -> None:
    with Bank.open(path) as bank:
        bank.add(THREE_PAIRS)


def add_many_and_decide(path: Path) -> None:
    with Bank.open(path) as bank:
        bank.add(_MANY)
        bank.record_decision(DECISION)


def forget(path: Path) -> None:
    with Bank.open(path) as bank:
        bank.forget(task_id="n7")


def content(path: Path) -> Content | None:
    """Counts that tell the states apart; None where there is no bank yet."""
    if not path.exists():
        return None
    with Bank.open(path) as bank:
        problems = bank.verify()
        if problems:
            raise BankError(f"after the fault: {problems}")
        return len(bank.tasks()), len(list(bank.executions())), len(bank.decisions())


def run(step: Callable[[Path], None], path: Path, call: int, number: int, shim: ctypes.CDLL) -> str:
    """A step in a process of its own whose `call`-th change of a file fails: how it ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        shim.arm(call, number)
        try:
            step(path)
            answer = "done"
        except BankError as error:
            answer = f"refused: {error}"
        except BaseException:
            answer = f"broken: {traceback.format_exc()[-1500:]}"
        counted = shim.counted()
        shim.arm(0, 0)
        os.write(writer, json.dumps([answer, counted]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer, run.calls = json.loads(pipe.read())  # type: ignore[attr-defined]
    os.waitpid(child, 0)
    return str(answer)


def main(folder: Path, stride: int) -> None:
    warnings.simplefilter("ignore")
    shim = ctypes.CDLL(None)
    shim.counted.restype = ctypes.c_long
    path = folder / "work" / "faulty.bank"
    before = folder / "before"
    before.mkdir()
    path.parent.mkdir()
    report: dict[str, object] = {"steps": 0, "reported": 0, "unnoticed": 0, "wrong": []}
    wrong: list[str] = []
    # SQLAlchemy and the migrations are loaded once, here.
    create(folder / "warm.bank")
    add_few(folder / "warm.bank")
    for step in (create, add_few, add_many_and_decide, forget):
        shutil.rmtree(before)
        shutil.copytree(path.parent, before)
        old = content(path)
        answer = run(step, path, 1_000_000, errno.EIO, shim)
        assert answer == "done", answer
        calls = run.calls  # type: ignore[attr-defined]
        new = content(path)
        after = folder / "after"
        shutil.copytree(path.parent, after)
        partial = {old, new, (303, 6, 0)} if step is add_many_and_decide else {old, new}
        for call in range(1, calls + 1, stride):
            for number in (errno.ENOSPC, errno.EIO):
                shutil.rmtree(path.parent)
                shutil.copytree(before, path.parent)
                answer = run(step, path, call, number, shim)
                where = f"{step.__name__}, call {call} of {calls}, {errno.errorcode[number]}"
                report["steps"] = int(str(report["steps"])) + 1
                kind = "reported" if answer.startswith("refused") else "unnoticed"
                report[kind] = int(str(report[kind])) + 1
                try:
                    state = content(path)
                except BankError as error:
                    wrong.append(f"{where}: {error}")
                    continue
                if answer.startswith("broken") or "\n" in answer:
                    wrong.append(f"{where}: {answer}")
                elif state not in partial or (answer == "done" and state != new):
                    wrong.append(f"{where}: {answer}, {old} became {state} and not {new}")
                else:
                    try:
                        step(path)
                    except BankError as error:
                        wrong.append(f"{where}: cannot be repeated: {error}")
        shutil.rmtree(path.parent)
        shutil.copytree(after, path.parent)
        shutil.rmtree(after)
    report["wrong"] = wrong
    print(json.dumps(report))


main(Path(sys.argv[1]), int(sys.argv[2]))
