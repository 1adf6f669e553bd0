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
# A picture in two color schemes is HTML, because Markdown has no words for it.
_PICTURE = re.compile(r'\b(src|srcset)="([^":#]+)"')
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
    text = _PICTURE.sub(lambda match: f'{match[1]}="{_relative_on_site(match[2], here) or match[2]}"', text)
    return _LINK.sub(lambda match: _link(match, here), text)


def _link(match: re.Match[str], here: PurePosixPath) -> str:
    """The link between two pages of the site. A link to a file that is not on the site keeps its words only."""
    image, words, target, anchor = match[1], match[2], match[3], match[4] or ""
    if not target or ":" in target:
        return match[0]
    relative = _relative_on_site(target, here)
    return words if relative is None else f"{image}[{words}]({relative}{anchor})"


def _relative_on_site(target: str, here: PurePosixPath) -> str | None:
    """The way from a page to a file on the site; None where the site does not have it."""
    there = _place_on_site(os.path.normpath(here.parent / target).replace(os.sep, "/"))
    if there is None:
        return None
    start = _place_on_site(here.as_posix()) or ""
    return os.path.relpath(there, os.path.dirname(start) or ".").replace(os.sep, "/")


def _place_on_site(place: str) -> str | None:
    if place.startswith("docs/"):
        return place.removeprefix("docs/")
    return ROOT_PAGES.get(place)
