"""Transcripts as Inspect logs: files that `inspect view` opens, kept beside the bank.

Chat agents do not run inside Inspect, so their conversations are written in its log format (a zip of JSON documents, log
version 2) when the collector stops. A log covers a range of the transcript and is named by it; a collector that was killed
leaves the range to the next start. Written without importing Inspect, which takes seconds; a test reads the files with it.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from skilldelta.collect.manifest import Manifest
from skilldelta.collect.reply_text import without_surrogates
from skilldelta.collect.transcript import TRANSCRIPT_FILE, read_row
from skilldelta.files import replacing

# Samples per log: what is held in memory while writing.
PORTION = 1000

_FINISH = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}


def write_logs(folder: Path, manifest: Manifest, now: datetime) -> list[Path]:
    """Write what the transcript holds beyond the last log; returns the new files."""
    transcript = folder / TRANSCRIPT_FILE
    if not transcript.exists():
        return []
    written = []
    start = _covered(folder)
    with transcript.open("rb") as file:
        file.seek(start)
        while rows := _portion(file):
            end = file.tell()
            path = folder / f"transcript-{start}-{end}.eval"
            _write_log(path, rows, manifest, now)
            written.append(path)
            start = end
    return written


def _covered(folder: Path) -> int:
    """Up to which byte of the transcript logs exist."""
    matches = (re.search(r"transcript-\d+-(\d+)\.eval$", path.name) for path in folder.glob("*.eval"))
    return max((int(match[1]) for match in matches if match), default=0)


def _portion(file: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while len(rows) < PORTION:
        place = file.tell()
        line = file.readline()
        if not line.endswith(b"\n"):
            file.seek(place)  # torn by a kill; the execution was run again and has a whole line further on
            break
        row = read_row(line)
        if row is not None:
            rows.append(row)
    return rows


def _write_log(path: Path, rows: list[dict[str, Any]], manifest: Manifest, now: datetime) -> None:
    model = f"openai-api/{manifest.settings.get('model') or manifest.agent.name}"
    samples = list(_samples(rows, model))
    with (
        replacing(path, private=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", _json(sample))
        archive.writestr("summaries.json", _json([_summary(sample) for sample in samples]))
        archive.writestr("header.json", _json(_header(path, samples, rows, manifest, model, now)))


def _samples(rows: list[dict[str, Any]], model: str) -> Iterator[dict[str, Any]]:
    """One sample per row; a second attempt at the same execution is its next epoch."""
    epochs: dict[str, int] = {}
    for row in rows:
        epoch = epochs[row["sample"]] = epochs.get(row["sample"], 0) + 1
        yield _sample(row, epoch, model)


def _sample(row: Mapping[str, Any], epoch: int, model: str) -> dict[str, Any]:
    details = row.get("details", {})
    messages = [dict(message) for message in row.get("messages", [])]
    task = next((message["content"] for message in messages if message["role"] == "user"), row["task_id"])
    sample: dict[str, Any] = {
        "id": row["sample"],
        "epoch": epoch,
        "input": task,
        "target": str(row["expected"]),
        "messages": messages,
        "metadata": {
            key: row[key] for key in ("task_id", "family", "skill", "skill_digest", "condition", "repetition", "status")
        },
        "total_time": row["seconds"],
    }
    if "reply" in row:
        reply = {"role": "assistant", "content": row["reply"], "source": "generate"}
        stop = _FINISH.get(details.get("finish", ""), "unknown")
        sample["messages"].append(reply)
        sample["output"] = {"model": model, "choices": [{"message": reply, "stop_reason": stop}]}
        tokens_in, tokens_out = details.get("tokens_in"), details.get("tokens_out")
        if tokens_in is not None and tokens_out is not None:
            usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
            sample["output"]["usage"] = usage
            sample["model_usage"] = {model: usage}
    if row["success"] is not None:
        explanation = f"expected {row['expected']!r}"
        sample["scores"] = {
            "success": {"value": row["success"], "answer": row.get("answer"), "explanation": explanation}
        }
    if row.get("error"):
        sample["error"] = {"message": row["error"], "traceback": "", "traceback_ansi": ""}
    return sample


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    fields = ("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "total_time")
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {**{key: sample[key] for key in fields if key in sample}, **error, "completed": True}


def _header(
    path: Path, samples: list[dict[str, Any]], rows: list[dict[str, Any]], manifest: Manifest, model: str, now: datetime
) -> dict[str, Any]:
    identity = f"{manifest.agent.fingerprint}-{path.stem}"
    created = now.astimezone(UTC).isoformat(timespec="seconds")
    scored = [row for row in rows if row["success"] is not None]
    parts = {
        "mean": [row["success"] for row in scored],
        "with_skill": [row["success"] for row in scored if row["condition"] == "use"],
        "without_skill": [row["success"] for row in scored if row["condition"] == "skip"],
    }
    score = {
        "name": "success",
        "scorer": "success",
        "scored_samples": len(scored),
        "metrics": {name: {"name": name, "value": fmean(values)} for name, values in parts.items() if values},
        "unscored_samples": len(rows) - len(scored),
    }
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": identity,
            "run_id": identity,
            "task_id": f"{manifest.suite}-{manifest.agent.fingerprint}",
            "created": created,
            "task": manifest.suite,
            "solver": str(manifest.settings.get("harness", "")),
            "dataset": {
                "name": manifest.suite,
                "samples": len(samples),
                "sample_ids": [sample["id"] for sample in samples],
            },
            "model": model,
            "config": {},
            "packages": {"skilldelta": manifest.versions["skilldelta"]},
            "metadata": {
                "agent": manifest.agent.name,
                "fingerprint": manifest.agent.fingerprint,
                "seed": manifest.seed,
            },
        },
        "results": {"total_samples": len(rows), "completed_samples": len(scored), "scores": [score]},
        "stats": {"started_at": created, "completed_at": created},
    }


def _json(document: Any) -> str:
    """For Inspect, whose reader refuses lone surrogates; the transcript has them as they came."""
    return without_surrogates(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
