"""Puts the outcomes of a finished collection into the package: runs.jsonl and the manifest that says how they were made.

Usage: python local_model/package_outcomes.py BANK   (the bank that `skilldelta collect` filled)
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from skilldelta.bank import Bank
from skilldelta.bank.export import export_runs

ROOT = Path(__file__).resolve().parents[1]
OUTCOMES = ROOT / "src" / "skilldelta" / "demo" / "outcomes"


def main(bank_path: Path) -> None:
    """Write both files of `demo/outcomes`."""
    OUTCOMES.mkdir(exist_ok=True)
    with Bank.open(bank_path, readonly=True) as bank:
        count = export_runs(bank, OUTCOMES / "runs.jsonl")
        pairing = bank.pairing(agent=bank.resolve_agent(None))
    (source,) = Path(f"{bank_path}.collect").glob("*/manifest.json")
    manifest = json.loads(source.read_text(encoding="utf-8"))
    repeated = sum(pair.r0 >= 3 and pair.r1 >= 3 for pair in pairing.pairs)
    document = {
        "summary": summary(manifest, len(pairing.pairs), repeated),
        "model_file": "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, sha256 and source in local_model/fetch.py",
        "executions": count,
        "pairs": len(pairing.pairs),
        "pairs_with_three_repetitions": repeated,
        **without_places(manifest),
    }
    text = json.dumps(document, indent=1, ensure_ascii=False)
    (OUTCOMES / "manifest.json").write_text(text + "\n", encoding="utf-8")
    print(f"{count} executions, {len(pairing.pairs)} pairs, {repeated} of them with three repetitions")


def summary(manifest: dict[str, Any], pairs: int, repeated: int) -> str:
    """One sentence that the demo prints."""
    settings = manifest["settings"]
    return (
        f"collected with `skilldelta collect` from {settings['model']} in 4-bit precision on a local machine, at temperature "
        f"{settings['temperature']} with a sampling seed that differs between repetitions; {repeated} of the {pairs} tasks "
        f"ran three times in each arm, the others once"
    )


def without_places(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest without the paths of the machine that made it."""
    for invocation in manifest["invocations"]:
        invocation["command"] = re.sub(r"(--bank )\S*/", r"\1", invocation["command"])
    return manifest


if __name__ == "__main__":
    main(Path(sys.argv[1]))
