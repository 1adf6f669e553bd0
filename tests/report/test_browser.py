"""The report in a real browser: plots are drawn, tables sort, hostile texts do not run, nothing is fetched.

`test_write.py` checks the same file without a browser, so these tests add to it and replace nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from skilldelta.evaluation.results import PanelResult
from skilldelta.report import PanelReport, write_report
from skilldelta.report.gathering import scaling_curves

from .toy_panel import HOSTILE, panel_of, support_of

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium on this machine; test_write.py checks the file statically"
)


def dom_of(path: Path, profile: Path, *, width: int = 1280) -> str:
    """The page's HTML after its scripts have run."""
    assert BROWSER is not None
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += [
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={profile}",
        f"--window-size={width},900",
    ]
    command = [BROWSER, *flags, "--virtual-time-budget=20000", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout


def full_report(panel: PanelResult) -> PanelReport:
    return PanelReport(panel, scaling=scaling_curves(panel.support, np.random.default_rng(0)))


def test_every_plot_is_drawn_and_no_foreign_script_runs(tmp_path: Path) -> None:
    """Task texts that carry scripts, and a script put into the file afterwards: the security policy refuses both."""
    hostile = panel_of(support_of(agent="<b>agent</b>", text=HOSTILE), resamples=50)
    path = write_report([full_report(hostile)], tmp_path / "r.html", command=HOSTILE)
    path.write_text(_with_script(path.read_text(encoding="utf-8"), "document.title='owned'"), encoding="utf-8")
    dom = dom_of(path, tmp_path / "profile")
    assert 'data-ready="yes"' in dom
    assert re.findall(r'data-plot="[^"]+"[^>]*data-drawn="(\w+)"', dom) == ["done"] * 8
    assert len(re.findall(r'<svg[^>]* class="marks"', dom)) == 8
    assert "<title>&lt;b&gt;agent&lt;/b&gt; on toy</title>" in dom


def test_panels_switch_and_tables_sort(panel: PanelResult, tmp_path: Path) -> None:
    other = panel_of(support_of(agent="other-agent"), resamples=0)
    path = write_report([full_report(panel), full_report(other)], tmp_path / "r.html", command="")
    path.write_text(_with_visitor(path.read_text(encoding="utf-8")), encoding="utf-8")
    dom = dom_of(path, tmp_path / "profile", width=390)
    by_success = _told(dom, "first-by-success")
    assert set(by_success.split(",")[:3]) == {"oracle", "paper's rule", "family mean"}
    assert by_success.endswith("always off")
    assert _told(dom, "second-click") == "always off"
    assert _told(dom, "unknown-last") == "yes"
    assert _told(dom, "families") == "sums,names"
    assert _told(dom, "panels") == "hidden,shown"
    assert _told(dom, "second-panel-drawn") == "yes"
    assert _told(dom, "theme") == "dark"
    assert _told(dom, "wider-than-screen") == "no"
    assert _told(dom, "says-that-it-scrolls") == "yes"


VISITOR = """
(async () => {
  const wait = (test) => new Promise((done) => { const look = () => (test() ? done() : setTimeout(look, 50)); look(); });
  await wait(() => document.documentElement.dataset.ready);
  const tell = (name, value) => { document.body.dataset[name.replace(/-./g, (m) => m[1].toUpperCase())] = value; };
  const table = document.querySelector("table.policies");
  const column = (name) => [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === name);
  const names = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.toLowerCase());
  const press = (name) => table.tHead.rows[0].cells[column(name)].querySelector("button").click();
  press("Success"); tell("first-by-success", names().join(","));
  press("Success"); tell("second-click", names()[0]);
  press("AUROC");
  const values = [...table.tBodies[0].rows].map((row) => row.cells[column("AUROC")].dataset.value);
  const known = values.filter((value) => value !== undefined).length;
  tell("unknown-last", known > 0 && values.slice(known).every((value) => value === undefined) ? "yes" : "no");
  document.querySelector(".family-head button[data-sort=gain]").click();
  tell("families", [...document.querySelectorAll("#panel-1 details.family")].map((one) => one.dataset.label).join(","));
  tell("wider-than-screen", document.documentElement.scrollWidth > innerWidth ? "yes" : "no");
  const box = table.closest(".scroll");
  const hint = getComputedStyle(box, "::before").content;
  tell("says-that-it-scrolls", box.scrollWidth > box.clientWidth && hint.includes("Scroll sideways") ? "yes" : "no");
  const select = document.getElementById("panel-select");
  select.value = "panel-2"; select.dispatchEvent(new Event("change"));
  await wait(() => [...document.querySelectorAll("#panel-2 [data-plot]")].every((one) => one.dataset.drawn === "done"));
  tell("panels", [...document.querySelectorAll(".panel")].map((one) => (one.hidden ? "hidden" : "shown")).join(","));
  tell("second-panel-drawn", document.querySelector("#panel-2 svg") ? "yes" : "no");
  document.getElementById("theme").click();
  tell("theme", document.documentElement.dataset.theme);
})();
"""


def _with_visitor(page: str) -> str:
    """The page with a script that uses it as a person would; the security policy must go, or it would refuse the script."""
    without_policy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    return _with_script(without_policy, VISITOR)


def _with_script(page: str, script: str) -> str:
    """The page with a script at its end; the plotting library contains the text `</body>` too, so the last one counts."""
    before, _, after = page.rpartition("</body>")
    return f"{before}<script>{script}</script></body>{after}"


def _told(dom: str, name: str) -> str:
    found = re.search(rf'<body[^>]* data-{name}="([^"]*)"', dom)
    return found.group(1) if found else "(nothing)"
