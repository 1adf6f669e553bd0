from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.conftest import Skilldelta


def test_flags_go_before_environment_before_file_before_default(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("predict", "--skill", "units-skill", "--json", "convert miles")

    def threshold(*flags: str) -> float:
        return float(skilldelta(*asked[:1], *flags, *asked[1:]).document["threshold"])

    Path("skilldelta.toml").write_text(f'bank = "{toy_bank}"\nthreshold = 0.1\n\n[sweep]\nthreshold = 0.9\n')
    assert threshold() == 0.1
    monkeypatch.setenv("SKILLDELTA_THRESHOLD", "0.2")
    assert threshold() == 0.2
    assert threshold("--threshold", "0.3") == 0.3


def test_a_path_in_the_file_is_relative_to_the_files_folder(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("skilldelta.toml").write_text(f'bank = "{toy_bank}"\n')
    Path("deep/er").mkdir(parents=True)
    monkeypatch.chdir("deep/er")
    assert skilldelta("bank", "status", "--json").document["tasks"] == 8


def test_a_key_is_the_option_as_it_is_typed(skilldelta: Skilldelta, toy_bank: str) -> None:
    Path("skilldelta.toml").write_text(f'bank = "{toy_bank}"\ninterval = "hoeffding"\n')
    found = skilldelta("predict", "--skill", "units-skill", "--json", "convert miles").document
    assert found["interval"]["method"] == "hoeffding"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tresh = 1\n", "unknown setting 'tresh'; did you mean threshold"),
        ("bank = \n", "not valid TOML"),
        ("[bnk]\n", "unknown command 'bnk'; did you mean bank"),
        ("[bank]\nlimt = 3\n", "unknown setting of bank 'limt'; did you mean limit"),
        ("bank = [1, 2]\n", "bank: must be one text or number, got [1, 2]"),
    ],
)
def test_a_bad_settings_file_is_named_in_one_line(skilldelta: Skilldelta, text: str, message: str) -> None:
    Path("skilldelta.toml").write_text(text)
    ran = skilldelta("bank", "status")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert f"error: {Path('skilldelta.toml').resolve()}: " in ran.err
    assert message in ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('threshold = "high"\n', "threshold: 'high' is not a valid float"),
        ("[predict]\nlevel = 7\n", "predict.level: 7.0 is not in the range"),
        ("k = 0\n", "k: k must be at least 1, got 0"),
        (f"k = 0x{'f' * 400}\n", "k: is too large a number for any setting"),
        (f"threshold = -{'9' * 400}\n", "threshold: is too large a number for any setting"),
        ('agent = "nobody"\n', "agent: unknown agent 'nobody'; the only one is toy"),
        ('encoder = "nothing"\n', "encoder: unknown encoder 'nothing'"),
        ('bank = "other.bank"\n', "bank: there is no bank at"),
    ],
)
def test_a_bad_value_in_the_file_is_blamed_on_the_file_and_its_key(
    skilldelta: Skilldelta, toy_bank: str, text: str, said: str
) -> None:
    bank = () if text.startswith("bank") else ("--bank", toy_bank)
    Path("skilldelta.toml").write_text(text)
    ran = skilldelta("predict", *bank, "--skill", "units-skill", "convert miles")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert f"error: {Path('skilldelta.toml').resolve()}: {said}" in ran.err
    assert "Invalid value for" not in ran.err


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("THRESHOLD", "high", "'high' is not a valid float"),
        ("AGENT", "nobody", "unknown agent 'nobody'"),
        ("ENCODER", "nothing", "unknown encoder 'nothing'"),
        ("BANK", "other.bank", "there is no bank at other.bank"),
    ],
)
def test_a_bad_value_in_a_variable_is_blamed_on_the_variable(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    bank = () if name == "BANK" else ("--bank", toy_bank)
    monkeypatch.setenv(f"SKILLDELTA_{name}", value)
    ran = skilldelta("predict", *bank, "--skill", "units-skill", "convert miles")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert f"error: SKILLDELTA_{name}: {said}" in ran.err


def test_a_bad_flag_is_blamed_on_the_flag_though_the_file_sets_it_too(skilldelta: Skilldelta, toy_bank: str) -> None:
    Path("skilldelta.toml").write_text(f'bank = "{toy_bank}"\nthreshold = 0.1\n')
    ran = skilldelta("predict", "--skill", "units-skill", "--threshold", "high", "convert miles")
    assert "error: Invalid value for '--threshold'" in ran.err
    ran = skilldelta("predict", "--skill", "no-such-skill", "convert miles")
    assert "error: unknown skill 'no-such-skill'" in ran.err


def test_a_value_of_a_groups_command_is_traced_too(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLDELTA_SUITE", "nowhere")
    ran = skilldelta("bank", "export", "--bank", toy_bank, "--output", "out.jsonl")
    assert "error: SKILLDELTA_SUITE: unknown suite 'nowhere'" in ran.err


def test_a_negative_seed_is_one_line(skilldelta: Skilldelta, toy_bank: str) -> None:
    ran = skilldelta("evaluate", "--bank", toy_bank, "--seed", -1)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that a process stands in")
def test_a_folder_that_was_removed_is_named_as_the_cause(
    skilldelta: Skilldelta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    ran = skilldelta("bank", "status", "--bank", tmp_path / "toy.bank")
    assert (ran.code, ran.err) == (2, "error: the current folder has been removed; change to one that exists\n")


def test_a_second_bank_that_is_missing_is_not_blamed_on_the_variable_of_the_first(
    skilldelta: Skilldelta, toy_bank: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLDELTA_BANK", toy_bank)
    targets = tmp_path / "targets.jsonl"
    targets.write_text('{"task_id": "new", "text": "convert miles", "skill": "units-skill"}\n')
    assert skilldelta("freeze", targets, "--scope", "skill", "--output", tmp_path / "sealed.json").code == 0
    ran = skilldelta("audit", tmp_path / "sealed.json", "--reexecuted", tmp_path / "none.bank")
    assert ran.err == f"error: there is no bank at {tmp_path / 'none.bank'}; make one with: skilldelta import\n"


def test_an_error_that_happens_to_hold_a_settings_value_is_not_blamed_on_it(
    skilldelta: Skilldelta, toy_bank: str
) -> None:
    Path("skilldelta.toml").write_text('agent = "toy"\nsuite = "toy-suite"\n')
    ran = skilldelta("predict", "--bank", toy_bank, "--skill", "toy-suite", "convert miles")
    assert ran.err.startswith("error: unknown skill 'toy-suite'")


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
