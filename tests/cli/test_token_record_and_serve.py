"""`token`, `record`, `bank forget --decisions`, and what `serve` refuses or writes before it serves."""

from __future__ import annotations

import plistlib
import re
import shlex
import socket
from pathlib import Path

import pytest

from cli.conftest import Skilldelta
from skilldelta.bank import Bank

ASKED = ("predict", "--skill", "units-skill", "--record", "--json", "convert four miles")


def test_a_token_is_shown_once_listed_and_revoked(skilldelta: Skilldelta, tmp_path: Path) -> None:
    where = ("--tokens", tmp_path / "t.json")
    made = skilldelta("token", "create", "ann", "--scope", "read", "--expires", 3, *where)
    secret = made.out.strip()
    assert re.fullmatch(r"skd_[\w-]{43}", secret)
    listed = skilldelta("token", "list", "--json", *where)
    assert secret not in listed.out + skilldelta("token", "list", *where).out
    (token,) = listed.document["tokens"]
    assert (token["name"], token["scope"], token["expired"]) == ("ann", "read", False)
    assert skilldelta("token", "create", "ann", *where).code == 2
    assert skilldelta("token", "revoke", "bob", *where).code == 2
    assert skilldelta("token", "revoke", "ann", *where).code == 0
    assert skilldelta("token", "list", "--json", *where).document == {"tokens": []}
    assert skilldelta("token", "create", "second", "--json", *where).document["token"].startswith("skd_")


@pytest.mark.parametrize("days", ["1e12", "inf", "nan", "0"])
def test_a_token_expires_on_a_day_that_there_is(skilldelta: Skilldelta, tmp_path: Path, days: str) -> None:
    ran = skilldelta("token", "create", "ann", "--expires", days, "--tokens", tmp_path / "t.json")

    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert not (tmp_path / "t.json").exists()


def test_an_outcome_is_recorded_from_the_command_line(skilldelta: Skilldelta, toy_bank: str) -> None:
    decision = skilldelta(*ASKED, "--bank", toy_bank).document["decision_id"]
    words = ("record", decision, "--success", 1, "--tokens", 20, "--bank", toy_bank, "--json")
    assert skilldelta(*words).document == {"outcome_id": 1, "decision_id": decision, "new": True}
    assert skilldelta(*words).document["new"] is False
    for wrong in (
        ("record", 99, "--success", 1),
        ("record", 10**20, "--success", 1),
        ("record", decision),
        ("record", decision, "--success", 2),
    ):
        ran = skilldelta(*wrong, "--bank", toy_bank)
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)


@pytest.mark.parametrize(
    "words", [("bank", "forget", "--decisions", "--older-than"), ("serve", "--retention"), ("serve", "--rate")]
)
def test_no_range_holds_nan(skilldelta: Skilldelta, toy_bank: str, words: tuple[str, ...]) -> None:
    ran = skilldelta(*words, "nan", "--bank", toy_bank)

    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert f"{words[-1]}': nan is not a number" in ran.err


def test_decisions_are_forgotten_by_age(skilldelta: Skilldelta, toy_bank: str) -> None:
    for _ in range(2):
        skilldelta(*ASKED, "--bank", toy_bank)
    forget = ("bank", "forget", "--decisions", "--bank", toy_bank)
    assert "say --yes" in skilldelta(*forget).err
    assert skilldelta(*forget, "--older-than", 1, "--json", "--yes").document == {"decisions": 0}
    assert skilldelta(*forget, "--agent", "toy", "--yes").code == 2
    assert skilldelta("bank", "forget", "--older-than", 1, "--yes", "--bank", toy_bank).code == 2
    assert skilldelta(*forget, "--older-than", 0, "--yes").out == "2 decisions removed\n"
    with Bank.open(toy_bank) as bank:
        assert bank.decisions() == []


def test_serve_refuses_what_it_cannot_serve_in_one_line(skilldelta: Skilldelta, toy_bank: str, tmp_path: Path) -> None:
    none = ("--tokens", tmp_path / "none.json")
    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    for words, said in (
        (("--host", "0.0.0.0", *none), "skilldelta token create NAME"),
        (("--require-token", *none), "skilldelta token create NAME"),
        (("--port", port), "choose another --port"),
        (("--host", "no such host"), "there is no token yet"),
        (("--encoder", "nope", "--port", 0), "unknown encoder 'nope'"),
        (("--encoder", "imported/none", "--port", 0), "no vectors of 'imported/none'"),
        (("--encoder", "openai", "--port", 0), "needs a base URL and a model"),
        (("--agent", "nobody", "--port", 0), "unknown agent 'nobody'"),
        (("--paper", "--estimator", "blend", "--port", 0), "--paper already settles --estimator"),
    ):
        ran = skilldelta("serve", "--bank", toy_bank, *words)
        assert (ran.code, len(ran.err.splitlines())) == (2, 1), ran.err
        assert said in ran.err
    taken.close()
    assert skilldelta("serve", "--bank", "new.bank", "--encoder", "nope", "--port", 0).code == 2
    assert not Path("new.bank").exists()


def test_serve_installs_a_user_unit_and_prints_a_property_list(
    skilldelta: Skilldelta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    words = ("serve", "--bank", "odd $HOME 100%.bank", "--keep", "nothing", "--port", 7777)
    assert skilldelta(*words, "--install", "systemd").code == 0
    unit = tmp_path / "config" / "systemd" / "user" / "skilldelta.service"
    (start,) = (line for line in unit.read_text().splitlines() if line.startswith("ExecStart="))
    run = shlex.split(start.removeprefix("ExecStart=").replace("$$", "$").replace("%%", "%"))
    bank = str(tmp_path / "odd $HOME 100%.bank")
    assert run[1:] == ["-m", "skilldelta", "serve", "--bank", bank, "--port", "7777", "--keep", "nothing"]
    plist = plistlib.loads(skilldelta(*words, "--install", "launchd").out.encode())
    assert plist["ProgramArguments"] == run
    monkeypatch.setattr("sys.platform", "linux")
    assert skilldelta(*words, "--install").code == 0  # its own file is replaced
    unit.write_text("[Service]\n")
    assert "was not written by skilldelta" in skilldelta(*words, "--install", "systemd").err
    secret = skilldelta("serve", "--bank", "postgresql://ann:hunter22@db/x", "--install", "launchd")
    assert (secret.code, "hunter22" in secret.err + secret.out) == (2, False)
