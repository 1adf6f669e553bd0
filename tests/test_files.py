"""Files are replaced whole or not at all, and read within limits, with every fault at its place."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from skilldelta import files
from skilldelta.errors import InputError

posix = pytest.mark.skipif(sys.platform == "win32", reason="permission bits, links and pipes are POSIX")


def test_a_file_is_replaced_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    files.write_text(path, "naïve\r\nnew\n")
    assert path.read_bytes() == "naïve\r\nnew\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(RuntimeError), files.replacing(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_flush_that_fails_is_one_line_and_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "out.json"
    path.write_text("old")
    monkeypatch.setattr(files, "flush_durably", full)
    with pytest.raises(InputError, match=r"cannot write .*out\.json \(No space left on device\); choose another"):
        files.write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_as_long_as_names_can_be_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".json")
    files.write_text(path, "x")
    assert path.read_text() == "x"


@posix
def test_a_private_file_is_its_owners_and_a_replaced_one_keeps_its_permissions(tmp_path: Path) -> None:
    secret, shared = tmp_path / "secret", tmp_path / "shared"
    files.write_text(secret, "x", private=True)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    shared.write_text("old")
    shared.chmod(0o640)
    files.write_text(shared, "new")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o640
    files.write_text(shared, "now a secret", private=True)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o600


@posix
def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("kept")
    link.symlink_to(target)
    with pytest.raises(InputError, match=r"link: it is a link to .*target; name the file itself"):
        files.write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "kept"


@posix
def test_a_pipe_and_a_device_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(InputError, match="it is not a regular file"):
            files.write_text(path, "new")


def test_a_folder_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder; name a file in it"):
        files.write_text(tmp_path, "x")
    with pytest.raises(InputError, match=r"the folder .*absent does not exist; make it first"):
        files.write_text(tmp_path / "absent" / "out.json", "x")


def test_flushing_works_without_fdatasync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and Windows."""
    monkeypatch.delattr(os, "fdatasync", raising=False)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    files.write_text(tmp_path / "a", "x")
    assert synced


@posix
def test_the_drive_is_asked_where_the_system_can_ask_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS; a disk that cannot is synced as usual."""
    import fcntl

    asked: list[int] = []

    def refuse(descriptor: int, command: int) -> None:
        asked.append(command)
        raise OSError(45 if sys.platform == "darwin" else 95, "not supported")

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", refuse)
    files.write_text(tmp_path / "a", "x")
    assert asked == [51]
    assert (tmp_path / "a").read_text() == "x"


def test_a_text_has_its_byte_order_mark_dropped_and_its_line_ends_made_plain(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r")
    assert files.read_text(tmp_path / "a") == "one\ntwo\n"


def test_more_than_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("ok\n" + "x" * 20)
    assert len(files.read_text(path, most=23)) == 23
    with pytest.raises(InputError, match="a: the file has more than 22 bytes"):
        files.read_text(path, most=22)
    with pytest.raises(InputError, match="a:2: the line has more than 19 bytes"):
        list(files.lines(path, most=19))


@pytest.mark.parametrize("read", [files.read_text, lambda path: list(files.lines(path))])
def test_bytes_that_are_not_utf8_are_named_with_their_place(tmp_path: Path, read: object) -> None:
    (tmp_path / "a").write_bytes(b"good\nba\xffd\n")
    with pytest.raises(InputError, match=r"a:2: byte 3 \(0xff\) is not UTF-8"):
        read(tmp_path / "a")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": \n', "a:2: not valid JSON .Expecting value at column"),
        ('{"a": 1}\n\n[1]\n', "a:3: expected one JSON object per line, got list"),
        ('{"a": 1, "a": 2}\n', "a:1: the key 'a' stands twice"),
        ('{"a": ' + "[" * 100_000 + "\n", "a:1: the JSON is nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}\n", "a:1: Exceeds the limit"),
    ],
)
def test_a_bad_line_is_one_message_at_its_place(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a").write_text(content)
    with pytest.raises(InputError, match=message):
        list(files.json_lines(tmp_path / "a"))


def test_json_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    """A text may hold other line separators, which JSON does not escape."""
    (tmp_path / "a").write_text('{"text": "one\u2028two\x85"}\n\n{"text": "b"}', encoding="utf-8")
    assert list(files.json_lines(tmp_path / "a")) == [(1, {"text": "one\u2028two\x85"}), (3, {"text": "b"})]


def test_what_a_killed_process_left_is_removed_after_a_day_and_nothing_else(tmp_path: Path) -> None:
    old, new = tmp_path / ".skilldelta-0123456789ab.partial", tmp_path / ".skilldelta-ba9876543210.partial"
    folder, other = tmp_path / ".skilldelta-aaaaaaaaaaaa.partial", tmp_path / ".skilldelta-mine.partial"
    link = tmp_path / ".skilldelta-bbbbbbbbbbbb.partial"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    folder.mkdir()
    (folder / "inner").touch()
    link.symlink_to(tmp_path / "elsewhere")
    for path in (old, new, other):
        path.touch()
    for path in (old, folder, other, link):
        os.utime(path, (1, 1), follow_symlinks=False)
    files.write_text(tmp_path / "result.txt", "x")
    assert {path.name for path in tmp_path.iterdir()} == {new.name, other.name, "elsewhere", "result.txt"}
    assert (tmp_path / "elsewhere" / "file").exists()
