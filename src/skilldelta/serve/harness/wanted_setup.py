"""What a harness is to be set up with, in words for a hook's command line and as settings for an adapter."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from skilldelta.errors import InputError
from skilldelta.serve.hooks.hook_event import Host
from skilldelta.serve.hooks.offered_skill import LONGEST, OfferedSkill, in_parts, skill_body

HarnessName = Literal["claude-code", "codex", "gemini", "opencode", "pi", "dsh"]
HARNESSES: tuple[HarnessName, ...] = get_args(HarnessName)
Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class WantedSetup:
    """The skills on offer, and how SkillDelta is to be started and asked."""

    command: tuple[str, ...]
    """The words that start `skilldelta`."""
    skills: tuple[OfferedSkill, ...]
    options: Mapping[str, str]
    """Options of the hook by name, those that differ from their defaults."""

    def hook_command(self, host: Host, part: str = "") -> str:
        """The command line of a hook entry, quoted for the shell that the harness gives it to."""
        words = [*self.command, "hook", host]
        for skill in self.skills:
            words += ["--skill", skill.name] if skill.file is None or len(self.skills) == 1 else []
            words += ["--skill-file", str(skill.file)] if skill.file is not None else []
        for name, value in self.options.items():
            words += [f"--{name}", value]
        return _quoted([*words, *(["--part", part] if part else [])])

    def parts(self, host: Host) -> int:
        """How many hook entries it takes to inject the longest of the skills."""
        texts = [skill_body(skill.file) for skill in self.skills if skill.file is not None]
        if self.options.get("inject") == "invoke":
            return 1
        return max((len(in_parts("", text, LONGEST[host])) for text in texts), default=1)

    def adapter_settings(self) -> dict[str, Any]:
        """The settings of the adapters for OpenCode, pi and DeepSeek Harness, which supply one skill."""
        if self.options.get("fallback") == "abstain":
            raise InputError("the adapter knows no fallback abstain; say --fallback skip or use")
        skill = self.skills[0]
        names = {"server": "server", "bank": "bank", "agent": "agent", "suite": "suite", "fallback": "failMode"}
        told = {names[name]: value for name, value in self.options.items() if name in names}
        timeout = {"timeout": float(self.options["timeout"])} if "timeout" in self.options else {}
        file = {} if skill.file is None else {"skillFile": str(skill.file)}
        return {"skill": skill.name, **file, **told, **timeout}


def skilldelta_command(program: str) -> tuple[str, ...]:
    """The words that start this very installation, from the name under which it was started."""
    path = Path(program)
    if path.name in ("skilldelta", "skilldelta.exe") and path.is_file():
        return (str(path.absolute()),)
    beside = Path(sys.executable).with_name("skilldelta.exe" if sys.platform == "win32" else "skilldelta")
    return (str(beside),) if beside.is_file() else (sys.executable, "-m", "skilldelta")


def _quoted(words: list[str]) -> str:
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
