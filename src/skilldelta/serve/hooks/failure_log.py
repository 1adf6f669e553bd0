"""What went wrong in hooks, which have nobody to tell: one JSON object per line, for `skilldelta doctor`."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from skilldelta.regular_file import open_regular, read_regular

FILE_NAME = "hook-failures.jsonl"
# Bytes at which the log begins anew.
_MOST_BYTES = 256 << 10


def log_failure(folder: Path, host: str, failure: str) -> None:
    """Add a line, if the disk allows; a log that has grown large begins anew."""
    path = folder / FILE_NAME
    line = json.dumps({"time": round(time.time(), 3), "host": host, "failure": failure}) + "\n"
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = os.O_TRUNC if path.exists() and path.stat().st_size > _MOST_BYTES else 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | fresh
        with os.fdopen(open_regular(path, flags, follow_links=False), "ab") as file:
            file.write(line.encode())


def last_failures(folder: Path, count: int = 5) -> list[dict[str, Any]]:
    """The newest lines, the newest first."""
    try:
        lines = read_regular(folder / FILE_NAME, 2 * _MOST_BYTES, follow_links=False).splitlines()
    except OSError:
        return []
    failures: list[dict[str, Any]] = []
    for line in reversed(lines):
        with suppress(ValueError):
            row = json.loads(line)
            if isinstance(row, dict):
                failures.append(row)
        if len(failures) == count:
            break
    return failures
