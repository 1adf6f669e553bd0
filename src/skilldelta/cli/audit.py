"""`skilldelta audit`: the evaluation of sealed predictions, refused if anything changed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, percent, signed, table, write_json
from skilldelta.cli.progress import progress
from skilldelta.evaluation.policy_words import policy_words
from skilldelta.nouns import plural

if TYPE_CHECKING:
    import numpy as np

    from skilldelta.bank import Bank
    from skilldelta.evaluation.corrections import CorrectedPanel
    from skilldelta.evaluation.prospective.auditing import AuditResult
    from skilldelta.evaluation.prospective.reexecution import Reexecution
    from skilldelta.evaluation.prospective.seal import SealedPanel
    from skilldelta.evaluation.results import Range
    from skilldelta.support import Support


@click.command("audit")
@click.argument("sealed", type=click.Path(path_type=Path), metavar="SEALED")
@click.option("--seal", help="The seal as it was published; the file must bear it.")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@settings.encoder_options
@settings.seed_option
@settings.resamples_option
@settings.margin_option
@settings.corrections_option
@click.option(
    "--reexecuted",
    metavar="BANK",
    help="A second bank in which the targets were run again: do the sealed actions keep their value?",
)
@settings.json_option
@settings.output_option
@progress("auditing")
def command(sealed: Path, seal: str | None, bank: str, as_json: bool, output: Path | None, **options: Any) -> int:
    """Join the outcomes that were collected since, and evaluate. Exit code 1, with the reasons, if the sealed file, the
    support or the settings changed."""
    import numpy as np

    from skilldelta.bank import Bank
    from skilldelta.evaluation.prospective.auditing import audit, split_outcomes
    from skilldelta.evaluation.prospective.seal import read_sealed
    from skilldelta.evaluation.prospective.tampering import SealBrokenError

    panel = read_sealed(sealed)
    with Bank.open(bank, create=False) as opened:
        options["agent"] = options["agent"] or panel.settings.agent
        options["suite"] = options["suite"] or panel.settings.suite or None
        current, corrected = _current(opened, options)
    support, _ = split_outcomes(panel, current)  # evidence stays as it was sealed, whatever was corrected since
    _, outcomes = split_outcomes(panel, corrected.support)
    rng = np.random.default_rng(options["seed"])
    again = _again(panel, outcomes, options, rng)
    try:
        result = audit(
            panel,
            support,
            outcomes,
            published_seal=seal,
            resamples=options["resamples"],
            rng=rng,
            margin=options["margin"],
            corrected=corrected.records,
        )
    except SealBrokenError as broken:
        if as_json:
            write_json({"refused": list(broken.changes)})
        for change in broken.changes:
            note(f"refused: {change}")
        return 1
    if as_json or output:
        write_json({**asdict(result), "reexecuted": None if again is None else asdict(again)}, output)
        return 0
    _show(result)
    if again is not None:
        _show_again(again)
    return 0


def _current(bank: Bank, options: dict[str, Any]) -> tuple[Support, CorrectedPanel]:
    """The panel as the bank has it, and as it is corrected."""
    from skilldelta.cli.encoding import chosen_encoder
    from skilldelta.cli.named_records import corrections
    from skilldelta.cli.panels import chosen_panel
    from skilldelta.evaluation.corrections import check_corrections, corrected_panel

    chosen = chosen_panel(bank, options)
    current = bank.support(chosen_encoder(bank, options), agent=chosen.agent, suite=chosen.suite)
    listed = corrections(options)
    check_corrections(listed, current.task_ids.tolist())
    pairs = bank.pairing(agent=chosen.agent, suite=chosen.suite).pairs if listed else ()
    executions = bank.executions(agent=chosen.agent, suite=chosen.suite) if listed else ()
    return current, corrected_panel(current, pairs, executions, listed)


def _again(
    panel: SealedPanel, outcomes: Support, options: dict[str, Any], rng: np.random.Generator
) -> Reexecution | None:
    """The sealed actions on the outcomes of a second bank, where one is given."""
    if options["reexecuted"] is None:
        return None
    from skilldelta.bank import Bank
    from skilldelta.evaluation.prospective.auditing import split_outcomes
    from skilldelta.evaluation.prospective.reexecution import reexecution

    with Bank.open(options["reexecuted"], create=False) as second:
        current, _ = _current(second, {**options, "corrections": None})
    _, again = split_outcomes(panel, current)
    return reexecution(panel, outcomes, again, resamples=options["resamples"], rng=rng)


def _show(result: AuditResult) -> None:
    from skilldelta.cli.panels import flags
    from skilldelta.report.verdict import headline, no_verdict

    def ends(name: str, scale: float = 1.0) -> str:
        return _ends(result.intervals.get(name), scale)

    line = no_verdict(result.evaluated) if result.verdict is None else headline(result.verdict)
    console().print(line.text.replace("\u2212", "-"), style="bold", markup=False)
    rows = [
        [
            "against always on (points)",
            signed(100 * result.success_vs_always_on, 2),
            ends("success_vs_always_on", 100),
        ],
        ["success", percent(result.success), ends("success", 100)],
        ["always off", percent(result.off), ""],
        ["always on", percent(result.on), ""],
        ["gain over always off (points)", signed(100 * result.success_gain, 2), ends("success_gain", 100)],
        ["skill used", percent(result.use_rate), ""],
        ["tokens saved against always on", percent(result.token_saving), ends("token_saving", 100)],
        ["AUROC", "–" if result.auroc is None else f"{result.auroc:.3f}", ends("auroc")],
        [
            "balanced accuracy",
            "–" if result.balanced_accuracy is None else f"{result.balanced_accuracy:.3f}",
            ends("balanced_accuracy"),
        ],
    ]
    title = f"{result.evaluated} of {plural(result.targets, 'sealed prediction')} of {policy_words(result.estimator)}, from {plural(result.known, 'pair')}"
    console().print(table(title, ("", "", "95%"), rows))
    excluded = [f"excluded by name: {'; '.join(map(str, result.excluded))}"] if result.excluded else []
    for remark in (*result.notes, *excluded, *flags(result.corrected)):
        note(remark)


def _show_again(found: Reexecution) -> None:
    rows = [
        ["success, first outcomes", percent(found.first), ""],
        ["success, executed again", percent(found.again), _ends(found.intervals.get("again"), 100)],
        ["change (points)", signed(100 * found.difference, 2), _ends(found.intervals.get("difference"), 100)],
        ["against always on, first (points)", signed(100 * found.first_vs_always_on, 2), ""],
        [
            "against always on, again (points)",
            signed(100 * found.again_vs_always_on, 2),
            _ends(found.intervals.get("again_vs_always_on"), 100),
        ],
        ["same outcome of the chosen arm", percent(found.same), ""],
        ["same outcome without, with the skill", f"{percent(found.same_off)}, {percent(found.same_on)}", ""],
    ]
    console().print(table(f"The same actions on {plural(found.tasks, 'task')} executed again", ("", "", "95%"), rows))
    if found.missing:
        note(f"not executed again under both conditions: {', '.join(found.missing)}")


def _ends(found: Range | None, scale: float) -> str:
    if found is None or found.low is None or found.high is None:
        return ""
    return f"{scale * found.low:.3g}…{scale * found.high:.3g}"
