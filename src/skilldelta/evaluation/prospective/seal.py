"""The sealed file of a prospective panel: what it holds, its hashes, and how it is read and written.

One JSON document with four hashed sections (settings, support, targets, predictions) and a seal over all of them. The
hashes show any change to the file. To prove that the file itself is old, publish the seal (64 characters) where it cannot
be changed, and give it to the audit.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.errors import InputError, shown
from skilldelta.evaluation.amendments import Exclusion
from skilldelta.files import MOST_DOCUMENT, read_text, write_text
from skilldelta.gate import Action
from skilldelta.json_text import decode_json
from skilldelta.renames import ESTIMATORS
from skilldelta.support import Support

# Settings of a gate beyond the estimator, its neighbors and the threshold; a plain panel is sealed without them.
GATE_FIELDS = (
    "rule",
    "interval",
    "level",
    "familiarity_limit",
    "prior_gain",
    "success_worth",
    "price",
    "lipschitz",
    "epsilon",
)
FORMAT = "skilldelta-sealed-panel"
VERSION = 1
SECTIONS = ("settings", "support", "targets", "predictions")

Record = TypeVar("Record")
# Beyond it a number of a sealed panel is no number that a prediction or a count can have.
_LARGEST = 2**53
_DIGITS = 16  # of a row's digests, which only have to tell rows apart; sections have whole hashes


@dataclass(frozen=True, slots=True)
class SealedSettings:
    """Everything that decides a prediction besides the evidence."""

    agent: str
    suite: str
    encoder: str
    estimator: str
    scope: str
    k: int | None
    weighting: str
    label: str
    elsewhere: int | None
    threshold: float
    threshold_rule: str | None
    """The rule behind the threshold; None where it was given as a number."""
    estimator_version: str | None = None
    """The SkillDelta whose code predicted; None for the paper's rule, which its settings define."""
    excluded: tuple[Exclusion, ...] = ()
    """Tasks that were left out by name."""
    rule: str | None = None
    """The gate's rule; None in a file of the plain comparison of gains with the threshold, as in every older file."""
    interval: str | None = None
    level: float | None = None
    familiarity_limit: float | None = None
    prior_gain: float | None = None
    success_worth: float | None = None
    price: float | None = None
    lipschitz: float | None = None
    epsilon: float | None = None

    @property
    def present_estimator(self) -> str:
        """The estimator by its present name; `estimator` stays as it was sealed and hashed."""
        return ESTIMATORS.get(self.estimator, self.estimator)


@dataclass(frozen=True, slots=True)
class SealedRow:
    """One pair of the support: who it is, and short digests that tell whether it changed."""

    task_id: str
    skill: str
    family: str
    evidence: str
    vector: str


@dataclass(frozen=True, slots=True)
class SealedTarget:
    """A task whose outcomes do not exist yet."""

    task_id: str
    skill: str
    family: str
    text: str
    vector: str


@dataclass(frozen=True, slots=True)
class SealedPrediction:
    """What was predicted and decided for one target, and from which rows."""

    task_id: str
    skill: str
    gain: float
    action: Action
    eligible: int
    neighbors: tuple[str, ...]
    """Task ids, nearest first."""
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SealedPanel:
    """A frozen panel with the hashes it was sealed with."""

    created: str
    settings: SealedSettings
    support: tuple[SealedRow, ...]
    targets: tuple[SealedTarget, ...]
    predictions: tuple[SealedPrediction, ...]
    hashes: Mapping[str, str]

    @property
    def seal(self) -> str:
        """The one hash over everything."""
        return self.hashes["seal"]

    def altered_sections(self) -> tuple[str, ...]:
        """Sections that no longer have their hash, and `seal` where the hashes or the date no longer have theirs."""
        now = section_hashes(self)
        altered = tuple(name for name in SECTIONS if now[name] != self.hashes.get(name))
        intact = _seal_of(self.created, self.hashes) == self.hashes.get("seal")
        return altered if intact else (*altered, "seal")


def seal(
    settings: SealedSettings,
    support: Sequence[SealedRow],
    targets: Sequence[SealedTarget],
    predictions: Sequence[SealedPrediction],
    *,
    created: str,
) -> SealedPanel:
    """Close a panel: from here on every change shows."""
    unsealed = SealedPanel(created, settings, tuple(support), tuple(targets), tuple(predictions), {})
    return replace(unsealed, hashes=section_hashes(unsealed))


def section_hashes(panel: SealedPanel) -> dict[str, str]:
    """SHA-256 of each section's canonical JSON, and the seal over all of them."""
    content = _content(panel)
    hashes = {name: sha256(canonical(content[name])) for name in SECTIONS}
    return hashes | {"seal": _seal_of(panel.created, hashes)}


def _content(panel: SealedPanel) -> dict[str, Any]:
    """The panel as it is hashed and written; an estimator without a version leaves the field out, as older files do."""
    content = asdict(panel)
    if panel.settings.estimator_version is None:
        del content["settings"]["estimator_version"]
    if not panel.settings.excluded:
        del content["settings"]["excluded"]
    for name in GATE_FIELDS:
        if content["settings"][name] is None:
            del content["settings"][name]
    return content


def _seal_of(created: str, hashes: Mapping[str, str]) -> str:
    head = {"format": FORMAT, "version": VERSION, "created": created}
    return sha256(canonical(head | {name: hashes.get(name) for name in SECTIONS}))


def canonical(value: Any) -> str:
    """One text for one value: sorted keys, no spaces, shortest exact numbers; NaN has no place in it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text: str | bytes) -> str:
    """Hexadecimal SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text).hexdigest()


def sealed_rows(support: Support) -> list[SealedRow]:
    """The rows of a support as digests, in record order."""
    numbers = np.column_stack(
        [support.y0, support.y1, support.r0, support.r1, support.tokens0, support.tokens1]
    ).tolist()
    return [
        SealedRow(
            task_id=str(support.task_ids[i]),
            skill=str(support.skills[i]),
            family=str(support.families[i]),
            evidence=sha256(canonical([None if np.isnan(x) else x for x in numbers[i]]))[:_DIGITS],
            vector=vector_digest(support.vectors[i]),
        )
        for i in range(len(support))
    ]


def pair_keys(support: Support) -> list[tuple[str, str]]:
    """The task and the skill of each row: what joins predictions to outcomes."""
    return list(zip(support.task_ids.tolist(), support.skills.tolist(), strict=True))


def vector_digest(vector: Vectors) -> str:
    """A short digest of a vector's exact values."""
    return sha256(np.ascontiguousarray(vector, dtype="<f4").tobytes())[:_DIGITS]


def write_sealed(panel: SealedPanel, path: Path, *, overwrite: bool = False) -> None:
    """Write atomically. A file that exists is not replaced unless asked: it may be someone's only proof."""
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists already; choose another name, or replace it with --overwrite")
    document = {"format": FORMAT, "version": VERSION, **_content(panel)}
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text, errors="surrogatepass")


def read_sealed(path: Path) -> SealedPanel:
    """Read a sealed file as it is; whether it was altered is the audit's to say."""
    if not path.exists():
        raise InputError(f"{path} does not exist; freeze a panel first")
    text = read_text(path, most=MOST_DOCUMENT, errors="surrogatepass")
    try:
        document = decode_json(text, parse_constant=_no_number)
    except ValueError as error:
        raise InputError(f"{path} cannot be read as a sealed panel: {str(error)[:200]}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"{path} is not a sealed panel; give a file that freeze wrote")
    if document.get("version") != VERSION:
        raise InputError(
            f"{path} has version {shown(document.get('version'))}, this SkillDelta reads version {VERSION}"
        )
    try:
        return _panel(document)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {str(error)[:200]}; give the file as freeze wrote it") from None


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of a sealed panel")


def _panel(document: Mapping[str, Any]) -> SealedPanel:
    settings = document["settings"]
    excluded = tuple(_record(Exclusion, exclusion) for exclusion in settings.get("excluded", ()))
    panel = SealedPanel(
        created=document["created"],
        settings=_record(SealedSettings, {**settings, "excluded": excluded}),
        support=tuple(_record(SealedRow, row) for row in document["support"]),
        targets=tuple(_record(SealedTarget, target) for target in document["targets"]),
        predictions=tuple(_record(SealedPrediction, item) for item in document["predictions"]),
        hashes=dict(document["hashes"]),
    )
    if not all(isinstance(text, str) for text in (panel.created, *panel.hashes, *panel.hashes.values())):
        raise TypeError("the date and the hashes must be texts")
    return panel


def _record(kind: type[Record], values: Any) -> Record:
    """A row of the file with every field of its type; whoever edits a file may leave anything there."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in dict(values).items()}
    record = kind(**fields)
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        value = getattr(record, field.name)
        if not _fits(value, str(field.type)):
            raise TypeError(f"{field.name} is {shown(value)}")
    return record


def _fits(value: Any, kind: str) -> bool:
    """Whether a value of the file can stand in a field of this type, as the annotation spells it."""
    if kind.endswith(" | None"):
        return value is None or _fits(value, kind.removesuffix(" | None"))
    if kind.startswith("tuple["):
        inner = kind.removeprefix("tuple[").removesuffix(", ...]")
        return isinstance(value, tuple) and all(_fits(item, inner) for item in value)
    if kind == "float":
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST
    return isinstance(value, Exclusion) if kind == "Exclusion" else isinstance(value, str)
