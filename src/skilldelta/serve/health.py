"""What `skilldelta doctor` looks at first: the bank, the encoder, the server. Each check is a finding with a remedy."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder
from skilldelta.errors import SkillDeltaError
from skilldelta.nouns import plural
from skilldelta.serve.hooks.server_client import NobodyThereError, ServerAddress, ServerSilentError, ask_server
from skilldelta.version import __version__

Status = Literal["ok", "note", "wrong"]

SAMPLE_TASK = "How many cans are in 3 pallets and 5 crates of beans?"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    status: Status
    detail: str
    remedy: str = ""


def check_bank(location: str) -> Finding:
    """Whether the bank can be opened and has evidence."""
    try:
        with Bank.open(location, readonly=True) as bank:
            panels = bank.panels()
    except SkillDeltaError as error:
        return Finding("bank", "wrong", str(error), "name the bank with --bank, or make one with skilldelta import")
    pairs = sum(panel.pairs for panel in panels)
    message = f"{location}: {plural(pairs, 'pair')} in {plural(len(panels), 'panel')}"
    if not pairs:
        return Finding("bank", "wrong", message, "add executions with and without the skill: skilldelta import FILE")
    stale = sum(panel.stale for panel in panels)
    return Finding("bank", "note" if stale else "ok", f"{message}{f', {stale} of them stale' if stale else ''}")


def check_encoder(location: str, make: Callable[[Bank], Encoder]) -> Finding:
    """Whether the encoder loads and encodes, and whether the bank has vectors of it."""
    started = time.monotonic()
    try:
        with Bank.open(location, readonly=True) as bank:
            encoder = make(bank)
            dimension = encoder.encode([SAMPLE_TASK]).shape[1]
            counts = bank.vector_counts()
    except SkillDeltaError as error:
        return Finding("encoder", "wrong", str(error), "check --encoder, its endpoint and its key")
    message = f"{encoder.identity}: {dimension} dimensions in {time.monotonic() - started:.1f} s"
    if counts and encoder.identity not in counts:
        return Finding("encoder", "note", f"{message}; the bank has vectors of {', '.join(sorted(counts))}")
    return Finding("encoder", "ok", message)


def check_server(server: ServerAddress, banks: list[str]) -> Finding:
    """Whether a server answers, of this version and on the same bank; without one, hooks decide by themselves."""
    url = server.url
    try:
        health = ask_server(server, "/v1/health")
        bank = ask_server(server, "/v1/bank")
    except NobodyThereError as error:
        if not banks:
            return Finding("server", "wrong", f"{error}, and there is no bank here", "start skilldelta serve there")
        return Finding("server", "note", f"{error}; hooks decide in their own process", "skilldelta serve")
    except ServerSilentError as error:
        return Finding("server", "wrong", str(error), error.remedy or "check SKILLDELTA_SERVER and SKILLDELTA_TOKEN")
    version, served = str(health.get("version")), _size(bank.get("tasks"), bank.get("executions"))
    message = f"{url}: version {version}, a bank of {served}"
    if version != __version__:
        return Finding("server", "wrong", f"{message}; this is version {__version__}", "restart skilldelta serve")
    local = [_size_of(one) for one in banks]
    if local and served not in local:
        return Finding("server", "wrong", f"{message}; the bank here has {' or '.join(local)}", "serve the same bank")
    return Finding("server", "ok", message)


def _size_of(location: str) -> str:
    try:
        with Bank.open(location, readonly=True) as bank:
            status = bank.status()
    except SkillDeltaError:
        return "nothing that can be read"
    return _size(status.tasks, status.executions)


def _size(tasks: object, executions: object) -> str:
    """What distinguishes one bank from another over HTTP, which does not reveal paths."""
    runs = sum(executions.values()) if isinstance(executions, Mapping) else 0
    return f"{tasks} tasks and {runs} executions"
