"""Working copies as a hostile agent leaves them."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import pytest

from skilldelta.collect.workspace import intact, remove_tree, temporary_folder, write_below
from skilldelta.errors import InputError

posix_only = pytest.mark.skipif(os.name != "posix", reason="links, fifos and permissions of POSIX")


def nest(folder: Path, depth: int) -> None:
    """Folders in folders, deeper than any path can name."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 20, dir_fd=here)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


@posix_only
def test_deeply_nested_folders_are_removed() -> None:
    folder = Path(tempfile.mkdtemp())
    nest(folder, 1500)
    nest(folder / ("d" * 20), 0)
    remove_tree(folder)
    assert not folder.exists()


@posix_only
def test_a_folder_is_removed_whatever_is_in_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")

    async def fill() -> Path:
        async with temporary_folder() as folder:
            leave_traps(folder, outside)
        return folder

    assert not asyncio.run(fill()).exists()
    assert (outside / "kept").read_text() == "kept"


def leave_traps(folder: Path, outside: Path) -> None:
    (folder / "a\nname\t\udc80").write_text("")
    (folder / ".removed-0").mkdir()
    (folder / "x" / "y").mkdir(parents=True)
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    (folder / "out").symlink_to(outside)
    (folder / "x" / "out").symlink_to(outside)
    os.link(outside / "kept", folder / "hard")
    (folder / "x" / "y").chmod(0)
    (folder / "x").chmod(0)
    folder.chmod(0o500)


@posix_only
def test_removing_follows_no_link_in_the_folders_place(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "kept").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    remove_tree(tmp_path / "link")
    assert (tmp_path / "real" / "kept").exists()


@posix_only
@pytest.mark.parametrize("trap", ["symlink", "hard link", "fifo", "folder", "dangling", "none"])
def test_a_file_is_written_in_the_place_of_whatever_stands_there(tmp_path: Path, trap: str) -> None:
    victim, work = tmp_path / "victim", tmp_path / "work"
    victim.write_text("untouched")
    work.mkdir()
    answer = work / "answer.txt"
    match trap:
        case "symlink":
            answer.symlink_to(victim)
        case "hard link":
            os.link(victim, answer)
        case "fifo":
            os.mkfifo(answer)
        case "folder":
            answer.mkdir()
            (answer / "x").write_text("x")
        case "dangling":
            answer.symlink_to(tmp_path / "new")
    write_below(work, "answer.txt", "the answer\n")
    assert answer.read_text() == "the answer\n"
    assert not answer.is_symlink()
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "new").exists()


@posix_only
@pytest.mark.parametrize("mode", [0o700, 0])
def test_folders_on_the_way_are_real_ones(tmp_path: Path, mode: int) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    outside.mkdir()
    (work / "closed").mkdir(parents=True)
    (work / "closed").chmod(mode)
    (work / "out").symlink_to(outside)
    write_below(work, "out/deep/answer.txt", "x")
    write_below(work, "closed/answer.txt", "x")
    assert list(outside.iterdir()) == []
    assert (work / "out" / "deep" / "answer.txt").read_text() == "x"


def test_text_that_no_encoding_takes_is_written_all_the_same(tmp_path: Path) -> None:
    write_below(tmp_path, "a/b.txt", "x\ud800y\r\n")
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"x?y\r\n"


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "", "C:/x", "..\\x", "a\0b"])
def test_a_name_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="must be a path inside the working copy"):
        write_below(tmp_path, name, "x")


@posix_only
def test_a_working_copy_that_the_agent_replaced_is_not_intact(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert intact(tmp_path / "real")
    assert not intact(tmp_path / "link")
    assert not intact(tmp_path / "missing")


@pytest.mark.skipif(
    sys.platform == "win32", reason="the way of Windows is tried elsewhere by taking the other one away"
)
def test_the_way_without_folder_handles_replaces_links_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skilldelta.collect.workspace._BY_HANDLE", False)
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    folder = Path(tempfile.mkdtemp())
    (folder / "answer.txt").symlink_to(victim)
    write_below(folder, "answer.txt", "x")
    write_below(folder, "a/b.txt", "x")
    assert (folder / "answer.txt").read_text() == "x"
    remove_tree(folder)
    assert victim.read_text() == "untouched"
    assert not folder.exists()
