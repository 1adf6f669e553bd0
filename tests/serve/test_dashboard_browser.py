"""Every page of the dashboard in a real Chromium on the real server: the demo bank, an empty one, a larger one, a hostile one.

A console error, a request that leaves the origin or a dialog fails the test in which it happens.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.demo.bundled import bundled_batch

from .browser import Visitor, running_browser, running_server, visiting

HOSTILE = "<img src=x onerror=\"window.owned='yes'\"><script>window.owned='yes'</script>{{7*7}}"
PAGES = ("#/", "#/skill/date-arithmetic", "#/try", "#/decisions", "#/reality", "#/evaluation", "#/library", "#/import")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("uvicorn", reason="the server needs the extra serve")
    with running_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def demo(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on the bundled bank."""
    path = tmp_path_factory.mktemp("demo") / "demo.bank"
    with Bank.open(path, create=True) as bank:
        bank.add(bundled_batch())
    with running_server(path) as address:
        yield address


@pytest.fixture
def visitor(browser: Any, demo: str) -> Iterator[Visitor]:
    with visiting(browser, demo) as opened:
        yield opened


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def bank_of(path: Path, rows: list[dict[str, Any]]) -> Path:
    with Bank.open(path, create=True) as bank:
        bank.add(read_source(written(path.with_suffix(".jsonl"), rows)))
    return path


def test_the_navigation_leads_to_every_page(visitor: Visitor) -> None:
    page = visitor.open()
    assert re.match(r"12 skills: \d+ to keep", visitor.heading())
    assert page.locator("table.skills tbody tr").count() == 12
    for name, heading in (
        ("Try it", "Would this skill help"),
        ("Decisions", "What did the gate decide"),
        ("Reality", "Did it happen"),
        ("Evaluation", "What would the gate have bought"),
        ("Import", "Add executions"),
        ("Overview", "12 skills"),
    ):
        page.click(f"#pages >> text={name}")
        page.wait_for_selector(f"h1:has-text('{heading}')")
        assert page.locator("#pages [aria-current=page]").inner_text() == name
        assert page.evaluate("document.activeElement.tagName") == "H1"
    page.click("text=meter-readings")
    page.wait_for_selector("h1:has-text('meter-readings')")
    page.go_back()
    page.wait_for_selector("h1:has-text('12 skills')")


def test_skills_are_sorted_by_gain_and_by_any_other_heading(visitor: Visitor) -> None:
    page = visitor.open()
    names = "table.skills tbody tr th a"
    assert page.locator(names).first.inner_text() == "sku-numbers"
    page.click("table.skills thead >> text=Points")
    assert page.locator(names).first.inner_text() == "meter-readings"
    page.click("table.skills thead >> text=Skill")
    listed = page.locator(names).all_inner_texts()
    assert listed == sorted(listed)
    assert page.locator("thead [aria-sort=ascending]").inner_text() == "Skill"


def test_the_slider_moves_through_every_policy_by_keyboard(visitor: Visitor) -> None:
    page = visitor.open("#/skill/date-arithmetic")
    slider = page.locator("#threshold-slider")
    start = page.locator(".readout").inner_text()
    slider.focus()
    slider.press("ArrowRight")
    assert page.locator(".readout").inner_text() != start
    slider.press("Home")
    assert "0%" in page.locator(".fact:has-text('use rate')").inner_text()
    assert page.locator(".map .chart .mark:not(.skipped)").count() == 0
    slider.press("End")
    assert "100%" in page.locator(".fact:has-text('use rate')").inner_text()
    assert "use rate 100%" in str(slider.get_attribute("aria-valuetext"))
    page.click("button:has-text('Default')")
    assert page.locator(".readout").inner_text() == start
    assert page.locator("section:has-text('Tasks that it harmed') tbody tr").count() == 8


def test_the_map_tells_by_keyboard_and_by_touch_what_a_point_is(browser: Any, demo: str) -> None:
    with visiting(browser, demo) as visitor:
        page = visitor.open("#/skill/date-arithmetic")
        page.locator(".map svg.chart").focus()
        page.keyboard.press("ArrowRight")
        first = page.inner_text(".tip")
        assert "date-arithmetic-" in first
        page.keyboard.press("ArrowRight")
        assert page.inner_text(".tip") != first
        page.keyboard.press("Escape")
        assert page.locator(".tip").is_hidden()
        page.evaluate(
            """() => { const mark = document.querySelector(".map .chart .mark").getBoundingClientRect();
              document.querySelector(".map .chart").dispatchEvent(new PointerEvent("pointerdown", {pointerType: "touch", bubbles: true,
                clientX: mark.x + mark.width / 2 + 15, clientY: mark.y + mark.height / 2 + 15})); }"""
        )
        assert page.locator(".tip").is_visible()
        kinds = page.evaluate(
            "[...new Set([...document.querySelectorAll('.map .chart .mark')].map((one) => one.tagName + one.className.baseVal.split(' ')[1]))].sort()"
        )
        assert kinds == ["circletie", "pathharm", "pathhelp"]  # told apart without color


def test_all_gains_are_saved_as_one_picture(visitor: Visitor) -> None:
    page = visitor.open()
    with page.expect_download() as saved:
        page.click("text=Save as one picture")
    picture = ElementTree.parse(saved.value.path()).getroot()
    words = [element.text for element in picture.iter() if element.tag.endswith("}text")]
    assert {"sku-numbers", "meter-readings", "0", "gain in points of success, with its 95% interval"} <= set(words)
    assert "var(" not in Path(saved.value.path()).read_text()


def test_all_skills_are_ranked_as_one_types(visitor: Visitor) -> None:
    page = visitor.open("#/try?skill=date-arithmetic")
    page.type("#task", "How many cans are in 9 pallets of chickpeas?")
    page.wait_for_selector(".ranking tbody tr:nth-child(8)")
    assert page.locator(".ranking tbody tr").first.inner_text().startswith("warehouse-units")
    page.click(".ranking tbody tr >> nth=0 >> button")
    page.wait_for_selector("h2:has-text('Use the skill')")
    assert page.input_value("#skill") == "warehouse-units"


def test_every_command_works_as_printed(browser: Any, tmp_path: Path) -> None:
    with Bank.open(tmp_path / "it's a.bank", create=True) as bank:
        bank.add(bundled_batch())
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with running_server(tmp_path / "it's a.bank") as address, visiting(browser, address) as visitor:
        commands = []
        for place in ("#/skill/date-arithmetic", "#/reality", "#/decisions"):
            commands += visitor.open(place).locator("pre.command").all_inner_texts()
        assert [command.split()[0] for command in commands] == ["skilldelta", "curl", "curl"]
        if shutil.which("curl") is None:
            commands = commands[:1]
        for command in commands:
            done = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
            assert done.returncode == 0, done.stderr
            assert '"title"' not in done.stdout, done.stdout  # no problem document
        visitor.open("#/reality").wait_for_selector("text=Save 1 outcome as CSV")


def test_any_skill_is_judged_as_in_a_harness(visitor: Visitor) -> None:
    page = visitor.open("#/try")
    page.select_option("#skill", "")
    page.fill("#task", "How many cans are in 9 pallets and 2 crates of chickpeas?")
    page.click("button.primary")
    page.wait_for_selector(".about")
    assert "the task is about warehouse-units" in page.inner_text(".about")
    page.fill("#task", "Write a poem about the sea.")
    page.click("button.primary")
    page.wait_for_selector("text=No skill applies")


def test_a_task_is_tried_and_nothing_is_recorded(visitor: Visitor) -> None:
    page = visitor.open("#/try?skill=warehouse-units")
    assert page.input_value("#skill") == "warehouse-units"
    page.click("text=Decide")
    assert "Type a task first" in page.locator("form [role=alert]").inner_text()
    page.fill("#task", "How many cans are in 3 pallets and 5 crates of beans?")
    page.press("#task", "Control+Enter")
    page.wait_for_selector("h2:has-text('Use the skill')")
    assert page.locator(".result tbody tr").count() == 6
    assert page.locator(".map path.query").count() == 2  # in the legend and on the map
    assert page.locator(".map .tie-line").count() == 6
    assert "Skip, if the threshold were" in page.locator(".result .notes").inner_text()
    page.fill("#threshold", "0.9")
    page.click("text=Decide")
    page.wait_for_selector("h2:has-text('Skip the skill')")
    page.locator(".suggestions button").last.click()
    page.wait_for_selector(".result:not([aria-busy])")
    page.goto(visitor.address + "#/decisions")
    page.wait_for_selector("text=No decision is in the log yet")


def test_the_log_is_filtered_searched_and_opened(browser: Any, tmp_path: Path) -> None:
    with Bank.open(tmp_path / "log.bank", create=True) as bank:
        bank.add(bundled_batch())
    with running_server(tmp_path / "log.bank") as address, visiting(browser, address) as visitor:
        page = visitor.open()
        ask = """([task, skill]) => fetch("v1/decide", {method: "POST", headers: {"Content-Type": "application/json"},
          body: JSON.stringify({task, skill, source: "test"})}).then((answer) => answer.json())"""
        for number in range(55):
            page.evaluate(ask, [f"How many cans are in {number + 2} pallets of beans?", "warehouse-units"])
        page.evaluate(ask, ["Which date is 3 days after 2 May 2021?", "date-arithmetic"])
        visitor.open("#/decisions")
        assert page.locator("table.log tbody tr").count() == 50
        page.click("text=Show older")
        page.wait_for_selector("text=56 decisions shown, no older ones")
        assert page.locator("table.log tbody tr").count() == 56
        page.select_option("select[name=skill]", "date-arithmetic")
        page.wait_for_selector("text=1 decision shown")
        page.fill("input[name=q]", "no such words")
        page.press("input[name=q]", "Enter")
        page.wait_for_selector("text=No decision fits these filters")
        page.click("text=Clear them")
        page.wait_for_selector("text=50 decisions shown")
        page.select_option("select[name=days]", "1")
        page.wait_for_selector('#content[data-ready*="days=1"]')
        assert page.locator("table.log tbody tr").count() == 50
        page.fill("input[name=q]", "in 7 pallets")
        page.press("input[name=q]", "Enter")
        page.wait_for_selector("text=1 decision shown")
        page.click("table.log tbody a")
        page.wait_for_selector("h1:has-text('Decision 6')")
        assert page.locator("section:has-text('The evidence it rested on') tbody tr").count() == 6
        visitor.open()
        assert "56 decisions for this agent" in page.locator("main").inner_text()


def test_reality_shows_outcomes_and_draws_new_ones_by_itself(browser: Any, tmp_path: Path) -> None:
    with Bank.open(tmp_path / "real.bank", create=True) as bank:
        bank.add(bundled_batch())
    with running_server(tmp_path / "real.bank") as address, visiting(browser, address) as visitor:
        page = visitor.open("#/reality")
        page.wait_for_selector("text=No outcome was reported yet")
        report = """async ([task, skill, success]) => {
          const send = (path, body) => fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
          const { decision_id } = await (await send("v1/decide", {text: task, skill, source: "test"})).json();
          await send("v1/outcomes", {decision_id, success}); }"""
        for number in range(30):
            page.evaluate(report, [f"How many cans are in {number + 2} pallets of beans?", "warehouse-units", 0])
        page.wait_for_selector("text=Save 30 outcomes as CSV")
        assert "Predictions and outcomes part" in page.locator("#agreement h2").inner_text()
        assert "parts, worse than predicted" in page.locator("main").inner_text()
        assert page.locator(".outcomes svg.chart circle.observed").count() >= 1
        page.evaluate(report, ["Which date is 3 days after 2 May 2021?", "date-arithmetic", 1])
        page.wait_for_selector("text=Save 31 outcomes as CSV")
        page.select_option("select[name=skill]", "date-arithmetic")
        with page.expect_download() as saved:
            page.click("text=Save 1 outcome as CSV")
        assert "date-arithmetic" in Path(saved.value.path()).read_text()


def test_an_evaluation_runs_as_a_job_and_is_found_again_with_its_report(visitor: Visitor) -> None:
    pytest.importorskip("vl_convert", reason="the report's figures need the extra report")
    page = visitor.open("#/evaluation")
    page.select_option("#resamples", "200")
    page.click("button:has-text('Evaluate')")
    page.wait_for_selector("progress")
    page.wait_for_selector(".verdict h2:has-text('Better than always using the skill')", timeout=120_000)
    assert page.locator("table.policies tbody tr").count() == 11
    assert page.locator("table.policies tr.own th").inner_text() == "SkillDelta"
    visitor.open("#/evaluation")
    page.wait_for_selector(".verdict h2:has-text('Better than always using the skill')")
    page.click("text=Make the full report")
    page.wait_for_selector("text=The report is ready", timeout=120_000)
    with page.expect_popup() as opened:
        page.click("text=Open it in a new tab")
    opened.value.wait_for_selector(".plot svg.marks")
    assert "house-rules" in opened.value.locator("h1").inner_text()


def test_a_job_that_is_cancelled_says_so(visitor: Visitor) -> None:
    page = visitor.open("#/evaluation")
    page.select_option("#resamples", "10000")
    page.click("button:has-text('Evaluate')")
    page.click("text=Cancel")
    page.wait_for_selector("text=Cancelled.")


def test_files_are_imported_step_by_step(browser: Any, tmp_path: Path) -> None:
    rows = [
        {"task_id": f"t{at}", "text": f"task {at}", "family": "f", "skill": "s", "y0": [0], "y1": [1]}
        for at in range(12)
    ]
    nameless, bad = written(tmp_path / "nameless.jsonl", rows), tmp_path / "bad.jsonl"
    bad.write_text('{"task_id": "t1"')
    with running_server(tmp_path / "fresh.bank") as address, visiting(browser, address) as visitor:
        page = visitor.open("#/import")
        page.set_input_files("#files", [nameless, bad])
        page.wait_for_selector(".preview >> text=fill in the fields below")
        assert page.locator("button.primary:has-text('Import 0 files')").is_disabled()
        assert page.locator(".preview").first.locator("tbody tr").count() == 1  # what is there is shown all the same
        page.fill("#given-agent", "my-agent")
        page.click("button.primary:has-text('Import 1 file')")
        page.wait_for_selector("td:has-text('added')")
        assert re.search(r"nameless.jsonl\s+added\s+12\s+24\s+0", page.locator("tbody tr").last.inner_text())
        assert page.locator(".preview").count() == 1  # the damaged file waits
        page.click("text=Start over")
        page.evaluate(
            """(text) => { const data = new DataTransfer(); data.items.add(new File([text], "again.jsonl"));
              document.querySelector(".drop-zone").dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true, bubbles: true})); }""",
            nameless.read_text(),
        )
        page.click("button.primary:has-text('Import 1 file')")
        page.wait_for_selector("th:has-text('again.jsonl')")
        assert re.search(r"again.jsonl\s+added\s+0\s+0\s+24", page.locator("tbody tr").last.inner_text())
        page.click("text=See what it says about your skills")
        page.wait_for_selector("h1:has-text('1 skill: 1 to keep')")


def test_columns_that_no_name_tells_are_mapped_on_the_page(browser: Any, tmp_path: Path) -> None:
    table = tmp_path / "strange.csv"
    table.write_text("nummer,aufgabe,vorher,nachher\n" + "".join(f"n{at},task {at},0,1\n" for at in range(6)))
    with running_server(tmp_path / "fresh.bank") as address, visiting(browser, address) as visitor:
        page = visitor.open("#/import")
        page.set_input_files("#files", [table])
        page.wait_for_selector("text=Which column holds what")
        page.fill("#given-agent", "a")
        page.fill("#given-skill", "s")
        page.click("text=Which column holds what")
        for field, column in (("task_id", "nummer"), ("text", "aufgabe"), ("y0", "vorher"), ("y1", "nachher")):
            page.select_option(f"select[data-field={field}]", column)
        page.wait_for_selector("text=6 pairs of runs")
        page.click("button.primary:has-text('Import 1 file')")
        page.wait_for_selector("td:has-text('added')")
        assert "12" in page.locator("tbody tr").last.inner_text()


def test_a_server_that_needs_a_token_asks_for_it_once(browser: Any, tmp_path: Path) -> None:
    from skilldelta.serve.access_tokens import TokenFile
    from skilldelta.serve.admission import AdmissionRules

    tokens = TokenFile(tmp_path / "tokens.json")
    secret = tokens.create("page", "read", now=time.time())
    rules = AdmissionRules(tokens=tokens)
    with running_server(tmp_path / "guarded.bank", rules) as address, visiting(browser, address) as visitor:
        page = visitor.open()
        assert visitor.heading() == "This server asks for a token"
        page.fill("#token", "wrong")
        page.press("#token", "Enter")
        page.wait_for_selector("text=did not accept the token")
        page.fill("#token", secret)
        page.press("#token", "Enter")
        page.wait_for_selector("h1:has-text('This bank is empty')")
        visitor.open("#/decisions")
        assert "No decision is in the log yet" in page.locator("main").inner_text()
        visitor.troubles[:] = [said for said in visitor.troubles if "status of 401" not in said]


def test_an_empty_bank_says_on_every_page_what_to_do_first(browser: Any, tmp_path: Path) -> None:
    with running_server(tmp_path / "empty.bank") as address, visiting(browser, address) as visitor:
        for place in ("#/", "#/skill/any", "#/try", "#/evaluation"):
            page = visitor.open(place)
            assert visitor.heading() == "This bank is empty"
            assert page.locator(".steps li").count() == 3
        visitor.open("#/decisions")
        assert "No decision is in the log yet" in page.locator("main").inner_text()
        visitor.open("#/import")
        assert "0 executions of 0 tasks" in page.locator("main").inner_text()


def test_a_larger_bank_stays_quick(browser: Any, tmp_path: Path) -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
    rows = [
        {
            "task_id": f"t{number}",
            "text": f"{words[number % 10]} {words[number // 10 % 10]} number {number} of {words[number // 100 % 10]}",
            "family": words[number % 7],
            "skill": words[number % 2],
            "agent": "a",
            "y0": [min(1, number * 7 % 3)],
            "y1": [min(1, number * 5 % 4)],
        }
        for number in range(2_000)
    ]
    bank = bank_of(tmp_path / "large.bank", rows)
    with running_server(bank) as address, visiting(browser, address) as visitor:
        page = visitor.open()  # reads and scores the bank
        started = time.monotonic()
        visitor.open("#/skill/alpha")
        assert page.locator(".map svg.chart .mark").count() == 800
        assert "800 tasks of 1,000" in page.locator(".map figcaption").inner_text()
        visitor.open("#/try?skill=alpha")
        page.fill("#task", "alpha beta number 77 of gamma")
        page.click("text=Decide")
        page.wait_for_selector(".result .verdict")
        assert time.monotonic() - started < 60  # a second or two on an idle machine


def test_hostile_names_and_texts_stay_text(browser: Any, tmp_path: Path) -> None:
    rows = [
        {
            "task_id": f"{HOSTILE}{number}",
            "text": f"{HOSTILE} {number}",
            "family": HOSTILE,
            "skill": HOSTILE,
            "agent": HOSTILE,
            "suite": "a/b?c#d",
            "y0": [1, 1],
            "y1": [number % 2, 0],
        }
        for number in range(12)
    ]
    bank = bank_of(tmp_path / "hostile.bank", rows)
    with running_server(bank) as address, visiting(browser, address) as visitor:
        page = visitor.open()
        assert page.locator("table.skills tbody a").inner_text() == HOSTILE
        page.click("table.skills tbody a")
        page.wait_for_selector(".map svg.chart")
        assert visitor.heading() == HOSTILE
        assert page.locator("section:has-text('Tasks that it harmed') tbody tr").count() == 12
        page.locator(".map svg.chart").hover()
        page.click("text=Try a task with this skill")
        page.wait_for_selector("h1:has-text('Would this skill help')")
        page.fill("#task", HOSTILE)
        page.click("text=Decide")
        page.wait_for_selector(".result .verdict")
        page.evaluate(
            """(text) => fetch("v1/decide", {method: "POST", headers: {"Content-Type": "application/json"},
              body: JSON.stringify({task: text, skill: text, source: text.slice(0, 90)})})""",
            HOSTILE,
        )
        visitor.open("#/decisions")
        page.click("table.log tbody a")
        page.wait_for_selector("h1:has-text('Decision 1')")
        assert HOSTILE in page.locator("main").inner_text()
        assert page.locator("main img, main script").count() == 0
        assert page.evaluate("window.owned") is None


def test_a_script_that_gets_into_the_page_does_not_run(browser: Any, demo: str) -> None:
    with visiting(browser, demo) as visitor:
        page = visitor.open()
        page.evaluate(
            """() => { const script = document.createElement("script"); script.append("window.owned = 'yes'");
              try { document.body.append(script); } catch { /* refused as it should be */ } }"""
        )
        assert page.evaluate("window.owned") is None
        assert any("Content Security Policy" in said or "TrustedScript" in said for said in visitor.troubles)
        visitor.troubles.clear()


def test_everything_can_be_reached_by_keyboard_and_focus_is_seen(visitor: Visitor) -> None:
    page = visitor.open()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.evaluate("document.querySelector('.brand').focus()")
    seen = []
    for _ in range(8):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert seen[:7] == ["Overview", "Try it", "Decisions", "Reality", "Evaluation", "Library", "Import"]
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    visitor.open()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_is_wider_than_a_phone(browser: Any, demo: str, theme: str) -> None:
    with visiting(browser, demo, width=390, theme=theme) as visitor:
        for place in PAGES:
            visitor.open(place)
            assert visitor.overflow() <= 0, place
        paper = visitor.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 25, 28)"}[theme]


def test_a_page_that_does_not_exist_and_a_server_that_is_gone_are_said(browser: Any, tmp_path: Path) -> None:
    with running_server(tmp_path / "gone.bank") as address, visiting(browser, address) as visitor:
        page = visitor.open("#/nowhere")
        assert visitor.heading() == "No such page"
        for place, words in (
            ("#/decision/abc", "there is none called abc"),
            ("#/decision/9", "The log has no decision 9"),
        ):
            visitor.open(place)
            assert words in visitor.heading()
        visitor.troubles[:] = [said for said in visitor.troubles if "status of 404" not in said]
        page.route("**/v1/**", lambda route: route.abort())
        page.click("#pages >> text=Decisions")
        page.wait_for_selector("text=The server does not answer")
        visitor.troubles[:] = [said for said in visitor.troubles if "net::ERR_FAILED" not in said]
