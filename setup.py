"""The one step of the build that pyproject.toml cannot say: the adapters of plugins/ are shipped as skilldelta/plugins."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PLUGINS = Path(__file__).resolve().parent / "plugins"


class BuildWithPlugins(build_py):
    """Copies what a harness loads; tests and node's packages stay behind. An editable install finds plugins/ itself."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "skilldelta" / "plugins"
            shutil.rmtree(target, ignore_errors=True)
            left_out = shutil.ignore_patterns("node_modules", "test", "package-lock.json", "*.tgz")
            shutil.copytree(PLUGINS, target, ignore=left_out)


setup(cmdclass={"build_py": BuildWithPlugins})
