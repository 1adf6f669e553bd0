"""The table of attacks in docs/threat-model.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from attacks.attack import Attack, Tally

PAGE = Path(__file__).resolve().parents[2] / "docs" / "threat-model.md"
_REGION = re.compile(r"(<!-- attacks -->\n).*?(<!-- end of attacks -->\n)", re.DOTALL)


def as_markdown(results: Mapping[str, tuple[Attack, Tally]]) -> str:
    """One row per attack, by surface, and the sums."""
    lines = ["| surface | attack | tries | survived | measured |", "|---|---|---|---|---|"]
    tries = survived = 0
    for chosen, result in sorted(results.values(), key=lambda row: row[0].surface.lower()):
        tries, survived = tries + result.tries, survived + result.survived
        figure = f"not run on this machine: {result.skipped}" if result.skipped else result.figure
        lines.append(
            f"| {chosen.surface} | {chosen.title} | {result.tries:,} | {result.survived:,} | {figure.replace('|', '/')} |"
        )
    lines.append(f"| **all** | {len(results)} attacks | **{tries:,}** | **{survived:,}** | |")
    return "\n".join(lines) + "\n"


def write_table(results: Mapping[str, tuple[Attack, Tally]], page: Path = PAGE) -> None:
    """Put the table in its place on the page."""
    text, count = _REGION.subn(
        lambda match: match[1] + "\n" + as_markdown(results) + "\n" + match[2], page.read_text(encoding="utf-8")
    )
    assert count == 1, f"{page} has no place for the table"
    page.write_text(text, encoding="utf-8")
