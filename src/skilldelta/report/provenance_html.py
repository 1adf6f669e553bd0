"""The last section: how the report was made, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping

from skilldelta.report.html import Markup, element
from skilldelta.report.provenance import Provenance


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
