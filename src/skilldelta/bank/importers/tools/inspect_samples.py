"""The samples of an Inspect log, `.eval` or `.json`, as plain values: of a finished one as they stand in the file, of any
other through Inspect's own reader.

Importing Inspect takes seconds, so that it is left to the logs that need it.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tools.plain_values import JsonFields, rows_of, sum_of, text_of
from skilldelta.errors import InputError, MissingExtraError
from skilldelta.files import MOST_DOCUMENT, read_bytes

VERSION = 2
_HEADER, _SUMMARIES = "header.json", "summaries.json"
_TRUNCATED = "...\n(content truncated)"


@dataclass(slots=True)
class InspectLog:
    """What is needed of one log, as plain values."""

    name: str
    header: JsonFields
    """The fields of `eval`."""
    status: str
    samples: list[InspectSample]


@dataclass(slots=True)
class InspectSample:
    """One sample in one epoch."""

    id: str
    epoch: int
    text: str
    metadata: JsonFields
    scores: Mapping[str, Any]
    """Scorers to values."""
    tokens: float | None
    cost_usd: float | None
    seconds: float | None
    error: str


def read_log(tree: ResultTree, name: str) -> InspectLog:
    """A log of a source; what is wrong with its file is one line."""
    if tree.on_disk:
        return _log_at(tree.watched(name), name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(tree.read(name, most=MOST_DOCUMENT))
        return _log_at(path, name, shown_as=tree.path(name))


def _log_at(path: Path, name: str, shown_as: Path | None = None) -> InspectLog:
    shown_as = shown_as or path
    try:
        parts = _finished(path, shown_as) or _through_inspect(path)
        if parts.version > VERSION:
            raise InputError(f"{shown_as}: a log of version {parts.version}; versions up to {VERSION} are known")
        texts = _LongTexts(path)
        unique = {(sample.text("id"), sample.text("epoch")): sample for sample in parts.samples}  # the last one counts
        samples = [_sample(sample, texts) for sample in unique.values()]
    except (InputError, MissingExtraError):
        raise
    except MemoryError:
        raise InputError(f"{shown_as}: the log is too large for the memory; split it") from None
    except Exception as error:  # a file of others: Inspect raises whatever its parts raise
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"{shown_as}: cannot be read as an Inspect log ({reason}); fetch or write it again") from None
    return InspectLog(name, parts.fields, parts.status, samples)


class _Parts(NamedTuple):
    """A log's header and its samples, or the summaries of them, as plain JSON."""

    version: int
    status: str
    fields: JsonFields
    samples: list[JsonFields]


def _finished(path: Path, shown_as: Path) -> _Parts | None:
    """A finished log of the known version as it stands in the file; None where Inspect has to put it together.

    Inspect would check and shorten every summary again on its way out.
    """
    if path.name.lower().endswith(".eval"):
        members = _members(path, shown_as)
        if _HEADER not in members or _SUMMARIES not in members:
            return None
        header, samples = JsonFields(json.loads(members[_HEADER])), rows_of(json.loads(members[_SUMMARIES]))
    else:
        header = JsonFields(json.loads(read_bytes(path, most=MOST_DOCUMENT)))
        samples = header.rows("samples")
    version = header.get("version")
    if not isinstance(version, int) or version < VERSION:
        return None
    return _Parts(version, header.text("status"), header.inner("eval"), samples)


def _members(path: Path, shown_as: Path) -> dict[str, bytes]:
    """Header and summaries. A log that unpacks to more than a memory should take is refused before Inspect unpacks it."""
    with suppress(ImportError):
        import zipfile_zstd  # noqa: F401 - teaches zipfile Inspect's compression before Python 3.14
    size = 0
    members: dict[str, bytes] = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.filename.startswith("samples/"):
                continue
            parts = []
            try:
                with archive.open(member) as file:
                    while part := file.read(1 << 20):
                        size += len(part)
                        if size > MOST_DOCUMENT:
                            raise InputError(
                                f"{shown_as}: the log unpacks to more than {MOST_DOCUMENT >> 20:,} MiB; split it"
                            )
                        if member.filename in (_HEADER, _SUMMARIES):
                            parts.append(part)
            except NotImplementedError:
                raise MissingExtraError("reading Inspect logs", "collect") from None
            if parts:
                members[member.filename] = b"".join(parts)
    return members


def _through_inspect(path: Path) -> _Parts:
    """A log that is still being written, or of an earlier version, through Inspect's own reader."""
    api = _inspect()
    header = api.read_eval_log(path, header_only=True)
    samples = [JsonFields(summary.model_dump()) for summary in api.read_eval_log_sample_summaries(path)]
    return _Parts(header.version, header.status, JsonFields(header.eval.model_dump()), samples)


def _inspect() -> Any:
    try:
        import inspect_ai.log
    except ImportError:
        raise MissingExtraError("reading Inspect logs", "collect") from None
    return inspect_ai.log


def _sample(fields: JsonFields, texts: _LongTexts) -> InspectSample:
    usage = [JsonFields(use) for use in fields.inner("model_usage").raw.values()]
    totals = [use.spent("total_tokens") or use.total("input_tokens", "output_tokens") for use in usage]
    epoch = fields.get("epoch")
    return InspectSample(
        id=fields.text("id"),
        epoch=epoch if isinstance(epoch, int) else 1,
        text=text_of(texts.whole(fields.get("id"), epoch, _input_text(fields.get("input")))),
        metadata=fields.inner("metadata"),
        scores={name: JsonFields(score).get("value") for name, score in fields.inner("scores").raw.items()},
        tokens=sum_of(*totals) if totals else None,
        cost_usd=sum_of(*(use.get("total_cost") for use in usage)) if usage else None,
        seconds=fields.spent("working_time") or fields.spent("total_time"),
        error=_error(fields.get("error")),
    )


def _error(value: Any) -> str:
    """What went wrong: a text in a summary, an object in a sample."""
    return text_of(value) or (JsonFields(value).text("message") or "error" if value else "")


def _input_text(given: Any) -> str:
    """A sample's input as one text: what it is, or what the user says in it."""
    if isinstance(given, str):
        return given
    parts = []
    for message in given if isinstance(given, list) else []:
        if _field(message, "role") in ("user", None):
            content = _field(message, "content")
            listed = [content] if isinstance(content, str) else [_field(part, "text") for part in content or []]
            parts += [part for part in listed if isinstance(part, str)]
    return "\n\n".join(parts)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


class _LongTexts:
    """The whole input of samples whose summary has only its beginning."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[Any, str] = {}

    def whole(self, identity: Any, epoch: Any, text: str) -> str:
        """The text, read from the sample itself where the summary cuts it off."""
        if _TRUNCATED not in text:
            return text
        if identity not in self._known:
            self._known[identity] = self._read(identity, epoch) or text
        return self._known[identity]

    def _read(self, identity: Any, epoch: Any) -> str:
        events = {"events", "messages", "output", "store", "timelines"}
        sample = _inspect().read_eval_log_sample(
            self._path, identity, epoch, resolve_attachments=True, exclude_fields=events
        )
        return _input_text(sample.input)
