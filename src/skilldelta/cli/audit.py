"""`skilldelta audit`: the evaluation of sealed predictions, refused if anything changed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.arguments import chosen_encoder, corrections_of
from skilldelta.cli.output import console, note, number, percent, plain_minus, progress, signed, table, write_json
from skilldelta.cli.settings import GivenPath
from skilldelta.errors import SkillDeltaError
from skilldelta.estimators.registry import policy_words
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.prospective.auditing import AuditResult, Reexecution
    from skilldelta.evaluation.prospective.seal import SealedPanel
    from skilldelta.evaluation.results import Range
    from skilldelta.studies import Audited, LoadedPanel


@click.command("audit")
@click.argument("sealed", type=GivenPath(), metavar="SEALED")
@click.option("--seal", help="The seal as it was published; the file must bear it.")
@settings.panel_options
@settings.interval_options
@settings.corrections_option
@click.option(
    "--reexecuted",
    metavar="BANK",
    help="A second bank in which the targets were run again: do the sealed actions keep their value?",
)
@settings.document_options
@progress("auditing")
def command(sealed: Path, seal: str | None, bank: str, as_json: bool, output: Path | None, **options: Any) -> int:
    """Join the outcomes that were collected since, and evaluate. Exit code 1, with the reasons, if the sealed file, the
    support or the settings changed."""
    from skilldelta.evaluation.prospective.seal import read_sealed
    from skilldelta.evaluation.prospective.tampering import SealBrokenError
    from skilldelta.studies import audit_sealed

    sealed_panel, second = read_sealed(sealed), options["reexecuted"]
    panel = _panel(bank, sealed_panel, options)
    again = None if second is None else _second_panel(second, sealed_panel, options)
    try:
        audited = audit_sealed(
            sealed_panel,
            panel,
            reexecuted=again,
            published_seal=seal,
            resamples=options["resamples"],
            seed=options["seed"],
            margin=options["margin"],
        )
    except SealBrokenError as broken:
        if as_json:
            write_json({"refused": list(broken.changes)})
        for change in broken.changes:
            note(f"refused: {change}")
        return 1
    if as_json or output:
        write_json(audit_document(audited), output)
        return 0
    show_audit(audited.result)
    if audited.reexecuted is not None:
        _show_again(audited.reexecuted)
    return 0


def audit_document(audited: Audited) -> dict[str, Any]:
    """What `audit --json` prints."""
    reexecution = audited.reexecuted
    return {**asdict(audited.result), "reexecuted": None if reexecution is None else asdict(reexecution)}


def _panel(bank: str, sealed: SealedPanel, options: dict[str, Any]) -> LoadedPanel:
    """The sealed agent's panel of a bank, unless the options name another."""
    from skilldelta.bank import Bank
    from skilldelta.studies import PanelChoice, load_panel

    choice = PanelChoice(options["agent"] or sealed.settings.agent, options["suite"] or sealed.settings.suite or None)
    with Bank.open(bank, create=False) as opened:
        encoder = chosen_encoder(opened, options)
        return load_panel(opened, choice, encoder=encoder, corrections=corrections_of(options))


def _second_panel(bank: str, sealed: SealedPanel, options: dict[str, Any]) -> LoadedPanel:
    """The panel of --reexecuted; what is wrong with its bank is no fault of --bank."""
    try:
        return _panel(bank, sealed, {**options, "corrections": None})
    except SkillDeltaError as error:
        error.setting = "" if error.setting == "bank" else error.setting
        raise


def show_audit(result: AuditResult) -> None:
    """The verdict first, then the figures with their intervals, then what a reader must know."""
    from skilldelta.evaluation.comparison import FEWEST_FOR_AUROC
    from skilldelta.report.verdict import headline, no_verdict
    from skilldelta.studies.loaded_panel import correction_notes

    def row(title: str, value: str, name: str, scale: float = 100) -> list[str]:
        return [title, value, _ends(result.intervals.get(name), scale)]

    line = no_verdict(result.evaluated) if result.verdict is None else headline(result.verdict)
    console().print(plain_minus(line.text), style="bold", markup=False)
    rows = [
        row("against always on (points)", signed(100 * result.success_vs_always_on, 2), "success_vs_always_on"),
        row("success", percent(result.success), "success"),
        ["always off", percent(result.off), ""],
        ["always on", percent(result.on), ""],
        row("gain over always off (points)", signed(100 * result.success_gain, 2), "success_gain"),
        ["skill used", percent(result.use_rate), ""],
        row("tokens saved against always on", percent(result.token_saving), "token_saving"),
        *([row("AUROC", number(result.auroc, 3), "auroc", 1)] if result.evaluated >= FEWEST_FOR_AUROC else []),
        row("balanced accuracy", number(result.balanced_accuracy, 3), "balanced_accuracy", 1),
    ]
    title = f"{result.evaluated} of {plural(result.targets, 'sealed prediction')} of {policy_words(result.estimator)}, from {plural(result.known, 'pair')}"
    console().print(table(title, ("", "", "95%"), rows))
    excluded = [f"excluded by name: {'; '.join(map(str, result.excluded))}"] if result.excluded else []
    for remark in (*result.notes, *excluded, *correction_notes(result.corrected)):
        note(remark)


def _show_again(reexecution: Reexecution) -> None:
    again, change, against = (
        _ends(reexecution.intervals.get(name), 100) for name in ("again", "difference", "again_vs_always_on")
    )
    rows = [
        ["success, first outcomes", percent(reexecution.first), ""],
        ["success, executed again", percent(reexecution.again), again],
        ["change (points)", signed(100 * reexecution.difference, 2), change],
        ["against always on, first (points)", signed(100 * reexecution.first_vs_always_on, 2), ""],
        ["against always on, again (points)", signed(100 * reexecution.again_vs_always_on, 2), against],
        ["same outcome of the chosen arm", percent(reexecution.same), ""],
        [
            "same outcome without, with the skill",
            f"{percent(reexecution.same_off)}, {percent(reexecution.same_on)}",
            "",
        ],
    ]
    console().print(
        table(f"The same actions on {plural(reexecution.tasks, 'task')} executed again", ("", "", "95%"), rows)
    )
    if reexecution.missing:
        note(f"not executed again under both conditions: {', '.join(reexecution.missing)}")


def _ends(interval: Range | None, scale: float) -> str:
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f"{scale * interval.low:.3g}…{scale * interval.high:.3g}"
