"""Colors: readable on the paper of both themes, the same policy in the same color everywhere."""

from __future__ import annotations

import re

import pytest

from skilldelta.estimators.registry import ORACLE, policies
from skilldelta.report.palette import dark_variables, light_variables, role

TEXT = {"ink", "ink-2", "accent", "help", "harm"}
FAINT = {"page", "line", "grid", "tie"}


def _luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _colors(variables: str) -> dict[str, str]:
    return dict(re.findall(r"--c-([\w-]+):(#[0-9a-f]{6});", variables))


@pytest.mark.parametrize("variables", [light_variables(), dark_variables()], ids=["light", "dark"])
def test_text_and_marks_stand_out_from_the_paper(variables: str) -> None:
    colors = _colors(variables)
    paper = _luminance(colors["page"])
    for name, color in colors.items():
        if name not in FAINT:
            low, high = sorted((paper, _luminance(color)))
            assert (high + 0.05) / (low + 0.05) >= (4.5 if name in TEXT else 3.0), name


def test_both_themes_have_every_role_and_every_policy_a_color_and_words() -> None:
    light, dark = _colors(light_variables()), _colors(dark_variables())
    assert light.keys() == dark.keys()
    listed = [*policies().values(), ORACLE]
    assert {entry.name for entry in listed} <= set(light)
    assert all(entry.title and entry.meaning for entry in listed)


def test_an_unknown_policy_is_grey() -> None:
    assert role("something_new") == role("ink-2") == "var(--c-ink-2)"
