"""`skilldelta report`: the evaluation of a bank as one HTML file with figures, tables and plain words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from skilldelta.cli import settings
from skilldelta.cli.evaluate import evaluate_bank
from skilldelta.cli.output import note, write_json
from skilldelta.cli.output_paths import OutputPath
from skilldelta.cli.paper_flags import is_overridden, with_paper_settings
from skilldelta.cli.progress import progress
from skilldelta.errors import unknown_name
from skilldelta.nouns import plural
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from skilldelta.arrays import Floats
    from skilldelta.bank import Bank
    from skilldelta.evaluation.accounting import RoutingCost
    from skilldelta.evaluation.nested import Scorer
    from skilldelta.evaluation.results import PanelResult
    from skilldelta.records import Execution
    from skilldelta.report import PanelReport
    from skilldelta.support import Scope, Support


@click.command("report")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@settings.encoder_options
@click.option("--paper", is_flag=True, help="The paper's settings: family, k=6, cosine weights, threshold 0.")
@settings.rule_options
@settings.threshold_option
@settings.seed_option
@settings.resamples_option
@settings.margin_option
@click.option("--gate", metavar="POLICY", help="The policy that the summary is about: stack, skilldelta or a control.")
@click.option(
    "--output",
    type=OutputPath(),
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="Where to write the report.",
)
@click.option("--png", type=OutputPath(folder=True), metavar="DIR", help="Also write the figures as images.")
@settings.json_option
@click.pass_context
@progress("writing the report")
def command(
    ctx: click.Context, /, bank: str, gate: str | None, output: Path, png: Path | None, as_json: bool, **options: Any
) -> None:
    """Evaluate every panel of the bank and write one HTML file: summary, figures, tables, tasks, and how it was made.

    The file loads nothing from anywhere; it can be mailed, archived and opened offline.
    """
    from skilldelta.report import require_plots, write_images

    options = with_paper_settings(ctx, options)
    require_plots()  # before minutes of evaluation, not after
    _check(gate)
    results = evaluate_bank(bank, options)
    panels = _gathered(results, bank, options, gate)
    path = _write(panels, output, command=_command_line(ctx, bank), shown=_settings(options, results), gate=gate)
    images = write_images(panels, png, gate=gate) if png else []
    if as_json:
        write_json({"report": str(path), "bytes": path.stat().st_size, "images": [str(image) for image in images]})
        return
    note(
        f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)"
        + (f" and {plural(len(images), 'image')} in {png}" if png else "")
    )


def _check(gate: str | None) -> None:
    from skilldelta.evaluation.roster import POLICIES

    if gate is not None and gate not in POLICIES:
        raise unknown_name("policy", gate, POLICIES)


def report_on(
    results: Sequence[PanelResult], path: Path, *, command: str, options: Mapping[str, Any], bank: str | Path
) -> Path:
    """Write the report on panels that were evaluated with these options, and account for what their bank cost."""
    panels = _gathered(results, bank, options, None)
    return _write(panels, path, command=command, shown=_settings(options, results), gate=None)


def _gathered(
    results: Sequence[PanelResult], bank: str | Path, options: Mapping[str, Any], gate: str | None
) -> list[PanelReport]:
    from skilldelta.report import gather

    with ExitStack() as stack:
        advance = stack.enter_context(progress("evidence curves"))
        source = _Source(stack.enter_context(_opened(bank)), options)
        scope: Scope = options["scope"] or "family"
        return gather(results, seed=options["seed"], scope=scope, gate=gate, source=source, progress=advance)


def _opened(bank: str | Path) -> Bank:
    from skilldelta.bank import Bank

    return Bank.open(bank, create=False, readonly=True)


class _Source:
    """What the bank and the options know of an evaluated panel, found by the label that the evaluation gave its agent."""

    def __init__(self, bank: Bank, options: Mapping[str, Any]) -> None:
        from skilldelta.cli.encoding import chosen_encoder
        from skilldelta.cli.panels import label_of

        self._bank = bank
        self._options = options
        self._encoder = chosen_encoder(bank, {"encoder": "wordllama", **options})
        self._agents = {label_of(agent, bank.agents()): agent for agent in bank.agents()}
        self._skill_texts = {skill.skill_id: skill.text for skill in bank.skills() if skill.text}

    def executions(self, result: PanelResult) -> Iterator[Execution]:
        return self._bank.executions(agent=self._agents[result.agent], suite=result.suite)

    def routing(self, result: PanelResult) -> RoutingCost | None:
        from skilldelta.report.routing import measured_routing

        return measured_routing(result.support, self._encoder)

    def left_out(self, result: PanelResult) -> tuple[str, ...]:
        from skilldelta.cli.panels import left_out

        return left_out(self._bank.pairing(agent=self._agents[result.agent], suite=result.suite))

    def scorer(self, policy: str) -> Scorer:
        from skilldelta.cli.panels import scored_policy

        def score(support: Support) -> Floats:
            scores = scored_policy(policy, support, self._options, self._skill_texts).scores
            assert scores is not None
            return scores

        return score


def _write(panels: Sequence[PanelReport], path: Path, *, command: str, shown: dict[str, str], gate: str | None) -> Path:
    from skilldelta.report import write_report

    created = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return write_report(panels, path, command=command, settings=shown, created=created, gate=gate)


def _settings(options: Mapping[str, Any], results: Sequence[PanelResult]) -> dict[str, str]:
    """The settings that numbers depend on, as they were used."""
    return {
        "encoder": ", ".join(sorted({result.support.encoder for result in results})) or options["encoder"],
        "neighbours (k)": str(options["k"]),
        "scope": options["scope"] or "family",
        "weights": options["weighting"],
        "threshold": f"{options['threshold']:g}",
        "seed": str(options["seed"]),
        "bootstrap draws": f"{options['resamples']:,}",
    }


def _command_line(ctx: click.Context, bank: str) -> str:
    """The command with everything that was set by flag, environment or file, and no password."""
    words = ["skilldelta", "report"]
    for parameter in ctx.command.params:
        name, value = str(parameter.name), ctx.params.get(str(parameter.name))
        if value is None or value is False or ctx.get_parameter_source(name) is ParameterSource.DEFAULT:
            continue
        if is_overridden(ctx, name):
            continue
        flag = parameter.opts[0]
        words += [flag] if value is True else [flag, redacted(str(value))]
    return shlex.join(words)
