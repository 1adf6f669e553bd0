"""What belongs to a version of a skill besides its text."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from skilldelta.bank.skill_versions import read_skill
from skilldelta.records import text_digest
from skilldelta.skill_folder import NO_FILES, files_beside, files_together
from skilldelta.text_sketch import text_sketch

BODY = "Run scripts/convert.py and read references/units.md, then answer."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A skill in the Agent Skills layout."""
    skill = tmp_path / "units"
    for path, text in {
        "SKILL.md": f"---\nname: units\ndescription: d\n---\n{BODY}\n",
        "scripts/convert.py": "print(1)\n",
        "references/units.md": "1 mile is 1.609 km\n",
    }.items():
        (skill / path).parent.mkdir(parents=True, exist_ok=True)
        (skill / path).write_text(text)
    return skill


def _paths(folder: Path) -> list[str]:
    return [line.partition("  ")[2] for line in files_beside(folder).listing.splitlines()]


def test_scripts_and_references_are_listed_with_their_digests(folder: Path) -> None:
    assert files_beside(folder).listing == (
        f"{text_digest('1 mile is 1.609 km' + chr(10))}  references/units.md\n"
        f"{text_digest('print(1)' + chr(10))}  scripts/convert.py\n"
    )
    assert files_beside(folder / "SKILL.md") == files_beside(folder)


def test_a_changed_script_is_another_version_and_a_changed_description_is_not(folder: Path) -> None:
    before = read_skill(folder)
    (folder / "SKILL.md").write_text(f"---\nname: units\ndescription: another\n---\n{BODY}\n")
    assert read_skill(folder) == before
    (folder / "scripts" / "convert.py").write_text("print(2)\n")
    after = read_skill(folder)
    assert after.text == before.text
    assert after.digest != before.digest
    assert after.sketch != before.sketch


def test_a_skill_without_other_files_has_the_digest_of_its_text(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(f"---\nname: other\n---\n{BODY}")
    (tmp_path / "notes.md").write_text("beside the skill of another name")
    (tmp_path / "my.bank").write_text("")
    skill = read_skill(tmp_path)
    assert (skill.digest, skill.files) == (text_digest(BODY), "")
    assert files_beside(tmp_path / "notes.md") == NO_FILES
    assert files_beside(tmp_path / "missing") == NO_FILES


def test_files_beside_a_skill_in_a_folder_of_its_name_count_but_for_what_programs_leave_there(folder: Path) -> None:
    for name in ("forms.md", ".hidden", "my.bank", "evals/evals.json", "scripts/__pycache__/a.pyc", "other/SKILL.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    (folder / "named").mkdir()
    (folder / "named" / "by-the-text.md").write_text("x")
    os.symlink("/etc/hosts", folder / "scripts" / "link")
    assert _paths(folder) == ["forms.md", "references/units.md", "scripts/convert.py"]
    (folder / "SKILL.md").write_text(f"---\nname: units\n---\n{BODY} See named/by-the-text.md and other/.")
    assert _paths(folder) == ["forms.md", "named/by-the-text.md", "references/units.md", "scripts/convert.py"]


def test_line_ends_make_no_version_and_a_large_file_counts_by_its_size(folder: Path) -> None:
    before = files_beside(folder)
    (folder / "scripts" / "convert.py").write_bytes(b"print(1)\r\n")
    assert files_beside(folder) == before
    with (folder / "scripts" / "large.bin").open("wb") as file:
        file.truncate(9 << 20)
    assert f"{9 << 20} bytes  scripts/large.bin" in files_beside(folder).listing


def test_a_bundle_lists_the_files_of_each_skill_under_its_name(folder: Path) -> None:
    beside = files_beside(folder)
    both = files_together("one\n\ntwo", [("a", NO_FILES), ("units", beside)])
    assert both.listing.splitlines() == [line.replace("  ", "  units/", 1) for line in beside.listing.splitlines()]
    assert files_together("one", [("a", NO_FILES)]) == NO_FILES
    assert text_sketch("one\n\ntwo")[:8] in both.sketch


_IN_NODE = """
import { folderVersionOf } from %s
console.log(await folderVersionOf(process.argv[1]) ?? '')
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_the_adapters_in_javascript_compute_the_same_digest(folder: Path) -> None:
    for name in ("ü.md", "z.md", "Z.md", "scripts/a/b.sh", "named/x.txt", "evals/e.json", "other/SKILL.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"one\r\ntwo \xff")
    (folder / "SKILL.md").write_text(f"---\r\nname: 'units'\r\n---\r\n{BODY}\r\nSee named/ and other/.\r\n", newline="")
    with (folder / "scripts" / "large.bin").open("wb") as file:
        file.truncate(9 << 20)
    module = Path(__file__).parent.parent / "plugins" / "dsh-skilldelta" / "shared" / "skill-folder.mjs"
    program = _IN_NODE % json.dumps(module.as_uri())
    words = ["node", "--input-type=module", "-e", program, str(folder / "SKILL.md")]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == read_skill(folder).digest
