"""Print the versions of everything that SkillDelta with the given extras needs, as they are installed here.

Usage: python .ci/constraints.py report,collect,dev > constraints.txt. Packages of other extras (such as torch), of other
systems and of other Python versions are left out, and pip then chooses them itself.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_HEAD = """\
# The versions that were tested, used by `make demo` and `make test`. Written by `make constraints`.
"""


def needed(name: str, extras: frozenset[str], found: dict[str, str], seen: set[tuple[str, frozenset[str]]]) -> None:
    """Add what a package needs to `found`, name by version; what is not installed here belongs to another machine."""
    if (name, extras) in seen:
        return
    seen.add((name, extras))
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            try:
                found[canonicalize_name(requirement.name)] = distribution(requirement.name).version
            except PackageNotFoundError:
                continue
            needed(requirement.name, frozenset(requirement.extras), found, seen)


if __name__ == "__main__":
    versions: dict[str, str] = {}
    needed("skilldelta", frozenset(sys.argv[1].split(",")), versions, set())
    versions.pop("skilldelta", None)
    print(_HEAD + "\n".join(f"{name}=={version}" for name, version in sorted(versions.items())))
