from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilldelta.errors import InputError
from skilldelta.harnesses.json_edit import appended, parse, without

COMMENTED = """{
  // my model
  "model": "x", /* not "y" */
  "hooks": {
    "Stop": [{"a": 1},], // a trailing comma
  },
}
"""
OURS = {"ours": True}


def is_ours(element: Any) -> bool:
    return bool(element == OURS)


def test_comments_order_and_spelling_stay() -> None:
    text = appended(COMMENTED, ["hooks", "Start"], OURS)
    for line in COMMENTED.splitlines()[:4]:
        assert line in text
    assert "// a trailing comma" in text
    assert parse(text).value["hooks"] == {"Stop": [{"a": 1}], "Start": [OURS]}
    assert parse(without(text, ["hooks", "Start"], is_ours)).value == parse(COMMENTED).value


def test_what_is_missing_on_the_way_is_made_and_goes_again() -> None:
    assert json.loads(appended("", ["hooks", "Start"], OURS)) == {"hooks": {"Start": [OURS]}}
    for text in ("{}", '{"a": 1}', '{\n  "a": {\n    "b": 2\n  }\n}\n', '{"hooks": {"Start": [{"theirs": 1}]}}'):
        assert without(appended(text, ["hooks", "Start"], OURS), ["hooks", "Start"], is_ours) == text


def test_only_ours_are_removed() -> None:
    text = '{"hooks": {"Start": [{"ours": true}, {"theirs": 1}, {"ours": true}, {"theirs": 2}, {"ours": true}]}}'
    assert parse(without(text, ["hooks", "Start"], is_ours)).value["hooks"]["Start"] == [{"theirs": 1}, {"theirs": 2}]
    assert without(text, ["hooks", "Stop"], is_ours) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "key in quotes"),
        ('{"a" 1}', "colon"),
        ('{"a": 1 "b": 2}', "comma"),
        ('{"a": }', "value"),
        ('{"a": "x', "does not end"),
        ('{"a": 1} x', "follows the end"),
        ("{a: 1}", "key in quotes"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[" * 1_000, "too deeply"),
        ("// x\n{", "line 2"),
    ],
)
def test_what_is_not_json_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        appended(text, ["hooks"], OURS)


@pytest.mark.parametrize("text", ["[]", '{"hooks": 3}', '{"hooks": {"Start": {}}}', '"text"'])
def test_a_file_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"JSON (object|array)"):
        appended(text, ["hooks", "Start"], OURS)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(
    document=st.dictionaries(st.text(max_size=5) | st.just("hooks"), VALUES, max_size=4),
    indent=st.sampled_from([None, 2, 4]),
    ascii_only=st.booleans(),
)
def test_any_document_takes_an_element_and_gives_it_back(
    document: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    assert parse(text).value == document
    document.pop("hooks", None)
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    added = appended(text, ["hooks", "Start"], OURS)
    assert json.loads(added) == {**document, "hooks": {"Start": [OURS]}}
    assert json.loads(without(added, ["hooks", "Start"], is_ours)) == document
