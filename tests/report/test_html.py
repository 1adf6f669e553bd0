"""Escaping: what users write stays text."""

from __future__ import annotations

import json
import math

import numpy as np

from skilldelta.report.html import Markup, element, join, json_script, script_safe_json


def test_plain_children_and_attributes_are_escaped() -> None:
    assert (
        element("p", "<b> & 'x'", title='"><i>') == '<p title="&quot;&gt;&lt;i&gt;">&lt;b&gt; &amp; &#x27;x&#x27;</p>'
    )


def test_markup_is_not_escaped_twice() -> None:
    assert join(element("b", "1 < 2"), Markup("<hr>")) == "<b>1 &lt; 2</b><hr>"


def test_absent_attributes_are_left_out_and_flags_stand_alone() -> None:
    assert element("a", "x", href=None, hidden=True, open=False, class_="k", data_value="3") == (
        '<a hidden class="k" data-value="3">x</a>'
    )


def test_json_in_a_script_cannot_end_the_script() -> None:
    text = {"text": "</script><!-- & \u2028"}
    block = json_script("data", text)
    inner = block.removeprefix('<script type="application/json" id="data">').removesuffix("</script>")
    assert "<" not in inner
    assert "&" not in inner
    assert json.loads(inner) == text


def test_unknown_numbers_become_null() -> None:
    assert script_safe_json({"a": math.nan, "b": np.float64(1.5), "c": np.array([1, 2]), "d": (math.inf,)}) == (
        '{"a":null,"b":1.5,"c":[1,2],"d":[null]}'
    )
