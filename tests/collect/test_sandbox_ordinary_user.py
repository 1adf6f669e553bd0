"""The sandbox's tests once more as an ordinary user, whose limits are held by a watchdog and who owns no cgroup."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from collect.sandboxed import needs_bwrap

pytestmark = needs_bwrap

NOBODY = 65534
PROJECT = Path(__file__).parents[2]
FILES = ("test_sandbox.py", "test_sandbox_escapes.py", "test_sandbox_limits.py")

# In mounts of its own, each folder that others may not enter is covered, and what the tests need is put back in its place.
COVER = """
set -e
keep="$HOME/keep"; mkdir "$keep"
mount -t tmpfs tmpfs "$keep"
number=0
for need in $NEEDED; do
  number=$((number + 1)); mkdir "$keep/$number"; mount --bind "$need" "$keep/$number"
done
for folder in $COVERED; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
number=0
for need in $NEEDED; do
  number=$((number + 1)); mkdir -p "$need"; mount --bind "$keep/$number" "$need"
done
cd "$PROJECT"
exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"
"""


def closed_folders(paths: list[Path]) -> set[Path]:
    """The topmost folder on the way to each path that other users may not enter."""
    ways = ([*reversed(path.parents), path] for path in paths)
    closed = (next((folder for folder in way if not folder.stat().st_mode & 0o001), None) for way in ways)
    return {folder for folder in closed if folder is not None}


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can become another user")
def test_the_sandbox_holds_for_an_ordinary_user_too(tmp_path: Path) -> None:
    if not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
        pytest.skip("unshare, setpriv and mount are not installed")
    base = Path("/tmp") / f"{tmp_path.name}-{os.getpid()}"
    base.mkdir()
    os.chown(base, NOBODY, NOBODY)
    needed = [Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), PROJECT]
    covered = closed_folders(needed)
    needed = [path for path in needed if any(path.is_relative_to(folder) for folder in covered)]
    tests = [str(PROJECT / "tests" / "collect" / name) for name in FILES]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--basetemp", str(base / "tests")]
    try:
        finished = subprocess.run(
            ["unshare", "--mount", "sh", "-c", COVER, "sh", sys.executable, "-B", "-m", "pytest", *options, *tests],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(base),
                "PYTHONPATH": str(PROJECT / "src"),
                "SKILLDELTA_REQUIRE": "bubblewrap",
                "PROJECT": str(PROJECT),
                "NEEDED": " ".join(map(str, needed)),
                "COVERED": " ".join(map(str, covered)),
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        shutil.rmtree(base, ignore_errors=True)
    if "unshare failed" in finished.stderr:
        pytest.skip("root here may not make mounts of its own")
    assert finished.returncode == 0, finished.stdout[-3000:] + finished.stderr[-1000:]
    assert "passed" in finished.stdout
