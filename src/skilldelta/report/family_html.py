"""The help/harm list as HTML: a line per family that opens to its tasks."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.report.families import FamilyList
from skilldelta.report.html import Markup, element
from skilldelta.report.numbers import count, points
from skilldelta.report.tables import table_html


def family_list_html(families: Sequence[FamilyList]) -> Markup:
    """All families, the most harmed first."""
    head = element("div", element("span"), *[_heading(*column) for column in _COLUMNS], class_="family-head")
    intro = element(
        "p",
        "Open a family to see the tasks that the skill harmed or helped, and what the gate did.",
        class_="quiet small",
    )
    return element(
        "div",
        element("h3", "The tasks behind it"),
        intro,
        head,
        *[_family(found) for found in families],
        class_="families",
    )


# Title, the key that it sorts by, and whether a phone has no room for it.
_COLUMNS = (
    ("Family", "label", False),
    ("Pairs", "pairs", True),
    ("Helped", "help", False),
    ("Harmed", "harm", False),
    ("Gain, points", "gain", False),
)


def _heading(title: str, key: str, wide_only: bool) -> Markup:
    button = element("button", title, type="button", data_sort=key)
    return element("span", button, class_="pairs" if wide_only else None)


def _family(found: FamilyList) -> Markup:
    counts = found.counts
    tone = "good" if counts.gain > 0 else "bad" if counts.gain < 0 else None
    line = element(
        "summary",
        element("span", found.label),
        element("span", count(counts.pairs), class_="pairs"),
        element("span", count(counts.help)),
        element("span", count(counts.harm)),
        element("span", points(counts.gain), class_=tone),
    )
    tasks = table_html(found.tasks, css="tasks") if found.tasks else None
    remark = element("p", found.remark, class_="quiet small") if found.remark else None
    return element(
        "details",
        line,
        tasks,
        remark,
        class_="family",
        data_label=found.label.casefold(),
        data_pairs=str(counts.pairs),
        data_help=str(counts.help),
        data_harm=str(counts.harm),
        data_gain=str(counts.gain),
    )
