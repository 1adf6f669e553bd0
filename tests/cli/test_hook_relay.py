"""A hook that hands its event to the running server of the same user, and every way in which that can fail."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from serve.hooks.fake_gate import FakeGate, Reply, decision, fake_gate, says
from skilldelta.cli.hook_in_server import answer_in_server
from skilldelta.errors import InputError
from skilldelta.serve.hooks.relay import ANSWERED, DECLINED, MAGIC, request, socket_path
from skilldelta.serve.hooks.relay_server import StartedHook, relaying

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no Unix sockets")

PROMPT = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "convert seven miles to feet"}
LONG = "\n".join(f"Rule {i}: a shelf of number {i} holds {i} crates." for i in range(500))


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home whose path is short enough for a socket in it, of the test and of the hooks that it starts."""
    folder = Path(tempfile.mkdtemp(prefix="sd-", dir="/tmp"))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    yield folder
    shutil.rmtree(folder)


class Relays:
    """A relay on the port of a gate, and what was handed to it."""

    def __init__(self, gate: FakeGate) -> None:
        self.gate = gate
        self.started: list[StartedHook] = []
        self.answered: list[str | None] = []

    def __call__(self, hook: StartedHook) -> str | None:
        self.started.append(hook)
        self.answered.append(answer_in_server(hook))
        return self.answered[-1]


@contextmanager
def relay_to(reply: Reply, *, seconds: float = 0.0) -> Iterator[Relays]:
    with fake_gate(reply, seconds=seconds) as gate:
        relays = Relays(gate)
        with relaying(port_of(gate.url), os.environ, relays):
            yield relays


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def started(folder: Path, *words: str, **variables: str) -> subprocess.Popen[str]:
    known = {name: os.environ[name] for name in ("PATH", "HOME")}
    return subprocess.Popen(
        [sys.executable, "-m", "skilldelta", "hook", "codex", "--skill", "counting", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**known, "SKILLDELTA_TIMEOUT": "30", **variables},
    )


def hook(folder: Path, *words: str, event: object = PROMPT, **variables: str) -> tuple[str, str]:
    with started(folder, *words, **variables) as process:
        output, said = process.communicate(json.dumps(event), timeout=60)
    assert process.returncode == 0
    return output, said


def injected(output: str) -> str:
    return str(json.loads(output)["hookSpecificOutput"]["additionalContext"])


def test_the_server_answers_and_the_process_loads_next_to_nothing(home: Path, tmp_path: Path) -> None:
    code = (
        "import sys, os; os._exit = sys.exit\n"
        "from skilldelta.cli.entry import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([n for n in ('json', 're', 'typing', 'pathlib', 'socket', 'threading') if n in sys.modules], file=sys.stderr)"
    )
    with relay_to(says("use", skill_text="Count twice.")) as relays:
        words = ["hook", "codex", "--skill", "counting", "--server", relays.gate.url]
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}", *words],
            input=json.dumps(PROMPT),
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert injected(done.stdout) == "Count twice."
    assert done.stderr == "[]\n"
    assert len(relays.gate.asked) == 1


def test_both_ways_give_the_same_answer_and_keep_the_same(home: Path, tmp_path: Path) -> None:
    with relay_to(says("use", skill_text="Count twice.")) as relays:
        near, _ = hook(tmp_path, "--server", relays.gate.url)
        again, _ = hook(tmp_path, "--server", relays.gate.url)
        alone, _ = hook(tmp_path, "--server", relays.gate.url, XDG_STATE_HOME=str(tmp_path / "state"))
    assert near == alone != ""
    assert again == ""  # a later prompt of the conversation
    assert [(path, body) for path, body in relays.gate.asked[:1]] == relays.gate.asked[1:]
    kept = [
        {**json.loads(next(folder.rglob("conversations/*.json")).read_text()), "time": 0}
        for folder in (home, tmp_path / "state")
    ]
    assert kept[0] == kept[1]


def test_words_variables_folder_and_event_arrive_as_they_were(home: Path, tmp_path: Path) -> None:
    with relay_to(says("skip")) as relays:
        words = ["--server", relays.gate.url, "--part=1/2", "--agent", "ein Agent\nmit «ü»"]
        assert hook(tmp_path, *words, SKILLDELTA_SUITE="süß", NOBODYS="business") == ("", "")
    (found,) = relays.started
    assert found.words == ["codex", "--skill", "counting", *words]
    assert found.folder == tmp_path
    assert found.environment["SKILLDELTA_SUITE"] == "süß"
    assert "NOBODYS" not in found.environment
    assert json.loads(found.event) == PROMPT
    assert relays.gate.asked[0][1]["suite"] == "süß"


def test_relative_paths_are_meant_from_the_folder_of_the_hook(home: Path, tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("Count thrice.")
    (tmp_path / "skilldelta.toml").write_text('agent = "of-the-project"\n')
    with relay_to(says("use")) as relays:
        words = ["--skill-file", "SKILL.md", "--state", "kept", "--server", relays.gate.url]
        assert injected(hook(tmp_path, *words)[0]) == "Count thrice."
    assert relays.gate.asked[0][1]["agent"] == "of-the-project"
    assert list((tmp_path / "kept" / "conversations").iterdir())
    assert relays.answered != [None]


def test_the_token_is_the_one_of_the_hook(home: Path, tmp_path: Path) -> None:
    with relay_to(says("use", skill_text="Count twice.")) as relays:
        hook(tmp_path, "--server", relays.gate.url, SKILLDELTA_TOKEN="secret-of-the-hook")
    assert relays.gate.headers[0]["Authorization"] == "Bearer secret-of-the-hook"


def test_parts_that_are_asked_for_at_the_same_moment_are_all_delivered(home: Path, tmp_path: Path) -> None:
    for attempt in range(5):
        event = json.dumps({**PROMPT, "session_id": f"s{attempt}"})
        with relay_to(says("use", skill_text=LONG)) as relays:
            entries = [started(tmp_path, "--server", relays.gate.url, "--part", f"{i}/3") for i in (1, 2, 3)]
            outputs = []
            for entry in entries:
                assert entry.stdin is not None
                entry.stdin.write(event)
                entry.stdin.close()
            for entry in entries:
                assert entry.stdout is not None
                outputs.append(injected(entry.stdout.read()))
                entry.wait(60)
                for stream in (entry.stdout, entry.stderr):
                    assert stream is not None
                    stream.close()
        assert "\n".join(output.partition("\n")[2] for output in outputs) == LONG


# What is declined goes the whole way


def test_a_failing_server_leaves_everything_to_the_process(home: Path, tmp_path: Path) -> None:
    def refuses(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        return 422, {"detail": "unknown skill 'counting'"}

    with relay_to(refuses) as relays:
        output, said = hook(tmp_path, "--server", relays.gate.url, "--ask", "server")
    assert output == ""
    assert "unknown skill" in said
    assert relays.answered == [None]
    (kept,) = home.rglob("conversations/*.json")
    assert "could not be asked" in kept.read_text()  # by the process, once
    assert "unknown skill" in next(home.rglob("hook-failures.jsonl")).read_text()


def test_a_mistake_in_the_settings_is_told_by_the_process(home: Path, tmp_path: Path) -> None:
    with relay_to(says("use")) as relays:
        output, said = hook(tmp_path, "--server", relays.gate.url, "--frobnicate")
    assert (output, said) == ("", "error: no such option: --frobnicate\n")


def test_who_asks_for_the_bank_is_not_answered_by_the_server(home: Path, tmp_path: Path) -> None:
    with relay_to(says("use", skill_text="Count twice.")) as relays:
        output, said = hook(tmp_path, "--server", relays.gate.url, "--ask", "bank", "--bank", "missing.bank")
    assert output == ""
    assert "missing.bank" in said
    assert (relays.answered, relays.gate.asked) == ([None], [])


def test_a_hook_with_another_home_is_declined(home: Path, tmp_path: Path) -> None:
    with relay_to(says("use", skill_text="Count twice.")) as relays:
        state = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(home / ".local" / "state")}
        assert injected(hook(tmp_path, "--server", relays.gate.url, **state)[0]) == "Count twice."
    assert relays.answered == [None]


@pytest.mark.parametrize("server", ["http://localhost:{port}", "http://[::1]:{port}", "nonsense", "http://127.0.0.1:x"])
def test_only_the_server_at_the_plain_address_is_this_one(home: Path, tmp_path: Path, server: str) -> None:
    with relay_to(says("skip")) as relays:
        url = server.format(port=port_of(relays.gate.url))
        assert hook(tmp_path, "--server", url, "--ask", "server")[0] == ""
    assert relays.started == []


@contextmanager
def impostor(gate: FakeGate, said: bytes | None) -> Iterator[None]:
    """Somebody who listens in place of a gate's relay and says something, or takes the question and stays silent."""
    path = Path(socket_path(os.environ, str(port_of(gate.url))))
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        held: list[socket.socket] = []

        def answer() -> None:
            connection, _ = listener.accept()
            held.append(connection)
            if said is not None:
                connection.recv(1 << 20)
                connection.sendall(said)
                connection.close()

        threading.Thread(target=answer, daemon=True).start()
        try:
            yield
        finally:
            for connection in held:
                connection.close()


def test_a_server_that_stays_silent_is_waited_for_once(home: Path, tmp_path: Path) -> None:
    with fake_gate(says("use", skill_text="Count twice.")) as gate, impostor(gate, None):
        began = time.monotonic()
        output, said = hook(tmp_path, "--server", gate.url, "--timeout", "0.7", "--ask", "server")
        waited = time.monotonic() - began
    assert output == ""
    assert "did not answer within 0.7 s" in said
    assert gate.asked == []
    assert 0.7 <= waited < 20


@pytest.mark.parametrize("said", [b"", DECLINED, b"nonsense", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_what_is_no_answer_is_not_taken_for_one(home: Path, tmp_path: Path, said: bytes) -> None:
    with fake_gate(says("use", skill_text="Count twice.")) as gate, impostor(gate, said):
        assert injected(hook(tmp_path, "--server", gate.url)[0]) == "Count twice."


@pytest.mark.parametrize("kind", ["file", "link", "stale", "folder"])
def test_what_is_no_socket_of_the_users_own_is_passed_over(home: Path, tmp_path: Path, kind: str) -> None:
    with fake_gate(says("use", skill_text="Count twice.")) as gate:
        path = Path(socket_path(os.environ, str(port_of(gate.url))))
        path.parent.mkdir(parents=True)
        if kind == "file":
            path.write_text("+nonsense")
        elif kind == "folder":
            path.mkdir()
        else:
            with socket.socket(socket.AF_UNIX) as killed:
                killed.bind(str(path if kind == "stale" else home / "elsewhere"))
        if kind == "link":
            path.symlink_to(home / "elsewhere")
        assert injected(hook(tmp_path, "--server", gate.url)[0]) == "Count twice."


def test_an_event_that_never_ends_is_left_to_the_clock(home: Path, tmp_path: Path) -> None:
    with (
        relay_to(says("use", skill_text="Count twice.")) as relays,
        started(tmp_path, "--server", relays.gate.url, "--time-limit", "0.5") as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"hook_event_name":')
        process.stdin.flush()
        assert process.wait(timeout=30) == 0
        assert process.stdout.read() == ""
    assert relays.started == []


# The server's side


def exchanged(path: str, *content: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(20)
        connection.connect(path)
        for part in content:
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"skilldelta-hook-0.0.0 0 0\n",
        MAGIC.encode() + b" 1 1\n",
        MAGIC.encode() + b" -1 5\nhello",
        MAGIC.encode() + b" 99999999999999999999 1\n",
        MAGIC.encode() + b" 5 99999999999\nhello",
        MAGIC.encode() + b" 5 0\nhello",
        MAGIC.encode() + b" 7 0\n/\0many\0",
        MAGIC.encode() + b" 8 0\n/\0-1\0abc",
        MAGIC.encode() + b" \xff\xfe x\n",
        b"\0" * 100_000,
    ],
)
def test_garbage_is_declined_and_the_next_hook_answered(home: Path, tmp_path: Path, content: bytes) -> None:
    with relay_to(says("use", skill_text="Count twice.")) as relays:
        path = socket_path(os.environ, str(port_of(relays.gate.url)))
        with suppress(OSError):  # it may hang up while there is more to read
            assert exchanged(path, content) in (b"", DECLINED)
        words = ["codex", "--skill", "counting", "--server", relays.gate.url]
        event = json.dumps(PROMPT).encode()
        assert exchanged(path, request(words, os.environ, event)).startswith(ANSWERED)


def test_the_socket_is_for_its_owner_alone_and_goes_with_the_server(home: Path) -> None:
    with relaying(7345, os.environ, lambda hook: None):
        path = Path(socket_path(os.environ, "7345"))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert exchanged(str(path), b"x\n") == DECLINED
    assert not path.exists()


def test_a_socket_that_a_killed_server_left_is_replaced_but_no_other_file_is(home: Path) -> None:
    path = Path(socket_path(os.environ, "7345"))
    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    with relaying(7345, os.environ, lambda hook: None):
        assert exchanged(str(path), b"x\n") == DECLINED
    path.write_text("mine")
    with relaying(7345, os.environ, lambda hook: None):
        pass
    assert path.read_text() == "mine"


def test_where_there_is_no_place_for_a_socket_the_server_runs_without_it(tmp_path: Path) -> None:
    for state in ("relative", str(tmp_path / ("long" * 40)), ""):
        with relaying(7345, {"XDG_STATE_HOME": state}, lambda hook: None):
            assert socket_path({"XDG_STATE_HOME": state}, "7345") == ""


def started_hook(home: Path, *words: str, session: str = "s1") -> StartedHook:
    event = json.dumps({**PROMPT, "session_id": session}).encode()
    return StartedHook(["codex", "--skill", "counting", *words], {"HOME": str(home)}, home, event)


def test_the_server_asks_itself_without_http_where_it_is_the_one_that_is_meant(home: Path) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def ask(path: str, document: dict[str, Any]) -> dict[str, Any]:
        asked.append((path, document))
        return decision("counting", skill_text="Count twice.")

    output = answer_in_server(started_hook(home, "--ask", "server"), "http://127.0.0.1:7345", ask)
    assert injected(output or "") == "Count twice."
    assert [path for path, _ in asked] == ["/v1/decide"]
    other = started_hook(home, "--server", "http://127.0.0.1:9", session="s2")
    assert answer_in_server(other, "http://127.0.0.1:7345", ask) is None
    assert len(asked) == 1


def test_what_the_gate_refuses_is_declined_and_nothing_is_kept(home: Path) -> None:
    def refuses(path: str, document: dict[str, Any]) -> dict[str, Any]:
        raise InputError("unknown skill 'counting'")

    assert answer_in_server(started_hook(home), "http://127.0.0.1:7345", refuses) is None
    assert list(home.rglob("*.json")) == []


def test_hooks_are_answered_again_after_the_server_had_no_files_or_threads_left(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [RuntimeError("can't start new thread")] * 2
    start = threading.Thread.start

    def sometimes(thread: threading.Thread) -> None:
        if thread.name != "hooks" and failures:
            raise failures.pop()
        start(thread)

    with relaying(7345, os.environ, lambda hook: "answered"):
        path = socket_path(os.environ, "7345")
        monkeypatch.setattr(threading.Thread, "start", sometimes)
        question = request(["codex"], os.environ, b"{}")
        for _ in range(2):
            with suppress(OSError):
                exchanged(path, question)
        assert failures == []
        assert exchanged(path, question) == b"+answered"


def test_an_answer_that_fails_leaves_the_hook_to_its_process(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def fails(hook: StartedHook) -> str:
        raise RuntimeError("secret of the task")

    with relaying(7345, os.environ, fails):
        path = socket_path(os.environ, "7345")
        assert exchanged(path, request(["codex"], os.environ, b"{}")) == b""
        assert exchanged(path, request(["codex"], os.environ, b"{}")) == b""
    assert "secret" not in "".join(capfd.readouterr())
