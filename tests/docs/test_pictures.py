"""Every picture that a page shows is there, in light and dark, and one command makes them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.pages import PAGES, ROOT, read
from docsite.staging import stage

_PICTURE = re.compile(r"<picture>.*?</picture>", re.DOTALL)
_FILE = re.compile(r'\b(?:src|srcset)="([^"]+)"')
_FOLDER = ROOT / "docs" / "pictures"


def _shown(text: str) -> list[str]:
    return [name for block in _PICTURE.findall(text) for name in _FILE.findall(block)]


def _size(path: Path) -> tuple[int, int]:
    """Of a PNG, from its header."""
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n"), path
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


def test_every_picture_that_a_page_shows_is_there_in_light_and_dark() -> None:
    shown = set()
    for page in PAGES:
        for block in _PICTURE.findall(read(page)):
            dark, light = _FILE.findall(block)
            assert dark.replace("-dark.", "-light.") == light, page
            assert re.search(r'alt="[^"]{20,}"', block), page
            shown |= {((ROOT / page).parent / name).resolve() for name in (dark, light)}
    assert len(shown) == 6
    assert shown == set(_FOLDER.glob("*.png"))
    for path in shown:
        assert path.stat().st_size < 200 << 10, path
        assert min(_size(path)) > 300, path


def test_one_command_makes_all_pictures_that_there_are() -> None:
    pytest.importorskip("playwright", reason="pictures are taken with playwright (extra browser)")
    from docsite.pictures import FOLDER, PICTURES, SCHEMES, main

    assert callable(main)
    assert FOLDER == _FOLDER
    assert {path.name for path in FOLDER.glob("*.png")} == {
        f"{picture}-{scheme}.png" for picture in PICTURES for scheme in SCHEMES
    }
    assert re.search(r"^pictures:.*\n(?:\t.*\n)*\t.*docsite\.pictures$", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_pictures_are_found_on_the_site_too(tmp_path: Path) -> None:
    stage(ROOT, tmp_path / "site")
    for page in ("index.md", "how-to/dashboard.md", "how-to/report.md"):
        path = tmp_path / "site" / page
        names = _shown(path.read_text())
        assert names, page
        assert all((path.parent / name).is_file() for name in names), page
