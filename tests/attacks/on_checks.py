"""Attacks that the tests make already: each test is a try."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from attacks.attack import Surface, Tries, attack

_TESTS = Path(__file__).resolve().parents[1]


def _register(surface: Surface, title: str, name: str, *words: str, tries: int) -> None:
    def run(folder: Path, tries: int) -> Tries:
        report = folder / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            "-m",
            "not slow",
        ]
        paths = [str(_TESTS / word) if "/" in word else word for word in words]
        done = subprocess.run([*command, *paths], capture_output=True, text=True, cwd=_TESTS.parent, timeout=330)
        if not report.exists():
            yield f"the tests did not run: {done.stdout[-500:]}"
            return ""
        skipped = 0
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("skipped") is not None:
                skipped += 1
                continue
            bad = case.find("failure") if case.find("failure") is not None else case.find("error")
            yield "" if bad is None else f"{case.get('name')}: {bad.get('message', '')[:300]}"
        return f"{skipped} tests cannot run on this machine" if skipped else ""

    run.__name__ = name
    attack(surface, title, tries=tries, few=0, at_once=True)(run)


_register("sandbox", "ways out of the sandbox, also as an ordinary user", "sandbox_escapes",
          "collect/test_sandbox_escapes.py", "collect/test_sandbox_ordinary_user.py", tries=40)  # fmt: skip
_register("hooks", "impostors on the port of a server", "impostors", "serve/test_server_proof.py", tries=15)
_register("bank", "eight writers, a clock that goes back, a full disk, roles with few rights", "crowded_banks",
          "bank/test_many_writers.py", "bank/test_postgresql.py::test_reading_roles_need_no_right_to_write", tries=10)  # fmt: skip
_register("bank", "faults at steps of a write, and damaged rows", "faulty_banks",
          "bank/test_faults.py", "bank/test_damage.py", tries=20)  # fmt: skip
_register("HTTP", "a server that is killed under load", "killed_servers", "serve/test_load.py", tries=1)
_register("dashboard", "stored scripts in names and texts on every page", "stored_scripts",
          "serve/test_dashboard_browser.py", "-k", "hostile or script", tries=2)  # fmt: skip
_register(
    "commands",
    "hostile values in every option of every command",
    "hostile_values",
    "cli/test_hostile_inputs.py",
    tries=22,
)
