"""Print the versions of everything that SkillDelta with the given extras needs, as they are installed here.

Usage: python .ci/constraints.py report,collect,dev > constraints.txt. Packages of other extras (such as torch), of other
systems and of other Python versions are left out, and pip then chooses them itself.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_HEAD = """\
# The versions that were tested, used by `make demo` and `make test`. Written by `make constraints`.
"""


Walked = set[tuple[str, frozenset[str]]]
"""Packages with the extras they were asked for: some name themselves again."""


def needed(lines: Iterable[str], extras: frozenset[str], found: dict[str, str], walked: Walked) -> None:
    """Add what these requirements bring to `found`, name by version; what is not installed belongs to other machines."""
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        name, inner = canonicalize_name(requirement.name), frozenset(requirement.extras)
        try:
            installed = distribution(requirement.name)
        except PackageNotFoundError:
            continue
        if (name, inner) not in walked:
            walked.add((name, inner))
            found[name] = installed.version
            needed(installed.requires or (), inner, found, walked)


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = [line for extra in sys.argv[1].split(",") for line in project["optional-dependencies"][extra]]
    versions: dict[str, str] = {}
    needed([*project["dependencies"], *optional], frozenset(), versions, set())
    print(_HEAD + "\n".join(f"{name}=={version}" for name, version in sorted(versions.items())))
