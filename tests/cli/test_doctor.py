from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Skilldelta, pairs_file, toy_bank  # noqa: F401
from cli.test_install import HOOKED, home  # noqa: F401
from skilldelta import open_bank
from skilldelta.serve.hooks.failure_log import log_failure
from skilldelta.server_proof import own_key

NOWHERE = "http://127.0.0.1:9"


def findings(skilldelta: Skilldelta, *words: object) -> tuple[int, dict[str, dict[str, Any]]]:
    ran = skilldelta("doctor", "--json", "--server", NOWHERE, *words)
    document = json.loads(ran.out)
    assert document["healthy"] == (ran.code == 0)
    return ran.code, {one["name"]: one for one in document["findings"]}


def test_a_healthy_setup_is_told_apart_from_one_without_a_harness(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    code, found = findings(skilldelta, "--bank", toy_bank)
    assert code == 0
    assert {name: one["status"] for name, one in found.items()} == {
        "bank": "ok",
        "encoder": "ok",
        "server": "note",
        "harnesses": "note",
    }
    words = ["--skill", "units-skill", "--bank", toy_bank, "--server", NOWHERE, "--yes"]
    assert skilldelta("install", "codex", *words).code == 0
    code, found = findings(skilldelta)  # finds the bank in the hook
    assert code == 0, found
    assert found["codex hook"]["status"] == "ok"
    assert str(home / toy_bank) in found["bank"]["detail"]
    with open_bank(home / toy_bank) as bank:
        assert bank.decisions() == []
    shown = skilldelta("doctor", "--server", NOWHERE)
    assert shown.code == 0
    assert "ok    codex hook: UserPromptSubmit answers in" in shown.out
    assert all(len(line) <= 80 or "/" in line for line in shown.out.splitlines())


def test_each_thing_that_is_wrong_says_how_to_fix_it(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    assert skilldelta("install", "codex", "--skill", "no-such-skill", "--bank", toy_bank, "--yes").code == 0
    (home / ".gemini").mkdir()
    (home / HOOKED["gemini"]).write_text("{")
    log_failure(home / "state" / "skilldelta", "codex", "the disk is full")
    code, found = findings(skilldelta)
    assert code == 1
    assert "unknown skill 'no-such-skill'" in found["codex skill"]["detail"]
    assert "line 1" in found["gemini"]["detail"]
    assert "the disk is full" in found["failures"]["detail"]
    assert all(one["remedy"] for one in found.values() if one["status"] == "wrong")


def test_a_missing_bank_is_wrong(skilldelta: Skilldelta, home: Path) -> None:  # noqa: F811
    code, found = findings(skilldelta, "--bank", "missing.bank")
    assert code == 1
    assert "missing.bank" in found["bank"]["detail"]
    assert not (home / "missing.bank").exists()


def test_a_command_that_is_gone_is_found(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    assert skilldelta("install", "codex", "--skill", "units-skill", "--bank", toy_bank, "--yes").code == 0
    file = home / HOOKED["codex"]
    settings = json.loads(file.read_text())
    settings["hooks"].pop("SessionEnd")
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"] = re.sub(
        r"/\S*/skilldelta", "/gone/skilldelta", command
    )
    file.write_text(json.dumps(settings))
    code, found = findings(skilldelta, "--bank", toy_bank)
    assert code == 1
    assert "/gone/skilldelta is gone" in found["codex hook"]["detail"]
    assert "SessionEnd" in found["codex hooks"]["detail"]


@pytest.mark.parametrize(
    ("host", "file", "content"),
    [
        ("claude-code", ".claude/settings.json", '{"enabledPlugins": {"skilldelta@skilldelta": true}}'),
        ("codex", ".codex/config.toml", '[plugins."skilldelta@skilldelta"]\nenabled = true\n'),
        ("gemini", ".gemini/extensions/skilldelta/gemini-extension.json", "{}"),
    ],
)
def test_a_plugin_of_the_harness_is_tried_too(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    file: str,
    content: str,
) -> None:
    (home / file).parent.mkdir(parents=True)
    (home / file).write_text(content)
    monkeypatch.setenv("SKILLDELTA_SERVER", NOWHERE)
    monkeypatch.setenv("SKILLDELTA_SKILL", "units-skill")
    code, found = findings(skilldelta, "--bank", toy_bank)
    assert code == 1
    assert found[f"{host} hook"]["status"] == "wrong"  # the plugin asks the server only, and there is none
    assert NOWHERE in found[f"{host} hook"]["detail"] or "127" in found[f"{host} hook"]["detail"]


def test_another_program_at_the_servers_address_is_wrong(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    import http.server
    import threading

    own_key(os.environ)  # a server of this user has run before
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        ran = skilldelta("doctor", "--bank", toy_bank, "--server", url)
    finally:
        server.shutdown()
        server.server_close()
    assert ran.code == 1
    assert "WRONG server" in ran.out


def test_old_failures_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from skilldelta.serve.harness_health import check_failures

    log_failure(tmp_path, "codex", "long ago")
    assert check_failures(tmp_path, now=time.time() + 100_000) == []


def test_a_server_on_another_bank_or_of_another_version_is_wrong(toy_bank: str) -> None:  # noqa: F811
    from serve.hooks.fake_gate import KEY, documents_at
    from skilldelta.serve.health import check_server
    from skilldelta.serve.hooks.server_client import ServerAddress
    from skilldelta.version import __version__

    same = {"tasks": 8, "executions": {"completed": 16}}
    for version, bank, status in (
        (__version__, same, "ok"),
        ("0.0.1", same, "wrong"),
        (__version__, {**same, "tasks": 9}, "wrong"),
    ):
        with documents_at({"/v1/health": {"status": "ok", "version": version}, "/v1/bank": bank}) as url:
            found = check_server(ServerAddress(url, timeout=30, key=KEY), [toy_bank])
        assert found.status == status, found
        assert found.remedy or status == "ok"


def test_a_settings_file_that_the_harness_itself_refuses_is_wrong(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    file = home / HOOKED["claude-code"]
    file.parent.mkdir()
    file.write_text('{\n  // mine\n  "model": "x",\n}')
    assert skilldelta("install", "claude-code", "--skill", "units-skill", "--bank", toy_bank, "--yes").code == 0
    code, found = findings(skilldelta)
    assert code == 1
    assert "Claude Code refuses such a file" in found["claude-code settings"]["detail"]


def test_the_server_that_an_entry_names_is_the_one_that_is_checked(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    own_key(os.environ)
    other = "http://127.0.0.1:10"
    words = ("install", "codex", "--skill", "units-skill", "--bank", toy_bank, "--server", other, "--yes")
    assert skilldelta(*words).code == 0
    document = json.loads(skilldelta("doctor", "--json", "--server", NOWHERE).out)
    servers = [one["detail"] for one in document["findings"] if one["name"] == "server"]
    assert [NOWHERE in servers[0], other in servers[1]] == [True, True]


def test_an_adapter_without_a_way_to_an_answer_is_wrong(skilldelta: Skilldelta, home: Path, toy_bank: str) -> None:  # noqa: F811
    assert skilldelta("install", "pi", "--skill", "units-skill", "--bank", toy_bank, "--yes").code == 0
    assert "pi answers" not in findings(skilldelta, "--bank", toy_bank)[1]
    loader = home / ".pi" / "agent" / "extensions" / "skilldelta.js"
    loader.write_text(re.sub(r'"command": \[\s*"[^"]+"', '"command": ["/gone/skilldelta"', loader.read_text()))
    code, found = findings(skilldelta, "--bank", toy_bank)
    assert code == 1
    assert "/gone/skilldelta is not there" in found["pi answers"]["detail"]


def test_hooks_that_codex_was_not_told_to_trust_are_pointed_out(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    assert skilldelta("install", "codex", "--skill", "units-skill", "--bank", toy_bank, "--yes").code == 0
    assert "/hooks" in findings(skilldelta)[1]["codex trust"]["remedy"]
    (home / ".codex" / "config.toml").write_text('[hooks.state."x"]\ntrusted_hash = "sha256:0"\n')
    assert "codex trust" not in findings(skilldelta)[1]
