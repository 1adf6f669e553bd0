"""The phases of a study from the command line: prepare, plan, collect, judge, tables."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilldelta.cli.collect import run_collection, run_judging
from skilldelta.cli.output import confirm, console, note, progress, table, write_json
from skilldelta.errors import InputError, MissingExtraError, unknown_name
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.collect.session import Session
    from skilldelta.paper import PaperTable
    from skilldelta.paper.headline_runs import HeadlineRuns
    from skilldelta.paper.study_folder import StudyFolder
    from skilldelta.paper.suites.base import GivenFiles, PaperSuite
    from skilldelta.studies import Evaluated, EvaluationSettings, LoadedPanel

# Tables that the terminal shows; the files have all of them.
_SHOWN = ("inventory", "policies", "means", "counts", "ablations", "thresholds", "graders", "prospective")


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
            # Files and options of the tables are read before anything is paid.
            self.evaluation_settings()
            self.headline_runs()
            self._check_ridge_options()
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
        from skilldelta.cli.suite import show_prepared
        from skilldelta.paper.study_folder import prepare_once

        prepared = prepare_once(self.study, self.suite, self.given, self.options["families"])
        if prepared is not None and not self.options["as_json"]:
            show_prepared(prepared)
        return self.study.suite(self.suite.name)

    def _folder_to_plan_from(self, scratch: Path) -> Path:
        from skilldelta.collect.suite import SUITE_FILE
        from skilldelta.paper.study_folder import StudyFolder, prepare_once

        is_there = (self.study.suite(self.suite.name) / SUITE_FILE).is_file()
        place = self.study if is_there else StudyFolder(scratch)
        prepare_once(place, self.suite, self.given, self.options["families"])
        return place.suite(self.suite.name)

    def session(self, folder: Path, task_ids: Sequence[str] = ()) -> Session:
        """A session of the collector for the selected tasks, or for these."""
        from skilldelta.cli.collect_session import make_session

        options = {**self.options, "bank": str(self.study.bank)}
        if task_ids:
            options |= {"task_ids": tuple(task_ids), "families": (), "limit": None}
        return make_session(folder, options)

    def _print_plan(self, session: Session) -> None:
        from skilldelta.cli.collect_plan import plan_document, print_plan

        judged = self._judge_plan(session)
        if self.options["as_json"]:
            write_json({"collect": plan_document(session), "self_judge": judged})
            return
        if judged is not None:
            console().print(_judging_in_words(judged))
        print_plan(session, False)

    def _judge_plan(self, session: Session) -> dict[str, Any] | None:
        """The plan of the self-judgements; None where this study asks for none."""
        from skilldelta.cli.collect_plan import judge_plan_document

        asks = self._asks(session) and not self.options["prospective"]
        return judge_plan_document(session) if asks else None

    def _asks(self, session: Session) -> bool:
        from skilldelta.collect.agents.base import Asks

        return bool(self.options["self_judge"]) and isinstance(session.agent, Asks)

    def _agree(self, folder: Path) -> None:
        """Show the plan, and ask a person before anything is paid; a program must have said --yes."""
        from skilldelta.cli.collect_plan import plan_document

        session = self.session(folder)
        plan, judged = plan_document(session), self._judge_plan(session)
        left = plan["executions"] - (plan["in_bank"] or 0)
        asks = judged["calls"] if judged else 0
        if not left and not asks:
            return
        if not self.options["as_json"]:
            name = session.agent.identity.name
            console().print(f"{self.suite.title} with {name}: {_collecting_in_words(plan)}", soft_wrap=True)
            if judged and asks:
                console().print(_judging_in_words(judged))
        if not self.options["yes"]:
            what = f"{plural(left, 'execution')} and {plural(asks, 'question')} to the model itself"
            confirm(f"Run {what}?", otherwise=f"this would run {what} (look first with --dry-run);")

    def collect(self, folder: Path, task_ids: Sequence[str]) -> None:
        """Both arms of the tasks, as far as the bank lacks them; a stop ends the study."""
        from skilldelta.cli.collect_display import print_result

        session = self.session(folder, task_ids)
        result = run_collection(session)
        # What a command said of its version is part of who it is, and the phases to come ask who ran.
        self.options["agent_version"] = getattr(session.agent, "version", "")
        if result is None:
            raise _StoppedError(130)
        if not self.options["as_json"]:
            print_result(session, result, None, False)
        if result.stopped or result.progress.came_to_nothing:
            note(f"the study stops here: {result.stopped or 'no execution has a result'}")
            raise _StoppedError(1)

    def _judge(self, folder: Path) -> None:
        from skilldelta.cli.collect_plan import judge_plan_document

        session = self.session(folder)
        if not self._asks(session):
            if self.options["self_judge"]:
                note("a command-line agent cannot be asked for its own judgement; the tables leave self-judge out")
            return
        if not judge_plan_document(session)["calls"]:
            return
        progress = run_judging(session)
        if progress is None:
            raise _StoppedError(130)
        if progress.errors:
            note(
                f"{progress.errors} questions got no answer, the last one: {progress.last_error}; run again to ask them"
            )
        if progress.stopped:
            note(f"the study stops here: {progress.stopped}")
            raise _StoppedError(1)

    def _tables(self) -> int:
        from skilldelta.cli.arguments import panels_in
        from skilldelta.cli.evaluate import run_evaluation
        from skilldelta.paper import beside_paper, paper_tables
        from skilldelta.paper.grader_table import grader_table
        from skilldelta.paper.headline_runs import headline_panels
        from skilldelta.paper.prospective_table import prospective_table
        from skilldelta.paper.study_folder import write_tables
        from skilldelta.paper.table import tables_document

        every_run = panels_in(str(self.study.bank), {**self.options, "agent": None, "suite": None})
        runs = self.headline_runs()
        panels = headline_panels(every_run, runs)
        evaluated = run_evaluation(panels, self.evaluation_settings())
        evaluated, ridge_note = self._with_ridge_encoder(evaluated)
        with progress("tables"):
            notes = {"outcomes_note": runs.note(panels), "ridge_note": ridge_note}
            tables = [*paper_tables(evaluated, every_run=every_run, **notes), grader_table(self.study)]
            prospective = prospective_table(self.study)
        if prospective.rows:
            tables.append(prospective)
        if self.options["beside_paper"]:
            tables = beside_paper(tables)
        write_tables(self.study, tables)
        self._report(evaluated, every_run)
        if self.options["as_json"]:
            write_json({"folder": str(self.study.path), "panels": len(panels), "tables": tables_document(tables)})
        else:
            _show_tables(tables)
            files = [self.study.tables.with_suffix(ending) for ending in (".json", ".md", ".tex")]
            files += [self.study.path / "tables", self.study.figures, self.study.report]
            note(f"all tables and the report: {', '.join(str(file) for file in files if file.exists())}")
        return 0

    def headline_runs(self) -> HeadlineRuns:
        """--headline-runs."""
        from skilldelta.paper.headline_runs import HeadlineRuns

        return HeadlineRuns.parse(self.options["headline_runs"])

    def evaluation_settings(self) -> EvaluationSettings:
        """What the tables depend on; a file that cannot be read is refused."""
        from skilldelta.cli.evaluate import settings_of

        names = ("seed", "resamples", "partition", "relevance")
        return settings_of({**{name: self.options[name] for name in names}, "shuffles": 0})

    def _check_ridge_options(self) -> None:
        for name in ("encoder_url", "encoder_model", "agent"):
            if self.options[f"ridge_{name}"] and not self.options["ridge_encoder"]:
                raise InputError(f"--ridge-{name.replace('_', '-')} belongs to --ridge-encoder; add it")

    def _with_ridge_encoder(self, evaluated: Evaluated) -> tuple[Evaluated, str]:
        """The study with Ridge on the vectors of --ridge-encoder, and what to say of it; as it is without that option."""
        from skilldelta.cli.arguments import panels_in
        from skilldelta.paper.ridge_encoder import with_ridge_of

        encoder, name = self.options["ridge_encoder"], self.options["ridge_agent"]
        if not encoder:
            return evaluated, ""
        # One name has another fingerprint on every suite, since each suite has settings of its own.
        chosen = [item.panel for item in evaluated.panels if name in (None, item.panel.agent.name)]
        if not chosen:
            raise unknown_name("agent", name, sorted({item.panel.agent.name for item in evaluated.panels}))
        options = {
            **self.options,
            "encoder": encoder,
            **{option: self.options[f"ridge_{option}"] for option in ("encoder_url", "encoder_model")},
        }
        panels = [
            loaded
            for panel in chosen
            for loaded in panels_in(
                str(self.study.bank),
                {**options, "agent": f"{panel.agent.name}@{panel.agent.fingerprint}", "suite": panel.suite},
            )
        ]
        labels = {(panel.agent, panel.suite): panel.support.agent for panel in chosen}
        panels = [
            replace(panel, support=replace(panel.support, agent=labels[panel.agent, panel.suite])) for panel in panels
        ]
        whose = f" for {name}" if name else ""
        return with_ridge_of(evaluated, panels), f"Ridge has the vectors of {panels[0].support.encoder}{whose}"

    def _report(self, evaluated: Evaluated, every_run: Sequence[LoadedPanel]) -> None:
        from skilldelta.cli.report import write_report_on
        from skilldelta.files import write_bytes
        from skilldelta.paper.panel_figures import panel_figures

        try:
            write_report_on(evaluated, self.study.report, command="skilldelta study")
            self.study.figures.mkdir(parents=True, exist_ok=True)
            for name, draw in panel_figures(evaluated, every_run).items():
                write_bytes(self.study.figures / f"{name}.png", draw())
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
    from skilldelta.paper.table import written

    for one in tables:
        if one.key in _SHOWN and one.rows:
            rows = [
                [written(cell, column.kind) for column, cell in zip(one.columns, row, strict=True)] for row in one.rows
            ]
            left = sum(column.kind == "text" for column in one.columns)
            console().print(table(one.title, [column.name for column in one.columns], rows, left=left))
