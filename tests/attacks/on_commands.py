"""Attacks on the command line: what every option that names a path may find there, and secrets in what commands write."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import click

from attacks.arena import CANARY, small_bank
from attacks.attack import Tries, attack
from attacks.on_hooks import needs_unix
from cli.test_hook_cannot_hang import KINDS
from cli.test_output_guard import leaves
from skilldelta.cli.main import run

_LIMIT = 20
# Commands that go on until they are told to end, or ask another program.
_LEFT_OUT = {"serve", "mcp", "demo", "hook", "doctor"}


class _TooLongError(BaseException):
    pass


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise _TooLongError


@contextlib.contextmanager
def own_home(folder: Path) -> Iterator[None]:
    """Nothing of the person who runs this: another home, and no variable that leads elsewhere."""
    before = dict(os.environ)
    try:
        for name in before:
            if name.startswith(("CLAUDE", "CODEX", "GEMINI", "XDG", "SKILLDELTA")):
                del os.environ[name]
        os.environ |= {"HOME": str(folder), "USERPROFILE": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _path_options() -> Iterator[tuple[tuple[str, ...], click.Command, click.Parameter]]:
    """Every option and argument whose value is, or may be, the path of something."""
    for words, command in leaves():
        if words[0] in _LEFT_OUT:
            continue
        for option in command.params:
            is_path = isinstance(option.type, click.Path) or type(option.type).__name__.endswith("Path")
            if is_path or option.name in ("bank", "reexecuted", "files", "sources", "suite", "paths", "source"):
                yield words, command, option


def _command_line(
    words: tuple[str, ...], command: click.Command, option: click.Parameter, value: str, bank: Path
) -> list[str]:
    line, arguments = list(words), []
    for param in command.params:
        chosen = value if param is option else "right.jsonl"
        if isinstance(param, click.Argument):
            arguments += [chosen] if param.required or param is option else []
        elif param is option:
            line.append(f"{param.opts[0]}={chosen}")
        elif param.name == "bank":
            line.append(f"--bank={bank}")
        elif param.required:
            line.append(f"{param.opts[0]}={chosen if isinstance(param.type, click.Path) else 'x'}")
    return [*line, *arguments]


@attack(
    "commands",
    "a pipe, device, folder, loop or 100 MB at every path that any command takes",
    tries=1_000,
    few=40,
    needs=needs_unix,
)
def odd_paths_of_commands(folder: Path, tries: int) -> Tries:
    """Each ends in time, in one line and without a trace in what it was given."""
    bank = small_bank(folder)
    before = signal.signal(signal.SIGALRM, _raise)
    stdin, slowest, longest = sys.stdin, 0.0, ""
    cases = [(case, kind) for kind in KINDS if kind != "forbidden" for case in _path_options()]
    if tries < len(cases):  # every command still has its turn
        cases = cases[:: len(cases) // tries][:tries]
    try:
        with contextlib.chdir(folder), own_home(folder / "home"):
            Path("right.jsonl").write_text("{}\n")
            sys.stdin = io.TextIOWrapper(io.BytesIO(b""))
            for number, ((words, command, option), kind) in enumerate(cases):
                path = folder / f"odd-{number}"
                KINDS[kind](path)
                line = _command_line(words, command, option, path.name, bank)
                output, began, code = io.StringIO(), time.monotonic(), -1
                signal.alarm(_LIMIT)
                problem = ""
                try:
                    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                        code = run(line)
                except _TooLongError:
                    problem = f"did not end within {_LIMIT} s"
                except BaseException as error:
                    problem = f"{type(error).__name__}: {error!s:.200}"
                finally:
                    signal.alarm(0)
                if time.monotonic() - began > slowest:
                    slowest, longest = time.monotonic() - began, f"{' '.join(words)} {option.opts[0]} with a {kind}"
                if not problem and (code not in (0, 1, 2) or "Traceback" in output.getvalue()):
                    problem = f"code {code}: {output.getvalue()[-300:]}"
                if not problem and kind in ("pipe", "loop", "device") and path.is_file() and not path.is_symlink():
                    problem = "it was replaced by a file"
                yield f"{line} with a {kind}: {problem}" if problem else ""
                for rest in (path, folder / "other-end"):
                    with contextlib.suppress(OSError):
                        rest.rmdir() if rest.is_dir() and not rest.is_symlink() else rest.unlink()
    finally:
        sys.stdin = stdin
        signal.signal(signal.SIGALRM, before)
    left = [path.name for path in folder.rglob(".skilldelta-*")]
    yield f"left behind: {left[:3]}" if left else ""
    return f"{len(list(_path_options()))} paths of commands; the slowest took {slowest:.1f} s ({longest})"


@attack(
    "secrets",
    "keys in the environment, in addresses and in options, in every file that commands write",
    tries=40,
    few=0,
)
def secrets_in_files(folder: Path, tries: int) -> Tries:
    """No file and no output has one."""
    home = folder / "home"
    home.mkdir()
    bank = small_bank(home)
    (home / "skill.md").write_text("---\nname: counting\n---\nCount twice.")
    (home / "target.jsonl").write_text(
        '{"task_id": "new", "text": "convert ten miles", "family": "units", "skill": "units-skill"}'
    )
    (home / "agent.sh").write_text("#!/bin/sh\necho 3\n")
    (home / "agent.sh").chmod(0o755)
    secrets = {name: f"{CANARY}-{number}-{'q' * 20}" for number, name in enumerate(
        ("OPENAI_API_KEY", "MY_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "SKILLDELTA_TOKEN"))}  # fmt: skip
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), **secrets}
    url = f"http://me:{secrets['MY_TOKEN']}@127.0.0.1:9/v1"
    with_bank = ["--bank", bank.name]
    commands = [
        ["predict", *with_bank, "--skill", "units-skill", "convert a mile", "--encoder", "tfidf"],
        ["predict", *with_bank, "--skill", "units-skill", "convert a mile", "--encoder-url", url, "--encoder", "endpoint"],
        ["predict", "--bank", f"postgresql://me:{secrets['DB_PASSWORD']}@127.0.0.1:9/x", "--skill", "s", "text"],
        ["evaluate", *with_bank, "--resamples", "10", "--json"],
        ["report", *with_bank, "--output", "report.html", "--resamples", "10", "--shuffles", "0"],
        ["freeze", "target.jsonl", *with_bank, "--output", "sealed.json", "--encoder", "tfidf"],
        ["calibrate", *with_bank, "--use-rate", "0.5", "--resamples", "10"],
        ["skills", *with_bank, "--resamples", "10"],
        ["bank", "export", *with_bank, "--output", "export.jsonl"],
        ["bank", "status", *with_bank, "--json"],
        ["bank", "backup", *with_bank, "--output", "copy.bank"],
        ["bank", "status", "--bank", f"postgresql://me:{secrets['DB_PASSWORD']}@127.0.0.1:9/x?password={secrets['MY_TOKEN']}"],
        ["suite", "init", "suite"],
        ["collect", "suite", "--command", f"./agent.sh --api-key {secrets['OPENAI_API_KEY']}", *with_bank, "--session", "s1", "--yes"],
        ["collect", "suite", "--base-url", url, "--model", "m", *with_bank, "--session", "s2", "--yes"],
        ["install", "claude-code", "--skill-file", "skill.md", *with_bank, "--yes"],
        ["install", "codex", "--skill-file", "skill.md", "--server", url, "--yes"],
        ["install", "gemini", "--bank", f"postgresql://me:{secrets['DB_PASSWORD']}@127.0.0.1:9/x", "--yes"],
        ["serve", *with_bank, "--install", "systemd", "--encoder-url", url],
        ["doctor", *with_bank],
        ["doctor", "--server", url],
        ["hook", "claude-code", "--skill", "counting", "--server", url],
        ["log", *with_bank],
        ["simulate", "--tasks", "4", "--families", "2", "--resamples", "0", "--output", "panel.jsonl"],
        ["token", "list"],
    ]  # fmt: skip
    for words in commands[:tries]:
        done = subprocess.run(
            [sys.executable, "-m", "skilldelta", *words],
            input='{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "x"}',
            capture_output=True, text=True, cwd=home, env=environment, timeout=120,
        )  # fmt: skip
        shown = CANARY in done.stdout + done.stderr
        holders = [
            str(path.relative_to(home))
            for path in home.rglob("*")
            if path.is_file() and CANARY.encode() in path.read_bytes()
        ]
        yield (
            f"{' '.join(words)}: {'shown' if shown else ''} {holders}".replace(CANARY, "SECRET")
            if shown or holders
            else ""
        )
    return f"{sum(path.is_file() for path in home.rglob('*'))} files looked at"


@attack(
    "install", "settings of harnesses that are torn, odd, links, pipes or devices", tries=600, few=30, needs=needs_unix
)
def hostile_settings(folder: Path, tries: int) -> Tries:
    """Changed as asked and taken back exactly, or refused in one line and left as they are."""
    import json

    from fuzz.mutations import hostile_bytes, hostile_documents

    files = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
    good = {
        "model": "é",
        "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "true"}]}]},
        "x": [1],
    }
    raw, documents = hostile_bytes(json.dumps(good).encode(), 61), hostile_documents(good, 62)
    kinds = [kind for kind in KINDS if kind not in ("large", "forbidden")]
    with own_home(folder):
        for number in range(tries):
            home = folder / f"h{number}"
            host = list(files)[number % 3]
            path = home / files[host]
            path.parent.mkdir(parents=True)
            (home / "SKILL.md").write_text("---\nname: counting\n---\nCount twice.\n")
            os.environ |= {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
            content, odd = b"", number % 10 == 9
            if odd:
                KINDS[kinds[number // 10 % len(kinds)]](path)
            else:
                content = next(raw) if number % 2 else json.dumps(next(documents)).encode("utf-8", "surrogatepass")
                path.write_bytes(content)
            output = io.StringIO()
            with contextlib.chdir(home), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                first = run(["install", host, "--skill-file", "SKILL.md", "--yes"])
                second = run(["install", host, "--undo", "--yes"]) if first == 0 else 0
            text = output.getvalue()
            problem = (
                ""
                if first in (0, 1, 2) and second in (0, 1, 2) and "Traceback" not in text
                else f"{first} {second} {text[-300:]}"
            )
            if not problem and odd and (path.is_file() and not path.is_symlink()):
                problem = "what is no file was replaced"
            if not problem and not odd and second == 0 and path.read_bytes() != content:
                problem = f"not as it was: {path.read_bytes()[:200]!r} in place of {content[:200]!r}"
            yield f"{host} {number}: {problem}" if problem else ""
    return ""
