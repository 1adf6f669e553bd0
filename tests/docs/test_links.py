"""Every relative link of every page leads to a file, and every anchor to a heading, on a code host and on the site."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs.pages import PAGES, ROOT, read

_MARKDOWN = MarkdownIt().enable("table")


def tokens(page: str) -> list[Token]:
    """The inline tokens of a page, in order."""
    return [inner for token in _MARKDOWN.parse(read(page)) for inner in [token, *(token.children or [])]]


def links(page: str) -> list[str]:
    found = [str(token.attrGet("href") or token.attrGet("src") or "") for token in tokens(page)]
    return [link for link in found if link and not re.match(r"\w+:", link)]


@cache
def headings(page: str) -> list[str]:
    """The headings of a page as texts, without their marks."""
    parsed = _MARKDOWN.parse(read(page))
    inline = [parsed[i + 1] for i, token in enumerate(parsed) if token.type == "heading_open"]
    return ["".join(child.content for child in token.children or []) for token in inline]


def anchor_on_host(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchor_on_site(heading: str) -> str:
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_leads_somewhere(page: str) -> None:
    folder = (ROOT / page).parent
    for link in links(page):
        target, _, anchor = link.partition("#")
        there = (folder / target).resolve() if target else ROOT / page
        assert there.exists(), f"{page}: {target} does not exist"
        assert there.is_relative_to(ROOT), f"{page}: {target} leads out of the repository"
        if anchor:
            titles = headings(there.relative_to(ROOT).as_posix())
            for anchors in (map(anchor_on_host, titles), map(anchor_on_site, titles)):
                assert anchor in anchors, f"{page}: {link} has no heading"


def test_a_link_in_a_table_and_an_image_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "| a |\n|---|\n| [x](one.md#here) |\n\n![y](two.svg) [z](https://example.com) `[no](link.md)`\n"
    monkeypatch.setitem(globals(), "read", lambda page: text)
    assert links("page") == ["one.md#here", "two.svg"]


def test_every_page_is_reached_from_the_readme() -> None:
    seen, waiting = {"README.md"}, ["README.md"]
    while waiting:
        page = waiting.pop()
        for link in links(page):
            target = link.partition("#")[0]
            there = ((ROOT / page).parent / target).resolve().relative_to(ROOT).as_posix() if target else page
            if there in PAGES and there not in seen:
                seen.add(there)
                waiting.append(there)
    assert seen == set(PAGES)
