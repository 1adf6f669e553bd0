"""`make pictures`: what the README and the pages show of the product, taken anew from the demo bank, in light and dark.

The bank, the server, the report and the decision are those that a reader gets from the same commands. A headless Chromium
takes the pictures, through playwright.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from playwright.sync_api import sync_playwright

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PICTURES = ("dashboard", "decision", "report")

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
_SIZE = {"width": 1120, "height": 700}
_QUESTION = "How many cans are in 3 pallets and 5 crates of beans?"
_ASK = ["predict", "--bank", "demo.bank", "--skill", "warehouse-units", _QUESTION]
_COLUMNS = 108
_PATIENCE = 120_000  # milliseconds: the first overview of a bank learns from it
# Of the terminal: ground, words, and what is typed.
_COLORS = {"light": ("#ffffff", "#1f2328", "#0550ae"), "dark": ("#0d1117", "#e6edf3", "#79c0ff")}


class _Scene(NamedTuple):
    address: str
    wait_for: str
    """A selector that is there when the picture can be taken."""


def main() -> None:
    """Write every picture into docs/pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(folder, "demo", "--bank", "demo.bank", "--no-report")
        _run(folder, "report", "--bank", "demo.bank", "--output", "report.html", "--resamples", "2000")
        answer = _run(folder, *_ASK)
        for scheme in SCHEMES:
            (folder / f"decision-{scheme}.html").write_text(_terminal(answer, scheme), encoding="utf-8")
        with _server(folder) as address:
            scenes = {
                "dashboard": _Scene(address, "main h1, main h2"),
                "report": _Scene((folder / "report.html").as_uri(), "h1"),
            }
            _take(folder, scenes)
    for path in sorted(FOLDER.glob("*.png")):
        sys.stdout.write(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KiB\n")


def _take(folder: Path, scenes: dict[str, _Scene]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        for scheme in SCHEMES:
            context = browser.new_context(viewport=_SIZE, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            for picture in PICTURES:
                decision = _Scene((folder / f"decision-{scheme}.html").as_uri(), "pre")
                _shoot(context, scenes.get(picture, decision), FOLDER / f"{picture}-{scheme}.png")
            context.close()
        browser.close()


def _shoot(context: Any, scene: _Scene, path: Path) -> None:
    page = context.new_page()
    page.goto(scene.address)
    page.locator(scene.wait_for).first.wait_for(timeout=_PATIENCE)
    page.wait_for_function("!document.querySelector('[aria-busy=true], .loading')", timeout=_PATIENCE)
    page.wait_for_load_state("networkidle", timeout=_PATIENCE)
    if scene.wait_for == "pre":
        page.locator("pre").screenshot(path=path)
    else:
        page.screenshot(path=path)
    page.close()


def _run(folder: Path, *words: str) -> str:
    """What a command prints, as a reader would type it in the folder."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("SKILLDELTA_")}
    environment = {**variables, "COLUMNS": str(_COLUMNS), "PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "skilldelta", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, encoding="utf-8"
    ).stdout


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    """`skilldelta serve` on a free port of this machine; its address."""
    command = [sys.executable, "-m", "skilldelta", "serve", "--bank", "demo.bank", "--port", "0"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        lines = iter(server.stdout.readline, "")
        yield next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:\d+/", line)))
    finally:
        server.terminate()
        server.wait()


def _terminal(answer: str, scheme: Scheme) -> str:
    """A terminal with the command and its answer, as a page."""
    ground, words, typed = _COLORS[scheme]
    command = f'$ skilldelta {" ".join(_ASK[:-1])} \\\n    "{_QUESTION}"'
    headline, _, rest = answer.partition("\n")
    return (
        f"<!doctype html><meta charset=utf-8><style>body{{margin:0;background:{ground}}}"
        f"pre{{margin:0;padding:18px 22px;display:inline-block;font:13.5px/1.4 'DejaVu Sans Mono',monospace;"
        f"background:{ground};color:{words}}}i{{font-style:normal;color:{typed}}}</style>"
        f"<pre><i>{html.escape(command)}</i>\n\n<b>{html.escape(headline)}</b>\n{html.escape(rest.rstrip())}\n</pre>"
    )


if __name__ == "__main__":
    main()
