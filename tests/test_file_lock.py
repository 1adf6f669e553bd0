"""One holder at a time, between processes, on systems with and without fcntl."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skilldelta.file_lock import LockHeldError, file_lock

_HOLD = """
import sys
from pathlib import Path
from skilldelta.file_lock import file_lock
with file_lock(Path(sys.argv[1]), timeout=5):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_waits_in_vain_and_hears_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LockHeldError) as held, file_lock(path, timeout=0.01):
            pass
        assert held.value.holder == f"process {other.pid}"
        other.kill()
        other.wait()
        with file_lock(path, timeout=5):  # a holder that dies holds nothing
            pass


_EVERYTHING = """
import builtins, importlib, os, pkgutil, sys, types
POSIX = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "tty"}
real = builtins.__import__
def importing(name, globals=None, *rest, **named):
    if name in POSIX and (globals or {}).get("__name__", "").startswith("skilldelta"):
        raise ImportError(f"No module named {name!r}")
    return real(name, globals, *rest, **named)
builtins.__import__ = importing
if hasattr(os, "fdatasync"):
    del os.fdatasync
locked = []
def locking(descriptor, mode, count):
    locked.append(mode)
import skilldelta
if sys.platform != "win32":
    sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2, LK_UNLCK=0)
    import skilldelta.file_lock
    del sys.modules["msvcrt"]  # other packages would take this machine for Windows
for module in pkgutil.walk_packages(skilldelta.__path__, "skilldelta."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except skilldelta.errors.MissingExtraError:
            pass
from pathlib import Path
from skilldelta.file_lock import file_lock
from skilldelta.files import write_text
with file_lock(Path("lock"), timeout=0):
    write_text(Path("a"), "x")
assert sys.platform == "win32" or locked == [2, 0], locked
"""


def test_every_module_works_without_fcntl_and_fdatasync(tmp_path: Path) -> None:
    """As on Windows, which has neither; the lock is then the one of msvcrt."""
    done = subprocess.run([sys.executable, "-c", _EVERYTHING], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
