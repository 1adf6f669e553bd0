"""Child processes with a time limit: fed, read to the end, and ended together with their children."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from skilldelta.collect import supervisor

_AFTER_KILL = 5.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended. `exit_code` is None when it was stopped; `stopped` then names the limit."""

    exit_code: int | None
    stdout: str
    stderr: str
    stopped: str = ""
    """`time`, `memory`, `processes` or `disk`."""


async def run_process(
    command: Sequence[str],
    *,
    stdin: str,
    seconds: float,
    cwd: Path | None = None,
    keep: int = 1024 * 1024,
    environment: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    on_start: Callable[[], None] = lambda: None,
    ask_to_end: Callable[[], None] | None = None,
) -> Finished:
    """Run a command to its end or to its time limit; of each output at most `keep` bytes are kept.

    `environment` replaces this process's own. `on_start` is called once the child has its descriptors. A command that
    ends its own children when told so by `ask_to_end` gets a moment for it before it is killed.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=cwd,
        env=environment,
        pass_fds=pass_fds,
        start_new_session=True,
    )
    try:
        on_start()
        async with asyncio.timeout(seconds):
            stdout, stderr, _ = await asyncio.gather(
                _read(process.stdout, keep), _read(process.stderr, keep), _write(process.stdin, stdin)
            )
            code: int | None = await process.wait()
    except TimeoutError:
        return Finished(None, "", "", "time")
    finally:
        await _end(process, ask_to_end)
    return Finished(code, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace"))


async def run_tree(
    command: Sequence[str], *, stdin: str, seconds: float, cwd: Path | None, keep: int, environment: Mapping[str, str]
) -> Finished:
    """Run a command as `run_process` does; when it ends, so does everything it started.

    On Linux a supervisor adopts the children that leave their parent, so daemons and new sessions are ended too.
    Elsewhere the command's process group is ended (on Windows its tree of parents), which a child can leave.
    """
    run = partial(run_process, stdin=stdin, seconds=seconds, cwd=cwd, keep=keep, environment=environment)
    if sys.platform != "linux":
        return await run(command)
    control, ours = os.pipe()
    open_ends = [control, ours]

    def close(end: int) -> None:
        if end in open_ends:
            open_ends.remove(end)
            os.close(end)

    try:
        return await run(
            [sys.executable, "-I", "-S", str(Path(supervisor.__file__)), str(control), *command],
            pass_fds=(control,),
            on_start=lambda: close(control),
            ask_to_end=lambda: close(ours),
        )
    finally:
        close(control)
        close(ours)


def split_words(command: str, *, windows: bool = os.name == "nt") -> list[str]:
    """The words of a command line as a shell reads them; on Windows a backslash is part of a path and escapes nothing."""
    lexer = shlex.shlex(command, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if windows:
        lexer.escape = ""
    return list(lexer)


async def _end(process: Process, ask_to_end: Callable[[], None] | None) -> None:
    """Kill what is left of the process and its children; nothing of it may go on working or spending."""
    if ask_to_end is not None:
        ask_to_end()
        await _until_gone(process)
    await _kill_group(process)
    await _until_gone(process)


async def _kill_group(process: Process) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.returncode is None:
        # Windows has no process groups to kill; taskkill follows the parents of running processes.
        with contextlib.suppress(OSError):
            killer = await asyncio.create_subprocess_exec(
                *("taskkill", "/T", "/F", "/PID", str(process.pid)), stdout=DEVNULL, stderr=DEVNULL
            )
            await killer.wait()


async def _until_gone(process: Process) -> None:
    # asyncio sees the end of a process only once its pipes are read to their end, which a stray child could hold open.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_AFTER_KILL):
            await asyncio.gather(_read(process.stdout, 0), _read(process.stderr, 0))
            await process.wait()


async def _read(stream: asyncio.StreamReader | None, keep: int) -> bytes:
    assert stream is not None
    parts: list[bytes] = []
    while part := await stream.read(65536):
        parts.append(part[:keep])
        keep = max(0, keep - len(part))
    return b"".join(parts)


async def _write(stream: asyncio.StreamWriter | None, text: str) -> None:
    assert stream is not None
    with contextlib.suppress(ConnectionError):
        stream.write(text.encode("utf-8", "replace"))
        await stream.drain()
        stream.close()
