"""What was decided in a conversation, in a small file of its own, so that later hooks of it neither ask nor decide again.

The bank's decision log says the same; this file answers in a millisecond, and tells an entry that has handed out its part
of a skill from one that has not. It holds no task text.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from skilldelta.regular_file import read_regular
from skilldelta.serve.hooks.hook_decision import HookDecision

_KEPT_DAYS = 30
_MOST_BYTES = 1 << 20
_MOST_LOOKED_AT = 500


class Conversation(NamedTuple):
    """One conversation in a folder of them. Whatever the disk says, a question gets an answer: nothing is known."""

    folder: Path
    host: str
    name: str

    def known(self) -> tuple[HookDecision, ...] | None:
        """The decisions that were taken; None where there are none."""
        try:
            rows = json.loads(read_regular(self._file, _MOST_BYTES, follow_links=False))["decisions"]
            return tuple(HookDecision.from_row(row) for row in rows)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def keep(self, decisions: tuple[HookDecision, ...]) -> bool:
        """Keep the decisions for the hooks that follow; the first to do so counts. False where that is impossible."""
        document = {"time": time.time(), "decisions": [decision.to_row() for decision in decisions]}
        part = self._file.with_suffix(f".{os.urandom(8).hex()}.partial")  # threads of a server keep, too
        try:
            self._make_folder()
            with created(part) as file:
                file.write(json.dumps(document).encode())
            with suppress(FileExistsError):
                os.link(part, self._file)  # unlike a rename, never over what another hook of the same prompt has kept
            return True
        except (OSError, NotImplementedError):
            return False
        finally:
            with suppress(OSError):
                part.unlink()

    def claim(self, entry: int) -> bool:
        """Whether this hook entry is the first to answer here; later prompts find the skill in their context."""
        try:
            self._make_folder()
            created(self._file.with_suffix(f".{entry}")).close()
        except FileExistsError:
            return False
        except OSError:
            return True
        return True

    def tidy(self) -> None:
        """Remove what has not been touched for a month, a few hundred files at a time.

        One conversation in sixteen does it: looking at that many files takes as long as a decision.
        """
        if not self._file.name.startswith("0"):
            return
        oldest = time.time() - _KEPT_DAYS * 86_400
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry, _ in zip(entries, range(_MOST_LOOKED_AT), strict=False):
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                        os.unlink(entry.path)

    @property
    def _file(self) -> Path:
        digest = hashlib.sha256(f"{self.host}\n{self.name}".encode("utf-8", "replace")).hexdigest()[:32]
        return self.folder / f"{digest}.json"

    def _make_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def created(path: Path) -> Any:
    """A new file for its owner alone, open for writing; one that is there, or a link, is an error."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")
