from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilldelta.errors import InputError
from skilldelta.studies.record_lists import read_corrections, read_exclusions


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for read in (read_exclusions, read_corrections):
        with pytest.raises(InputError, match="not a regular file"):
            read(tmp_path / "pipe")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_without_an_end_is_refused() -> None:
    with pytest.raises(InputError, match="not a regular file"):
        read_exclusions(Path("/dev/full"))


def test_bytes_that_are_not_utf_8_have_their_line(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b"t1\nt\xff\n")
    with pytest.raises(InputError, match=r"list:2: byte 2 .*UTF-8"):
        read_exclusions(tmp_path / "list")


@pytest.mark.parametrize("success", ["NaN", "1e999", "7", "9" * 400])
def test_a_success_out_of_range_is_refused_with_its_line(tmp_path: Path, success: str) -> None:
    line = f'{{"task_id": "t", "condition": "use", "success": {success}}}'
    (tmp_path / "list").write_text(f"\n{line}\n")
    with pytest.raises(InputError, match="list:2: success must be a number from 0 to 1"):
        read_corrections(tmp_path / "list")
