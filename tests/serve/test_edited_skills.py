"""`doctor` names the skills on offer whose files were edited since their runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skilldelta.advisor.carried_over import SkillVersion
from skilldelta.bank import Bank, Batch
from skilldelta.bank.skill_versions import add_skill_text, read_skill
from skilldelta.gate import Gate, Question
from skilldelta.harnesses import harness_named
from skilldelta.harnesses.installation import planned_changes
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.harnesses.wanted_setup import WantedSetup
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.harness_health import _edited_skills, _offers, check_harness
from skilldelta.skill_folder import FolderFiles


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
    assert _edited_skills("claude-code", _offers([command], "", [])) == []
    file.write_text(text.replace("digits", "places"))
    (finding,) = _edited_skills("claude-code", _offers([command, command], "", []))
    assert (finding.name, finding.status) == ("claude-code skill", "note")
    assert "was changed since its runs" in finding.detail
    assert digest[:12] in finding.detail
    assert "run units-skill again" in finding.remedy


def _with_a_script(folder: Path, script: str) -> SkillVersion:
    """A skill of one sentence that runs a script."""
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(
        "Run scripts/convert.py on the numbers of the question, and round its answer once."
    )
    (folder / "scripts" / "convert.py").write_text(script)
    return SkillVersion.of(read_skill(folder))


def test_an_edited_script_carries_the_evidence_over_and_whoever_knows_the_text_alone_is_believed(
    bank_path: Path, tmp_path: Path
) -> None:
    script = "".join(f"print('a line of the script with the number {i}')\n" for i in range(40))
    before = _with_a_script(tmp_path / "units-skill", script)
    with Bank.open(bank_path) as bank:
        skill = read_skill(tmp_path / "units-skill")
        beside = FolderFiles(skill.files, skill.sketch)
        add_skill_text(bank, "units-skill", skill.text, beside=beside, new_version=True)
        runs = [
            replace(run, skill_digest=skill.digest) for run in bank.executions(skill_id="units-skill") if run.skill_id
        ]
        bank.add(Batch(executions=runs))
    after = _with_a_script(tmp_path / "units-skill", script.replace("number 7", "number seven"))
    assert after.digest == before.digest
    service = GateService.open(bank_path)
    question = Question("How many feet are in 3 miles?", "units-skill", record=False)
    fields = ("digest", "sketch", "folder_digest", "folder_sketch")
    same, edited, text_only, paper = (
        service.decide(replace(question, gate=gate, **{f"skill_{name}": getattr(version, name) for name in names}))
        for version, names, gate in (
            (before, fields, None),
            (after, fields, None),
            (after, fields[:2], None),
            (after, fields, Gate.from_settings({"paper": True})),
        )
    )
    assert same.carried_over is None
    assert text_only.carried_over is None
    assert edited.carried_over is not None
    assert edited.carried_over.changed is not None
    assert 0 < edited.carried_over.changed < 0.2
    assert (paper.decision.action, paper.carried_over, paper.certainty) == ("abstain", None, None)
    file = tmp_path / "units-skill" / "SKILL.md"
    command = f"skilldelta hook claude-code --bank {bank_path} --skill-file {file} --skill units-skill"
    (finding,) = _edited_skills("claude-code", _offers([command], "", []))
    assert "was changed since its runs" in finding.detail


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "opencode", "pi", "dsh"])
@pytest.mark.parametrize("all_skills", [False, True])
def test_doctor_tells_of_an_edited_skill_in_every_harness(
    name: str, all_skills: bool, bank_path: Path, tmp_path: Path
) -> None:
    text = "Look up the factor between both units, multiply by it, and keep the digits that were given."
    with Bank.open(bank_path) as bank:
        add_skill_text(bank, "units-skill", text, new_version=True)
    file = tmp_path / "units-skill" / "SKILL.md"
    file.parent.mkdir()
    file.write_text(text.replace("digits", "places"))
    other = tmp_path / "other" / "SKILL.md"
    other.parent.mkdir()
    other.write_text("---\nname: other\ndescription: d\n---\nNobody has measured this one.\n")
    skills = () if all_skills else (OfferedSkill("units-skill", file),)
    program = tmp_path / "skilldelta"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    setup = WantedSetup((str(program),), skills, {"bank": str(bank_path)}, all_skills)
    harness = harness_named(name)
    for change in planned_changes(harness, tmp_path / "settings", setup):
        change.path.parent.mkdir(parents=True, exist_ok=True)
        change.path.write_bytes(change.after or b"")
    findings = check_harness(harness, tmp_path / "settings", has_server=True, library=[other, file])
    (edited,) = [finding for finding in findings if "was changed since its runs" in finding.detail]
    assert (edited.name, edited.status) == (f"{name} skill", "note")
    assert str(file) in edited.detail
