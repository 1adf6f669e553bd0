from __future__ import annotations

import asyncio
import os
import socket
import time
from pathlib import Path

import pytest

from collect.sandboxed import in_sandbox, needs_bwrap
from skilldelta.collect.agents.model_agent import PREFILL, extract_code, run_answer
from skilldelta.collect.execution_errors import StopCollectionError
from skilldelta.collect.sandbox import Bubblewrap, Docker, Limits, Payload, check_sandbox, find_sandbox
from skilldelta.errors import InputError


@needs_bwrap
def test_code_in_the_sandbox_computes_and_prints() -> None:
    asyncio.run(check_sandbox(find_sandbox("bubblewrap")))
    assert in_sandbox("print(6 * 7)").stdout == "42\n"


@needs_bwrap
def test_the_sandbox_has_no_network_not_even_loopback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        finished = in_sandbox(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
    assert finished.exit_code == 1
    assert "Error" in finished.stderr


@needs_bwrap
def test_the_sandbox_sees_no_file_of_the_user_and_no_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    monkeypatch.setenv("MY_SECRET_KEY", "hidden")
    finished = in_sandbox(f"import os; print(os.path.exists({str(secret)!r}), os.environ.get('MY_SECRET_KEY'))")
    assert finished.stdout == "False None\n"


@needs_bwrap
def test_the_interpreter_cannot_be_changed_from_inside() -> None:
    finished = in_sandbox("import os; open(os.__file__, 'a').write('x')")
    assert finished.exit_code == 1
    assert "Read-only file system" in finished.stderr or "Permission denied" in finished.stderr
    assert os.access(os.__file__, os.R_OK)


@needs_bwrap
def test_memory_is_limited() -> None:
    finished = in_sandbox("x = bytearray(10**9)", limits=Limits(seconds=20, memory_mb=256))
    assert finished.exit_code == 1
    assert "MemoryError" in finished.stderr


@needs_bwrap
def test_time_is_limited_and_children_die_with_the_payload() -> None:
    started = time.monotonic()
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).wait()"
    assert in_sandbox(code, limits=Limits(seconds=1)).exit_code is None
    assert time.monotonic() - started < 30


@needs_bwrap
def test_the_working_copy_is_writable_at_its_place(tmp_path: Path) -> None:
    in_sandbox("open('made.txt', 'w').write('here')", workdir=tmp_path)
    assert (tmp_path / "made.txt").read_text() == "here"


@needs_bwrap
def test_endless_output_is_cut() -> None:
    finished = in_sandbox("while True: print('x' * 1000)", limits=Limits(seconds=2))
    assert finished.exit_code is None
    assert len(finished.stdout) <= 1024 * 1024


def test_a_sandbox_that_cannot_start_stops_the_collection(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(StopCollectionError, match="cannot start: bwrap: No permissions"):
        asyncio.run(Bubblewrap(str(broken)).run(Payload(["true"], Limits())))


def test_without_any_sandbox_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="install bubblewrap, or use --sandbox docker"):
        find_sandbox()
    with pytest.raises(InputError, match="docker is not installed"):
        find_sandbox("docker")


def test_docker_runs_without_network_and_within_limits(tmp_path: Path) -> None:
    line = Docker("docker").command_line(["python3", "x.py"], Limits(seconds=5, memory_mb=256), tmp_path)
    text = " ".join(line)
    for needed in (
        "--network none",
        "--read-only",
        "--memory 256m",
        "--shm-size 256m",
        "--pids-limit",
        "timeout -s KILL 5 python3 x.py",
        f"--user {os.getuid()}:{os.getgid()} -v {tmp_path}",  # who alone can enter the working copy
    ):
        assert needed in text


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("    return 1", "def solve():\n    return 1"),
        (PREFILL + "    return 1", "def solve():\n    return 1"),
        (
            "Here:\n```python\nimport math\ndef solve():\n    return 1\n```\nDone",
            "import math\ndef solve():\n    return 1\n",
        ),
        (
            "import math\nfrom os import path\ndef solve():\n    return 1",
            "import math\nfrom os import path\ndef solve():\n    return 1",
        ),
        ("Sure. import it\ndef solve():\n    return 1", "def solve():\n    return 1"),
        ("    return 1\n```\nand ```more```", "def solve():\n    return 1\n"),
        ("", "def solve():\n"),
    ],
)
def test_the_function_is_found_however_a_model_wraps_it(reply: str, code: str) -> None:
    assert extract_code(reply) == code


@needs_bwrap
@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("def solve():\n    return 6 * 7", "42"),
        ("def solve():\n    print('noise')\n    return 2.0", "2"),
        ("def solve():\n    return None", ""),
        ("def solve():\n    return 1 / 0", ""),
        ("def solve(:", ""),
        ("x = 1", ""),
        ("", ""),
    ],
)
def test_the_answer_is_what_solve_returns_and_empty_when_it_does_not(code: str, answer: str) -> None:
    assert asyncio.run(run_answer(code, find_sandbox("bubblewrap"))) == answer
