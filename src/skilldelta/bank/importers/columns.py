"""Which column of a table or a file of rows holds what: the columns as named, then `--map`, then guesses by common names.

A guess is always said, a column that has no place is left out with a note, and where two columns could be meant one line
asks which.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from skilldelta.bank.importers.source import Row, RowError, UnknownColumnsError
from skilldelta.bank.importers.vocabulary import ALIASES, INDEXES, ArmColumn, arm_column, plain_name
from skilldelta.errors import shown

Form = Literal["pairs", "runs"]

TASK = ("task_id", "text", "question", "family", "skill", "skill_digest", "agent", "agent_fingerprint", "suite")
PAIRS = frozenset((*TASK, "y0", "y1", "tokens0", "tokens1", "r0", "r1", "repetitions", "repetition"))
RUNS = frozenset((*TASK, "condition", "repetition", "success", "tokens", "seconds", "cost_usd", "status", "loaded"))
FIELDS = PAIRS | RUNS
_BY_PLAIN_NAME = {plain_name(name): name for name in FIELDS}
_REPEATED = frozenset(("y0", "y1", "tokens0", "tokens1"))
# Keys that files in the field carry beside the outcomes: neither guessed at nor taken for misspelled ones.
_NEVER_STORED = frozenset(("score0", "score1", "metadata", "source"))


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """Where the values of rows with one set of columns go."""

    form: Form
    places: Mapping[str, tuple[str, ...]]
    """Fields to the columns that hold them, several columns being repetitions; none where the row is as it should be."""

    def applied(self, row: Row) -> Row:
        """The row in the words of `pairs.jsonl` or `runs.jsonl`."""
        if not self.places:
            return row
        return {
            name: value_at(row, columns[0]) if len(columns) == 1 else [value_at(row, column) for column in columns]
            for name, columns in self.places.items()
        }

    def placed(self, message: str) -> str:
        """A fault with the column that a field was read from, where that has another name."""
        name = message.split(" ", 1)[0]
        columns = self.places.get(name, (name,))
        return message if columns == (name,) else f"{message} ({name} is the column {shown(columns[0])})"


_PAIRS_AS_THEY_ARE = ColumnPlan("pairs", {})
_RUNS_AS_THEY_ARE = ColumnPlan("runs", {})


@dataclass(slots=True)
class Columns:
    """The plans of one file's rows, made once for each set of columns that occurs, and what there is to say of them."""

    mapping: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Fields to columns as the person who imports says; no column leaves the field out."""
    form: Form | None = None
    given: frozenset[str] = frozenset()
    """Fields that the import's options say, and that need no guess."""
    _plans: dict[tuple[str, ...], ColumnPlan] = field(default_factory=dict)
    _guesses: dict[str, str] = field(default_factory=dict)
    _left_out: dict[str, str] = field(default_factory=dict)
    _doubts: dict[str, None] = field(default_factory=dict)

    def plan(self, row: Row) -> ColumnPlan:
        """Where the row's values go."""
        if not self.mapping:
            keys = row.keys()
            if self.form != "runs" and keys <= PAIRS and "y0" in row and "y1" in row:
                return _PAIRS_AS_THEY_ARE
            if self.form != "pairs" and keys <= RUNS and "condition" in row and "success" in row:
                return _RUNS_AS_THEY_ARE
        names = tuple(row)
        plan = self._plans.get(names)
        if plan is None:
            plan = self._plans[names] = self._made(row)
        return plan

    def notes(self) -> list[str]:
        """What was guessed and what was left out, a line each."""
        notes = [f"took {guess}" for guess in self._guesses.values()]
        if self._left_out:
            notes.append(f"left out: {', '.join(self._left_out.values())}")
        return notes + list(self._doubts)

    def _made(self, row: Row) -> ColumnPlan:
        draft = _Draft(row, self)
        draft.take_mapped(is_first=not self._plans)
        draft.take_named()
        draft.take_arms()
        draft.take_aliases()
        form = draft.form()
        if not self._plans and "task_id" not in self.mapping:
            draft.check_task()
        fields_of_form = PAIRS if form == "pairs" else RUNS
        for name in draft.free:
            self._left_out.setdefault(name, _with_hint(name, fields_of_form - draft.places.keys()))
        for name in draft.places.keys() - fields_of_form:
            self._left_out.setdefault(name, ", ".join(map(shown, draft.places[name])))
        return ColumnPlan(form, {name: columns for name, columns in draft.places.items() if name in fields_of_form})

    def guessed(self, name: str, columns: Sequence[str]) -> None:
        listed = ", ".join(map(shown, columns))
        guess = f"column {listed} as {name}" if len(columns) == 1 else f"columns {listed} as repetitions of {name}"
        self._guesses.setdefault(f"{name}{columns}", guess)

    def doubted(self, name: str, candidates: Sequence[str]) -> None:
        listed = " and ".join(map(shown, candidates))
        self._doubts.setdefault(
            f"{listed} could each be {name}, and neither was taken; choose with --map {name}={candidates[0]}"
        )


@dataclass(slots=True)
class _Draft:
    """One plan in the making: the columns that are still free, and those that have a place."""

    row: Row
    columns: Columns
    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    free: dict[str, str] = field(init=False)  # column to plain name

    def __post_init__(self) -> None:
        self.free = {name: plain_name(name) for name in self.row}

    def take_mapped(self, *, is_first: bool) -> None:
        """What --map says goes before everything; its columns must exist in the first row at least."""
        for name, names in self.columns.mapping.items():
            if not names:
                continue
            columns_of_name = tuple(
                column for column_name in names if (column := self._column(column_name)) is not None
            )
            if len(columns_of_name) < len(names) and is_first:
                missing = next(column_name for column_name in names if self._column(column_name) is None)
                raise RowError(f"--map {name}={missing}: there is no such column; the columns are {_listed(self.row)}")
            if columns_of_name:
                self._take(name, columns_of_name)

    def take_named(self) -> None:
        """Columns that are called as the bank calls them, in any case; a data frame's row numbers go."""
        settled = self.columns.mapping.keys() | ({"question"} if "text" in self.columns.mapping else set())
        for column in sorted(self.free, key=lambda column: column not in FIELDS):  # exact names first
            name = column if column in FIELDS else _BY_PLAIN_NAME.get(self.free[column], "")
            if name and name not in self.places and name not in settled:
                self._take(name, (column,))
        for column in [column for column, plain in self.free.items() if plain in INDEXES]:
            del self.free[column]

    def take_arms(self) -> None:
        """y0, y1 and their tokens under other names, and repetitions in columns of their own."""
        repetitions: dict[str, list[tuple[int, str]]] = {}
        for column, arm in self._arm_columns():
            repetitions.setdefault(arm.field, []).append((-1 if arm.repetition is None else arm.repetition, column))
        for name, listed in repetitions.items():
            columns = tuple(column for _, column in sorted(listed))
            numbers = [number for number, _ in listed]
            if len(columns) > 1 and (-1 in numbers or len(set(numbers)) < len(numbers) or name in self.places):
                self._ask(name, (*self.places.get(name, ()), *columns))
            elif name in self.places and numbers != [-1]:
                self._ask(name, (*self.places[name], *columns))
            elif name not in self.places and name not in self.columns.mapping:
                self._guess(name, columns)
        self._take_use_of_skill_as_condition()

    def take_aliases(self) -> None:
        """Everything else by its common names; an option that says the value spares the guess."""
        by_plain: dict[str, list[str]] = {}
        for column, plain in self.free.items():
            if column not in _NEVER_STORED:
                by_plain.setdefault(plain, []).append(column)
        has_arms = {"y0", "y1"} <= self.places.keys()
        for name, aliases in ALIASES.items():
            if name in self.places or name in self.columns.given or name in self.columns.mapping:
                continue
            if (has_arms and name in RUNS - PAIRS) or (name == "text" and "question" in self.places):
                continue
            candidates = [column for alias in aliases for column in by_plain.get(plain_name(alias), ())]
            if len(candidates) == 1:
                self._guess(name, (candidates[0],))
            elif candidates and name in _NEEDED:
                self._ask(name, candidates)
            elif candidates:
                self.columns.doubted(name, candidates)
        self._take_task()

    def form(self) -> Form:
        """Whether a row is a pair or a run; a row that can be neither is refused with what would make it one."""
        requested = self.columns.form
        if requested is not None:
            return requested
        if "success" in self.places and ("condition" in self.places or "condition" in self.columns.given):
            return "runs"
        if "y0" in self.places or "y1" in self.places:
            return "pairs"
        if "condition" in self.places:
            return "runs"
        raise UnknownColumnsError(
            f"neither y0 and y1 (success without and with the skill) nor condition and success are among the columns "
            f"{_listed(self.row)}; say --map y0=COLUMN --map y1=COLUMN, or --write-mapping FILE to edit a guess",
            {**self.places, "text": self._guessed_text(), "y0": (), "y1": ()},
        )

    def check_task(self) -> None:
        """Refuse a table without a column for the words or the id of a task."""
        if self.places.keys() & {"task_id", "text", "question"}:
            return
        guess = self._guessed_text()
        raise UnknownColumnsError(
            f"no column is known to hold the words of the task; the columns are {_listed(self.row)}; say "
            f"--map text={guess[0] if guess else 'COLUMN'}, or --write-mapping FILE to edit a guess",
            {**self.places, "text": guess},
        )

    def _guessed_text(self) -> tuple[str, ...]:
        """The free column whose value looks most like a task: the longest text with a blank in it."""
        texts = {
            column: value for column in self.free if isinstance(value := self.row[column], str) and " " in value.strip()
        }
        return (max(texts, key=lambda column: len(texts[column])),) if texts else ()

    def _arm_columns(self) -> list[tuple[str, ArmColumn]]:
        arm_columns, plain = [], set(self.free.values())
        for column in self.free:
            arm = None if column in _NEVER_STORED else arm_column(column)
            if arm is None:
                continue
            # score_1 beside score_2 counts repetitions, and is no arm.
            if not (arm.by_digit and arm.repetition is None and f"{self.free[column][:-1]}2" in plain):
                arm_columns.append((column, arm))
        return arm_columns

    def _take_use_of_skill_as_condition(self) -> None:
        """`with_skill` alone beside a success says which arm a run belongs to."""
        if "y1" not in self.places or "y0" in self.places or "condition" in self.places:
            return
        has_success = "success" in self.places or any(plain in ALIASES["success"] for plain in self.free.values())
        if has_success and len(self.places["y1"]) == 1 and "y1" not in self.row:
            column = self.places.pop("y1")
            self.columns._guesses.pop(f"y1{column}", None)
            self._guess("condition", column)

    def _take_task(self) -> None:
        """A column `task` is the id or the text, whichever is missing; with neither, a text has blanks."""
        column = next((column for column, plain in self.free.items() if plain == "task"), None)
        if column is None:
            return
        lacks_text = "text" not in self.places and "question" not in self.places
        lacks_id = "task_id" not in self.places
        has_blanks = any(character.isspace() for character in str(self.row[column]).strip())
        if lacks_text and (not lacks_id or has_blanks):
            self._guess("text", (column,))
        elif lacks_id:
            self._guess("task_id", (column,))

    def _column(self, name: str) -> str | None:
        """The column that a person names: exactly, in another case, or as a dotted path into a JSON object."""
        if name in self.row:
            return name
        plain = plain_name(name)
        same = [column for column in self.row if plain_name(column) == plain]
        if len(same) == 1:
            return same[0]
        return name if _inside(self.row, name) is not _NOWHERE else None

    def _guess(self, name: str, columns: tuple[str, ...]) -> None:
        self._take(name, columns)
        self.columns.guessed(name, columns)

    def _take(self, name: str, columns: tuple[str, ...]) -> None:
        self.places[name] = columns
        for column in columns:
            self.free.pop(column if column in self.row else column.partition(".")[0], None)

    def _ask(self, name: str, candidates: Sequence[str]) -> None:
        """Refuse to choose, with the exact words that do."""
        remedy = f"--map {name}={candidates[0]}"
        if name in _REPEATED:
            several = " ".join(f"--map {name}={column}" for column in candidates)
            remedy = f"{remedy} for that one alone, or {several} for repetitions"
        raise RowError(f"the columns {', '.join(map(shown, candidates))} could each be {name}; say {remedy}")


_NEEDED = frozenset(("task_id", "text", "condition", "success"))
_NOWHERE = object()


def value_at(row: Row, column: str) -> Any:
    """A row's value under a column, or at a dotted path; None where there is none."""
    if column in row:
        return row[column]
    value = _inside(row, column)
    return None if value is _NOWHERE else value


def parse_mapping(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """`--map field=column` as given: a field twice is repetitions, a field without a column is left out."""
    mapping: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, separator, column = text.partition("=")
        name, column = name.strip(), column.strip()
        if not separator or name not in FIELDS:
            near = difflib.get_close_matches(name.lower(), sorted(FIELDS), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; fields are {', '.join(sorted(FIELDS))}"
            raise RowError(f"--map {text}: write FIELD=COLUMN, such as text=prompt{hint}")
        earlier = mapping.get(name, ())
        if earlier and name not in _REPEATED:
            raise RowError(f"--map {name} is given twice; only y0, y1, tokens0 and tokens1 may be several columns")
        mapping[name] = (*earlier, column) if column else ()
    return mapping


def left_out_note(columns: Iterable[str], fields_read: Iterable[str]) -> list[str]:
    """The note on columns that no reader of a format knows, where there are any."""
    listed = ", ".join(_with_hint(column, fields_read) for column in sorted(columns))
    return [f"left out: {listed}"] if listed else []


def _inside(row: Row, path: str) -> Any:
    value: Any = row
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return _NOWHERE
        value = value[key]
    return value


def _with_hint(column: str, fields_read: Iterable[str]) -> str:
    """A column that is left out, with the field that its name may be a misspelling of."""
    near = (
        []
        if column in _NEVER_STORED
        else difflib.get_close_matches(column.lower(), sorted(fields_read), n=1, cutoff=0.8)
    )
    return f"{shown(column)} (did you mean {near[0]!r}? say --map {near[0]}={column})" if near else shown(column)


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(map(shown, listed[:12])) + (f" and {len(listed) - 12} more" if len(listed) > 12 else "")
