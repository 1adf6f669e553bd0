from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from skilldelta.collect import transcript
from skilldelta.collect.transcript import append_lines, encode_row, read_row, read_rows, repair_end
from skilldelta.errors import InputError

FIRST, LAST = {"sample": "a", "reply": "é"}, {"sample": "b", "reply": "x\ud800y", "n": {"k": [1]}}


def test_a_file_cut_at_any_byte_of_its_last_line_goes_on_with_whole_lines(tmp_path: Path) -> None:
    path, aside = tmp_path / "t.jsonl", tmp_path / "t.jsonl.torn"
    first, last = encode_row(FIRST), encode_row(LAST)
    for cut in range(len(last) + 1):
        path.write_bytes(first + last[:cut])
        aside.unlink(missing_ok=True)
        said = repair_end(path)
        append_lines(path, [encode_row({"sample": "c"})])
        whole = cut >= len(last) - 1  # all of it, or all but the line end
        expected = [FIRST, LAST, {"sample": "c"}] if whole else [FIRST, {"sample": "c"}]
        assert [json.loads(line) for line in path.read_bytes().splitlines()] == expected
        assert bool(said) == aside.exists() == (0 < cut < len(last) - 1)
        if said:
            assert aside.read_bytes() == last[:cut] + b"\n"
            assert "t.jsonl.torn" in said


def test_what_was_torn_twice_is_kept_twice(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for torn in (b'{"a', b'{"b'):
        with path.open("ab") as file:
            file.write(torn)
        assert repair_end(path)
    assert (tmp_path / "t.jsonl.torn").read_bytes() == b'{"a\n{"b\n'
    assert path.read_bytes() == b""


def test_a_long_torn_line_and_a_missing_file_are_handled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "_BLOCK", 7)
    path = tmp_path / "t.jsonl"
    assert repair_end(path) == ""
    path.write_bytes(b'{"a": 1}\n' + b"\x00" * 100)
    assert "100 bytes" in repair_end(path)
    assert path.read_bytes() == b'{"a": 1}\n'


def test_a_full_disk_leaves_no_part_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.jsonl"
    append_lines(path, [b"{}\n"])

    class Full:
        """A disk with room for three bytes more."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.file = open(*args, **kwargs)  # noqa: SIM115
            self.room = 3

        def write(self, data: memoryview) -> int:
            if not self.room:
                raise OSError(errno.ENOSPC, "No space left on device")
            written: int = self.file.write(data[: self.room])
            self.room -= written
            return written

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

    monkeypatch.setattr(transcript, "open", Full, raising=False)
    with pytest.raises(InputError, match="No space left on device"):
        append_lines(path, [b'{"longer": 1}\n'])
    assert path.read_bytes() == b"{}\n"


def test_a_row_that_was_glued_to_a_torn_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(encode_row(FIRST) + encode_row(LAST)[:20] + encode_row({"sample": "c"}) + b"nonsense\n")
    assert list(read_rows(path)) == [FIRST, {"sample": "c"}]
    assert read_row(b"[1]\n") is None


def test_a_lone_surrogate_comes_back_as_it_was() -> None:
    line = encode_row(LAST)
    line.decode("utf-8")
    assert json.loads(line) == LAST
