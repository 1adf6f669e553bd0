"""Runs one command and, when it ends or the collector does, every process that came of it. Linux only.

A program of its own, started as `python supervisor.py CONTROL COMMAND…`, with nothing but the standard library. It is the
subreaper of the command's tree: a child that calls setsid, or a daemon that forks twice, becomes its child instead of
init's, so nothing gets away. CONTROL is a pipe that the collector holds open; its end, even by a crash, ends the tree.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36
_SECONDS_TO_END = 4.0


def main() -> None:
    """Exit as the command does, once nothing of it is left."""
    control, command = int(sys.argv[1]), sys.argv[2:]
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake_up, woken = os.pipe()
    for end in (wake_up, woken):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    child = _start(command, control)
    _let_go_of_output()
    status = _wait(child, control, wake_up)
    _end_all()
    _exit_as(status)


def _start(command: list[str], control: int) -> int:
    child = os.fork()
    if child:
        return child
    os.close(control)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores the last two
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode("utf-8", "replace"))
    os._exit(127)


def _let_go_of_output() -> None:
    """The pipes belong to the command alone; whoever reads them sees their end when it closes them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _wait(child: int, control: int, wake_up: int) -> int | None:
    """The command's status, or None when the collector wants its end."""
    while True:
        ended, status = _reap(child)
        if ended:
            return status
        ready, _, _ = select.select([control, wake_up], [], [])
        if control in ready:
            return None
        while _drained(wake_up):
            pass


def _reap(child: int) -> tuple[bool, int | None]:
    """Collect the dead, orphans that were adopted among them."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True, None
        if pid == 0:
            return False, None
        if pid == child:
            return True, status


def _drained(pipe: int) -> bool:
    try:
        return bool(os.read(pipe, 4096))
    except BlockingIOError:
        return False


def _end_all() -> None:
    """Kill and reap until there is no child left: what a killed process leaves behind becomes a child in turn."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while time.monotonic() < deadline:
        for pid in _descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    parent = int(stat.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            children.setdefault(parent, []).append(int(name))
    processes = list(children.get(os.getpid(), []))
    for pid in processes:
        processes += children.get(pid, [])
    return processes


def _exit_as(status: int | None) -> None:
    code = 1 if status is None else os.waitstatus_to_exitcode(status)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
