"""The file: self-contained, inert, complete. No browser needed."""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

import pytest

from skilldelta.errors import InputError, MissingExtraError
from skilldelta.evaluation.results import PanelResult
from skilldelta.report import PanelReport, write_images, write_report

from .parsed_page import Element, data_of, parse
from .toy_panel import HOSTILE, panel_of, support_of

LOADING = ("src", "href", "srcset", "data", "action", "poster", "background")


@pytest.fixture(scope="module")
def page(panel: PanelResult, tmp_path_factory: pytest.TempPathFactory) -> Element:
    """The toy panel's report, read back."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    settings = {"neighbors (k)": "6", "seed": "0"}
    return parse(write_report([panel], path, command="skilldelta report --bank toy.bank", settings=settings))


def test_nothing_is_loaded_from_anywhere(page: Element) -> None:
    for element in page.all():
        assert element.tag not in ("link", "iframe", "object", "embed", "base", "img"), element.tag
        for name in LOADING:
            assert element.attributes.get(name, "#").startswith("#"), (element.tag, name, element.attributes[name])
    style = page.all("style")[0].text
    assert "url(" not in style
    assert "@import" not in style


def test_the_security_policy_allows_the_pages_own_scripts_and_nothing_else(page: Element) -> None:
    policy = page.all("meta", http_equiv="Content-Security-Policy")[0].attributes["content"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    script_rule = policy.split(";")[1]
    assert "unsafe-inline" not in script_rule
    scripts = [script for script in page.all("script") if "type" not in script.attributes]
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in script_rule


def test_every_plot_has_its_specification_and_every_figure_its_words(page: Element) -> None:
    plots = data_of(page)["plots"]
    places = [element.attributes["data-plot"] for element in page.all() if "data-plot" in element.attributes]
    assert sorted(places) == sorted(plots)
    assert len(plots) >= 5
    for figure in page.all("figure"):
        assert len(figure.all("figcaption")[0].text) > 60


def test_the_page_shows_the_panels_numbers(page: Element) -> None:
    policies = page.all("table", class_="policies")[0]
    own = policies.all("tr", class_="own")[0]
    cells = own.all("td")
    assert cells[0].text == "Paper's rule"
    assert [float(cell.attributes["data-value"]) for cell in cells[1:4]] == [1.0, 0.25, 0.5]
    summary = page.all("div", class_="verdict open")[0].text
    assert "used the skill on 50% of tasks and reached 100.0%, 25.0 points above always using it (75.0%)" in summary


def test_the_page_says_how_to_make_it_again(page: Element) -> None:
    made = page.all("section", id="made")[0].text
    for expected in ("skilldelta report --bank toy.bank", "neighbors (k)6", "numpy", "support of toy-agent on toy"):
        assert expected in made


def test_hostile_texts_and_names_stay_text(tmp_path: Path) -> None:
    support = support_of(agent=HOSTILE, suite=HOSTILE, text=HOSTILE)
    path = write_report([panel_of(support, resamples=0)], tmp_path / "r.html", command=HOSTILE, settings={"x": HOSTILE})
    hostile = parse(path)
    assert len(hostile.all("script")) == 3
    assert not hostile.all("img")
    assert HOSTILE in hostile.all("table", class_="tasks")[0].text
    assert data_of(hostile)["plots"]


def test_several_panels_can_be_chosen_from(panel: PanelResult, tmp_path: Path) -> None:
    other = panel_of(support_of(agent="other-agent"), resamples=0)
    page = parse(write_report([panel, other], tmp_path / "two.html", command="skilldelta report"))
    options = page.all("select", id="panel-select")[0].all("option")
    assert [option.text for option in options] == ["toy-agent on toy", "other-agent on toy"]
    panels = page.all("div", class_="panel")
    assert [panel.attributes["id"] for panel in panels] == [option.attributes["value"] for option in options]
    overview = page.all("div", id="overview")[0]
    assert "2 panels at a glance" in overview.text
    assert [link.attributes["href"] for link in overview.all("table")[0].all("a")] == ["#panel-1", "#panel-2"]
    assert page.all("h1")[0].text == "2 agents on toy"


def test_ids_are_unique(panel: PanelResult, tmp_path: Path) -> None:
    page = parse(write_report([panel, panel], tmp_path / "two.html", command=""))
    ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))


def test_one_class_only_is_said_in_words(tmp_path: Path) -> None:
    support = support_of()
    tied = panel_of(support.with_outcomes(support.y0, support.y0), resamples=50)
    text = parse(write_report([tied], tmp_path / "tied.html", command="")).all("body")[0].text
    assert "No score can be judged here" in text


def test_a_report_is_replaced_whole_and_leaves_nothing_behind(panel: PanelResult, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write_report([panel], path, command="") == path
    assert path.read_text(encoding="utf-8").endswith("</html>")
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]


def test_no_panel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one panel"):
        write_report([], tmp_path / "r.html", command="")


def test_every_plot_is_also_an_image(panel: PanelResult, tmp_path: Path) -> None:
    images = write_images([PanelReport(panel)], tmp_path / "images")
    assert {image.name for image in images} >= {"ranking.png", "advantage.png", "components.png", "help-harm.png"}
    for image in images:
        assert image.read_bytes().startswith(b"\x89PNG")


def test_images_of_several_panels_bear_their_names(panel: PanelResult, tmp_path: Path) -> None:
    other = panel_of(support_of(agent="Other / agent"), resamples=0)
    names = {image.name for image in write_images([panel, other], tmp_path)}
    assert {"overview.png", "toy-agent-on-toy-ranking.png", "other-agent-on-toy-ranking.png"} <= names


def test_without_the_extra_the_error_says_what_to_install(
    panel: PanelResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skilldelta.report import require_plots

    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtraError, match="needs the extra report"):
        require_plots()
