"""Folders and archives that are no results, or worse: one line, and nothing outside of them is touched."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank.importers import Defaults, Source, read_any, result_tree, tool_formats
from skilldelta.errors import InputError

from . import layouts
from .layouts import write_tree

ME = Defaults(agent="me")


def refused(source: Path | Source, said: Defaults = ME) -> str:
    with pytest.raises(InputError) as caught:
        read_any(source, said)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_of_no_known_format_lists_the_formats_and_what_was_looked_for(tmp_path: Path) -> None:
    said = refused(write_tree(tmp_path, {"notes.md": "# Notes", "a/b.json": {"x": 1}, "c/d.json": [1]}))

    assert "no known format" in said
    for name, tool in tool_formats().items():
        assert name in said
        assert tool.looks_for in said


def test_an_archive_without_results_is_refused_in_the_same_words(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "no known format" in refused(tmp_path / "a.zip")


@pytest.mark.parametrize("cut", [10, 200, 5_000])
def test_a_truncated_archive_is_one_line(cut: int, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("w/eval-a/with_skill/grading.json", "{}" + " " * 20_000)
    content = buffer.getvalue()[:-cut]
    (tmp_path / "cut.zip").write_bytes(content)
    assert "damaged or cut off" in refused(tmp_path / "cut.zip")
    assert "damaged or cut off" in refused(Source(Path("cut.zip"), content))


@pytest.mark.parametrize("cut", [20, 100])
def test_a_truncated_tar_is_one_line(cut: int, tmp_path: Path) -> None:
    write_tree(tmp_path / "w", layouts.workspace())
    with tarfile.open(tmp_path / "w.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "w", "w")
    whole = (tmp_path / "w.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: -len(whole) // 2 - cut])
    assert "damaged or cut off" in refused(tmp_path / "cut.tar.gz")


@pytest.mark.parametrize(
    "name", ["../evil.json", "/etc/evil.json", "a/../../evil.json", "C:/evil.json", "..\\evil.json"]
)
def test_a_member_outside_of_its_archive_is_refused_and_never_written(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), "{}")
        archive.writestr("w/eval-a/with_skill/grading.json", "{}")
    assert "outside of its own folder" in refused(folder / "a.zip")
    with tarfile.open(folder / "a.tar", "w") as packed:
        member = tarfile.TarInfo(name)
        packed.addfile(member, io.BytesIO())
    assert "outside of its own folder" in refused(folder / "a.tar")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.tar", "a.zip", "in"]


def test_links_are_counted_and_not_followed(tmp_path: Path) -> None:
    secret = write_tree(tmp_path / "elsewhere", {"run-9/grading.json": layouts.grading(False, False)})
    write_tree(tmp_path / "ws", layouts.workspace())
    arm = tmp_path / "ws" / "adding-workspace" / "iteration-1" / "eval-sum" / "with_skill"
    (arm / "run-9").symlink_to(secret / "run-9")
    (arm / "loop").symlink_to(tmp_path / "ws")
    reading = read_any(tmp_path / "ws", ME)

    assert len(reading.executions) == 8
    assert "2 links were not followed" in reading.notes


def test_links_in_archives_are_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("w/eval-a/with_skill/grading.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert "no known format" in refused(tmp_path / "a.tar")


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_tree, "MOST_KEPT", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("w/eval-a/with_skill/grading.json", b"0" * (70 << 20))
    assert "more than 64 MiB" in refused(tmp_path / "bomb.zip")
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz") as packed:
        huge = tarfile.TarInfo("w/a.json")
        huge.size = 2 << 20
        packed.addfile(huge, io.BytesIO(bytes(huge.size)))
    assert "unpacks to too much" in refused(tmp_path / "bomb.tar.gz")


def test_too_many_files_and_too_deep_folders_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "deep"
    (deep / "/".join(["d"] * (result_tree.MOST_DEPTH + 2))).mkdir(parents=True)
    assert "deep in each other" in refused(deep)
    monkeypatch.setattr(result_tree, "MOST_FILES", 10)
    assert "more than 10 files" in refused(write_tree(tmp_path / "many", layouts.workspace()))


@pytest.mark.parametrize("change", ["content", "new file", "gone"])
def test_a_folder_that_changes_while_it_is_read_is_noticed(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, layouts.workspace())
    run = tmp_path / "adding-workspace" / "iteration-1" / "eval-sum" / "with_skill" / "run-1"
    plain = result_tree.ResultTree.check_unchanged

    def meddle(tree: result_tree.ResultTree) -> None:
        if change == "content":
            (run / "grading.json").write_text("{}", encoding="utf-8")
        elif change == "gone":
            (run / "grading.json").unlink()
        else:
            (run / "more.json").write_text("{}", encoding="utf-8")
        plain(tree)

    monkeypatch.setattr(result_tree.ResultTree, "check_unchanged", meddle)
    assert "import it when the run has ended" in refused(tmp_path)


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_tree(tmp_path, {"results.json": layouts.waza()}) / "results.json"
    plain = result_tree.ResultTree.check_unchanged

    def meddle(tree: result_tree.ResultTree) -> None:
        path.write_text("{}", encoding="utf-8")
        plain(tree)

    monkeypatch.setattr(result_tree.ResultTree, "check_unchanged", meddle)
    assert "the file changed while it was read" in refused(path)


def test_arms_of_different_models_are_refused(tmp_path: Path) -> None:
    files = layouts.harbor_jobs()
    for name, trial in files.items():
        if name.startswith("jobs/off") and "trial_name" in trial:
            trial["agent_info"]["model_info"]["name"] = "m2"
    said = refused(write_tree(tmp_path, files), Defaults())
    assert "arms of different agents or models are not paired" in said
    both = {"claude-code@anthropic/m1": "mine", "claude-code@anthropic/m2": "mine"}
    assert len(read_any(tmp_path, Defaults(agents=both)).pairing().pairs) == 2


def test_one_name_for_several_skills_or_agents_is_refused(tmp_path: Path) -> None:
    files = layouts.harbor_jobs()
    del files["jobs/on/carry__abcdefg/lock.json"]
    files["jobs/on/carry__abcdefg/result.json"]["config"]["agent"]["skills"] = ["/s/other"]
    write_tree(tmp_path, files)

    assert "--skill adding names one skill, and the files name 2" in refused(tmp_path, Defaults(skill="adding"))
    assert {run.skill_id for run in read_any(tmp_path).executions} == {"", "adding", "other"}


def test_two_versions_of_a_skill_in_one_source_are_refused(tmp_path: Path) -> None:
    files = layouts.harbor_jobs()
    files["jobs/on/carry__abcdefg/lock.json"] = {"skills": [{"name": "adding", "digest": "sha256:beef"}]}
    assert "was run in 2 versions (beef, feed)" in refused(write_tree(tmp_path, files), Defaults())


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1]", b"null", b"\xff\xfe\x00", b'{"summary": ' + b"[" * 100_000, b'{"a": ' + b"9" * 10_000 + b"}"],
)
def test_a_damaged_file_among_good_ones_leaves_out_its_run_and_nothing_else(content: bytes, tmp_path: Path) -> None:
    files: dict[str, Any] = layouts.workspace()
    files["adding-workspace/iteration-1/eval-sum/with_skill/run-1/grading.json"] = content
    write_tree(tmp_path, files)
    reading = read_any(tmp_path, ME)
    assert len([run for run in reading.executions if run.success is not None]) == 7
    (omission,) = reading.left_out
    assert omission.places == ("adding-workspace/iteration-1/eval-sum/with_skill/run-1/grading.json",)


def test_a_file_that_is_a_pipe_is_passed_over(tmp_path: Path) -> None:
    write_tree(tmp_path, layouts.workspace())
    os.mkfifo(tmp_path / "adding-workspace" / "iteration-1" / "eval-sum" / "with_skill" / "timing.json")
    assert len(read_any(tmp_path, ME).executions) == 8


def test_control_characters_and_absurd_numbers_of_a_tool_do_no_harm(tmp_path: Path) -> None:
    document = layouts.skillevaluation()
    document["cases"][0]["case_name"] = "sum\0\ud800"
    document["cases"][0]["with_skill"].update(total_tokens=-5, duration_ms=float("1e300"))
    reading = read_any(write_tree(tmp_path, {"results.json": document}))

    assert all("\0" not in task.task_id for task in reading.tasks)
    assert reading.executions[0].tokens is None
    assert reading.executions[0].seconds is None


@pytest.mark.parametrize(
    "name", ["../secret", "/etc", "a/../../secret", ".", "..", "x" * 300, "a\nb", "secret/../secret"]
)
def test_a_skills_name_is_no_path_to_follow(name: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {"secret/SKILL.md": "Do not read this.", "in/out/results.json": layouts.skillevaluation()})
    document = layouts.skillevaluation(skill={"name": name})
    write_tree(tmp_path, {"in/out/results.json": document})

    assert all(not skill.text for skill in read_any(tmp_path / "in" / "out" / "results.json").skill_texts)


def test_rows_of_any_length_are_told_by_their_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = '{"task_id": "t%d", "text": "What?", "skill": "s", "agent": "a", "y0": [0], "y1": [1]}\n'
    (tmp_path / "pairs.jsonl").write_text("".join(row % number for number in range(200)), encoding="utf-8")
    monkeypatch.setattr(result_tree, "MOST_DOCUMENT", 1_000)
    monkeypatch.setattr(result_tree, "_HEAD", 500)

    reading = read_any(tmp_path / "pairs.jsonl")

    assert (reading.format, len(reading.tasks)) == ("pairs.jsonl", 200)
