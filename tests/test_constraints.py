"""constraints.txt holds an exact version that fits for everything that `make test` and `make docs` install, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).resolve().parents[1]


def pins() -> dict[str, str]:
    lines = (_ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[a-z0-9.]+", row) for row in rows), "only name==version: no paths, no hosts"
    return dict(row.split("==") for row in rows)


def test_every_direct_dependency_has_a_version_that_fits() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.search(r"^EXTRAS \?= (.*)$", (_ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert extras is not None
    lines = project["dependencies"] + [
        one for extra in (*extras[1].split(","), "docs") for one in project["optional-dependencies"][extra]
    ]
    pinned = pins()
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        assert name in pinned, f"{name} is not in constraints.txt; run `make constraints`"
        assert pinned[name] in requirement.specifier, f"{name}=={pinned[name]} does not fit; run `make constraints`"


def test_torch_is_no_part_of_it() -> None:
    assert not {"torch", "sentence-transformers"} & set(pins())
