"""How a report was made, and how to make it again: the command, settings, seed, versions and hashes."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from skilldelta.report.html import Markup, element
from skilldelta.support import Support
from skilldelta.version import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "wordllama", "sentence-transformers", "vl-convert-python")


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the last section of a report says."""

    command: str
    settings: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    created: str = ""


def versions() -> dict[str, str]:
    """SkillDelta, Python and the installed packages that numbers depend on."""
    found = {"skilldelta": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def support_digest(support: Support) -> str:
    """SHA-256 of everything in a support that a number depends on: rows, vectors, outcomes, repetitions, tokens."""
    digest = hashlib.sha256()
    for name in ("task_ids", "families", "skills"):
        digest.update("\x1e".join(str(value) for value in getattr(support, name)).encode("utf-8", "surrogatepass"))
        digest.update(b"\x1d")
    for name in ("vectors", "y0", "y1", "r0", "r1", "tokens0", "tokens1"):
        digest.update(getattr(support, name).tobytes())
    return digest.hexdigest()


def provenance_html(found: Provenance) -> Markup:
    """Command, settings, versions and hashes."""
    return element(
        "section",
        element("h2", "How this was made"),
        element("p", "This command makes the report again from the same bank:"),
        element("pre", element("code", found.command), class_="command"),
        _facts("Settings", found.settings),
        _facts("Versions", found.versions),
        _facts("Hashes (SHA-256)", found.hashes),
        id="made",
    )


def _facts(title: str, facts: Mapping[str, str]) -> Markup | None:
    if not facts:
        return None
    entries = [part for name, value in facts.items() for part in (element("dt", name), element("dd", value))]
    return element("div", element("h3", title), element("dl", *entries, class_="facts"))
