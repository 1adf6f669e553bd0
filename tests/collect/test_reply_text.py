from __future__ import annotations

import json

import pytest

from skilldelta.collect.reply_text import storable, without_surrogates


@pytest.mark.parametrize(
    "text", ["", "plain", "é😀", 'json: "x"', "back\\slash", "x\ud800y", "\udfff", "a\x00b", 'json:"x"']
)
def test_what_is_stored_is_utf8_without_nul_and_leads_back_to_the_text(text: str) -> None:
    stored = storable(text)
    stored.encode("utf-8")
    assert "\x00" not in stored
    escaped = stored.startswith('json:"')
    assert (json.loads(stored.removeprefix("json:")) if escaped else stored) == text


def test_ordinary_text_is_stored_as_it_is() -> None:
    assert storable("é😀 json: \\") == "é😀 json: \\"


def test_a_surrogate_is_seen_as_a_replacement_character() -> None:
    assert without_surrogates("x\ud800y😀") == "x\ufffdy😀"
