from __future__ import annotations

import gzip
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Skilldelta, pair_rows


def test_importing_a_file_twice_adds_nothing_and_says_so(
    skilldelta: Skilldelta, pairs_file: Path, toy_bank: str
) -> None:
    again = skilldelta("import", pairs_file, "--bank", toy_bank)
    assert again.code == 0
    assert "nothing new" in again.err
    document = skilldelta("import", pairs_file, "--bank", toy_bank, "--json").document
    assert document["sources"][0]["executions"] == 0
    assert document["sources"][0]["known"] == {"tasks": 8, "skills": 2, "executions": 16, "vectors": 0}


def test_an_import_says_what_was_added_and_what_was_there(
    skilldelta: Skilldelta, pairs_file: Path, toy_bank: str
) -> None:
    with pairs_file.open("a") as file:
        file.write(json.dumps({**pair_rows()[0], "task_id": "another"}) + "\n")
    shown = skilldelta("import", pairs_file, "--bank", toy_bank).out
    assert "new tasks" in shown
    assert "8 tasks, 16 executions" in shown
    assert "was in the bank already" in shown
    assert "nothing" in skilldelta("import", pairs_file, "--bank", "fresh.bank").out


def test_a_bad_second_file_leaves_the_bank_as_it_was(skilldelta: Skilldelta, pairs_file: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"task_id": "a", "text": "b", "skill": "s", "agent": "g", "y0": [2], "y1": [1]}\n')
    ran = skilldelta("import", pairs_file, bad, "--bank", "new.bank")
    assert ran.code == 2
    assert "bad.jsonl:1" in ran.err
    assert not Path("new.bank").exists()


def test_status_counts_what_was_imported(skilldelta: Skilldelta, toy_bank: str) -> None:
    found = skilldelta("bank", "status", "--bank", toy_bank, "--json").document
    assert (found["tasks"], found["skills"], found["agents"]) == (8, 2, 1)
    assert found["executions"]["completed"] == 16
    assert found["panels"][0]["pairs"] == 8
    assert "8" in skilldelta("bank", "status", "--bank", toy_bank).out


def test_one_of_a_kind_is_named_in_the_singular(skilldelta: Skilldelta, pairs_file: Path) -> None:
    pairs_file.write_text(json.dumps(pair_rows()[0]) + "\n")
    skilldelta("import", pairs_file, "--bank", "one.bank")
    assert (
        "2 executions of 1 task by 1 agent, 1 skill in 0 versions"
        in skilldelta("bank", "status", "--bank", "one.bank").out
    )
    assert "1 pair of toy" in skilldelta("bank", "list", "--bank", "one.bank").out
    gone = skilldelta("bank", "forget", "--bank", "one.bank", "--task-id", "units-0", "--yes")
    assert gone.out == "2 executions, 1 task, 1 skill, 1 agent removed\n"


def test_list_shows_pairs_with_their_gains(skilldelta: Skilldelta, toy_bank: str) -> None:
    found = skilldelta("bank", "list", "--bank", toy_bank, "--skill", "dates-skill", "--json").document
    assert [pair["gain"] for pair in found["pairs"]] == [-1, -1, 0, 0]
    assert "units-0" in skilldelta("bank", "list", "--bank", toy_bank).out


def test_an_exported_bank_imports_to_the_same_pairs(skilldelta: Skilldelta, toy_bank: str) -> None:
    assert skilldelta("bank", "export", "--bank", toy_bank, "--output", "runs.jsonl").code == 0
    assert skilldelta("import", "runs.jsonl", "--bank", "copy.bank").code == 0
    pairs = [skilldelta("bank", "list", "--bank", bank, "--json").document for bank in (toy_bank, "copy.bank")]
    assert pairs[0] == pairs[1]


def test_the_npz_export_holds_one_panel_in_one_order(skilldelta: Skilldelta, toy_bank: str) -> None:
    assert skilldelta("bank", "export", "--bank", toy_bank, "--format", "npz", "--output", "panel.npz").code == 0
    with np.load("panel.npz") as arrays:
        names = {"task_id", "family", "skill", "vectors", "y0", "y1", "r0", "r1", "tokens0", "tokens1"}
        assert set(arrays) == names
        assert arrays["task_id"].tolist() == [row["task_id"] for row in pair_rows()]
        assert np.linalg.norm(arrays["vectors"], axis=1) == pytest.approx(np.ones(8), abs=1e-6)


def test_verify_finds_nothing_in_a_sound_bank(skilldelta: Skilldelta, toy_bank: str) -> None:
    assert skilldelta("bank", "verify", "--bank", toy_bank).code == 0
    assert skilldelta("bank", "verify", "--bank", toy_bank, "--json").document["problems"] == []


def test_lost_commits_are_warned_of_found_by_verify_and_never_written_over(
    skilldelta: Skilldelta, toy_bank: str, tmp_path: Path
) -> None:
    shutil.copy(toy_bank, tmp_path / "earlier")
    skilldelta("bank", "forget", "--bank", toy_bank, "--skill", "units-skill", "--yes")
    shutil.copy(tmp_path / "earlier", toy_bank)
    told = skilldelta("bank", "status", "--bank", toy_bank)
    assert told.code == 0
    assert "warning: 1 acknowledged commit is missing" in told.err
    assert len(told.err.splitlines()) == 1
    verified = skilldelta("bank", "verify", "--bank", toy_bank, "--json")
    assert verified.code == 1
    assert len(verified.document["problems"]) == 1
    refused = skilldelta("bank", "forget", "--bank", toy_bank, "--skill", "units-skill", "--yes")
    assert refused.code == 2
    Path(f"{toy_bank}.commits").unlink()
    assert skilldelta("bank", "forget", "--bank", toy_bank, "--skill", "units-skill", "--yes").code == 0


def test_forget_removes_what_fits_and_asks_first(skilldelta: Skilldelta, toy_bank: str) -> None:
    refused = skilldelta("bank", "forget", "--bank", toy_bank, "--skill", "units-skill")
    assert (refused.code, refused.out) == (2, "")  # nobody to ask
    assert refused.err == (
        "error: this would remove 8 executions, 4 tasks, 1 skill; there is no terminal to ask, so say --yes\n"
    )
    gone = skilldelta("bank", "forget", "--bank", toy_bank, "--skill", "units-skill", "--yes", "--json").document
    assert gone["executions"] == 8
    assert skilldelta("bank", "status", "--bank", toy_bank, "--json").document["tasks"] == 4


def test_forget_says_how_many_before_it_asks(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("bank", "forget", "--bank", toy_bank, "--task-id", "units-0")
    for answer, code, left in (("n\n", 130, 8), ("y\n", 0, 7)):
        stdin = io.StringIO(answer)
        monkeypatch.setattr(stdin, "isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", stdin)
        ran = skilldelta(*asked)
        assert ran.code == code
        assert ran.err.startswith(
            "This removes 2 executions, 1 task. It cannot be undone.\nRemove them for good? [y/N]: "
        )
        assert skilldelta("bank", "status", "--bank", toy_bank, "--json").document["tasks"] == left


def test_forget_asks_nothing_where_nothing_fits(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("bank", "forget", "--bank", toy_bank, "--before", "1999-01-01")
    ran = skilldelta(*asked)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "nothing in the bank fits these filters; nothing was removed\n"
    assert set(skilldelta(*asked, "--json").document.values()) == {0}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"y0": [1.5]}, "1.5"),
        ({"y0": [float("nan")]}, "NaN"),
        ({"y0": ["perhaps"]}, "perhaps"),
        ({"tokens0": [-1]}, "tokens0"),
    ],
)
def test_a_bad_row_is_refused_with_its_line_and_nothing_is_written(
    skilldelta: Skilldelta, pairs_file: Path, toy_bank: str, row: dict[str, object], message: str
) -> None:
    before = skilldelta("bank", "status", "--bank", toy_bank, "--json").out
    rows = [*pair_rows(), {**pair_rows()[0], "task_id": "new", **row}]
    pairs_file.write_text("".join(json.dumps(r) + "\n" for r in rows))
    ran = skilldelta("import", pairs_file, "--bank", toy_bank)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "pairs.jsonl:9" in ran.err
    assert message.lower() in ran.err.lower()
    assert skilldelta("bank", "status", "--bank", toy_bank, "--json").out == before


@pytest.mark.parametrize("content", [b"", b"\n\n", b'{"task_id": "a", "te', b"\xff\xfe\x00", b"[]", b"hello"])
def test_a_file_that_is_no_result_file_is_refused_in_one_line(
    skilldelta: Skilldelta, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    ran = skilldelta("import", path, "--bank", "new.bank")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert not Path("new.bank").exists()


def test_a_place_that_takes_no_file_is_named(skilldelta: Skilldelta, pairs_file: Path) -> None:
    ran = skilldelta("import", pairs_file, "--bank", "/proc/skilldelta.bank")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1


def test_agents_of_one_name_are_told_apart_with_and_without_a_fingerprint(
    skilldelta: Skilldelta, tmp_path: Path
) -> None:
    row = {"text": "t", "family": "f", "skill": "s", "agent": "twin", "y0": [0], "y1": [1]}
    rows = [{**row, "task_id": "a", "agent_fingerprint": "abcdef0123456789"}, {**row, "task_id": "a"}]
    for number, one in enumerate(rows):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(one) + "\n")
    assert skilldelta("import", "0.jsonl", "1.jsonl", "--bank", "twin.bank").code == 0
    doubtful = skilldelta("bank", "list", "--bank", "twin.bank", "--agent", "twin")
    assert doubtful.code == 2
    assert "twin@abcdef012345, twin@" in doubtful.err
    for name in ("twin@abc", "twin@"):
        assert len(skilldelta("bank", "list", "--bank", "twin.bank", "--agent", name, "--json").document["pairs"]) == 1


def test_a_natural_table_comes_in_and_every_guess_is_said(skilldelta: Skilldelta, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("ID,Prompt,Baseline,With Skill,notes\nt1,Two?,fail,pass,x\n")
    ran = skilldelta("import", "my.csv", "--agent", "toy", "--skill", "adding", "--bank", "my.bank")

    assert ran.code == 0
    assert ran.err.splitlines() == [
        "my.csv: took column 'Baseline' as y0",
        "my.csv: took column 'With Skill' as y1",
        "my.csv: took column 'ID' as task_id",
        "my.csv: took column 'Prompt' as text",
        "my.csv: left out: 'notes'",
    ]
    (pair,) = skilldelta("bank", "list", "--bank", "my.bank", "--json").document["pairs"]
    assert (pair["y0"], pair["y1"]) == (0.0, 1.0)


def test_columns_are_mapped_on_the_command_line(skilldelta: Skilldelta, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("k,frage,alt,neu\nt1,Two?,0,1\n")
    asked = skilldelta("import", "my.csv", "--agent", "toy", "--skill", "adding", "--bank", "my.bank")
    assert asked.code == 2
    assert "--format NAME" in asked.err or "--map" in asked.err
    mapped = ("--map", "task_id=k", "--map", "text=frage", "--map", "y0=alt", "--map", "y1=neu")
    ran = skilldelta("import", "my.csv", "--agent", "toy", "--skill", "adding", "--bank", "my.bank", *mapped)
    assert (ran.code, ran.err) == (0, "")
    bad = skilldelta("import", "my.csv", "--map", "txt=frage", "--bank", "my.bank")
    assert bad.code == 2
    assert "did you mean 'text'" in bad.err


def test_standard_input_comes_in(skilldelta: Skilldelta, monkeypatch: pytest.MonkeyPatch, pairs_file: Path) -> None:
    class Stdin:
        buffer = io.BytesIO(pairs_file.read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin())
    assert skilldelta("import", "-", "--bank", "my.bank", "--json").document["sources"][0]["executions"] == 16
    twice = skilldelta("import", "-", "-", "--bank", "my.bank")
    assert twice.code == 2
    assert "named twice" in twice.err


def test_a_folder_and_a_gzip_file_come_in(skilldelta: Skilldelta, pairs_file: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "pairs.jsonl.gz").write_bytes(gzip.compress(pairs_file.read_bytes()))
    document = skilldelta("import", "runs", "--bank", "my.bank", "--json").document
    assert document["sources"][0]["executions"] == 16
    assert skilldelta("import", pairs_file, "--bank", "my.bank", "--json").document["sources"][0]["executions"] == 0
