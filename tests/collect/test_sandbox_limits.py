"""One payload cannot take more than its limits by spreading over processes, memory files or deleted files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from collect.sandboxed import in_sandbox, needs_bwrap
from skilldelta.collect.sandbox import Limits, guard
from skilldelta.collect.sandbox.cgroup import Cgroup, find_cgroups
from skilldelta.errors import InputError

pytestmark = needs_bwrap

LIMITS = Limits(seconds=60, memory_mb=96, disk_mb=96, processes=32)
CHUNKS = "chunk = bytes(1 << 20)\n"


@pytest.fixture(params=["cgroup", "watchdog"])
def limiter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to hold a payload to its limits, where this machine has both."""
    if request.param == "cgroup" and find_cgroups() is None:
        pytest.skip("no cgroup can be made here")
    if request.param == "watchdog":
        monkeypatch.setattr(guard, "make_cgroup", lambda limits: None)
    return str(request.param)


MEMORY = {
    "files in /dev/shm": "for n in range(9):\n with open(f'/dev/shm/{n}', 'wb') as f:\n  for _ in range(64): f.write(chunk)",
    "memory files": "import os\nfor n in range(9):\n fd = os.memfd_create('x')\n for _ in range(64): os.write(fd, chunk)",
    "children": "import os, time\nfor _ in range(8):\n if os.fork() == 0:\n  x = b'x' * (64 << 20); time.sleep(60)\nfor _ in range(8): os.wait()",
    "children that nobody asks about": (
        "import os, time\nfor _ in range(8):\n if os.fork() == 0:\n"
        "  x = b'x' * (64 << 20); time.sleep(5); os._exit(0)\nfor _ in range(8): os.wait()"
    ),
}


@pytest.mark.usefixtures("limiter")
@pytest.mark.parametrize("code", MEMORY.values(), ids=MEMORY)
def test_memory_is_limited_for_the_payload_as_a_whole(code: str) -> None:
    finished = in_sandbox(CHUNKS + code, limits=LIMITS)
    assert finished.exit_code != 0
    assert finished.stopped == "memory" or "No space left" in finished.stderr


@pytest.mark.usefixtures("limiter")
def test_processes_are_limited() -> None:
    code = "import os, time\nfor _ in range(2000):\n if os.fork() == 0: time.sleep(60)\ntime.sleep(60)"
    finished = in_sandbox(code, limits=LIMITS)
    assert finished.exit_code != 0
    assert finished.stopped == "processes" or "temporarily unavailable" in finished.stderr


@pytest.mark.usefixtures("limiter")
@pytest.mark.parametrize(
    "start", ["os.fork() == 0 and time.sleep(60)", "threading.Thread(target=time.sleep, args=(2,)).start()"]
)
def test_a_payload_that_shrugs_off_the_limit_of_processes_has_failed_all_the_same(start: str) -> None:
    code = f"import os, threading, time\nfor _ in range(200):\n try: {start}\n except Exception: pass\ntime.sleep(1); os._exit(0)"
    assert in_sandbox(code, limits=Limits(60, 4096, 96, 32)).stopped == "processes"


DISK = {
    "one file": "f = open('/workspace/x', 'wb')\nfor _ in range(999): f.write(chunk)",
    "many files": "for n in range(999):\n with open(f'/workspace/{n}', 'wb') as f: f.write(chunk)",
    "deleted files": (
        "import os\nkept = []\nfor n in range(999):\n"
        " f = open('/workspace/x', 'wb'); os.unlink('/workspace/x'); f.write(chunk); f.flush(); kept.append(f)"
    ),
    "children that end": (
        "import os\nfor n in range(99):\n if os.fork() == 0:\n"
        "  with open(f'/workspace/{n}', 'wb') as f:\n   for _ in range(9): f.write(chunk)\n  os._exit(0)\n os.wait()"
    ),
    "out of sight": (
        "import ctypes\nctypes.CDLL(None).prctl(4, 0)\n"
        "for n in range(999):\n with open(f'/workspace/{n}', 'wb') as f: f.write(chunk)"
    ),
}


@pytest.mark.usefixtures("limiter")
@pytest.mark.parametrize("code", DISK.values(), ids=DISK)
def test_the_working_copy_cannot_fill_the_disk(code: str, tmp_path: Path) -> None:
    finished = in_sandbox(CHUNKS + code, limits=LIMITS, workdir=tmp_path)
    assert finished.exit_code != 0
    assert finished.stopped == "disk" or "File too large" in finished.stderr


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no file system in memory")
def test_a_working_copy_in_memory_is_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(guard, "make_cgroup", lambda limits: None)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        finished = in_sandbox(CHUNKS + DISK["many files"], limits=LIMITS, workdir=Path(place))
    assert finished.stopped == "disk"


@pytest.mark.parametrize("place", ["/dev/x", "/x", "/usr/x", "/proc/x"])
def test_nothing_else_is_writable(place: str) -> None:
    assert in_sandbox(f"open({place!r}, 'wb')").exit_code == 1


@pytest.mark.usefixtures("limiter")
def test_what_stays_within_the_limits_is_not_disturbed(tmp_path: Path) -> None:
    # Four forks share 60 MB, which resident sizes alone would count five times.
    code = (
        "import os, tempfile, time\nx = b'x' * (60 << 20)\nf = tempfile.TemporaryFile(); f.write(chunk * 9)\n"
        "for _ in range(4):\n if os.fork() == 0: time.sleep(0.3); os._exit(0)\n"
        "for _ in range(4): os.wait()\nopen('made', 'wb').write(chunk)\nprint('fine')"
    )
    finished = in_sandbox(CHUNKS + code, limits=Limits(60, 128, 96, 32), workdir=tmp_path)
    assert (finished.exit_code, finished.stdout, finished.stopped) == (0, "fine\n", ""), finished.stderr


def test_no_group_is_left_behind() -> None:
    parents = find_cgroups()
    if parents is None:
        pytest.skip("no cgroup can be made here")
    in_sandbox("print(1)")
    assert not list(parents.memory.glob(f"skilldelta-{os.getpid()}-*"))


@pytest.mark.parametrize(
    ("key", "value"), [("seconds", 0), ("seconds", float("nan")), ("memory_mb", -1), ("processes", 0)]
)
def test_limits_that_cannot_be_are_refused(key: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{key} of a sandbox must be a positive number"):
        Limits(**{key: value})  # type: ignore[arg-type]


def session_of(folder: Path, group: str, mount_root: str = "/") -> Path:
    """A /proc/self of a process in a version 2 group whose tree is mounted at folder/cgroup."""
    (folder / "cgroup.d").mkdir(exist_ok=True)
    (folder / "cgroup").write_text(f"0::{group}\n")
    (folder / "mountinfo").write_text(f"30 23 0:26 {mount_root} {folder / 'cgroup.d'} rw - cgroup2 cgroup2 rw\n")
    return folder


def test_a_version_2_group_is_made_below_the_nearest_parent_that_hands_out_controllers(tmp_path: Path) -> None:
    parent = tmp_path / "cgroup.d" / "user" / "app.slice"
    (parent / "shell.scope").mkdir(parents=True)
    (parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (parent / "shell.scope" / "cgroup.subtree_control").write_text("\n")
    (parent / "cgroup.procs").touch()
    found = find_cgroups(session_of(tmp_path, "/user/app.slice/shell.scope"))
    assert found is not None
    assert (found.memory, found.unified) == (parent, True)
    assert find_cgroups(session_of(tmp_path, "/docker/1/user/app.slice/shell.scope", "/docker/1")) == found
    (parent / "cgroup.subtree_control").write_text("cpu\n")
    assert find_cgroups(session_of(tmp_path, "/user/app.slice/shell.scope")) is None


def test_a_group_says_which_limit_the_kernel_had_to_enforce(tmp_path: Path) -> None:
    group = Cgroup(tmp_path, tmp_path)
    assert group.exceeded() == ""
    (tmp_path / "pids.events").write_text("max 3\n")
    assert group.exceeded() == "processes"
    (tmp_path / "memory.events").write_text("low 0\noom 1\noom_kill 1\noom_group_kill 0\n")
    assert group.exceeded() == "memory"
