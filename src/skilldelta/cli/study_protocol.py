"""The prospective protocol of a study: record a part of every group, seal predictions for the rest, collect it, audit."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from skilldelta.cli.output import note, write_json
from skilldelta.errors import InputError
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.bank import Bank
    from skilldelta.cli.study_phases import StudyRun
    from skilldelta.evaluation.prospective.seal import SealedPanel
    from skilldelta.paper.prospective_table import PanelSplit
    from skilldelta.records import Agent
    from skilldelta.studies import LoadedPanel


def run_protocol(run: StudyRun, folder: Path) -> int:
    """From where the folder stands; the seal is made once, before the first held-out call."""
    from skilldelta.collect.plan import make_plan
    from skilldelta.paper.prospective_table import PanelSplit, read_split
    from skilldelta.paper.study_folder import split_tasks

    session, known = run.session(folder), run.options["known"] or run.suite.preset.known_per_group
    planned = make_plan(session.suite, session.selection, seed=session.seed)
    tasks = list({execution.task.task_id: execution.task for execution in planned}.values())
    if run.options["split"]:
        split = read_split(run.options["split"], run.suite.name, tasks)
    else:
        split = PanelSplit("", split_tasks(tasks, known, seed=run.options["seed"]))
    run.collect(folder, split.parts.known)
    sealed = _sealed(run, folder, split)
    run.collect(folder, split.parts.held_out)
    return _audit(run, sealed, split.name)


def _sealed(run: StudyRun, folder: Path, split: PanelSplit) -> SealedPanel:
    """The predictions for the held-out tasks, sealed once; later starts take them as they are."""
    from skilldelta.bank import Bank
    from skilldelta.evaluation.prospective.seal import read_sealed, write_sealed
    from skilldelta.studies import TargetTask, freeze_targets

    session = run.session(folder)
    parts = split.parts
    agent, path = session.agent.identity, run.study.sealed(run.suite.name, session.agent.identity, split.name)
    if path.exists():
        made = read_sealed(path)
        if {target.task_id for target in made.targets} != set(parts.held_out):
            raise InputError(
                f"{path} holds predictions for other tasks; give the same --known, --split, --limit and --seed as before, or "
                "start another study with --output"
            )
        return made
    tasks = {task.task_id: task for task in session.suite.tasks}
    with Bank.open(str(run.study.bank), create=False) as bank:
        already_run = {execution.task_id for execution in bank.executions(agent=agent, suite=run.suite.name)} & set(
            parts.held_out
        )
        if already_run:
            raise InputError(
                f"{plural(len(already_run), 'held-out task')} of {run.suite.title} already ran, so no prediction can be "
                "made before their outcomes; start another study with --output"
            )
        panel = _panel(bank, run, agent)
        targets = [
            TargetTask(name, tasks[name].text, tasks[name].skill_id, tasks[name].family) for name in parts.held_out
        ]
        created = datetime.now(UTC).isoformat(timespec="seconds")
        sealed = freeze_targets(panel, targets, created=created, rule=run.suite.preset.frozen_rule)
    write_sealed(sealed, path)
    note(f"{plural(len(targets), 'prediction')} sealed in {path}; publish the seal: {sealed.seal}")
    return sealed


def _audit(run: StudyRun, sealed: SealedPanel, name: str) -> int:
    from skilldelta.bank import Bank
    from skilldelta.cli.audit import audit_document, show_audit
    from skilldelta.evaluation.prospective.tampering import SealBrokenError
    from skilldelta.paper.prospective_table import prospective_table, record_panel
    from skilldelta.paper.study_folder import write_tables
    from skilldelta.paper.table import tables_document
    from skilldelta.studies import audit_sealed

    session = run.session(run.study.suite(run.suite.name))
    with Bank.open(str(run.study.bank), create=False) as bank:
        panel = _panel(bank, run, session.agent.identity)
    try:
        audited = audit_sealed(sealed, panel, resamples=run.options["resamples"], seed=run.options["seed"])
    except SealBrokenError as broken:
        for change in broken.changes:
            note(f"refused: {change}")
        return 1
    record_panel(run.study, run.suite.name, session.agent.identity.name, name or "by hash", audited.result)
    table = prospective_table(run.study)
    write_tables(run.study, [table])
    if run.options["as_json"]:
        tables = tables_document([table])
        write_json(
            {"folder": str(run.study.path), "seal": sealed.seal, "audit": audit_document(audited), "tables": tables}
        )
    else:
        show_audit(audited.result)
        note(f"the table of prospective panels: {run.study.tables.with_suffix('.md')}")
    return 0


def _panel(bank: Bank, run: StudyRun, agent: Agent) -> LoadedPanel:
    from skilldelta.cli.arguments import chosen_encoder
    from skilldelta.studies import PanelChoice, load_panel

    choice = PanelChoice(f"{agent.name}@{agent.fingerprint[:8]}", run.suite.name)
    return load_panel(bank, choice, encoder=chosen_encoder(bank, run.options))
