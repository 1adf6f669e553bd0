"""Each harness as a person would run it: a clean home, a project with a skill of its own, SkillDelta's plugin, one prompt."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from harnesses import installing

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
ABACUS = "---\nname: abacus\ndescription: Counts things in a warehouse.\n---\nUse the beads.\n"


KEY = "one user runs the harnesses and the server"


def give_key(state: Path) -> None:
    """Let a harness and its server belong to the same user, although each has a home of its own."""
    file = state / "skilldelta" / "server-key"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(KEY)


@dataclass
class HarnessRun:
    """One harness in one place. `settings` are the plugin's; a hook gets them as variables."""

    name: str
    folder: Path
    model_url: str
    server: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    plugin: bool = True
    programs: str = str(Path(sys.executable).parent)
    """The folder in which the harness finds `skilldelta`."""
    long_skills: bool = False

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def program(self) -> str:
        found = installing.program(self.name)
        if found is None:
            pytest.skip(f"{self.name} is not installed; make test-harnesses installs it")
        return str(found)

    def prepare(self) -> HarnessRun:
        """Make the home and the project, and set the plugin up in them."""
        for folder in (self.home, self.project):
            folder.mkdir(parents=True, exist_ok=True)
        give_key(self.home / ".local" / "state")
        _PREPARATIONS[self.name](self)
        return self

    def ask(self, prompt: str, *, again: bool = False, timeout: float = 120) -> str:
        """Send one prompt; `again` goes on with the conversation of the last one. Returns what the harness printed."""
        words = _COMMANDS[self.name](self, prompt, again)
        done = subprocess.run(
            words,
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == 0, f"{words[1:]}\n{done.stdout[-3_000:]}\n{done.stderr[-3_000:]}"
        return done.stdout

    def environment(self) -> dict[str, str]:
        """Nothing of the machine's own settings, no traffic but to loopback."""
        hook = {"skill": "SKILLDELTA_SKILL", "skillFile": "SKILLDELTA_SKILL_FILE"}
        told = {hook[name]: str(value) for name, value in self.settings.items() if name in hook}
        return {
            "HOME": str(self.home),
            "PATH": f"{self.programs}:{installing.search_path()}",
            "TERM": "dumb",
            "SKILLDELTA_SERVER": self.server,
            "SKILLDELTA_TIMEOUT": "5",  # the machine may be busy; the limit itself has tests of its own
            **({} if self.name in ("dsh", "opencode", "pi") else told),
            **({"SKILLDELTA_LONG_SKILLS": "1"} if self.long_skills else {}),
            **_VARIABLES[self.name](self),
        }

    def write(self, place: str, content: str) -> Path:
        """Write a file below the folder of this run."""
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    def do(self, *words: str) -> None:
        """Run the harness for something that is not a prompt, such as installing a plugin."""
        subprocess.run(
            [self.program, *words],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=True,
        )


def _prepare_claude_code(run: HarnessRun) -> None:
    run.write("project/.claude/skills/abacus/SKILL.md", ABACUS)
    if run.plugin:
        run.do("plugin", "marketplace", "add", str(ROOT))
        run.do("plugin", "install", "skilldelta@skilldelta")


def _prepare_codex(run: HarnessRun) -> None:
    provider = f'name = "fake"\nbase_url = "{run.model_url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n'
    top = 'model = "fake"\nmodel_provider = "fake"\n'
    run.write("home/.codex/config.toml", f"{top}[model_providers.fake]\n{provider}")
    if run.plugin:
        run.do("plugin", "marketplace", "add", str(ROOT))
        run.do("plugin", "add", "skilldelta@skilldelta")


def _prepare_gemini(run: HarnessRun) -> None:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    run.write("home/.gemini/settings.json", json.dumps(settings))
    run.write("home/.gemini/skills/abacus/SKILL.md", ABACUS)
    if run.plugin:
        run.do("extensions", "link", str(PLUGINS / "gemini"), "--consent")


def _prepare_opencode(run: HarnessRun) -> None:
    run.write("project/.opencode/skills/abacus/SKILL.md", ABACUS)
    options = {"baseURL": f"{run.model_url}/v1", "apiKey": "fake"}
    models = {"fake": {"name": "fake", "tool_call": True}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": options, "models": models}
    plugin = [[(PLUGINS / "opencode-skilldelta" / "plugin.mjs").as_uri(), dict(run.settings)]]
    document = {"model": "fake/fake", "provider": {"fake": provider}, "plugin": plugin if run.plugin else []}
    run.write("project/opencode.json", json.dumps(document))


def _prepare_pi(run: HarnessRun) -> None:
    run.write("home/.pi/agent/skills/abacus/SKILL.md", ABACUS)
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {
        "id": "fake",
        "name": "fake",
        "input": ["text"],
        "contextWindow": 128_000,
        "maxTokens": 4_096,
        "cost": cost,
    }
    provider = {"baseUrl": f"{run.model_url}/v1", "api": "openai-completions", "apiKey": "fake", "models": [model]}
    run.write("home/.pi/agent/models.json", json.dumps({"providers": {"fake": provider}}))
    run.write("home/.pi/agent/skilldelta.json", json.dumps(dict(run.settings)))


def _prepare_dsh(run: HarnessRun) -> None:
    run.write("project/.agents/skills/abacus/SKILL.md", ABACUS)
    plugin = str(PLUGINS / "dsh-skilldelta" / "plugin.mjs")
    row = {"id": "skilldelta", "name": plugin, "config": dict(run.settings)}
    run.write("patch.yml", yaml.safe_dump([{"insert": [row]}] if run.plugin else []))


_PREPARATIONS: Mapping[str, Callable[[HarnessRun], None]] = {
    "claude-code": _prepare_claude_code,
    "codex": _prepare_codex,
    "gemini": _prepare_gemini,
    "opencode": _prepare_opencode,
    "pi": _prepare_pi,
    "dsh": _prepare_dsh,
}

_VARIABLES: Mapping[str, Callable[[HarnessRun], dict[str, str]]] = {
    "claude-code": lambda run: {
        "ANTHROPIC_BASE_URL": run.model_url,
        "ANTHROPIC_API_KEY": "sk-ant-fake",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
    "codex": lambda run: {"FAKE_KEY": "fake"},
    "gemini": lambda run: {"GOOGLE_GEMINI_BASE_URL": run.model_url, "GEMINI_API_KEY": "fake"},
    "opencode": lambda run: {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    "pi": lambda run: {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
    "dsh": lambda run: {
        "DSH_HOME": str(run.home / ".dsh"),
        "DEEPSEEK_BASE_URL": run.model_url,
        "DEEPSEEK_API_KEY": "fake",
    },
}

_COMMANDS: Mapping[str, Callable[[HarnessRun, str, bool], list[str]]] = {
    "claude-code": lambda run, prompt, again: [run.program, *(["--continue"] if again else []), "-p", prompt],
    "codex": lambda run, prompt, again: [
        *(run.program, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        *(["resume", "--last"] if again else []),
        prompt,
    ],
    "gemini": lambda run, prompt, again: [
        *(run.program, "--skip-trust", "--approval-mode", "yolo", "-m", "gemini-2.5-flash"),
        *(["--resume", "latest"] if again else []),
        *("-p", prompt),
    ],
    "opencode": lambda run, prompt, again: [run.program, "run", *(["--continue"] if again else []), prompt],
    "pi": lambda run, prompt, again: [
        *(run.program, "--provider", "fake", "--model", "fake"),
        *(["-e", str(PLUGINS / "pi-skilldelta" / "extension.mjs")] if run.plugin else []),
        *(["--continue"] if again else []),
        *("-p", prompt),
    ],
    "dsh": lambda run, prompt, again: [
        *(run.program, "--profile", "headless", "--patch", str(run.folder / "patch.yml")),
        prompt,
    ],
}
