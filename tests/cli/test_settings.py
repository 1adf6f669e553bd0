from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Skilldelta


def test_flags_go_before_environment_before_file_before_default(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("predict", "--skill", "units-skill", "--json", "convert miles")

    def threshold(*flags: str) -> float:
        return float(skilldelta(*asked[:1], *flags, *asked[1:]).document["threshold"])

    Path("skilldelta.toml").write_text(f'bank = "{toy_bank}"\nthreshold = 0.1\n\n[sweep]\nthreshold = 0.9\n')
    assert threshold() == 0.1
    monkeypatch.setenv("SKILLDELTA_THRESHOLD", "0.2")
    assert threshold() == 0.2
    assert threshold("--threshold", "0.3") == 0.3


def test_a_path_in_the_file_is_relative_to_the_files_folder(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("skilldelta.toml").write_text(f'bank = "{toy_bank}"\n')
    Path("deep/er").mkdir(parents=True)
    monkeypatch.chdir("deep/er")
    assert skilldelta("bank", "status", "--json").document["tasks"] == 8


@pytest.mark.parametrize(("text", "message"), [("tresh = 1\n", "tresh"), ("bank = \n", "not valid TOML")])
def test_a_bad_settings_file_is_named_in_one_line(skilldelta: Skilldelta, text: str, message: str) -> None:
    Path("skilldelta.toml").write_text(text)
    ran = skilldelta("bank", "status")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert message in ran.err
