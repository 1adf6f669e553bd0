"""A few tries of every attack, and the table of all of them in docs/threat-model.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from attacks.attack import ATTACKS, tally
from attacks.surfaces import load_attacks
from attacks.table import PAGE, as_markdown, write_table

load_attacks()


@pytest.mark.parametrize("name", [name for name, chosen in ATTACKS.items() if chosen.few])
def test_a_few_tries_are_survived(name: str, tmp_path: Path) -> None:
    result = tally(ATTACKS[name], tmp_path, ATTACKS[name].few)
    if result.skipped:
        pytest.skip(result.skipped)
    assert result.failures == []
    assert result.tries > 0


def test_every_attack_has_its_row_in_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [chosen.title for chosen in ATTACKS.values() if f"| {chosen.title} |" not in page] == []


def test_the_table_counts_what_was_survived_and_says_what_was_not_run(tmp_path: Path) -> None:
    from attacks.attack import Attack, Tally, anywhere

    def run(folder: Path, tries: int):  # type: ignore[no-untyped-def]
        yield from ["", "it broke", ""]
        return "a figure"

    good, absent = (Attack("HTTP", title, run, 3, 0, False, anywhere) for title in ("good", "absent"))
    results = {"good": (good, tally(good, tmp_path, 3)), "absent": (absent, Tally(skipped="no bubblewrap"))}
    assert as_markdown(results).splitlines()[2:] == [
        "| HTTP | good | 3 | 2 | a figure |",
        "| HTTP | absent | 0 | 0 | not run on this machine: no bubblewrap |",
        "| **all** | 2 attacks | **3** | **2** | |",
    ]
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- attacks -->\nold\n<!-- end of attacks -->\nafter\n")
    write_table(results, page)
    assert page.read_text().startswith("before\n<!-- attacks -->\n\n| surface |")
    assert page.read_text().endswith("|\n\n<!-- end of attacks -->\nafter\n")
