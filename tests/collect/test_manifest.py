from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collect.suites import write_suite
from skilldelta.collect.manifest import Manifest, describe_run, open_manifest, read_manifest
from skilldelta.collect.suite import load_suite
from skilldelta.errors import InputError
from skilldelta.records import Agent


def described(folder: Path, **changes: Any) -> Manifest:
    return describe_run(load_suite(folder), Agent("m", "f" * 16), {"model": "m"}, **{"seed": 0, **changes})


def opened(run: Path, manifest: Manifest, *, accept: bool = False) -> Manifest:
    return open_manifest(run, manifest, {"at": "now", "command": "skilldelta collect"}, accept_changes=accept)


def test_a_manifest_says_inputs_versions_seed_and_commands(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)
    opened(tmp_path, described(suite, seed=7))
    opened(tmp_path, described(suite, seed=7))
    manifest = read_manifest(tmp_path / "manifest.json")
    assert manifest.seed == 7
    assert set(manifest.versions) == {"skilldelta", "python", "platform", "inspect_ai"}
    assert set(manifest.files) == {"suite.yaml", "tasks.jsonl", "skills/arith/SKILL.md", "skills/other/SKILL.md"}
    assert [one["command"] for one in manifest.invocations] == ["skilldelta collect"] * 2


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"tasks": 4}, "task 't3' new"),
        ({"tasks": 2}, "task 't2' gone"),
        ({"skill": "Something else."}, "skill 'arith' changed"),
        ({"settings": "description: other\n"}, "file 'suite.yaml' changed"),
    ],
)
def test_an_edited_suite_is_refused_with_the_difference(tmp_path: Path, edit: dict[str, Any], said: str) -> None:
    suite = write_suite(tmp_path / "suite", tasks=3)
    opened(tmp_path, described(suite))
    write_suite(suite, **{"tasks": 3, **edit})
    with pytest.raises(InputError, match="not the one this collection started with") as caught:
        opened(tmp_path, described(suite))
    assert said in str(caught.value)
    assert "--accept-changes" in str(caught.value)


def test_another_seed_is_refused(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite")
    opened(tmp_path, described(suite, seed=1))
    with pytest.raises(InputError, match="the seed was 1 and is 2"):
        opened(tmp_path, described(suite, seed=2))


def test_accepted_changes_keep_the_old_manifest_under_a_number(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite")
    before = opened(tmp_path, described(suite))
    write_suite(suite, skill="Something else.")
    after = opened(tmp_path, described(suite), accept=True)
    assert read_manifest(tmp_path / "manifest-1.json").skills == before.skills
    assert read_manifest(tmp_path / "manifest.json").skills == after.skills != before.skills


def test_a_broken_manifest_is_named(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(InputError, match="not a manifest of a collection"):
        read_manifest(tmp_path / "manifest.json")
