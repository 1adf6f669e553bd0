"""`python -m tests.bank.importers.tool_environments` installs the real tools, each in an environment of its own.

They lie in `.cache/tools`, outside of what the project installs. A tool whose interpreter is missing is passed over, and its
test says so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / ".cache" / "tools"
PACKAGES = {
    "harbor": ("harbor==0.24.0", ("python3.12", "python3.13")),
    "skillevaluation": ("skillevaluation==0.8.0", (sys.executable,)),
    "agent-skill-evals": ("agent-skill-evals==0.1.0rc4", (sys.executable,)),
}
PROMPTFOO = "promptfoo@0.121"


def executable(tool: str, name: str) -> Path:
    """Where a program of a tool's environment is."""
    return TOOLS / tool / ("node_modules/.bin" if tool == "promptfoo" else "bin") / name


def main() -> None:
    """Install what is not there yet."""
    for tool, (package, interpreters) in PACKAGES.items():
        python = next((found for one in interpreters if (found := shutil.which(one)) and _runs(found)), None)
        if python is None:
            print(f"{tool}: none of {', '.join(interpreters)} is installed; passed over")
        elif not executable(tool, "python").exists():
            _run([python, "-m", "venv", str(TOOLS / tool)])
            _run([str(executable(tool, "python")), "-m", "pip", "install", "--quiet", package])
    npm = shutil.which("npm")
    if npm is None:
        print("promptfoo: npm is not installed; passed over")
    elif not executable("promptfoo", "promptfoo").exists():
        (TOOLS / "promptfoo").mkdir(parents=True, exist_ok=True)
        _run([npm, "install", "--no-audit", "--no-fund", "--prefix", str(TOOLS / "promptfoo"), PROMPTFOO])


def _runs(python: str) -> bool:
    """Whether an interpreter starts: a version manager leaves names of interpreters that it does not have."""
    return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0


def _run(command: list[str]) -> None:
    print(" ".join(command), flush=True)
    if subprocess.run(command, check=False).returncode:
        print(f"{command[-1]}: could not be installed; its test will be skipped")


if __name__ == "__main__":
    main()
