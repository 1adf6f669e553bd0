"""The adapters of plugins/ are part of what is installed, so that `skilldelta install` finds them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skilldelta.serve.harness.harness_files import adapter

_ROOT = Path(__file__).resolve().parents[1]
ADAPTERS = ("dsh-skilldelta/plugin.mjs", "opencode-skilldelta/plugin.mjs", "pi-skilldelta/extension.mjs")


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_checkout_has_the_adapter(name: str) -> None:
    assert adapter(name) == _ROOT / "plugins" / name


def test_a_built_package_has_the_adapters_and_not_their_tests(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    words = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(words, cwd=_ROOT, check=True, capture_output=True)
    built = {path.relative_to(tmp_path / "skilldelta" / "plugins").as_posix() for path in tmp_path.rglob("*.mjs")}
    assert set(ADAPTERS) <= built
    assert not any("node_modules" in name or name.split("/")[1] == "test" for name in built)
