from __future__ import annotations

import pytest

from skilldelta import redaction
from skilldelta.redaction import keep_secret, keep_secrets_of, redacted, without_known_secrets


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_known", set())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:s3cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:p@ss/w0rd@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://host/db?user=me&password=s3cret&sslmode=require", "postgresql://host/db?user=me&password=***&sslmode=require"),
        ("https://tok3n@host/v1", "https://***@host/v1"),
        ("https://host/v1?api_key=abc", "https://host/v1?api_key=***"),
        ("agent --api-key sk-1 --max-tokens 500 --token=abc run", "agent --api-key *** --max-tokens 500 --token=*** run"),
        ("agent --key-variable OPENAI_API_KEY", "agent --key-variable OPENAI_API_KEY"),
        ("OPENAI_API_KEY=sk-1 agent", "OPENAI_API_KEY=*** agent"),
        ("connection failed: password=hunter2 host=x", "connection failed: password=*** host=x"),
        ("Authorization: Bearer abcdefgh12345", "Authorization: Bearer ***"),
        ("the server said sk-abcdefghijklmnop", "the server said ***"),
        ("a monkey = 3, tokens = 5, a basic thing", "a monkey = 3, tokens = 5, a basic thing"),
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_place(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_data_keep_addresses_and_lose_known_values_only() -> None:
    keep_secret("canary-value-1")
    text = "connect to postgresql://u:pw@h with canary-value-1"
    assert without_known_secrets(text) == "connect to postgresql://u:pw@h with ***"


def test_a_value_is_found_as_urls_and_json_spell_it() -> None:
    keep_secret('cana"ry/ 1')
    for form in ('cana"ry/ 1', "cana%22ry%2F%201", "cana%22ry/%201", "cana%22ry%2F+1", 'cana\\"ry/ 1'):
        assert without_known_secrets(f"<{form}>") == "<***>"


def test_environment_and_words_are_searched() -> None:
    keep_secrets_of(
        {"MY_API_KEY": "first-value-1", "HOME": "/home/someone", "TERM": "xterm"},
        ["--bank", "postgresql://u:second-value-2@h/d"],
    )
    assert without_known_secrets("first-value-1 second-value-2 /home/someone xterm") == "*** *** /home/someone xterm"


def test_short_values_do_not_eat_ordinary_words() -> None:
    keep_secret("key", "", None)
    assert without_known_secrets("a monkey") == "a monkey"


def test_words_that_stand_in_for_a_key_are_no_secrets_in_data() -> None:
    keep_secrets_of({"OPENAI_API_KEY": "ollama", "OTHER_KEY": "not-needed"}, ["postgresql://postgres:postgres@host/db"])
    assert without_known_secrets("ollama/qwen, not-needed, postgresql") == "ollama/qwen, not-needed, postgresql"
    assert redacted("postgresql://postgres:postgres@host/db") == "postgresql://postgres:***@host/db"


@pytest.mark.parametrize("unit", ["a_", "-a", "http://", "x://a:", "--key '", "_", "key-"])
def test_a_text_of_somebody_else_cannot_make_masking_take_for_ever(unit: str) -> None:
    text = "-" + unit * (5_000 // len(unit))  # thirty repetitions of the first once took minutes
    assert len(redacted(text)) <= len(text)
