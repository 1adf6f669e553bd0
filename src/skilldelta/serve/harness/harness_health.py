"""What `skilldelta doctor` finds in each harness: its version, its hooks, its adapter, and what went wrong lately.

Installed hooks are run as their harness would run them, with a sample event, and without a trace in the decision log.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from skilldelta.nouns import plural
from skilldelta.serve.harness.harness_files import settings_file
from skilldelta.serve.harness.harness_recipes import RECIPES
from skilldelta.serve.harness.health import SAMPLE_TASK, Finding
from skilldelta.serve.harness.wanted_setup import Entry, HarnessName, installed_entries
from skilldelta.serve.hooks.failure_log import last_failures
from skilldelta.serve.hooks.hook_event import DIALECTS, HOSTS, Host
from skilldelta.version import __version__

_HOOK_SECONDS = 20.0
_RECENT_HOURS = 24


def check_harness(harness: HarnessName, folder: Path) -> list[Finding]:
    """What is set up in a folder of settings; nothing where SkillDelta is not in it."""
    if harness in HOSTS and (mark := _plugin_in(harness, folder)) is not None:
        return [_version_of(harness), _run(harness, mark, "the plugin", f"skilldelta hook {harness} --ask server")]
    path = settings_file(harness, folder)
    if not path.is_file():
        return []
    try:
        text = path.read_text(encoding="utf-8")
        found = installed_entries(text, harness) if harness in HOSTS else []
    except (OSError, ValueError) as error:  # an InputError is a ValueError
        remedy = "fix the file; the harness cannot read it either"
        return [Finding(harness, "wrong", f"{path}: {' '.join(str(error).split())}", remedy)]
    if harness in HOSTS:
        return [_version_of(harness), *_entries(harness, path, found)] if found else []
    return [_version_of(harness), _adapter_in(harness, path, text)] if "skilldelta" in text else []


def _plugin_in(host: Host, folder: Path) -> Path | None:
    """What shows that the harness has SkillDelta as a plugin or extension of its own, whose hooks are in no settings file."""
    if host == "gemini":
        mark = folder / "extensions" / "skilldelta"
        return mark if mark.exists() else None
    mark = folder / ("settings.json" if host == "claude-code" else "config.toml")
    try:
        return mark if "skilldelta@" in mark.read_text(encoding="utf-8", errors="replace") else None
    except OSError:
        return None


def installed_banks(harness: HarnessName, folder: Path) -> list[str]:
    """The banks that installed hooks name."""
    path = settings_file(harness, folder)
    try:
        found = installed_entries(path.read_text(encoding="utf-8"), harness) if harness in HOSTS else []
    except (OSError, ValueError):
        return []
    words = [_words(command) for entry in found for command in entry.commands]
    return sorted({line[line.index("--bank") + 1] for line in words if "--bank" in line[:-1]})


def _version_of(harness: HarnessName) -> Finding:
    program = RECIPES[harness].program
    place = shutil.which(program)
    if place is None:
        return Finding(harness, "note", f"{program} is not on the PATH", f"install {program}, or add it to the PATH")
    try:
        done = subprocess.run(
            [place, "--version"], capture_output=True, text=True, errors="replace", timeout=10, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return Finding(harness, "note", f"{place} does not tell its version")
    said = (done.stdout.strip() or done.stderr.strip() or "an unknown version").splitlines()[0][:80]
    return Finding(harness, "ok", f"{place}: {said}")


def _entries(host: Host, path: Path, found: list[Entry]) -> list[Finding]:
    dialect = DIALECTS[host]
    here = {entry.event for entry in found}
    lacking = {dialect.prompt, dialect.end, *(() if host == "codex" else (dialect.tool,))} - here
    findings = []
    if lacking:
        told = f"{path}: no entry at {', '.join(sorted(lacking))}"
        findings.append(Finding(f"{host} hooks", "wrong", told, f"skilldelta install {host} again"))
    commands: dict[str, str] = {}
    for entry in found:
        for command in entry.commands:
            commands.setdefault(command, entry.event)
    return [*findings, *(_run(host, path, event, command) for command, event in commands.items())]


def _run(host: Host, path: Path, event: str, command: str) -> Finding:
    """Run an entry as the harness does, through a shell, with a prompt that leaves no trace."""
    name = f"{host} hook"
    sample = {
        "session_id": "skilldelta-doctor",
        "hook_event_name": DIALECTS[host].prompt,
        "prompt": SAMPLE_TASK,
        "cwd": str(Path.cwd()),
    }
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as state:
        tried = f"{command} --no-record --state {shlex.quote(state) if sys.platform != 'win32' else state}"
        try:
            done = subprocess.run(
                tried,
                shell=True,
                input=json.dumps(sample),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_HOOK_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Finding(name, "wrong", f"{path}: {event} did not answer", "run skilldelta serve, or check the bank")
    seconds = time.monotonic() - started
    said = " ".join(done.stderr.split())[:300]
    if done.returncode != 0:
        told = f"{path}: the command at {event} exits with {done.returncode}: {said or command}"
        return Finding(name, "wrong", told, f"skilldelta install {host} again")
    if said:
        return Finding(name, "wrong", f"{path}: {said}", f"fix this, or skilldelta install {host} again")
    try:
        answered = bool(done.stdout.strip()) and isinstance(json.loads(done.stdout), dict)
    except ValueError:
        return Finding(name, "wrong", f"{path}: prints what is no answer: {done.stdout[:60]!r}", "see the command")
    told = "injects the skill" if answered else "injects nothing"
    return Finding(name, "ok", f"{event} answers in {seconds:.2f} s ({told} for the sample task)")


def _adapter_in(harness: HarnessName, path: Path, text: str) -> Finding:
    """Whether the adapter that a file names is there, and of this version."""
    name = f"{harness} adapter"
    again = f"skilldelta install {harness} again"
    module = next((Path(place) for place in _named_modules(text) if "skilldelta" in place), None)
    if module is None or not module.is_file():
        return Finding(name, "wrong", f"{path}: the adapter {module or ''} is missing", again)
    try:
        version = json.loads((module.parent / "package.json").read_text(encoding="utf-8"))["version"]
    except (OSError, ValueError, KeyError, TypeError):
        version = "unknown"
    if version not in (__version__, "unknown"):
        return Finding(name, "wrong", f"{module}: version {version}, SkillDelta is {__version__}", again)
    return Finding(name, "ok", f"{module}: version {version}")


def _named_modules(text: str) -> list[str]:
    """Paths of JavaScript modules in a text, plain or as file URLs."""
    words = (word.strip("\"'(),") for line in text.splitlines() for word in line.replace("name:", " ").split())
    found = [word for word in words if word.endswith((".mjs", ".js"))]
    return [url2pathname(unquote(urlsplit(word).path)) if word.startswith("file:") else word for word in found]


def check_failures(state: Path, *, now: float) -> list[Finding]:
    """What went wrong in hooks lately."""
    dated = [row for row in last_failures(state, 100) if isinstance(row.get("time"), int | float)]
    recent = [row for row in dated if row["time"] > now - 3_600 * _RECENT_HOURS]
    if not recent:
        return []
    told = f"{plural(len(recent), 'failure')} of hooks in {_RECENT_HOURS} hours, the last: {str(recent[0].get('failure'))[:200]}"
    return [Finding("failures", "note", told, "fix what the other lines say; the list begins anew when it is long")]


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=sys.platform != "win32")
    except ValueError:
        return []
