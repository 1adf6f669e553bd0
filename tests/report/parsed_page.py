"""A report read back with the standard library's parser, for tests that need no browser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

_VOID = {"meta", "br", "hr", "input", "col"}


@dataclass
class Element:
    """One element with its attributes, its children and the text directly in it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in the element, in order of its parts."""
        return "".join(self.pieces)

    def all(self, tag: str | None = None, **attributes: str) -> list[Element]:
        """Every element below this one with the tag and attributes."""
        found = []
        for child in self.children:
            wanted = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
            if tag in (None, child.tag) and all(child.attributes.get(k) == v for k, v in wanted.items()):
                found.append(child)
            found += child.all(tag, **attributes)
        return found


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("document", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(made)
        if tag not in _VOID:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.pieces.append(data)


def parse(path: Path) -> Element:
    """The document as a tree; unbalanced tags fail."""
    tree = _Tree()
    tree.feed(path.read_text(encoding="utf-8"))
    tree.close()
    assert tree.open == [tree.root]
    return tree.root


def data_of(page: Element) -> Any:
    """The JSON that the page's script reads."""
    return json.loads(page.all("script", id="report-data")[0].text)
