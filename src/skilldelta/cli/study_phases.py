"""The phases of a study from the command line: prepare, plan, collect, judge, tables."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli.collect_running import until_stopped, write_session_logs
from skilldelta.cli.output import console, note, table, write_json
from skilldelta.errors import InputError, MissingExtraError
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.collect.session import Session
    from skilldelta.studies import LoadedPanel
    from skilldelta.studies.paper_table import PaperTable
    from skilldelta.studies.study_folder import StudyFolder
    from skilldelta.suites.base import GivenFiles, PaperSuite

_SHOWN = ("policies", "means", "ablations", "thresholds", "structure")
"""Tables that the terminal shows; the files have all of them."""


class _StoppedError(Exception):
    """The study ends here, with this exit code; what was done stays."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class StudyRun:
    """One start of a study."""

    suite: PaperSuite
    study: StudyFolder
    given: GivenFiles | None
    options: dict[str, Any]

    def show_plan(self) -> int:
        """What would be called and what it may cost; a suite that is not prepared yet is prepared in passing only."""
        with tempfile.TemporaryDirectory(prefix="skilldelta-") as scratch:
            session = self.session(self._folder_to_plan_from(Path(scratch)))
            self._print_plan(session)
        return 0

    def go(self) -> int:
        """Everything, from where the folder stands."""
        try:
            folder = self._prepared()
            self._agree(folder)
            if self.options["prospective"]:
                from skilldelta.cli.study_protocol import run_protocol

                return run_protocol(self, folder)
            self.collect(folder, ())
            self._judge(folder)
            return self._tables()
        except _StoppedError as stopped:
            return stopped.code

    def _prepared(self) -> Path:
        from skilldelta.cli.suite_display import show_prepared
        from skilldelta.studies.study_folder import prepare_once

        made = prepare_once(self.study, self.suite, self.given, self.options["families"])
        if made is not None and not self.options["as_json"]:
            show_prepared(made)
        return self.study.suite(self.suite.name)

    def _folder_to_plan_from(self, scratch: Path) -> Path:
        from skilldelta.collect.suite import SUITE_FILE
        from skilldelta.studies.study_folder import StudyFolder, prepare_once

        is_there = (self.study.suite(self.suite.name) / SUITE_FILE).is_file()
        place = self.study if is_there else StudyFolder(scratch)
        prepare_once(place, self.suite, self.given, self.options["families"])
        return place.suite(self.suite.name)

    def session(self, folder: Path, task_ids: Sequence[str] = ()) -> Session:
        """A session of the collector for the selected tasks, or for these."""
        from skilldelta.cli.collect_session import make_session

        wanted = {**self.options, "bank": str(self.study.bank)}
        if task_ids:
            wanted |= {"task_ids": tuple(task_ids), "families": (), "limit": None}
        return make_session(folder, wanted)

    def _print_plan(self, session: Session) -> None:
        from skilldelta.cli.collect_judging import judge_plan_document
        from skilldelta.cli.collect_plan import plan_document, print_plan

        asks = self._asks(session) and not self.options["prospective"]
        judged = judge_plan_document(session) if asks else None
        if self.options["as_json"]:
            write_json({"collect": plan_document(session), "self_judge": judged})
            return
        if judged is not None:
            console().print(_judging_in_words(judged))
        print_plan(session, False)

    def _asks(self, session: Session) -> bool:
        from skilldelta.collect.agents.base import Asks

        return bool(self.options["self_judge"]) and isinstance(session.agent, Asks)

    def _agree(self, folder: Path) -> None:
        """Show the plan, and ask a person before anything is paid; a program must have said --yes."""
        from skilldelta.cli.collect_judging import judge_plan_document
        from skilldelta.cli.collect_plan import plan_document

        session = self.session(folder)
        plan = plan_document(session)
        left = plan["executions"] - (plan["in_bank"] or 0)
        asks_itself = self._asks(session) and not self.options["prospective"]
        judged = judge_plan_document(session) if asks_itself else {"calls": 0}
        asks = judged["calls"]
        if not left and not asks:
            return
        if not self.options["as_json"]:
            name = session.agent.identity.name
            console().print(
                f"{self.suite.title} with {name}: {_collecting_in_words(plan)}", soft_wrap=True, markup=False
            )
            if asks:
                console().print(_judging_in_words(judged))
        if self.options["yes"]:
            return
        what = f"{plural(left, 'execution')} and {plural(asks, 'question')} to the model itself"
        if not sys.stdin.isatty():
            raise InputError(
                f"this would run {what}; there is no terminal to ask, so say --yes, or look with --dry-run"
            )
        click.confirm(f"Run {what}?", abort=True, err=True)

    def collect(self, folder: Path, task_ids: Sequence[str]) -> None:
        """Both arms of the tasks, as far as the bank lacks them; a stop ends the study."""
        from skilldelta.cli.collect_display import print_interrupted, print_result, progress
        from skilldelta.collect.session import collect

        session = self.session(folder, task_ids)
        with progress() as on_progress:
            result = until_stopped(collect(session, on_progress))
        write_session_logs(session)
        # What a command said of its version is part of who it is, and the phases to come ask who ran.
        self.options["agent_version"] = getattr(session.agent, "version", "")
        if result is None:
            print_interrupted()
            raise _StoppedError(130)
        if not self.options["as_json"]:
            print_result(session, result, None, False)
        if result.stopped or result.standing.came_to_nothing:
            note(f"the study stops here: {result.stopped or 'no execution has a result'}")
            raise _StoppedError(1)

    def _judge(self, folder: Path) -> None:
        from skilldelta.cli.collect_display import print_interrupted
        from skilldelta.cli.collect_judging import judge_plan_document
        from skilldelta.cli.output import progress
        from skilldelta.collect.self_judging import judge

        session = self.session(folder)
        if not self._asks(session):
            if self.options["self_judge"]:
                note("a command-line agent cannot be asked for its own judgement; the tables leave self-judge out")
            return
        if not judge_plan_document(session)["calls"]:
            return
        with progress("judging") as advance:
            standing = until_stopped(judge(session, lambda one: advance(one.before + one.finished, one.planned)))
        if standing is None:
            print_interrupted()
            raise _StoppedError(130)
        if standing.errors:
            note(
                f"{standing.errors} questions got no answer, the last one: {standing.last_error}; run again to ask them"
            )
        if standing.stopped:
            note(f"the study stops here: {standing.stopped}")
            raise _StoppedError(1)

    def _tables(self) -> int:
        from skilldelta.cli.arguments import note_left_out
        from skilldelta.cli.output import step_bars
        from skilldelta.files import write_text
        from skilldelta.studies import EvaluationSettings, evaluate
        from skilldelta.studies.paper_policies import paper_tables
        from skilldelta.studies.table_text import tables_document, tables_markdown

        panels = self._panels()
        note_left_out(panels)
        asked = EvaluationSettings(seed=self.options["seed"], resamples=self.options["resamples"], shuffles=0)
        with step_bars() as advance:
            evaluated = evaluate(panels, asked, progress=advance)
            tables = paper_tables(evaluated)
        write_json(tables_document(tables), self.study.tables)
        write_text(self.study.tables.with_suffix(".md"), tables_markdown(tables))
        self._report(evaluated)
        if self.options["as_json"]:
            write_json({"folder": str(self.study.path), "panels": len(panels), "tables": tables_document(tables)})
        else:
            _show_tables(tables)
            files = [self.study.tables, self.study.tables.with_suffix(".md"), self.study.report]
            note(f"all tables and the report: {', '.join(str(file) for file in files if file.exists())}")
        return 0

    def _panels(self) -> list[LoadedPanel]:
        from skilldelta.bank import Bank
        from skilldelta.cli.arguments import panels_of

        with Bank.open(str(self.study.bank), create=False) as bank:
            return panels_of(bank, {**self.options, "agent": None, "suite": None})

    def _report(self, evaluated: Any) -> None:
        from skilldelta.cli.output import step_bars
        from skilldelta.studies import report_on

        created = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            with step_bars() as advance:
                report_on(evaluated, self.study.report, command="skilldelta study", created=created, progress=advance)
        except MissingExtraError as error:
            note(str(error))


def _collecting_in_words(plan: Mapping[str, Any]) -> str:
    had = f", {plan['in_bank']:,} of them in the bank" if plan["in_bank"] else ""
    return f"{plural(plan['executions'], 'execution')} of {plural(plan['tasks'], 'task')}{had}, {_largest(plan)}."


def _judging_in_words(judged: Mapping[str, Any]) -> str:
    return f"Self-judgements: {plural(judged['calls'], 'question')} to the model itself, {_largest(judged)}."


def _largest(plan: Mapping[str, Any]) -> str:
    from skilldelta.cli.collect_plan import largest_in_words
    from skilldelta.collect.budget import Amount

    return largest_in_words(Amount(**plan["largest"]))


def _show_tables(tables: Sequence[PaperTable]) -> None:
    from skilldelta.studies.table_text import written

    for one in tables:
        if one.key in _SHOWN and one.rows:
            rows = [
                [written(cell, column.kind) for column, cell in zip(one.columns, row, strict=True)] for row in one.rows
            ]
            left = sum(column.kind == "text" for column in one.columns)
            console().print(table(one.title, [column.name for column in one.columns], rows, left=left))
