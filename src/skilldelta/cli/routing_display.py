"""What `evaluate --routing` prints: which skill recorded tasks would get among all, and what the whole achieves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skilldelta.cli.output import console, percent, signed, span, table
from skilldelta.errors import InputError
from skilldelta.files import read_text
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.metrics import Share
    from skilldelta.studies.routing_study import RoutingResult


def read_prompts(path: Path | None) -> tuple[str, ...]:
    """The messages of --prompts, one a line; blank lines are left out."""
    if path is None:
        return ()
    prompts = tuple(line.strip() for line in read_text(path).splitlines() if line.strip())
    if not prompts:
        raise InputError(f"{path} has no prompt; write one message per line")
    return prompts


def show_routing(result: RoutingResult) -> None:
    """One panel as a table, then the success of the whole in words."""
    out = console()
    title = (
        f"{result.agent} on {result.suite}: {plural(result.tasks, 'task')}, {plural(result.skills, 'skill')} on offer"
    )
    rows = [
        _row("own skill, where its gate says use", result.own),
        _row("own skill, where its gate does not", result.unwanted),
        _row("wrong skill", result.wrong),
        _row("none", result.none),
        _row("everyday prompts that got a skill", result.everyday),
        _row("tasks of a skill not in the bank that got one", result.removed),
    ]
    if result.prompts is not None:
        rows.append(_row("your prompts that got a skill", result.prompts))
    out.print(table(title, ("what happened", "count", "share", "95%"), rows))
    if result.confusions:
        mixed = "; ".join(
            f"{confusion.own} got {confusion.chosen} ({confusion.tasks})" for confusion in result.confusions
        )
        out.remark(f"wrong: {mixed}")
    gained, lost = result.routed - result.off, result.routed - result.supplied
    out.remark(
        f"success of the whole {percent(result.routed)}: {signed(100 * gained, 1)} points against no skill "
        f"(95% {span(result.routed_vs_off)}), {signed(100 * lost, 1)} against the gate with the right skill supplied "
        f"(95% {span(result.routed_vs_supplied)}); every task with its own skill {percent(result.on)}"
    )
    if result.routed_low < result.routed:
        out.remark(
            f"A wrong skill counts as no skill, because its outcome is not recorded; if all of those tasks failed, "
            f"{percent(result.routed_low)}",
            style="dim",
        )
    out.remark("Each tenth of the tasks was taken out of the bank and asked about as new.", style="dim")


def _row(words: str, share: Share) -> list[str]:
    interval = f"{100 * share.low:.1f}…{100 * share.high:.1f}" if share.of else ""
    return [words, f"{share.count} of {share.of}", percent(share.rate), interval]
