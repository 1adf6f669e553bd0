from __future__ import annotations

import pytest

from skilldelta.cli.arguments import environment_proxy


@pytest.fixture(autouse=True)
def _proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside.example")


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://far.example/v1", "http://proxy:3128"),
        ("https://far.example/v1", None),
        ("http://inside.example/v1", None),
        ("http://127.0.0.1:8000/v1", None),
        ("http://[::1]:8000/v1", None),
        ("http://localhost:8000/v1", None),
        ("http://[bad", None),
        ("", None),
        (None, None),
    ],
)
def test_a_proxy_is_taken_from_the_environment_except_for_this_machine(url: str | None, proxy: str | None) -> None:
    assert environment_proxy(url) == proxy
