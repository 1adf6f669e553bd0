"""What a Python user sees first: the names, the help, one line for one answer."""

from __future__ import annotations

import json
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import skilldelta
from skilldelta.bank.importers import read_source
from skilldelta.errors import BankError, InputError


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    texts = ["convert three miles to metres", "convert two miles to feet", "convert nine yards to metres"]
    rows = [
        {"task_id": text, "text": text, "family": "units", "skill": "units-skill", "agent": "toy", "y0": [0], "y1": [1]}
        for text in texts
    ]
    source = tmp_path / "pairs.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with skilldelta.open_bank(tmp_path / "toy.bank", create=True) as opened:
        opened.add(read_source(source))
    return tmp_path / "toy.bank"


def test_every_public_name_is_listed_and_can_be_had() -> None:
    assert dir(skilldelta) == sorted(skilldelta.__all__)
    for name in skilldelta.__all__:
        assert getattr(skilldelta, name) is not None


def test_help_shows_the_public_names() -> None:
    shown = pydoc.plain(pydoc.render_doc(skilldelta))
    for name in ("advise(", "class Advisor", "class SkillGainRegressor", "open_bank("):
        assert name in shown


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, skilldelta; dir(skilldelta); print('numpy' in sys.modules or 'sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_one_line_gives_advice(bank: Path) -> None:
    advice = skilldelta.advise("convert five miles to feet", "units-skill", bank=bank)
    assert advice.decision.action == "use"
    assert advice.agent == "toy"
    with skilldelta.open_bank(bank) as opened:
        same = skilldelta.advise("convert five miles to feet", "units-skill", bank=opened, agent="toy")
        asked = skilldelta.Advisor(opened, agent="toy").ask(
            skilldelta.Question("convert five miles to feet", "units-skill")
        )
    assert same.decision == asked.decision == advice.decision


def test_a_bank_is_made_only_when_that_is_asked(tmp_path: Path) -> None:
    with pytest.raises(BankError, match=r"none\.bank"):
        skilldelta.open_bank(tmp_path / "none.bank")
    assert not (tmp_path / "none.bank").exists()


def test_unknown_skills_agents_and_missing_values_are_refused(bank: Path) -> None:
    with pytest.raises(InputError, match="unknown skill 'units'; did you mean units-skill"):
        skilldelta.advise("convert", "units", bank=bank)
    with pytest.raises(InputError, match="unknown agent 'tony'"):
        skilldelta.advise("convert", "units-skill", bank=bank, agent="tony")
    with pytest.raises(InputError, match="skill of a question must be a string, got None"):
        skilldelta.Question("convert", None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a question needs a skill"):
        skilldelta.Question("convert", "")
