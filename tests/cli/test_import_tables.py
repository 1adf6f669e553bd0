"""Tables of one's own on the command line: what nobody knows is asked for once, with a mapping to edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Skilldelta

MINE = ("--agent", "me", "--skill", "pdf")


@pytest.fixture
def blurbs(tmp_path: Path) -> Path:
    path = tmp_path / "blurbs.csv"
    path.write_text("blurb,without,with\nMerge two reports,0,1\nRotate all of the pages,1,1\n", encoding="utf-8")
    return path


def test_a_table_without_a_known_text_names_its_columns_and_the_option_that_helps(
    skilldelta: Skilldelta, blurbs: Path, tmp_path: Path
) -> None:
    bank = str(tmp_path / "my.bank")
    refused = skilldelta("import", str(blurbs), *MINE, "--bank", bank)
    assert refused.code == 2
    assert "the columns are 'blurb', 'without', 'with'" in refused.err
    assert "--map text=blurb, or --write-mapping FILE" in refused.err
    assert skilldelta("import", str(blurbs), *MINE, "--bank", bank, "--map", "text=blurb").code == 0


def test_a_mapping_of_a_table_is_written_with_a_guess_and_read_back(
    skilldelta: Skilldelta, blurbs: Path, tmp_path: Path
) -> None:
    mapping, bank = tmp_path / "mapping.yaml", str(tmp_path / "my.bank")
    assert skilldelta("import", str(blurbs), "--write-mapping", str(mapping)).code == 0
    assert "text: blurb" in mapping.read_text(encoding="utf-8")
    assert skilldelta("import", str(blurbs), *MINE, "--bank", bank, "--mapping", str(mapping)).code == 0
    assert "Merge two reports" in skilldelta("bank", "list", "--bank", bank).out


def test_all_doubtful_cells_are_named_at_once(skilldelta: Skilldelta, tmp_path: Path) -> None:
    path = tmp_path / "doubts.csv"
    path.write_text("task,without,with\nA one,maybe,1\nB two,0,kind of\nC three,0,1\nD four,5,1\n", encoding="utf-8")
    refused = skilldelta("import", str(path), *MINE, "--bank", str(tmp_path / "my.bank"))
    assert refused.code == 2
    for words in ("doubts.csv:2: y0", "'maybe'", "line 3: y1", "'kind of'", "line 5: y0"):
        assert words in refused.err


def test_the_next_command_reads_the_files_as_this_one_did(skilldelta: Skilldelta, blurbs: Path) -> None:
    shown = skilldelta("skills", str(blurbs), "--map", "text=blurb")
    assert shown.code == 0
    # The screen breaks a long path anywhere.
    assert f"{blurbs}--maptext=blurb" in "".join(shown.out.split())
