"""`skilldelta audit`: the evaluation of sealed predictions, refused if anything changed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, percent, signed, table, write_json
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.prospective import AuditResult


@click.command("audit")
@click.argument("sealed", type=click.Path(path_type=Path), metavar="SEALED")
@click.option("--seal", help="The seal as it was published; the file must bear it.")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@settings.encoder_options
@settings.seed_option
@settings.resamples_option
@settings.json_option
@settings.output_option
def command(sealed: Path, seal: str | None, bank: str, as_json: bool, output: Path | None, **options: Any) -> int:
    """Join the outcomes that were collected since, and evaluate. Exit code 1, with the reasons, if the sealed file, the
    support or the settings changed."""
    import numpy as np

    from skilldelta.bank import Bank
    from skilldelta.cli.encoding import chosen_encoder
    from skilldelta.cli.panels import chosen_panel
    from skilldelta.evaluation.prospective import audit, split_outcomes
    from skilldelta.evaluation.seal import read_sealed
    from skilldelta.evaluation.tampering import SealBrokenError

    panel = read_sealed(sealed)
    with Bank.open(bank, create=False) as opened:
        options["agent"] = options["agent"] or panel.settings.agent
        options["suite"] = options["suite"] or panel.settings.suite or None
        chosen = chosen_panel(opened, options)
        current = opened.support(chosen_encoder(opened, options), agent=chosen.agent, suite=chosen.suite)
    support, outcomes = split_outcomes(panel, current)
    try:
        result = audit(
            panel,
            support,
            outcomes,
            published_seal=seal,
            resamples=options["resamples"],
            rng=np.random.default_rng(options["seed"]),
        )
    except SealBrokenError as broken:
        if as_json:
            write_json({"refused": list(broken.changes)})
        for change in broken.changes:
            note(f"refused: {change}")
        return 1
    if as_json or output:
        write_json(asdict(result), output)
    else:
        _show(result)
    return 0


def _show(result: AuditResult) -> None:
    def ends(name: str, scale: float = 1.0) -> str:
        found = result.intervals.get(name)
        if found is None or found.low is None or found.high is None:
            return ""
        return f"{scale * found.low:.3g}…{scale * found.high:.3g}"

    rows = [
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
    title = f"{result.evaluated} of {plural(result.targets, 'sealed prediction')} of {result.estimator}, from {plural(result.known, 'pair')}"
    console().print(table(title, ("", "", "95%"), rows))
    for remark in result.notes:
        note(remark)
