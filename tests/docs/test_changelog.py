"""The changelog is one list per heading: merged branches must not leave a heading or an entry behind twice."""

import re
from collections import Counter
from pathlib import Path

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
RELEASES = re.split(r"^## ", CHANGELOG.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def test_a_release_has_each_heading_once() -> None:
    for release in RELEASES:
        headings = Counter(re.findall(r"^### .*", release, flags=re.MULTILINE))
        assert [heading for heading, times in headings.items() if times > 1] == []


def test_no_entry_stands_twice() -> None:
    entries = Counter(re.findall(r"^- .*", "".join(RELEASES), flags=re.MULTILINE))
    assert len(entries) > 100
    assert [entry for entry, times in entries.items() if times > 1] == []
