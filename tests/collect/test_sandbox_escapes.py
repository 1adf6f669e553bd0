"""What code in the sandbox must not get at: keys, the host's files and kernel settings, and the collector's judgement."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from collect.sandboxed import in_sandbox, needs_bwrap
from skilldelta.collect.execution_errors import StopCollectionError
from skilldelta.collect.sandbox import Bubblewrap, Docker, Limits, Payload, bubblewrap, find_sandbox
from skilldelta.collect.sandbox.syscalls import syscall_filter
from skilldelta.errors import InputError

pytestmark = needs_bwrap

CANARY = "canary-5f1d0c"

READ_ALL = """
import glob, os
for path in [*glob.glob("/proc/[0-9]*/environ"), *glob.glob("/proc/[0-9]*/cmdline"), "/proc/self/environ", "/proc/thread-self/environ"]:
    try:
        text = open(path, errors="replace").read()
    except OSError as error:
        text = f"{path}: {error}"
    print(text)
    open("/workspace/" + path.replace("/", "_"), "w").write(text)
print(dict(os.environ), file=__import__("sys").stderr)
"""


def test_no_variable_of_the_user_is_anywhere_in_the_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_API_KEY", CANARY)
    finished = in_sandbox(READ_ALL, workdir=tmp_path)
    assert finished.exit_code == 0, finished.stderr
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "/proc/1" in "".join(path.name.replace("_", "/") for path in tmp_path.iterdir())
    assert CANARY not in finished.stdout + finished.stderr + written


def test_the_hosts_path_of_the_working_copy_is_not_on_a_command_line_inside(tmp_path: Path) -> None:
    finished = in_sandbox("print(open('/proc/1/cmdline').read())", workdir=tmp_path)
    assert finished.stdout.startswith("/")
    assert str(tmp_path) not in finished.stdout


ATTEMPTS = """
import ctypes, json, os, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    ctypes.set_errno(0)
    if libc.syscall(*arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def mount(source, target, kind, flags):
    if libc.mount(source, target, kind, flags, None):
        raise OSError(ctypes.get_errno(), "mount")
def write(path):
    with open(path, "w") as file:
        file.write("x")
def setuid_program():
    subprocess.run(["/usr/bin/su", "-c", "true"], check=True, stdin=subprocess.DEVNULL, capture_output=True)
x86 = os.uname().machine == "x86_64"
attempts = {
    "remount /usr": lambda: mount(None, b"/usr", None, 32 | 4096),
    "bind /usr": lambda: mount(b"/usr", b"/tmp", None, 4096),
    "mount tmpfs": lambda: mount(b"x", b"/tmp", b"tmpfs", 0),
    "unmount /proc": lambda: libc.umount2(b"/proc", 2) and 1 / 0,
    "write /usr": lambda: write("/usr/escaped"),
    "write /": lambda: write("/escaped"),
    "write /dev": lambda: write("/dev/escaped"),
    "core_pattern": lambda: write("/proc/sys/kernel/core_pattern"),
    "hostname": lambda: write("/proc/sys/kernel/hostname"),
    "sysrq": lambda: write("/proc/sysrq-trigger"),
    "kcore": lambda: open("/proc/kcore", "rb").read(1),
    "keys": lambda: open("/proc/keys").read(1),
    "mknod": lambda: os.mknod("/tmp/disk", 0o060600, os.makedev(254, 0)),
    "setuid": lambda: os.setuid(0),
    "setuid program": setuid_program,
    "chroot": lambda: os.chroot("/tmp"),
    "user namespace": lambda: libc.unshare(0x10000000) and 1 / 0,
    "user namespace by clone": lambda: subprocess.run(["/usr/bin/unshare", "-U", "true"], check=True, capture_output=True),
    "keyring": lambda: call(250 if x86 else 219, 0, -3, 0),
    "ptrace": lambda: call(101 if x86 else 117, 16, 1, 0, 0),
    "raw socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "memory of process 1": lambda: open("/proc/1/mem", "r+b"),
}
worked = []
for name, attempt in attempts.items():
    try:
        attempt()
        worked.append(name)
    except Exception:
        pass
status = {line.partition(":")[0]: line.partition(":")[2].strip() for line in open("/proc/self/status")}
print(json.dumps({"worked": worked, "uid": os.getuid(), "caps": [status[key] for key in status if key.startswith("Cap")],
                  "nnp": status["NoNewPrivs"], "fds": sorted(os.listdir("/proc/self/fd"))}))
"""


def test_no_way_out_that_is_known_to_us_works() -> None:
    pattern = Path("/proc/sys/kernel/core_pattern").read_text()
    finished = in_sandbox(ATTEMPTS)
    assert finished.exit_code == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["worked"] == []
    assert found["uid"] == 65534
    assert set(found["caps"]) == {"0000000000000000"}
    assert found["nnp"] == "1"
    assert found["fds"] == ["0", "1", "2", "3"]  # 3 lists them
    assert Path("/proc/sys/kernel/core_pattern").read_text() == pattern
    assert not Path("/usr/escaped").exists()


def test_as_root_a_bubblewrap_that_cannot_close_user_namespaces_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho '--unshare-user'\n")
    old.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(bubblewrap, "syscall_filter", lambda machine: b"")
    with pytest.raises(InputError, match=r"not safe as root; run as an ordinary user, install bubblewrap 0\.8"):
        find_sandbox("bubblewrap")


def test_a_processor_without_a_list_of_calls_gets_no_filter() -> None:
    assert syscall_filter("riscv64") == b""
    assert len(syscall_filter("x86_64")) % 8 == 0


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.exit('bwrap: x')",
        "import sys; sys.stderr.write('bwrap: No permissions to create a new namespace\\n'); sys.exit(1)",
        "import sys; sys.stderr.write('docker: x'); sys.exit(125)",
        "import os; os.kill(os.getpid(), 9)",
        "import os\nfor fd in range(3, 256):\n  try: os.write(fd, b'{ \"exit-code\": 0 }\\n')\n  except OSError: pass\nos._exit(3)",
        "import os; os.kill(-1, 9)",
        "import os; os.kill(1, 9); os._exit(1)",
    ],
)
def test_no_payload_can_pass_for_a_sandbox_that_cannot_start(code: str) -> None:
    assert in_sandbox(code).exit_code not in (0, None)


def test_a_sandbox_that_fails_after_its_start_was_announced_is_told_from_a_payload(tmp_path: Path) -> None:
    sandbox = find_sandbox("bubblewrap")
    with pytest.raises(StopCollectionError, match="cannot start: bwrap: Can't find source path"):
        asyncio.run(sandbox.run(Payload(["true"], Limits(), workdir=tmp_path / "missing")))
    with pytest.raises(StopCollectionError, match="cannot start: bwrap: execvp"):
        asyncio.run(sandbox.run(Payload(["/no/such/program"], Limits())))


def test_a_bwrap_that_says_nothing_cannot_start(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(StopCollectionError, match="cannot start: exit code 3"):
        asyncio.run(Bubblewrap(str(broken)).run(Payload(["true"], Limits())))


def test_a_bwrap_that_hangs_is_no_failure_of_the_payload(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\n[ $1 = --help ] || exec sleep 60\n")
    broken.chmod(0o755)
    with pytest.raises(StopCollectionError, match="did not start in time"):
        asyncio.run(Bubblewrap(str(broken)).run(Payload(["true"], Limits(seconds=0.5))))


def fake_docker(folder: Path, script: str) -> Docker:
    """A `docker` that runs what comes after the image, or the script."""
    program = folder / "docker"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Docker(str(program), image="IMAGE")


RUN_AFTER_IMAGE = 'while [ "$1" != IMAGE ]; do shift; done; shift; exec "$@"'


def test_docker_tells_its_own_failure_from_a_payloads(tmp_path: Path) -> None:
    working = fake_docker(tmp_path, RUN_AFTER_IMAGE)
    forged = ["sh", "-c", "echo 'docker: Error response from daemon' >&2; exit 125"]
    finished = asyncio.run(working.run(Payload(forged, Limits())))
    assert (finished.exit_code, finished.stdout) == (125, "")
    finished = asyncio.run(working.run(Payload(["echo", "42"], Limits())))
    assert (finished.exit_code, finished.stdout) == (0, "42\n")
    broken = fake_docker(tmp_path, "echo 'docker: Cannot connect to the daemon' >&2; exit 125")
    with pytest.raises(StopCollectionError, match="cannot start: docker: Cannot connect"):
        asyncio.run(broken.run(Payload(["echo", "42"], Limits())))
