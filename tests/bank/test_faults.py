"""Every step of a write fails once, with a full disk and with a failing device: the bank is whole afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None,
    reason="the shim that makes calls fail needs Linux and a C compiler",
)


def report_of_faults(folder: Path, stride: int) -> dict[str, object]:
    """What became of a bank under faults at every `stride`-th step."""
    shim = folder / "faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, _HERE / "faults.c", "-ldl"], check=True, timeout=60)
    result = subprocess.run(
        [sys.executable, _HERE / "faulty_writer.py", folder, str(stride)],
        env={**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": str(_HERE.parent)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    report: dict[str, object] = json.loads(result.stdout)
    print({name: value for name, value in report.items() if name != "wrong"})
    return report


def test_the_bank_is_whole_after_a_fault_at_some_steps(tmp_path: Path) -> None:
    report = report_of_faults(tmp_path, 7)
    assert report["wrong"] == []
    assert int(str(report["reported"])) >= 10


@pytest.mark.slow
def test_the_bank_is_whole_after_a_fault_at_every_step(tmp_path: Path) -> None:
    report = report_of_faults(tmp_path, 1)
    assert report["wrong"] == []
    assert int(str(report["reported"])) >= 100
