"""What `skilldelta doctor` finds in each harness: its version, its hooks, its adapter, and what went wrong lately.

Installed hooks are run as their harness would run them, with a sample event, and without a trace in the decision log.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilldelta.advisor.carried_over import SkillVersion
from skilldelta.bank.skill_versions import read_skill
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError, SkillDeltaError, unknown_name
from skilldelta.gate.answer import change_words
from skilldelta.harnesses.harness import Dialect, Harness
from skilldelta.harnesses.installation import content_of
from skilldelta.harnesses.offered_skill import skill_name
from skilldelta.nouns import plural
from skilldelta.serve.health import SAMPLE_TASK, Finding
from skilldelta.serve.hooks.failure_log import last_failures
from skilldelta.version import __version__

_HOOK_SECONDS = 20.0
_RECENT_HOURS = 24


def check_harness(harness: Harness, folder: Path, *, has_server: bool, library: Sequence[Path] = ()) -> list[Finding]:
    """What is set up in a folder of settings; nothing where SkillDelta is not in it.

    `library` has the files of the skills that the harness has: those that are governed where it was installed with `--all`.
    """
    if harness.dialect is not None and (mark := _plugin_in(harness, folder)) is not None:
        command = f"skilldelta hook {harness.name} --ask server"
        return [_version_of(harness), _run(harness.name, harness.dialect, mark, "the plugin", command)]
    path = harness.setup.files(harness, folder)[0]
    try:
        text = _settings_text(harness, folder)
        commands = harness.setup.commands(harness, text)
        modules = list(harness.setup.modules(harness, folder)) if "skilldelta" in text else []
    except (OSError, ValueError) as error:  # an InputError is a ValueError
        remedy = "fix the file; the harness cannot read it either"
        return [Finding(harness.name, "wrong", f"{path}: {' '.join(str(error).split())}", remedy)]
    if harness.dialect is not None:
        if not commands:
            return []
        findings = [_version_of(harness), *_entries(harness.name, harness.dialect, path, commands)]
        lines = [command for several in commands.values() for command in several]
        findings += [*_unknown_skills(harness.name, lines), *_edited_skills(harness.name, _offers(lines, "", library))]
        return [*findings, *_refused_settings(harness, path, text), *_untrusted(harness, folder)]
    if "skilldelta" not in text:
        return []
    findings = [_version_of(harness), _adapter_in(harness, path, modules)]
    findings += _no_way_to_an_answer(harness, text, has_server)
    return [*findings, *_edited_skills(harness.name, _offers([], text, library))]


def _refused_settings(harness: Harness, path: Path, text: str) -> list[Finding]:
    """A file that SkillDelta can read and the harness cannot."""
    try:
        if harness.has_plain_json:
            json.loads(text)
    except ValueError:
        told = f"{path}: has comments or trailing commas, and {harness.title} refuses such a file as a whole"
        return [Finding(f"{harness.name} settings", "wrong", told, "take them out of the file")]
    return []


def _untrusted(harness: Harness, folder: Path) -> list[Finding]:
    """Hooks that the harness leaves out without a word until its user has trusted them."""
    file, mark = harness.trust_mark
    if not file:
        return []
    try:
        text = (content_of(folder / file) or b"").decode("utf-8", "replace")
    except (InputError, OSError):
        text = ""
    if mark in text:
        return []
    told = f"{folder / file}: trusts no hook yet, and {harness.title} leaves hooks out until it does"
    return [Finding(f"{harness.name} trust", "note", told, harness.next_step)]


def _no_way_to_an_answer(harness: Harness, text: str, has_server: bool) -> list[Finding]:
    """An adapter asks the server, else its command; without either it does nothing."""
    named = re.search(r"\"?command\"?:\s*(?:\[\s*|\n\s*-\s*)\"?([^\s\",\]]+)", text)
    if has_server or (named is not None and os.access(named[1], os.X_OK)):
        return []
    told = f"no server answers, and the command {named[1] if named else ''} is not there: the gate decides nothing"
    remedy = f"skilldelta serve, or skilldelta install {harness.name} again"
    return [Finding(f"{harness.name} answers", "wrong", told, remedy)]


def _settings_text(harness: Harness, folder: Path) -> str:
    """The file that names SkillDelta; empty where there is none."""
    path = harness.setup.files(harness, folder)[0]
    return (content_of(path) or b"").decode("utf-8") if path.is_file() else ""


def _plugin_in(harness: Harness, folder: Path) -> Path | None:
    """What shows that the harness has SkillDelta as a plugin of its own kind, whose hooks are in no settings file."""
    file, words = harness.plugin_mark
    mark = folder / file
    if not file or not mark.exists():
        return None
    try:
        is_named = not words or words in (content_of(mark) or b"").decode("utf-8", "replace")
    except (InputError, OSError):
        return None
    return mark if is_named else None


def installed_values(harness: Harness, folder: Path, option: str) -> list[str]:
    """What installed hooks name with an option, such as --bank or --server."""
    try:
        commands = harness.setup.commands(harness, _settings_text(harness, folder))
    except (OSError, ValueError):
        return []
    words = [_words(command) for several in commands.values() for command in several]
    return sorted({line[line.index(option) + 1] for line in words if option in line[:-1]})


def _version_of(harness: Harness) -> Finding:
    program = harness.program
    place = shutil.which(program)
    if place is None:
        return Finding(
            harness.name, "note", f"{program} is not on the PATH", f"install {program}, or add it to the PATH"
        )
    try:
        done = subprocess.run(
            [place, "--version"], capture_output=True, text=True, errors="replace", timeout=10, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return Finding(harness.name, "note", f"{place} does not tell its version")
    version = (done.stdout.strip() or done.stderr.strip() or "an unknown version").splitlines()[0][:80]
    if harness.tested_version and harness.tested_version not in version:
        return Finding(harness.name, "note", f"{place}: {version}; SkillDelta was tested with {harness.tested_version}")
    return Finding(harness.name, "ok", f"{place}: {version}")


def _entries(host: str, dialect: Dialect, path: Path, commands: Mapping[str, Sequence[str]]) -> list[Finding]:
    lacking = {dialect.prompt, dialect.end, *((dialect.tool,) if dialect.skill_tool else ())} - set(commands)
    findings = []
    if lacking:
        message = f"{path}: no entry at {', '.join(sorted(lacking))}"
        findings.append(Finding(f"{host} hooks", "wrong", message, f"skilldelta install {host} again"))
    events: dict[str, str] = {}
    for event, several in commands.items():
        for command in several:
            events.setdefault(command, event)
    runs = [_run(host, dialect, path, event, command) for command, event in events.items()]
    return [*findings, *runs]


def _unknown_skills(host: str, commands: Sequence[str]) -> list[Finding]:
    """Skills that are offered by name and that the bank does not have: a hook leaves them alone, and says nothing."""
    findings: dict[str, Finding] = {}
    for words in map(_words, commands):
        values = {flag: words[i + 1] for i, flag in enumerate(words[:-1]) if flag in ("--bank", "--skill")}
        if "--skill" not in values or "--skill-file" in words or "://" in values.get("--bank", "://"):
            continue
        try:
            with Bank.open(values["--bank"], readonly=True) as bank:
                recorded = {skill.skill_id for skill in bank.skills()}
        except (SkillDeltaError, OSError):
            continue  # the check of the bank says what is wrong
        names = [words[i + 1] for i, flag in enumerate(words[:-1]) if flag == "--skill"]
        for name in names:
            if name not in recorded:
                detail = str(unknown_name("skill", name, recorded))
                findings[name] = Finding(
                    f"{host} skill", "wrong", detail, "collect runs of it, or install another skill"
                )
    return list(findings.values())


def _offers(commands: Sequence[str], text: str, library: Sequence[Path]) -> list[tuple[str, list[Path]]]:
    """The bank and the skill files of each command line, or of an adapter's settings."""
    offers = []
    for words in map(_words, commands):
        bank = next((words[i + 1] for i, flag in enumerate(words[:-1]) if flag == "--bank"), "")
        files = [Path(words[i + 1]) for i, flag in enumerate(words[:-1]) if flag == "--skill-file"]
        offers.append((bank, [*files, *(library if "--all" in words else ())]))
    if not commands:
        values = dict(
            re.findall(r"^\s*\"?(bank|skillFile|native)\"?:\s*\"?([^\"\n]*[^\",\n])\"?,?$", text, re.MULTILINE)
        )
        files = [Path(values["skillFile"])] if "skillFile" in values else []
        offers.append((values.get("bank", ""), [*files, *(library if values.get("native") == "true" else ())]))
    return [(bank, files) for bank, files in offers if files and bank and "://" not in bank]


def _edited_skills(host: str, offers: Sequence[tuple[str, Sequence[Path]]]) -> list[Finding]:
    """The skills on offer whose files were edited since their runs: their evidence is carried over, at a discount."""
    findings: dict[Path, Finding] = {}
    for location, files in offers:
        try:
            with Bank.open(location, readonly=True) as bank:
                recorded_names = {skill.skill_id for skill in bank.skills()}
                for file in files:
                    if skill_name(file) not in recorded_names:
                        continue
                    recorded = bank.resolve_skill(skill_name(file))
                    offered = SkillVersion.of(read_skill(file))
                    if not offered.is_recorded(recorded):
                        change = change_words(offered.changed_since(recorded))
                        message = (
                            f"{file} was changed since its runs ({change}): answers are carried over from version "
                        )
                        remedy = f"run {recorded.skill_id} again to have evidence of its own: skilldelta collect"
                        findings[file] = Finding(f"{host} skill", "note", f"{message}{recorded.digest[:12]}", remedy)
        except (SkillDeltaError, OSError):
            continue  # the checks of the bank and of the hook say what is wrong
    return list(findings.values())


def _run(host: str, dialect: Dialect, path: Path, event: str, command: str) -> Finding:
    """Run an entry as the harness does, through a shell, with a prompt that leaves no trace."""
    name = f"{host} hook"
    program = next(
        (word for word in _words(command) if word.rpartition("/")[2].startswith(("skilldelta", "python"))), ""
    )
    if os.path.isabs(program) and not os.access(program, os.X_OK):
        effect = f"{path}: {program} is gone, so {event} does nothing"
        return Finding(name, "wrong", effect, f"skilldelta install {host} again")
    sample = {
        "session_id": "skilldelta-doctor",
        "hook_event_name": dialect.prompt,
        "prompt": SAMPLE_TASK,
        "cwd": str(Path.cwd()),
    }
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as state:
        try:
            done = subprocess.run(
                command,
                shell=True,
                env={**os.environ, "SKILLDELTA_STATE": state, "SKILLDELTA_NO_RECORD": "1"},
                input=json.dumps(sample),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_HOOK_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Finding(name, "wrong", f"{path}: {event} did not answer", "run skilldelta serve, or check the bank")
    seconds = time.monotonic() - started
    errors = " ".join(done.stderr.split())[:300]
    if done.returncode != 0:
        effect = f"{path}: the command at {event} exits with {done.returncode}: {errors or command}"
        return Finding(name, "wrong", effect, f"skilldelta install {host} again")
    if errors:
        return Finding(name, "wrong", f"{path}: {errors}", f"fix this, or skilldelta install {host} again")
    try:
        answered = bool(done.stdout.strip()) and isinstance(json.loads(done.stdout), dict)
    except ValueError:
        return Finding(name, "wrong", f"{path}: prints what is no answer: {done.stdout[:60]!r}", "see the command")
    effect = "injects the skill" if answered else "injects nothing"
    return Finding(name, "ok", f"{event} answers in {seconds:.2f} s ({effect} for the sample task)")


def _adapter_in(harness: Harness, path: Path, modules: list[Path]) -> Finding:
    """Whether the adapter that a file names is there, and of this version."""
    name = f"{harness.name} adapter"
    again = f"skilldelta install {harness.name} again"
    module = next((place for place in modules if not place.is_file()), modules[-1] if modules else None)
    if module is None or not module.is_file():
        return Finding(name, "wrong", f"{path}: the adapter {module or ''} is missing", again)
    try:
        version = json.loads((module.parent / "package.json").read_text(encoding="utf-8"))["version"]
    except (OSError, ValueError, KeyError, TypeError):
        version = "unknown"
    if version not in (__version__, "unknown"):
        return Finding(name, "wrong", f"{module}: version {version}, SkillDelta is {__version__}", again)
    return Finding(name, "ok", f"{module}: version {version}")


def check_failures(state: Path, *, now: float) -> list[Finding]:
    """What went wrong in hooks lately."""
    dated = [row for row in last_failures(state, 100) if isinstance(row.get("time"), int | float)]
    recent = [row for row in dated if row["time"] > now - 3_600 * _RECENT_HOURS]
    if not recent:
        return []
    message = f"{plural(len(recent), 'failure')} of hooks in {_RECENT_HOURS} hours, the last: {str(recent[0].get('failure'))[:200]}"
    return [Finding("failures", "note", message, "fix what the other lines say; the list begins anew when it is long")]


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, posix=sys.platform != "win32")
    except ValueError:
        return []
