"""The adapters of plugins/ are part of what is installed, so that `skilldelta install` finds them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skilldelta.harnesses.loader import adapter

_ROOT = Path(__file__).resolve().parents[1]
ADAPTERS = ("dsh-skilldelta/plugin.mjs", "opencode-skilldelta/plugin.mjs", "pi-skilldelta/extension.mjs")


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_checkout_has_the_adapter(name: str) -> None:
    assert adapter(name) == _ROOT / "plugins" / name


def test_a_built_package_has_what_the_harnesses_load_and_no_more(tmp_path: Path) -> None:
    words = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(words, cwd=_ROOT, check=True, capture_output=True, timeout=120)
    plugins = tmp_path / "skilldelta" / "plugins"
    shipped = {path.relative_to(plugins).as_posix() for path in plugins.rglob("*.mjs")}
    sources = [path for pattern in ("*/*.mjs", "*/shared/*.mjs") for path in (_ROOT / "plugins").glob(pattern)]
    written = {path.relative_to(_ROOT / "plugins").as_posix() for path in sources}
    assert shipped == written
    assert set(ADAPTERS) <= shipped
    assert (plugins / "claude-code" / ".claude-plugin" / "plugin.json").is_file()
    assert not list(plugins.rglob("node_modules"))
