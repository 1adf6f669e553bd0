"""What a harness is to be set up with: the skills on offer, and how SkillDelta is started and asked."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from skilldelta.harnesses.offered_skill import OfferedSkill, in_parts, skill_body
from skilldelta.server_proof import DEFAULT_SERVER


@dataclass(frozen=True, slots=True)
class WantedSetup:
    """The skills on offer, and how SkillDelta is to be started and asked."""

    command: tuple[str, ...]
    """The words that start `skilldelta`."""
    skills: tuple[OfferedSkill, ...]
    options: Mapping[str, str]
    """Options of the hook by name, those that differ from their defaults."""
    all_skills: bool = False
    """Whether every skill of the harness is on offer, also those that are added later."""
    http: bool = False
    """Whether the harness sends its events to the server by itself."""
    shadow: bool = False
    """Whether the gate only logs what it would have done."""

    def hook_command(self, harness: str, part: str = "") -> str:
        """The command line of a hook entry. Without SkillDelta it does nothing, and it never fails: some harnesses stop the
        agent when a hook cannot be run.
        """
        words = [*self.command, "hook", harness]
        for skill in self.skills:
            words += ["--skill", skill.name] if skill.file is None or len(self.skills) == 1 else []
            words += ["--skill-file", str(skill.file)] if skill.file is not None else []
            words += ["--skill-digest", f"{skill.name}={skill.digest}"] if skill.digest else []
        words += ["--all"] if self.all_skills else []
        words += ["--shadow"] if self.shadow else []
        for name, value in self.options.items():
            words += [f"--{name}", value]
        words += ["--part", part] if part else []
        if sys.platform == "win32":
            return f"{subprocess.list2cmdline(words)} || exit /b 0"
        return f"test -x {shlex.quote(self.command[0])} && {shlex.join(words)} || true"

    def hook_url(self, harness: str) -> str:
        """Where the harness sends its events by itself."""
        server = self.options.get("server", DEFAULT_SERVER).rstrip("/")
        return f"{server}/v1/hooks/{harness}?{urlencode([('skill', skill.name) for skill in self.skills])}"

    def parts(self, longest: int | None) -> int:
        """How many hook entries it takes to inject the longest of the skills."""
        texts = [skill_body(skill.file) for skill in self.skills if skill.file is not None]
        if self.options.get("inject") == "invoke":
            return 1
        return max((len(in_parts("", text, longest)) for text in texts), default=1)

    def adapter_settings(self) -> dict[str, Any]:
        """The settings of the adapters in JavaScript, which supply one skill, or govern the harness's own."""
        names = {"server": "server", "bank": "bank", "agent": "agent", "suite": "suite", "fallback": "failMode"}
        settings: dict[str, Any] = {"native": True} if self.all_skills else {}
        if self.shadow:
            settings["shadow"] = True
        for skill in self.skills:
            settings["skill"] = skill.name
            if skill.file is not None:
                settings["skillFile"] = str(skill.file)
            if skill.digest:
                settings["skillDigest"] = skill.digest
        settings |= {names[name]: value for name, value in self.options.items() if name in names}
        if "timeout" in self.options:
            settings["timeout"] = float(self.options["timeout"])
        if self.options.get("ask") != "server":
            settings["command"] = list(self.command)  # decides where no server answers
        return settings


def skilldelta_command(program: str) -> tuple[str, ...]:
    """The words that start this very installation, from the name under which it was started."""
    path = Path(program)
    if path.name in ("skilldelta", "skilldelta.exe") and path.is_file():
        return (str(path.absolute()),)
    beside = Path(sys.executable).with_name("skilldelta.exe" if sys.platform == "win32" else "skilldelta")
    return (str(beside),) if beside.is_file() else (sys.executable, "-m", "skilldelta")
