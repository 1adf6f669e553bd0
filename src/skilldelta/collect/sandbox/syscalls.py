"""A seccomp filter for the sandbox: system calls with no use in a payload that reach around its other limits.

Kernel keyrings are shared with the user, System V shared memory can be hidden from a watchdog, and namespaces, mounts, BPF
and io_uring are where a kernel's own mistakes tend to be. A refused call fails with EPERM, as it does without the right to it.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Mapping

_CLONE_NEWUSER = 0x10000000
_EPERM, _ENOSYS = 1, 38
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little-endian
# x86-64's second numbering of the same calls.
_X32 = 0x40000000

_ARCHITECTURES: Mapping[str, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE: Mapping[str, int] = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_REFUSED: Mapping[str, tuple[int, int]] = {  # name: (x86_64, aarch64)
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "ptrace": (101, 117),
    "process_vm_writev": (311, 271),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
}


@functools.cache
def syscall_filter(machine: str) -> bytes:
    """The filter as a BPF program; empty for a processor whose call numbers are not listed here."""
    if machine not in _ARCHITECTURES:
        return b""
    column = list(_ARCHITECTURES).index(machine)
    refused = sorted(numbers[column] for numbers in _REFUSED.values())
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, _ARCHITECTURES[machine], yes=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        *_answer(_step(_JUMP_AT_LEAST, _X32, no=1), _EPERM),
        # clone3 hides its flags in memory; without it libraries fall back to clone, whose flags are below.
        *_answer(_step(_JUMP_EQUAL, _CLONE3, no=1), _ENOSYS),
    ]
    for number in refused:
        program += _answer(_step(_JUMP_EQUAL, number, no=1), _EPERM)
    program += [
        _step(_JUMP_EQUAL, _CLONE[machine], no=3),
        _step(_LOAD, _FIRST_ARGUMENT),
        *_answer(_step(_JUMP_ANY_BIT, _CLONE_NEWUSER, no=1), _EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """One BPF instruction; `yes` and `no` are how many to skip."""
    return struct.pack("=HBBI", code, yes, no, value)


def _answer(test: bytes, error: int) -> list[bytes]:
    return [test, _step(_RETURN, _ERRNO | error)]
