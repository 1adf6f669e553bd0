"""Every file that a person or another program hands us: whatever it holds, the answer is a result or one clear line.

A thousand inputs per entry point by default, twenty times as many in the slow run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click
import pytest

from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.cli.main import COMMANDS, cli
from skilldelta.cli.setting_sources import project_file
from skilldelta.collect.graders import GraderTools, make_graders
from skilldelta.collect.manifest import read_manifest
from skilldelta.collect.suite import load_suite, read_skill
from skilldelta.errors import SkillDeltaError
from skilldelta.evaluation.prospective.seal import read_sealed
from skilldelta.settings_text import yaml_value

from .mutations import hostile_bytes, hostile_documents

INPUTS, MORE_INPUTS = 1_000, 20_000
_LONGEST = 10.0
"""Seconds that one input may take on a busy machine; the attacks that led here took forty and more."""

SUITE = b"""name: small
description: A suite.
agent: {solver: generate, temperature: 0.5, max_tokens: 100, stop: [END], environment: [HOME]}
grader: {type: exact, case: true}
tasks: tasks.jsonl
skills: skills
"""
TASK = {"task_id": "t", "text": "Compute 1", "family": "f", "skill": ["a"], "answer": "3", "grader": {"type": "exact"},
        "metadata": {"level": 1}}  # fmt: skip
SKILL = b"---\nname: a\ndescription: How.\n---\n\nDouble it.\n"
TOML = b"""bank = "a.bank"
k = 6
threshold = 0.1
scope = "family"
level = 0.9
seed = 1
resamples = 100
[predict]
rule = "plain"
price = 2.0
[collect]
max_calls = 3
token_field = ["a", "b"]
[evaluate]
exclude = ["x"]
"""
PAIR = {"task_id": "t", "text": "x", "family": "f", "skill": "s", "agent": "a", "suite": "u", "y0": [0, 1], "y1": [1],
        "tokens0": [5, 6], "tokens1": [7]}  # fmt: skip
RUN = {"task_id": "t", "text": "x", "family": "f", "skill": "s", "skill_digest": "", "agent": "a", "condition": "use",
       "repetition": 0, "success": 1, "tokens": 5, "seconds": 0.1, "cost_usd": 0.01, "status": "completed"}  # fmt: skip
MANIFEST = {"format": 1, "suite": "s", "agent": {"name": "a", "fingerprint": "f"}, "settings": {"model": "m"}, "seed": 0,
            "versions": {"skilldelta": "1"}, "invocations": [{"at": "now"}], "skills": {"a": "d"}, "files": {},
            "tasks": {"t": "d"}}  # fmt: skip


def sealed() -> dict[str, Any]:
    settings = {"agent": "a", "suite": "s", "encoder": "e", "estimator": "paper", "scope": "family", "k": 6,
                "weighting": "cosine", "label": "gain", "elsewhere": None, "threshold": 0.0,
                "threshold_rule": None}  # fmt: skip
    row = {"task_id": "t", "skill": "s", "family": "f", "evidence": "0" * 16, "vector": "1" * 16}
    target = {"task_id": "n", "skill": "s", "family": "f", "text": "x", "vector": "2" * 16}
    prediction = {"task_id": "n", "skill": "s", "gain": 0.5, "action": "use", "eligible": 1, "neighbors": ["t"],
                  "weights": [1.0]}  # fmt: skip
    hashes = dict.fromkeys(("settings", "support", "targets", "predictions", "seal"), "3" * 64)
    return {"format": "skilldelta-sealed-panel", "version": 1, "created": "2026-01-01", "settings": settings,
            "support": [row], "targets": [target], "predictions": [prediction], "hashes": hashes}  # fmt: skip


def _json(document: Any) -> bytes:
    return json.dumps(document).encode("utf-8", "surrogatepass")


def suite_folder(folder: Path) -> Path:
    (folder / "skills" / "a").mkdir(parents=True, exist_ok=True)
    (folder / "skills" / "a" / "SKILL.md").write_bytes(SKILL)
    (folder / "suite.yaml").write_bytes(SUITE)
    (folder / "tasks.jsonl").write_bytes(_json(TASK) + b"\n")
    return folder


def _read_suite(folder: Path) -> None:
    suite = load_suite(folder)
    make_graders(suite, GraderTools(sandbox="auto", judge=None))


def _settings(folder: Path) -> None:
    for name in ("predict", "collect", "evaluate"):
        file = project_file(name, COMMANDS, start=folder)
        command = cli.get_command(cli.make_context("skilldelta", [name], resilient_parsing=True), name)
        assert file is not None
        assert command is not None
        defaults = file.defaults(command)
        for option in command.params:
            if option.name in defaults:
                option.type_cast_value(None, defaults[option.name])  # type: ignore[arg-type]


def _sealed(path: Path) -> None:
    read_sealed(path).altered_sections()


Reader = Callable[[Path], object]
ENTRIES: dict[str, tuple[str, bytes, Any, Reader]] = {
    "suite.yaml": ("suite.yaml", SUITE, yaml_value(SUITE.decode(), "suite"), lambda p: _read_suite(p.parent)),
    "tasks.jsonl": ("tasks.jsonl", _json(TASK), TASK, lambda p: _read_suite(p.parent)),
    "SKILL.md": ("skills/a/SKILL.md", SKILL, None, read_skill),
    "skilldelta.toml": ("skilldelta.toml", TOML, None, lambda p: _settings(p.parent)),
    "sealed panel": ("sealed.json", _json(sealed()), sealed(), _sealed),
    "manifest": ("manifest.json", _json(MANIFEST), MANIFEST, read_manifest),
    "pairs.jsonl": ("pairs.jsonl", _json(PAIR), PAIR, read_source),
    "runs.jsonl": ("runs.jsonl", _json(RUN), RUN, read_source),
    "csv": ("table.csv", b"task_id,text,skill,agent,y0,y1\nt,x,s,a,0,1\nu,z,s,a,1,1\n", None, read_source),
    "json array": ("pairs.json", _json([PAIR]), [PAIR], read_source),
}


def inputs(good: bytes, document: Any, seed: int) -> Iterator[bytes]:
    """Variants of the bytes, and of the document where there is one, in turn."""
    raw = hostile_bytes(good, seed)
    if document is None:
        return raw
    changed = (json.dumps(one).encode() for one in hostile_documents(document, seed))
    return (one for pair in zip(raw, changed, strict=False) for one in pair)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_hostile_file_is_read_or_refused_in_one_line(entry: str, tmp_path: Path) -> None:
    _attack(entry, tmp_path, INPUTS, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES)
def test_many_hostile_files_are_read_or_refused_in_one_line(entry: str, tmp_path: Path) -> None:
    _attack(entry, tmp_path, MORE_INPUTS, seed=2)


def _attack(entry: str, folder: Path, count: int, seed: int) -> None:
    name, good, document, read = ENTRIES[entry]
    path = suite_folder(folder) / name
    refused = 0
    for number, content in enumerate(islice(inputs(good, document, seed), count)):
        path.write_bytes(content)
        started = time.monotonic()
        try:
            read(path)
        except (SkillDeltaError, click.ClickException):
            refused += 1
        except Exception as error:
            pytest.fail(f"{entry} {number}: {type(error).__name__}: {error!s:.200}\n{content[:400]!r}")
        assert time.monotonic() - started < _LONGEST, (number, content[:200])
    assert refused > count // 10  # most of what is thrown at a reader is no good


def test_a_bank_of_hostile_bytes_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "b.bank"
    with Bank.open(path, create=True):
        pass
    good = path.read_bytes()
    for content in islice(hostile_bytes(good, seed=3), 60):
        path.write_bytes(content)
        try:
            with Bank.open(path, create=False, readonly=True) as bank:
                bank.verify()
        except SkillDeltaError:
            pass


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    folder = suite_folder(tmp_path)
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%s]" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 12)]
    (folder / "suite.yaml").write_bytes(b"\n".join(lines))
    with pytest.raises(SkillDeltaError, match="aliases"):
        load_suite(folder)
