"""The pages of the site, put together in one folder: docs/, the files of the root, and what is generated.

A region between `<!-- generated: NAME -->` and `<!-- end -->` is replaced by what the generator of that name writes. On a
code host the region's own text is shown instead.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from docsite.command_reference import command_reference
from docsite.import_layers import import_layers
from docsite.python_reference import python_reference

ROOT_PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
GENERATORS: Mapping[str, Callable[[], str]] = {
    "commands": command_reference,
    "python": python_reference,
    "layers": import_layers,
}

_REGION = re.compile(r"<!-- generated: (\w+) -->\n.*?<!-- end -->\n", re.DOTALL)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def stage(root: Path, pages: Path) -> None:
    """Write every page into a fresh folder."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(root / "docs", pages)
    for page in sorted(pages.rglob("*.md")):
        here = PurePosixPath("docs", page.relative_to(pages).as_posix())
        page.write_text(_staged(page.read_text(encoding="utf-8"), here), encoding="utf-8")
    for source, name in ROOT_PAGES.items():
        text = (root / source).read_text(encoding="utf-8")
        (pages / name).write_text(_staged(text, PurePosixPath(source)), encoding="utf-8")


def _staged(text: str, here: PurePosixPath) -> str:
    """A page with its regions filled in and its links as they are on the site; `here` is its path in the repository."""
    text = _REGION.sub(lambda match: GENERATORS[match[1]](), text)
    return _LINK.sub(lambda match: _link(match, here), text)


def _link(match: re.Match[str], here: PurePosixPath) -> str:
    """The link between two pages of the site. A link to a file that is not on the site keeps its words only."""
    image, words, target, anchor = match[1], match[2], match[3], match[4] or ""
    if not target or ":" in target:
        return match[0]
    place = os.path.normpath(here.parent / target).replace(os.sep, "/")
    there = _place_on_site(place)
    if there is None:
        return words
    start = _place_on_site(here.as_posix()) or ""
    relative = os.path.relpath(there, os.path.dirname(start) or ".").replace(os.sep, "/")
    return f"{image}[{words}]({relative}{anchor})"


def _place_on_site(place: str) -> str | None:
    if place.startswith("docs/"):
        return place.removeprefix("docs/")
    return ROOT_PAGES.get(place)
