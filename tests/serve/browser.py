"""A real Chromium on the real server: pages that note every console error and every request that leaves the origin."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skilldelta.gate import Gate

if TYPE_CHECKING:
    from skilldelta.serve.admission import AdmissionRules
    from skilldelta.serve.http_library import LibraryReader

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def running_browser() -> Iterator[Any]:
    """One browser for many pages; skips where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright (extra browser)")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine; the pages' files are checked without it")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def running_server(
    bank: Path,
    rules: AdmissionRules | None = None,
    gate: Gate | None = None,
    libraries: LibraryReader | None = None,
) -> Iterator[str]:
    """The server on a free port of this machine, as `skilldelta serve` runs it; its address."""
    import uvicorn

    from skilldelta.serve.gate_service import GateService, GateSettings
    from skilldelta.serve.http_api import gate_app

    service = GateService.open(bank, GateSettings(gate=gate or Gate(), keep="whole"), create=True)
    server = uvicorn.Server(
        uvicorn.Config(gate_app(service, rules, libraries=libraries), port=0, log_level="warning", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join(20)


@dataclass
class Visitor:
    """Somebody with a page open; what went wrong on it is noted."""

    page: Any
    address: str
    troubles: list[str] = field(default_factory=list)

    def open(self, place: str = "#/") -> Any:
        """Load a page anew and wait until it is drawn."""
        self.page.goto("about:blank")
        self.page.goto(self.address + place)
        return self.settled(place)

    def settled(self, place: str) -> Any:
        """The page after it was drawn for a place."""
        self.page.wait_for_selector(f'#content[data-ready="{place}"]')
        return self.page

    def heading(self) -> str:
        """The page's title."""
        return str(self.page.locator("h1").inner_text())

    def overflow(self) -> int:
        """Pixels by which the page is wider than the screen."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@contextmanager
def visiting(browser: Any, address: str, *, width: int = 1280, theme: str = "light") -> Iterator[Visitor]:
    """A page of its own; at the end nothing may have gone wrong on it."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    context.set_default_timeout(60_000)  # milliseconds; a busy machine is slow, not wrong
    page = context.new_page()
    visitor = Visitor(page, address)
    page.on("console", lambda said: visitor.troubles.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: visitor.troubles.append(str(error)))
    page.on("dialog", lambda dialog: visitor.troubles.append(f"dialog {dialog.message}"))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((address, "blob:")) else visitor.troubles.append(asked.url),
    )
    try:
        yield visitor
    finally:
        context.close()
    assert visitor.troubles == []
