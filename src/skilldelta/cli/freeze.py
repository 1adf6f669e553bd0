"""`skilldelta freeze`: predictions sealed before their outcomes exist."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from skilldelta.cli import settings
from skilldelta.cli.arguments import choice_of, chosen_encoder, exclusions_of, gate_of
from skilldelta.cli.output import note, progress, write_json
from skilldelta.cli.settings import GivenPath, OutputPath
from skilldelta.errors import InputError
from skilldelta.estimators.registry import policy_words
from skilldelta.gate_settings import SETTING
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.prospective.frozen_rule import FrozenRule


@click.command("freeze")
@click.argument("targets", type=GivenPath(), metavar="TARGETS.jsonl")
@click.option("--output", required=True, type=OutputPath(), metavar="FILE", help="The sealed file.")
@settings.panel_options
@click.option(
    "--settings",
    "historical",
    help="Settings of one of the paper's panels: main, toolqa, medcalc, bigcode_scale, bigcode_natural.",
)
@settings.frozen_gate_options
@settings.exclude_options
@click.option(
    "--threshold",
    show_default=f"{SETTING['threshold'].default:g}",
    help="A number, or the rule prevalence or balanced_accuracy.",
)
@click.option("--overwrite", is_flag=True, help="Replace a sealed file of the same name.")
@settings.json_option
@progress("predicting")
@click.pass_context
def command(
    ctx: click.Context, /, targets: Path, output: Path, bank: str, overwrite: bool, as_json: bool, **options: Any
) -> None:
    """Predict every target from the bank as it is now, and seal settings, support and predictions with hashes.

    TARGETS.jsonl has one task per line: task_id, text, skill and, where known, family. Publish the seal that is printed;
    later `skilldelta audit` evaluates the predictions, or refuses if anything changed.

    The whole gate is sealed: estimator, rule, interval, familiarity limit, costs and threshold. Without options it is the
    paper's rule in the scope family.

    A target without a pair in its scope is skipped by every estimator: give --scope skill for tasks of new families.
    """
    from skilldelta.bank import Bank
    from skilldelta.evaluation.prospective.seal import write_sealed
    from skilldelta.studies import freeze_targets, load_panel, read_targets

    excluded = exclusions_of(options)
    rule, estimator = _rule(ctx)
    with Bank.open(bank, create=False) as opened:
        panel = load_panel(opened, choice_of(options), encoder=chosen_encoder(opened, options))
        sealed = freeze_targets(
            panel,
            read_targets(targets),
            rule=rule,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            estimator=estimator,
            exclusions=excluded,
        )
    write_sealed(sealed, output, overwrite=overwrite)
    used = sum(prediction.action == "use" for prediction in sealed.predictions)
    if as_json:
        document = {"output": str(output), "seal": sealed.seal, "targets": len(sealed.targets), "use": used}
        write_json(
            {
                **document,
                "estimator": sealed.settings.estimator,
                "excluded": [asdict(exclusion) for exclusion in excluded],
            }
        )
        return
    note(
        f"{plural(len(sealed.targets), 'prediction')} from {plural(len(sealed.support), 'pair')} sealed in {output}; "
        f"{policy_words(sealed.settings.estimator)} uses the skill on {used}"
    )
    if excluded:
        note(f"excluded by name, and sealed as such: {'; '.join(map(str, excluded))}")
    click.echo(sealed.seal)


def _rule(ctx: click.Context) -> tuple[FrozenRule, str]:
    """What is frozen, and by which estimator: the paper's rule in its family scope unless options say otherwise."""
    from skilldelta.evaluation.prospective.frozen_rule import PAPER_RULE, FrozenRule
    from skilldelta.gate import Gate
    from skilldelta.studies.sealed_study import historical_rule

    if ctx.params["historical"]:
        for flag in ("gate", "rule", "interval", "level", "familiarity_limit", "prior_gain", "success_worth", "price"):
            if ctx.get_parameter_source(flag) is ParameterSource.COMMANDLINE:
                raise InputError(f"--settings already settle --{flag.replace('_', '-')}; leave out one of the two")
        return historical_rule(ctx.params["historical"], ctx.params["estimator"] or PAPER_RULE), PAPER_RULE
    threshold: Any = ctx.params["threshold"]
    gate = gate_of(ctx, Gate(PAPER_RULE, scope="family"), but=("threshold",))
    with suppress(ValueError):  # else it is the name of a rule, and FrozenRule refuses an unknown one
        threshold = gate.threshold if threshold is None else float(threshold)
    # The paper's plain rule needs no gate to be repeated: its file stays as it always was.
    is_plain = gate.rule == "plain" and gate.cost_rule is None and gate.familiarity_floor == 0
    whole = None if is_plain and gate.estimator == PAPER_RULE else gate
    return FrozenRule(gate.k, gate.scope, gate.weighting, threshold=threshold, gate=whole), gate.estimator
