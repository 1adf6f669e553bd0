"""A built page loads nothing from another host: no font, script, style or image. Links that a reader clicks may lead out."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

_LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
_LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
_STYLE_URL = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")


def outside_assets(site: Path) -> list[str]:
    """One line for each asset that a page or a style sheet would fetch from another host."""
    found = []
    for page in sorted(site.rglob("*.html")):
        assets = _Assets()
        assets.feed(page.read_text(encoding="utf-8"))
        found += [f"{page.relative_to(site)} loads {url}" for url in assets.outside]
    for style in sorted(site.rglob("*.css")):
        urls = _STYLE_URL.findall(style.read_text(encoding="utf-8"))
        found += [f"{style.relative_to(site)} loads {url}" for url in urls]
    return found


class _Assets(HTMLParser):
    """Collects the addresses with a host that a browser would fetch without a click."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        url = values.get(_LOADING.get(tag, ""))
        if tag == "link" and _LOADING_LINKS & set((values.get("rel") or "").split()):
            url = values.get("href")
        if url and re.match(r"(https?:)?//", url):
            self.outside.append(url)
        self.outside += _STYLE_URL.findall(values.get("style") or "")
