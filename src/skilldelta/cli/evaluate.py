"""`skilldelta evaluate`: what would the gate have bought, how sure are we, and against what?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, number, percent, progress, signed, table, write_json
from skilldelta.cli.paper_flags import with_paper_settings
from skilldelta.cli.refitting import refitted, with_refitted
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.cli.refitting import Ranges
    from skilldelta.evaluation.noise_floor import NoiseFloor
    from skilldelta.evaluation.results import PanelResult, PolicyResult
    from skilldelta.evaluation.roster import Rules

TITLES = {
    "always_off": "always off",
    "always_on": "always on",
    "random_matched": "random, same use rate",
    "skilldelta": "SkillDelta (paper)",
    "with_skill_only": "with-skill only",
    "relevance": "relevance",
    "tfidf_knn": "TF-IDF kNN",
    "family_mean": "family mean",
    "ridge": "Ridge",
    "dual_ridge": "dual Ridge",
    "stack": "SkillDelta stack",
    "self_judge": "self-judge",
}


@click.command("evaluate")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@settings.encoder_options
@click.option("--paper", is_flag=True, help="The paper's settings: family, k=6, cosine weights, threshold 0.")
@settings.rule_options
@settings.threshold_option
@settings.seed_option
@settings.resamples_option
@click.option(
    "--partition",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Ridge's own parts: a CSV or JSONL with task_id and split.",
)
@click.option(
    "--refit-intervals",
    is_flag=True,
    help="Also intervals that know of refitting. Every policy is scored 21 times: about 20 times the wait.",
)
@settings.json_option
@settings.output_option
@click.pass_context
def command(ctx: click.Context, /, bank: str, as_json: bool, output: Path | None, **options: Any) -> None:
    """Leave-one-task-out evaluation of every policy on every panel (agent × suite).

    Scores never see their own task's outcome. Intervals are percentile bootstraps over tasks with scores and actions
    fixed; a task's outcome also moves the scores of its neighbours, which only --refit-intervals takes in.
    """
    evaluated = evaluate_with_noise(bank, with_paper_settings(ctx, options))
    if as_json or output:
        write_json({"panels": [_document(one) for one in evaluated]}, output)
        return
    for one in evaluated:
        show_panel(with_refitted(one.panel, one.refitted))
        console().print(f"  noise floor: {one.noise.sentence}\n", style="dim")


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """A panel's results beside how large gains look when nothing differs."""

    panel: PanelResult
    noise: NoiseFloor
    refitted: Ranges
    """Empty unless asked for."""


def evaluate_bank(bank: str, options: dict[str, Any]) -> list[PanelResult]:
    """Evaluate the chosen panels of a bank; also what `report` and `demo` show."""
    return [one.panel for one in evaluate_with_noise(bank, options)]


def evaluate_with_noise(bank: str, options: dict[str, Any]) -> list[Evaluated]:
    """Evaluate the chosen panels of a bank, with everything that `evaluate` itself shows."""
    import numpy as np

    from skilldelta.bank import Bank
    from skilldelta.cli.panels import load_panels
    from skilldelta.evaluation.leave_one_out import evaluate_panels

    with Bank.open(bank, create=False) as opened:
        panels = load_panels(opened, options)
        skill_texts = {skill.skill_id: skill.text for skill in opened.skills() if skill.text}
        judgements = {
            (panel.support.agent, panel.suite): found
            for panel in panels
            if (found := opened.judgements(panel.agent, panel.suite))
        }
    for panel in panels:
        for remark in panel.notes:
            note(f"{panel.agent.name} on {panel.suite}: {remark}")
    rules = _rules(options, skill_texts)
    rng = np.random.default_rng(options["seed"])
    with progress("evaluating") as advance:
        evaluation = evaluate_panels(
            [panel.support for panel in panels],
            settings=rules.settings,
            scope=rules.scope,
            threshold=rules.threshold,
            rng=rng,
            resamples=options["resamples"],
            judgements=judgements,
            skill_texts=skill_texts,
            partition=rules.partition,
            progress=advance,
        )
    return [
        Evaluated(
            result,
            panel.noise,
            refitted(result, rules, judgements.get((result.agent, result.suite)), rng)
            if options.get("refit_intervals")
            else {},
        )
        for result, panel in zip(evaluation.panels, panels, strict=True)
    ]


def _rules(options: dict[str, Any], skill_texts: dict[str, str]) -> Rules:
    from skilldelta.estimators.partition import read_partition
    from skilldelta.evaluation.roster import Rules
    from skilldelta.predictor import Settings

    rule = Settings(k=options["k"], weighting=options["weighting"])
    partition = read_partition(options["partition"]) if options.get("partition") else None
    return Rules(rule, options["scope"] or "family", options["threshold"], skill_texts, partition)


def _document(one: Evaluated) -> dict[str, Any]:
    from skilldelta.evaluation.results import panel_to_dict

    document = {**panel_to_dict(one.panel), "noise_floor": asdict(one.noise)}
    for name, ranges in one.refitted.items():
        found = {metric: asdict(interval) for metric, interval in ranges.items()}
        document["policies"][name]["refitted_intervals"] = found
    return document


def show_panel(panel: PanelResult) -> None:
    """The policy table of one panel."""
    title = f"{panel.agent} on {panel.suite}: {plural(panel.tasks, 'task')} in {plural(panel.families, 'family', 'families')}"
    rows = [_row(name, policy) for name, policy in panel.policies.items()]
    rows.append(["oracle (knows both outcomes)", percent(panel.oracle), *[""] * 7])
    out = console()
    out.print(table(title, _COLUMNS, rows))
    for remark in (
        *panel.notes,
        *(f"{TITLES.get(p.name, p.name)}: {n}" for p in panel.policies.values() for n in p.notes),
    ):
        out.print(f"  {remark}", style="dim")


_COLUMNS = ("policy", "success", "95%", "uses", "tokens/task", "saved", "AUROC", "vs random", "95%")


def _row(name: str, policy: PolicyResult) -> list[str]:
    return [
        TITLES.get(name, name),
        percent(policy.success),
        _range(policy, "success"),
        percent(policy.use_rate, 0),
        number(policy.tokens),
        percent(policy.token_saving),
        "–" if policy.auroc is None else f"{policy.auroc:.3f}",
        signed(100 * policy.advantage_vs_random, 1),
        _range(policy, "advantage_vs_random"),
    ]


def _range(policy: PolicyResult, metric: str) -> str:
    found = policy.intervals.get(metric)
    if found is None or found.low is None or found.high is None:
        return ""
    low, high = (round(100 * end, 1) + 0.0 for end in (found.low, found.high))
    return f"{low:.1f}…{high:.1f}"
