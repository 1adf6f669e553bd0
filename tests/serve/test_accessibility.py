"""axe finds nothing on the dashboard, in light and dark. The checker comes from the package registry, for this test only."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from skilldelta.bank import Bank
from skilldelta.demo.bundled import bundled_batch

from .browser import running_browser, running_server

PLACES = ("#/", "#/skill/date-arithmetic", "#/try", "#/decisions", "#/reality", "#/evaluation", "#/library", "#/import")
FOUND = "; axe.run(document).then((one) => one.violations.map((found) => `${found.id}: ${found.nodes[0].html.slice(0, 200)}`))"


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        pytest.skip("axe needs npm, which is not installed")
    command = ["npm", "pack", "axe-core@4.14.0", "--silent"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        pytest.skip("the package registry cannot be reached, so there is no axe")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


@pytest.mark.slow
def test_axe_finds_nothing_on_any_page(axe: str, tmp_path: Path) -> None:
    with Bank.open(tmp_path / "demo.bank", create=True) as bank:
        bank.add(bundled_batch())
    with running_browser() as browser, running_server(tmp_path / "demo.bank") as address:
        for theme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=theme, bypass_csp=True)
            context.set_default_timeout(90_000)
            page = context.new_page()
            for place in PLACES:
                page.goto("about:blank")
                page.goto(address + place)
                page.wait_for_selector(f'#content[data-ready="{place}"]')
                assert page.evaluate(axe + FOUND) == [], (theme, place)
            context.close()
