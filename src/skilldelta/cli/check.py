"""`skilldelta check`: a gate for CI on what skills are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, plain_minus, progress, signed, table, write_json
from skilldelta.cli.reading_options import reading_of, reading_options
from skilldelta.cli.settings import GivenPath, OutputPath
from skilldelta.cli.step_summary import step_summary_option, write_markdown
from skilldelta.errors import InputError, shown
from skilldelta.files import write_text

if TYPE_CHECKING:
    from skilldelta.records import Condition
    from skilldelta.studies import ComparedSide, SkillGains, SkillsChecked

# Shells keep the codes above for themselves.
_LARGEST_CODE = 125


@click.command("check")
@click.argument("sources", nargs=-1, type=GivenPath(), metavar="[SOURCE…]")
@settings.bank_option
@click.option("--without", type=GivenPath(), metavar="FILE", help="Results without the skill, of one arm only.")
@click.option("--with", "treated", type=GivenPath(), metavar="FILE", help="Results with the skill, of one arm only.")
@reading_options
@settings.agent_option
@settings.suite_option
@click.option("--skill", metavar="NAME", help="Only this skill; the name of the skill of --with.")
@click.option("--min-gain", type=float, default=0.0, help="What the gain must be above; 0.05 is 5 points.")
@click.option("--confidence", type=float, default=0.95, help="The confidence of each one-sided limit.")
@click.option(
    "--baseline", type=GivenPath(dir_okay=False), metavar="FILE", help="Earlier gains that must not get worse."
)
@click.option(
    "--since-baseline",
    metavar="VERSION",
    help='An earlier version of the skill in the same results that the newest must not be worse than; "previous" is the one before.',
)
@click.option("--tolerance", type=float, default=0.05, help="How much worse than the baseline is still good.")
@click.option("--write-baseline", type=OutputPath(), metavar="FILE", help="Write the present gains, for later checks.")
@click.option(
    "--on-too-little",
    default="pass",
    metavar="pass|fail|CODE",
    help='What "not enough evidence" does: pass, fail, or exit with a code of your own.',
)
@click.option("--junit", type=OutputPath(), metavar="FILE", help="Write JUnit XML.")
@click.option("--markdown", type=OutputPath(), metavar="FILE", help="Write a Markdown summary, for a pull request.")
@step_summary_option
@settings.resamples_option
@settings.seed_option
@settings.document_options
@progress("checking skills")
def command(sources: tuple[Path, ...], as_json: bool, output: Path | None, on_too_little: str, **options: Any) -> int:
    """Exit with 1 when a skill's gain is below a bound, or worse than a baseline, with the asked confidence.

    The gains come from result files of any format that import reads, from two files of one arm each (--without, --with),
    or from the bank. Three outcomes: holds, does not hold, and not enough evidence, whose exit code is yours to choose.

    \b
    skilldelta check pairs.jsonl --min-gain 0.02 --junit junit.xml
    skilldelta check --without off.eval --with on.eval --skill my-skill
    skilldelta check --bank skilldelta.bank --baseline baseline.json
    """
    from skilldelta.cli.arguments import created_now, settings_in
    from skilldelta.evaluation.gain_checks import CheckSettings
    from skilldelta.studies import check_skills, checked_to_dict, read_baseline, write_baseline

    # A result of an earlier check must not pass for this one's, should this one end in an error.
    for stale in (output, options["junit"], options["markdown"]):
        if stale is not None and stale.is_file():
            stale.unlink()
    paths = (*sources, *(path for path in (options["without"], options["treated"]) if path))
    options["said"], options["format_"] = reading_of(options, paths)
    check_settings, without_evidence = settings_in(options, CheckSettings), _exit_code(on_too_little)
    baseline = _asked_for(read_baseline(options["baseline"]), options) if options["baseline"] else ()
    if options["baseline"] and options["since_baseline"]:
        raise InputError("--baseline and --since-baseline are two baselines; give one")
    measured, notes = _measured(sources, options)
    if options["since_baseline"]:
        baseline = _of_version(sources, options)
    for remark in notes:
        note(remark)
    checked = check_skills(measured, check_settings, baseline=baseline, notes=notes)
    if options["write_baseline"]:
        write_baseline(options["write_baseline"], measured, created=created_now())
        note(f"wrote {options['write_baseline']}")
    default = f'"not enough evidence" exits with {without_evidence} here; --on-too-little {on_too_little} says so'
    _write(checked, options, fail_on_too_little=without_evidence == 1, default=default)
    if as_json or output:
        write_json({**checked_to_dict(checked), "on_too_little": without_evidence}, output)
    else:
        _show(checked)
        if checked.outcome == "not enough evidence":
            note(default)
    return {"pass": 0, "fail": 1, "not enough evidence": without_evidence}[checked.outcome]


def _of_version(sources: Sequence[Path], options: dict[str, Any]) -> list[SkillGains]:
    """The gains of an earlier version in the same results."""
    from skilldelta.studies import ArmChoice, bank_runs, read_runs
    from skilldelta.studies.check_study import version_gains

    choice = ArmChoice(agent=options["agent"], skill=options["skill"], suite=options["suite"])
    if sources:
        recorded = [
            read_runs(path, format=options["format_"], choice=choice, defaults=options["said"]) for path in sources
        ]
    else:
        from skilldelta.bank import Bank
        from skilldelta.studies.version_history import in_bank_order

        with Bank.open(options["bank"], create=False) as bank:
            recorded = [in_bank_order(bank, bank_runs(bank, choice))]
    return [
        gains for one in recorded for gains in version_gains(one, options["since_baseline"], skill=options["skill"])
    ]


def _exit_code(word: str) -> int:
    """What "not enough evidence" exits with."""
    words = {"pass": 0, "fail": 1}
    if word in words:
        return words[word]
    if word.isascii() and word.isdigit() and len(word) <= 3 and int(word) <= _LARGEST_CODE:
        return int(word)
    raise InputError(f"--on-too-little is pass, fail or an exit code from 0 to {_LARGEST_CODE}, got {shown(word)}")


def _asked_for(baseline: Sequence[SkillGains], options: dict[str, Any]) -> list[SkillGains]:
    """The part of a baseline that this check is about."""
    filters = [(options[name], name) for name in ("agent", "suite", "skill") if options[name]]
    return [gains for gains in baseline if all(getattr(gains, name) == value for value, name in filters)]


def _measured(sources: Sequence[Path], options: dict[str, Any]) -> tuple[Sequence[SkillGains], tuple[str, ...]]:
    """The gains, and what the results leave out."""
    two = [options["without"], options["treated"]]
    if any(two):
        if not all(two) or sources:
            raise InputError("--without and --with go together, and without other sources")
        return _of_two_files(options)
    return _of_files(sources, options) if sources else _of_bank(options)


def _of_two_files(options: dict[str, Any]) -> tuple[Sequence[SkillGains], tuple[str, ...]]:
    from skilldelta.studies import compare_sides, compared_gains
    from skilldelta.studies.comparison_study import ComparisonSettings

    a, b = _side(options, "without", "skip"), _side(options, "treated", "use")
    if a.agent != b.agent:
        raise InputError(
            f"--without is of {a.agent}, --with of {b.agent}; a gain is of one agent: run both arms with it"
        )
    compared = compare_sides(a, b, ComparisonSettings(resamples=0))
    unpaired = [f"{count} tasks not paired: {reason}" for reason, count in compared.unpaired_by_reason.items()]
    skill = options["skill"] or next(
        (run.skill_id for runs in b.runs.values() for run in runs if run.skill_id), "unnamed"
    )
    return compared_gains(compared, skill), (*a.notes, *b.notes, *unpaired, *compared.warnings)


def _side(options: dict[str, Any], name: str, arm: Condition) -> ComparedSide:
    from skilldelta.studies import ArmChoice, one_side, read_runs

    path: Path = options[name]
    choice = ArmChoice(agent=options["agent"], suite=options["suite"])
    recorded = read_runs(path, format=options["format_"], choice=choice, stands_for=arm, defaults=options["said"])
    held = {execution.condition for execution in recorded.executions}
    if held != {arm}:
        there = "both arms" if len(held) == 2 else "the other arm"
        raise InputError(f"{path}: holds {there}; name a file with both as SOURCE, or the right one")
    return one_side(recorded, replace(choice, condition=arm))


def _of_files(sources: Sequence[Path], options: dict[str, Any]) -> tuple[Sequence[SkillGains], tuple[str, ...]]:
    from skilldelta.bank.importers import UnsaidError
    from skilldelta.studies import ArmChoice, read_runs, recorded_gains
    from skilldelta.studies.check_study import recorded_notes

    choice = ArmChoice(agent=options["agent"], skill=options["skill"], suite=options["suite"])
    measured: list[SkillGains] = []
    notes: list[str] = []
    for path in sources:
        try:
            recorded = read_runs(path, format=options["format_"], choice=choice, defaults=options["said"])
        except UnsaidError as error:
            unsaid = f"{path}: its runs do not say whether the skill was used"
            options_needed = " ".join(question.option for question in error.questions[:4])
            raise InputError(
                f"{unsaid}; say {options_needed}, or give both arms, as --without FILE --with FILE"
            ) from None
        chosen = [
            gains
            for gains in recorded.executions
            if options["agent"] in (None, gains.agent.name) and options["suite"] in (None, gains.suite)
        ]
        recorded = replace(recorded, executions=chosen)
        measured += recorded_gains(recorded, skill=options["skill"])
        notes += recorded_notes(recorded)
    keys = Counter(gains.key for gains in measured)
    for gains in measured:
        if keys[gains.key] > 1:
            twice = f"the skill {gains.skill!r} of {gains.agent} stands in two sources"
            raise InputError(f"{twice}; import both into a bank, or name one")
    return measured, tuple(notes)


def _of_bank(options: dict[str, Any]) -> tuple[Sequence[SkillGains], tuple[str, ...]]:
    from skilldelta.bank import Bank
    from skilldelta.cli.arguments import choice_of
    from skilldelta.studies import bank_gains
    from skilldelta.studies.loaded_panel import left_out, paired_records

    with Bank.open(options["bank"], create=False) as bank:
        notes = [remark for panel in paired_records(bank, choice_of(options)) for remark in left_out(panel.pairing)]
        return bank_gains(bank, choice_of(options), skill=options["skill"]), tuple(notes)


def _write(checked: SkillsChecked, options: dict[str, Any], *, fail_on_too_little: bool, default: str) -> None:
    from skilldelta.studies import check_junit, check_markdown

    if options["junit"]:
        xml = check_junit(checked, fail_on_too_little=fail_on_too_little)
        write_text(options["junit"], xml, errors="replace")
        note(f"wrote {options['junit']}")
    write_markdown(options, lambda: f"{check_markdown(checked)}\n{default[0].upper()}{default[1:]}.\n")


def _show(checked: SkillsChecked) -> None:
    from skilldelta.report.check_words import OUTCOME_WORDS, check_sentence

    out = console()
    rows = []
    for skill in checked.skills:
        gain = next((check.mean for check in skill.checks if check.rule == "gain"), None)
        value = "" if gain is None else signed(100 * gain.mean, 1)
        rows.append([skill.skill, skill.outcome, value, "" if gain is None else str(gain.tasks)])
    out.print(table("Skills", ("skill", "outcome", "gain", "tasks"), rows, left=2))
    for skill in checked.skills:
        sentence = "; ".join([*map(check_sentence, skill.checks), *skill.remarks])
        out.remark(plain_minus(f"{skill.skill}: {sentence}"))
    out.print(f"\n{OUTCOME_WORDS[checked.outcome]}.", style="bold")
