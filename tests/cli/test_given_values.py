from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Skilldelta


@pytest.mark.parametrize("words", [("import", ""), ("suite", "init", ""), ("bank", "add-skill", "units-skill", "")])
def test_an_empty_path_is_not_this_folder(skilldelta: Skilldelta, toy_bank: str, words: tuple[str, ...]) -> None:
    before = sorted(Path().iterdir())
    ran = skilldelta(*words)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "empty path" in ran.err
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    "words", [("import", "https://example.com/pairs.jsonl"), ("demo", "--bank", "postgresql://x/y")]
)
def test_a_url_in_the_place_of_a_path_is_called_one(skilldelta: Skilldelta, words: tuple[str, ...]) -> None:
    ran = skilldelta(*words)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "is a URL" in ran.err
    assert not list(Path().iterdir())


def test_a_null_character_from_the_settings_file_is_refused(skilldelta: Skilldelta, toy_bank: str) -> None:
    Path("skilldelta.toml").write_text('[evaluate]\npartition = "x\\u0000y"\n')
    ran = skilldelta("evaluate", "--bank", toy_bank)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "skilldelta.toml: evaluate.partition" in ran.err


@pytest.mark.parametrize("name", ["--task-id", "--family", "--agent", "--skill"])
def test_bytes_that_are_no_text_are_named(skilldelta: Skilldelta, toy_bank: str, name: str) -> None:
    given = {"--skill": "units-skill", name: b"t\xff".decode("utf-8", "surrogateescape")}
    ran = skilldelta("predict", "--bank", toy_bank, *(f"{key}={value}" for key, value in given.items()), "a task")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert name in ran.err
    assert "UTF-8" in ran.err


@pytest.mark.parametrize("bank", ["x\0y", "\ud800"])
def test_a_bank_that_no_file_can_be_called_is_refused_before_outputs_are_looked_at(
    skilldelta: Skilldelta, bank: str
) -> None:
    ran = skilldelta("predict", "--bank", bank, "--skill", "s", "--output", "out.json", "a task")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "--bank" in ran.err


def test_a_file_name_need_not_be_utf_8(skilldelta: Skilldelta, pairs_file: Path) -> None:
    name = b"r\xe9sultats.jsonl".decode("utf-8", "surrogateescape")
    try:
        Path(name).write_bytes(pairs_file.read_bytes())
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    assert skilldelta("import", name, "--bank", "b.bank").code == 0
