"""`skilldelta freeze`: predictions sealed before their outcomes exist."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.named_records import exclusions
from skilldelta.cli.output import note, write_json
from skilldelta.cli.output_paths import OutputPath
from skilldelta.cli.progress import progress
from skilldelta.errors import InputError
from skilldelta.evaluation.policy_words import policy_words
from skilldelta.files import json_lines
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.encoders.base import Encoder
    from skilldelta.estimators.base import Target
    from skilldelta.evaluation.prospective.frozen_rule import FrozenRule

_KEYS = {"task_id", "text", "question", "family", "skill"}


@click.command("freeze")
@click.argument("targets", type=click.Path(path_type=Path), metavar="TARGETS.jsonl")
@click.option("--output", required=True, type=OutputPath(), metavar="FILE", help="The sealed file.")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@settings.encoder_options
@click.option(
    "--settings",
    "historical",
    help="Settings of one of the paper's panels: main, toolqa, medcalc, bigcode_scale, bigcode_natural.",
)
@click.option(
    "--estimator",
    type=click.Choice(["skilldelta", "stack", "family_mean"]),
    default="skilldelta",
    show_default=True,
    help="Who predicts the gains: the paper's rule (skilldelta), stack or the family mean.",
)
@settings.rule_options
@settings.exclude_options
@click.option(
    "--threshold", default="0", show_default=True, help="A number, or the rule prevalence or balanced_accuracy."
)
@click.option("--overwrite", is_flag=True, help="Replace a sealed file of the same name.")
@settings.json_option
@progress("predicting")
def command(targets: Path, output: Path, bank: str, overwrite: bool, as_json: bool, **options: Any) -> None:
    """Predict every target from the bank as it is now, and seal settings, support and predictions with hashes.

    TARGETS.jsonl has one task a line: task_id, text, skill and, where known, family. Publish the seal that is printed;
    later `skilldelta audit` evaluates the predictions, or refuses if anything changed.

    A target without a pair in its scope is skipped, whoever predicts: give --scope skill for tasks of new families.
    """
    from skilldelta.bank import Bank
    from skilldelta.cli.encoding import chosen_encoder
    from skilldelta.cli.panels import chosen_panel
    from skilldelta.evaluation.prospective.freezing import freeze
    from skilldelta.evaluation.prospective.frozen_estimator import frozen_estimator
    from skilldelta.evaluation.prospective.seal import write_sealed

    with Bank.open(bank, create=False) as opened:
        encoder = chosen_encoder(opened, options)
        panel = chosen_panel(opened, options)
        support = opened.support(encoder, agent=panel.agent, suite=panel.suite)
    excluded = exclusions(options)
    sealed = freeze(
        support,
        _targets(targets, encoder),
        rule=_rule(options),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        estimator=frozen_estimator(options["estimator"]),
        exclusions=excluded,
    )
    write_sealed(sealed, output, overwrite=overwrite)
    used = sum(prediction.action == "use" for prediction in sealed.predictions)
    if as_json:
        document = {"output": str(output), "seal": sealed.seal, "targets": len(sealed.targets), "use": used}
        write_json({**document, "estimator": sealed.settings.estimator, "excluded": [asdict(one) for one in excluded]})
        return
    note(
        f"{plural(len(sealed.targets), 'prediction')} from {plural(len(sealed.support), 'pair')} sealed in {output}; "
        f"{policy_words(sealed.settings.estimator)} uses the skill on {used}"
    )
    if excluded:
        note(f"excluded by name, and sealed as such: {'; '.join(map(str, excluded))}")
    click.echo(sealed.seal)


def _rule(options: dict[str, Any]) -> FrozenRule:
    from skilldelta.errors import unknown_name
    from skilldelta.evaluation.prospective.frozen_rule import HISTORICAL, FrozenRule

    if options["historical"]:
        if options["historical"] not in HISTORICAL:
            raise unknown_name("settings", options["historical"], HISTORICAL)
        if options["estimator"] != "skilldelta":
            raise InputError(
                f"--settings are settings of the paper's rule, not of {options['estimator']}; leave out one of the two"
            )
        return HISTORICAL[options["historical"]]
    threshold: Any = options["threshold"]
    with suppress(ValueError):  # else it is the name of a rule, and FrozenRule refuses an unknown one
        threshold = float(threshold)
    return FrozenRule(
        k=options["k"], scope=options["scope"] or "family", weighting=options["weighting"], threshold=threshold
    )


def _targets(path: Path, encoder: Encoder) -> list[Target]:
    from skilldelta.estimators.base import Target

    rows = _rows(path)
    vectors = encoder.encode([row["text"] for row in rows])
    return [
        Target(vectors[i], text=row["text"], family=row["family"], skill=row["skill"], task_id=row["task_id"])
        for i, row in enumerate(rows)
    ]


def _rows(path: Path) -> list[dict[str, str]]:
    rows = [_row(row, f"{path}:{number}") for number, row in json_lines(path)]
    if not rows:
        raise InputError(f"{path}: no targets; write one JSON object a line with task_id, text and skill")
    return rows


def _row(row: dict[str, Any], where: str) -> dict[str, str]:
    unknown = sorted(set(row) - _KEYS)
    if unknown:
        # An outcome in the target file would make the seal worthless, so nothing unknown passes.
        raise InputError(f"{where}: {unknown[0]!r} does not belong to a target; keep task_id, text, skill and family")
    text = row.get("text", row.get("question"))
    for name, value in (("task_id", row.get("task_id")), ("text", text), ("skill", row.get("skill"))):
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{where}: {name} is missing or empty")
    return {"task_id": row["task_id"], "text": str(text), "skill": row["skill"], "family": str(row.get("family") or "")}
