"""A command and everything it starts end together, also what tries to get away."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skilldelta.collect.process import Finished, run_tree, split_words

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")

NOTE = "open('new', 'w').write(str(os.getpid())); os.rename('new', 'pid'); "
STRAYS = {
    "a child": f"import os, time\nif os.fork() == 0: {NOTE} time.sleep(300)",
    "a session of its own": f"import os, time\nif os.fork() == 0: os.setsid(); {NOTE} time.sleep(300)",
    "a daemon": (
        "import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n"
        f"  {NOTE} os.close(1); os.close(2); time.sleep(300)\n os._exit(0)\nos.wait()"
    ),
    "a daemon that ignores signals": (
        "import os, signal, time\nif os.fork() == 0:\n os.setsid(); [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\n"
        f" if os.fork() == 0: {NOTE} time.sleep(300)\n os._exit(0)\nos.wait()"
    ),
}


def run(code: str, folder: Path, *, seconds: float = 60, **environment: str) -> Finished:
    command = [sys.executable, "-I", "-c", code]
    return asyncio.run(run_tree(command, stdin="", seconds=seconds, cwd=folder, keep=1000, environment=environment))


def alive(folder: Path) -> bool:
    """Whether the process that noted itself still runs."""
    pid = int((folder / "pid").read_text())
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


WAIT = "\nwhile not os.path.exists('pid'): time.sleep(0.01)\n"


@linux_only
@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS)
def test_nothing_survives_a_command_that_ends(stray: str, tmp_path: Path) -> None:
    finished = run(f"{stray}{WAIT}print('done')", tmp_path)
    assert (finished.exit_code, finished.stdout) == (0, "done\n"), finished.stderr
    assert not alive(tmp_path)


@linux_only
@pytest.mark.parametrize("stray", [STRAYS["a session of its own"], STRAYS["a daemon"]])
def test_nothing_survives_a_command_that_runs_out_of_time(stray: str, tmp_path: Path) -> None:
    finished = run(f"{stray}{WAIT}time.sleep(300)", tmp_path, seconds=2)
    assert (finished.exit_code, finished.stopped) == (None, "time")
    assert not alive(tmp_path)


COLLECTOR = """
import asyncio, sys
from pathlib import Path
from skilldelta.collect.process import run_tree, split_words
asyncio.run(run_tree([sys.executable, "-I", "-c", sys.argv[1]], stdin="", seconds=300, cwd=Path(sys.argv[2]), keep=9, environment={}))
"""


@linux_only
def test_nothing_survives_a_collector_that_is_killed(tmp_path: Path) -> None:
    stray = f"{STRAYS['a daemon']}{WAIT}time.sleep(300)"
    collector = subprocess.Popen([sys.executable, "-c", COLLECTOR, stray, str(tmp_path)])
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    collector.kill()
    collector.wait()
    while alive(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(tmp_path)


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("import sys; sys.exit(7)", 7), (f"import os; os.kill(os.getpid(), {int(signal.SIGTERM)})", -signal.SIGTERM)],
)
def test_the_exit_code_is_the_commands_own(code: str, exit_code: int, tmp_path: Path) -> None:
    assert run(code, tmp_path).exit_code == exit_code


def test_the_command_sees_the_given_variables_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "canary")
    code = "import os; print(sorted(os.environ)); print(open(f'/proc/{os.getppid()}/environ').read() if os.path.exists('/proc') else '')"
    finished = run(code, tmp_path, GIVEN="1")
    assert "GIVEN" in finished.stdout
    assert "MY_API_KEY" not in finished.stdout
    assert "canary" not in finished.stdout


@linux_only
def test_a_program_that_does_not_exist_ends_as_in_a_shell(tmp_path: Path) -> None:
    finished = asyncio.run(
        run_tree(["/no/such/agent"], stdin="x", seconds=60, cwd=tmp_path, keep=1000, environment=dict(os.environ))
    )
    assert finished.exit_code == 127
    assert finished.stderr == "/no/such/agent: No such file or directory\n"


def test_words_are_split_as_a_shell_does_and_a_windows_path_keeps_its_backslashes() -> None:
    assert split_words(r"agent --name 'a b' c\ d #x", windows=False) == ["agent", "--name", "a b", "c d", "#x"]
    assert split_words(r'C:\bin\agent.exe --in "C:\my files\a.txt"', windows=True) == [
        r"C:\bin\agent.exe",
        "--in",
        r"C:\my files\a.txt",
    ]
