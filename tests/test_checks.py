"""What runs before a commit, in `make test` and in CI is one list of checks."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from skilldelta.version import __version__

_ROOT = Path(__file__).resolve().parents[1]


def test_a_commit_passes_every_check_of_make_test_but_the_tests() -> None:
    hooks = yaml.safe_load((_ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    target = re.search(r"^test: (.*)$", (_ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert target is not None
    assert [hook["entry"] for hook in hooks] == [f"make {name}" for name in target[1].split() if name != "pytest"]


def test_ci_runs_make_test() -> None:
    script = (_ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^(\w+=\S+ )*make test$", script, re.MULTILINE)


def test_the_changelog_and_the_citation_have_the_version_of_the_package() -> None:
    changelog = (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(__version__)}$", changelog, re.MULTILINE)
    assert yaml.safe_load((_ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == __version__
