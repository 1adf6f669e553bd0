"""`doctor` names the skills on offer whose files were edited since their runs."""

from __future__ import annotations

from pathlib import Path

from skilldelta.bank import Bank
from skilldelta.bank.skill_versions import add_skill_text
from skilldelta.serve.harness_health import _edited_skills


def test_a_skill_that_was_edited_since_its_runs_is_a_note_with_a_remedy(bank_path: Path, tmp_path: Path) -> None:
    text = "Look up the factor between both units, multiply by it, and keep the digits that were given."
    with Bank.open(bank_path) as bank:
        add_skill_text(bank, "units-skill", text, new_version=True)
        digest = bank.resolve_skill("units-skill").digest
    folder = tmp_path / "units-skill"
    folder.mkdir()
    file = folder / "SKILL.md"
    command = f"skilldelta hook claude-code --bank {bank_path} --skill-file {file}"
    file.write_text(text)
    assert _edited_skills("claude-code", [command]) == []
    file.write_text(text.replace("digits", "places"))
    (finding,) = _edited_skills("claude-code", [command, command])
    assert (finding.name, finding.status) == ("claude-code skill", "note")
    assert "was changed since its runs" in finding.detail
    assert digest[:12] in finding.detail
    assert "run units-skill again" in finding.remedy
