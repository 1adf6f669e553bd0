"""Attacks on hooks: every path that one reads, and events of every shape, as a user whom permissions bind."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from attacks.attack import Tries, attack
from cli.test_hook_cannot_hang import KINDS, PROMPT, place
from fuzz.mutations import hostile_bytes, hostile_documents
from fuzz.test_hook_garbage import gate, hostile
from serve.hooks.fake_gate import HOSTS, dialect_of
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.serve.hooks.hook_run import HookSettings, answer

PLACES = ("skill file", "skill folder", "settings", "bank", "state", "conversations", "failure log")
_LIMIT = 2.0
# What a hook may take beyond its limit, and what a busy machine takes to start and end a process.
_BEYOND, _MACHINE = 0.1, 0.6


def needs_unix() -> str:
    """Pipes and devices are files on Unix only."""
    return "pipes and devices are files on Unix only" if sys.platform == "win32" else ""


def as_bound_by_permissions(words: Sequence[str]) -> list[str]:
    """A command that root too runs without the right to read every file."""
    if os.geteuid() == 0 and shutil.which("setpriv"):
        return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *words]
    return list(words)


@attack(
    "hooks",
    "a pipe, device, folder, loop, 100 MB or forbidden file in the place of each path",
    tries=252,
    few=0,
    needs=needs_unix,
)
def odd_places(folder: Path, tries: int) -> Tries:
    """Nothing is printed, and no hook outlasts its limit by more than 100 ms."""
    slowest = 0.0
    for number, (which, kind, host) in enumerate(itertools.islice(itertools.product(PLACES, KINDS, HOSTS), tries)):
        home = folder / str(number)
        home.mkdir()
        path, words = place(home, which)
        path.parent.mkdir(parents=True, exist_ok=True)
        KINDS[kind](path)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        event = {**PROMPT, "hook_event_name": dialect_of(host).prompt}
        command = [sys.executable, "-m", "skilldelta", "hook", host, "--time-limit", str(_LIMIT), *words]
        began = time.monotonic()
        try:
            done = subprocess.run(
                as_bound_by_permissions(command),
                input=json.dumps(event), capture_output=True, text=True, cwd=home, env=environment, timeout=30,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            yield f"{host}: {kind} as {which}: did not end"
            continue
        seconds = time.monotonic() - began
        slowest = max(slowest, seconds)
        problem = (
            ""
            if (done.returncode, done.stdout.strip()) in ((0, ""), (0, "{}"))
            else f"{done.returncode} {done.stdout[:200]!r}"
        )
        problem = problem or ("" if "Traceback" not in done.stderr else done.stderr[-300:])
        if seconds > _LIMIT + _BEYOND + _MACHINE:
            problem = f"took {seconds:.2f} s at a limit of {_LIMIT:g} s"
        yield f"{host}: {kind} as {which}: {problem}" if problem else ""
        shutil.rmtree(home, ignore_errors=True)
    return f"the slowest took {slowest:.2f} s with start and end, at a limit of {_LIMIT:g} s"


@attack("hooks", "events torn, nested, enormous and of other shapes, for every harness", tries=6_000, few=120)
def odd_events(folder: Path, tries: int) -> Tries:
    """Each is answered with a document or nothing."""
    variants = {}
    for seed, host in enumerate(HOSTS):
        good = {**PROMPT, "hook_event_name": dialect_of(host).prompt, "transcript_path": "/dev/null", "cwd": "/"}
        raw, documents = hostile_bytes(json.dumps(good).encode(), seed), hostile_documents(good, seed)
        variants[host] = (raw, documents, itertools.cycle(hostile(host).values()))
    slowest = 0.0
    for number in range(tries):
        host = HOSTS[number % len(HOSTS)]
        raw, documents, known = variants[host]
        kind = number // len(HOSTS) % 20
        content = (
            next(known)
            if kind == 19
            else next(raw)
            if kind % 2
            else json.dumps(next(documents)).encode("utf-8", "surrogatepass")
        )
        settings = HookSettings(host, dialect_of(host), (OfferedSkill("counting"),), ask="bank", state=folder / "state")
        began = time.monotonic()
        try:
            result = answer(settings, content, ask_bank=gate)
            fine = not result.output or isinstance(json.loads(result.output), dict)
        except Exception as error:
            yield f"{host}: {type(error).__name__}: {error!s:.200} on {content[:200]!r}"
            continue
        seconds = time.monotonic() - began
        slowest = max(slowest, seconds)
        yield "" if fine and seconds < 5 else f"{host}: {seconds:.1f} s, {result.output[:100]!r} on {content[:200]!r}"
    return f"the slowest took {1e3 * slowest:.0f} ms"


@attack("hooks", "settings of a stranger's project", tries=400, few=0, needs=needs_unix)
def strangers_settings(folder: Path, tries: int) -> Tries:
    """None reaches a file outside of the project, another server or a longer limit."""
    rng = random.Random(41)
    secret = folder / "outside" / "SKILL.md"
    secret.parent.mkdir()
    secret.write_text("The keys of the house.")
    keys = ["skill-file", "skill_file", "skill", "server", "bank", "state", "encoder", "encoder-url", "time-limit", "timeout",
            "fallback", "token", "ask", "output", "skill-text"]  # fmt: skip
    values = ['"../outside/SKILL.md"', f'"{secret}"', '["../outside/SKILL.md"]', '"http://127.0.0.1:9"', '"inside.md"', "3000",
              '"/etc/passwd"', '"~/x"', '"file:///etc/passwd"', '"link.md"', '"link/SKILL.md"', "true", "{a = 1}", '"-"', '""']  # fmt: skip
    sections = ["[hook]", "", "[hook.claude-code]", "[tool.skilldelta.hook]"]
    for number in range(tries):
        project = folder / f"p{number}"
        project.mkdir()
        (project / "inside.md").write_text("---\nname: inside\n---\nFine.")
        (project / "link.md").symlink_to(secret)
        (project / "link").symlink_to(secret.parent)
        lines = [
            rng.choice(sections),
            *(f"{rng.choice(keys)} = {rng.choice(values)}" for _ in range(rng.randrange(1, 4))),
        ]
        (project / "skilldelta.toml").write_text("\n".join(lines))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        command = [sys.executable, "-m", "skilldelta", "hook", "claude-code", "--skill", "c", "--time-limit", str(_LIMIT),
                   "--fallback", "use"]  # fmt: skip
        began = time.monotonic()
        done = subprocess.run(
            command, input=json.dumps(PROMPT), capture_output=True, text=True, cwd=project, env=environment, timeout=60
        )
        seconds = time.monotonic() - began
        leaked = "keys of the house" in done.stdout or "root:" in done.stdout
        bad = leaked or done.returncode or "Traceback" in done.stderr or seconds > _LIMIT + _BEYOND + _MACHINE
        yield f"{lines}: {done.returncode} {done.stdout[:200]!r} {done.stderr[-200:]!r} {seconds:.1f} s" if bad else ""
        shutil.rmtree(project)
    return ""
