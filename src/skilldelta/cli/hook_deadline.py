"""The deadline of a hook process. It runs from the first line of the program, so that nothing can outlast it.

Imports, options, settings, files, the server and the harness's own pipe all come after it has started. When the time is
up, the process says its last words, if it has any, and ends with exit code 0: an agent is never stopped.
"""

from __future__ import annotations

import _thread  # `threading` would take as long to load as the rest of this file
import os
import time

TYPE_CHECKING = False  # as `typing` has it
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEFAULT_SECONDS = 10.0
# Seconds for the last words: reading a skill's file and writing its text.
_LAST_WORDS = 0.05


class Deadline:
    """The end of this process, whatever its other threads wait for."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.last_words: Callable[[], None] | None = None
        self._is_met = False

    def start(self, spent: float = 0.0) -> None:
        """Let the time run; `spent` are the seconds that the interpreter took to start."""
        _thread.start_new_thread(self._end, (max(self.seconds - spent, 0.0),))

    def meet(self) -> None:
        """The work is done; the process may go on with something else."""
        self._is_met = True

    def _end(self, seconds: float) -> None:
        time.sleep(seconds)
        if self._is_met:
            return
        if self.last_words is not None:
            ended = _thread.allocate_lock()
            ended.acquire()
            _thread.start_new_thread(self._speak, (self.last_words, ended))
            ended.acquire(timeout=_LAST_WORDS)
        os._exit(0)

    @staticmethod
    def _speak(last_words: Callable[[], None], ended: _thread.LockType) -> None:
        try:
            last_words()
        finally:
            ended.release()


def seconds_of(words: Sequence[str]) -> float:
    """The limit that the command line names. A bad one is refused later, by whoever reads all options."""
    text = ""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--time-limit":
            text = following
        elif word.startswith("--time-limit="):
            text = word.partition("=")[2]
    try:
        seconds = float(text)
    except ValueError:
        return DEFAULT_SECONDS
    return seconds if 0 < seconds <= 3600 else DEFAULT_SECONDS
