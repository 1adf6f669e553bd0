"""What runs before a commit, in `make test` and in CI is one list of checks."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

_ROOT = Path(__file__).resolve().parents[1]


def test_a_commit_passes_every_check_of_make_test_but_the_tests() -> None:
    hooks = yaml.safe_load((_ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    target = re.search(r"^test: (.*)$", (_ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert target is not None
    assert [hook["entry"] for hook in hooks] == [f"make {name}" for name in target[1].split() if name != "pytest"]


def test_ci_runs_make_test() -> None:
    script = (_ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^(\w+=\S+ )*make test$", script, re.MULTILINE)
