"""No input delays a hook: every path that it reads as a pipe, a device, a folder, a loop of links, too large, forbidden."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from serve.hooks.fake_gate import KEY, fake_gate, says

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices are files on Unix only")

# Far above what a hook takes on a busy machine: one that waits for a file reaches it, and says so.
LIMIT = 20.0
PROMPT = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "How many cans are in 3 pallets?"}


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.with_name("other-end"))
    path.with_name("other-end").symlink_to(path)


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100 << 20)


def _forbidden(path: Path) -> None:
    path.write_text("secret")
    path.chmod(0)


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": _pipe,
    "device": _device,
    "folder": _folder,
    "loop": _loop,
    "large": _large,
    "forbidden": _forbidden,
}


@contextmanager
def hook(folder: Path, *words: str, stdin: object = PROMPT) -> Iterator[tuple[subprocess.CompletedProcess[str], float]]:
    """One hook of a harness, and the seconds it took."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "SKILLDELTA_SERVER_KEY": KEY,
    }
    command = [sys.executable, "-m", "skilldelta", "hook", "claude-code", "--time-limit", str(LIMIT), *words]
    started = time.monotonic()
    done = subprocess.run(
        command, input=json.dumps(stdin), capture_output=True, text=True, cwd=folder, env=environment, timeout=60
    )
    yield done, time.monotonic() - started


def place(folder: Path, which: str) -> tuple[Path, list[str]]:
    """Where a hook reads something, and the words that make it read there."""
    state = folder / "state" / "skilldelta"
    silent = ["--skill", "counting", "--server", "http://127.0.0.1:9"]
    places: dict[str, tuple[Path, list[str]]] = {
        "skill file": (folder / "SKILL.md", ["--skill-file", str(folder / "SKILL.md")]),
        "skill folder": (folder / "counting", ["--skill-file", str(folder / "counting")]),
        "settings": (folder / "skilldelta.toml", silent),
        "bank": (folder / "my.bank", [*silent, "--bank", "my.bank"]),
        "state": (state, silent),
        "conversations": (state / "conversations", silent),
        "failure log": (state / "hook-failures.jsonl", silent),
    }
    return places[which]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "which", ["skill file", "skill folder", "settings", "bank", "state", "conversations", "failure log"]
)
def test_no_path_that_a_hook_reads_delays_it(tmp_path: Path, which: str, kind: str) -> None:
    path, words = place(tmp_path, which)
    path.parent.mkdir(parents=True, exist_ok=True)
    KINDS[kind](path)
    with hook(tmp_path, *words) as (done, seconds):
        assert (done.returncode, done.stdout) == (0, "")
        assert seconds < LIMIT
        assert "no answer within" not in done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_no_transcript_delays_the_end_of_a_conversation(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "transcript.jsonl")
    end = {"session_id": "s1", "hook_event_name": "SessionEnd", "transcript_path": str(tmp_path / "transcript.jsonl")}
    with fake_gate(says("skip")) as gate:
        words = ["--skill", "counting", "--server", gate.url]
        with hook(tmp_path, *words) as (first, _):
            assert first.returncode == 0
        with hook(tmp_path, *words, stdin=end) as (done, seconds):
            assert (done.returncode, done.stdout) == (0, "")
            assert seconds < LIMIT
    assert [path for path, _ in gate.asked] == ["/v1/choose"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_file_of_a_conversation_delays_the_hooks_that_follow(tmp_path: Path, kind: str) -> None:
    conversations = tmp_path / "state" / "skilldelta" / "conversations"
    with fake_gate(says("skip")) as gate:
        words = ["--skill", "counting", "--server", gate.url]
        with hook(tmp_path, *words) as (first, _):
            assert first.returncode == 0
        for path in [path for path in conversations.iterdir() if path.suffix == ".json"]:
            path.unlink()
            KINDS[kind](path)
        with hook(tmp_path, *words) as (done, seconds):
            assert (done.returncode, done.stdout) == (0, "")
            assert seconds < LIMIT


@pytest.mark.parametrize("kind", KINDS)
def test_one_skill_that_cannot_be_read_leaves_the_others_on_offer(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "bad.md")
    (tmp_path / "good.md").write_text("---\nname: good\n---\nCount twice.")
    words = ["--skill-file", str(tmp_path / "bad.md"), "--skill-file", str(tmp_path / "good.md")]
    with fake_gate(says("use")) as gate, hook(tmp_path, *words, "--server", gate.url) as (done, seconds):
        assert "Count twice." in done.stdout
        assert ("bad.md" in done.stderr) is (kind != "forbidden" or os.geteuid() != 0)
        assert seconds < LIMIT


@pytest.mark.parametrize("file", ["../outside/SKILL.md", "/etc/hostname", "inside/link.md", "../outside"])
def test_a_strangers_project_cannot_put_a_file_from_elsewhere_into_the_context(tmp_path: Path, file: str) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "inside").mkdir(parents=True)
    outside.mkdir()
    (outside / "SKILL.md").write_text("The keys of the house.")
    (project / "inside" / "link.md").symlink_to(outside / "SKILL.md")
    (project / "skilldelta.toml").write_text(f'[hook]\nskill-file = "{file}"\n')
    with fake_gate(says("use", skill_text="from the bank")) as gate:
        with hook(project, "--server", gate.url) as (done, _):
            assert (done.returncode, done.stdout) == (0, "")
            assert "not taken from a project's file" in done.stderr
        assert gate.asked == []
        with hook(project, "--server", gate.url, "--skill-file", str(outside / "SKILL.md")) as (done, _):
            assert "The keys of the house." in done.stdout  # the user's own wish


def test_a_strangers_settings_cannot_be_a_link_out_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "elsewhere.toml").write_text('[hook]\nskill = "counting"\n')
    (project / "skilldelta.toml").symlink_to(tmp_path / "elsewhere.toml")
    with fake_gate(says("use", skill_text="Count.")) as gate, hook(project, "--server", gate.url) as (done, _):
        assert (done.returncode, done.stdout) == (0, "")
        assert "link out of its folder" in done.stderr


def test_a_strangers_project_cannot_give_a_hook_more_time(tmp_path: Path) -> None:
    (tmp_path / "skilldelta.toml").write_text("[hook]\ntime-limit = 3000\ntimeout = 3000\n")
    command = [sys.executable, "-m", "skilldelta", "hook", "codex", "--skill", "c", "--state", "-"]
    done = subprocess.run(command, input=json.dumps(PROMPT), capture_output=True, text=True, cwd=tmp_path, timeout=30)
    assert "not taken from a project's file" in done.stderr


def _seconds(folder: Path, stdin: int, stdout: int, *words: str) -> float:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "SKILLDELTA_SERVER_KEY": KEY,
    }
    command = [sys.executable, "-m", "skilldelta", "hook", "claude-code", *words]
    started = time.monotonic()
    with subprocess.Popen(
        command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, cwd=folder, env=environment
    ) as process:
        assert process.wait(timeout=30) == 0
        return time.monotonic() - started


@pytest.mark.parametrize("what", ["standard input", "standard output", "server", "import"])
def test_what_blocks_for_ever_ends_at_the_limit(tmp_path: Path, what: str) -> None:
    """Measured against an interpreter that starts and sleeps for the same time."""
    limit = 0.6
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", f"import skilldelta.cli.entry, time; time.sleep({limit})"], check=True)
    expected = time.monotonic() - started
    (tmp_path / "SKILL.md").write_text("x" * 2_000_000)  # more than a pipe holds
    event, (waiting, reading) = tmp_path / "event.json", os.pipe()
    event.write_text(json.dumps({**PROMPT, "hook_event_name": "UserPromptSubmit"}))
    words = ["--skill", "c", "--skill-file", "SKILL.md", "--time-limit", str(limit), "--state", "-", "--timeout", "30"]
    unread, full = os.pipe()
    try:
        with event.open() as stdin, fake_gate(says("use"), seconds=20 if what == "server" else 0) as gate:
            if what == "standard input":
                took = _seconds(tmp_path, waiting, subprocess.DEVNULL, *words, "--server", gate.url)
            elif what == "standard output":
                took = _of_gemini(tmp_path, stdin.fileno(), full, *words, "--server", gate.url)
            elif what == "import":
                took = _seconds(_with_blocking_import(tmp_path), stdin.fileno(), subprocess.DEVNULL, *words)
            else:
                took = _seconds(tmp_path, stdin.fileno(), subprocess.DEVNULL, *words, "--server", gate.url)
    finally:
        for descriptor in (waiting, reading, unread, full):
            os.close(descriptor)
    # It would wait for ever. How close to its limit it ends is measured by `make attack`, not on a busy test machine.
    assert took - expected < 5


def _of_gemini(folder: Path, stdin: int, stdout: int, *words: str) -> float:
    """Gemini CLI takes a text of any length in one piece."""
    event = {**PROMPT, "hook_event_name": "BeforeAgent"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SKILLDELTA_SERVER_KEY": KEY}
    command = [sys.executable, "-m", "skilldelta", "hook", "gemini", *words]
    started = time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.DEVNULL, cwd=folder, env=environment
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(event).encode())
        process.stdin.close()
        assert process.wait(timeout=30) == 0
        return time.monotonic() - started


def _with_blocking_import(folder: Path) -> Path:
    """A folder in which `import json` waits for a pipe: python -m puts the folder first on its path."""
    os.mkfifo(folder / "json.py")
    return folder


def test_threads_of_this_process_are_not_ended_by_a_hook_that_was_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skilldelta.cli import hook_deadline

    ended: list[int] = []
    monkeypatch.setattr("os._exit", ended.append)
    for is_met in (True, False):
        deadline = hook_deadline.Deadline(0.0)
        if is_met:
            deadline.meet()
        deadline.start()
        for _ in range(100):
            if ended:
                break
            time.sleep(0.005)
        assert ended == ([] if is_met else [0])


def test_a_hook_inside_a_longer_process_has_its_whole_time() -> None:
    """The deadline of a hook that another program runs does not count what that program did before."""
    code = (
        "import time; from skilldelta.cli.hook_deadline import Deadline\n"
        "while time.process_time() < 0.5: pass\n"
        "deadline = Deadline(0.4); deadline.start(); time.sleep(0.1); deadline.meet(); print('alive')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "alive\n"
