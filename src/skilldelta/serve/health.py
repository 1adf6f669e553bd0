"""What `skilldelta doctor` looks at first: the bank, the encoder, the server. Each check is a finding with a remedy."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder
from skilldelta.errors import SkillDeltaError
from skilldelta.nouns import plural
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
    told = f"{location}: {plural(pairs, 'pair')} in {plural(len(panels), 'panel')}"
    if not pairs:
        return Finding("bank", "wrong", told, "add executions with and without the skill: skilldelta import FILE")
    stale = sum(panel.stale for panel in panels)
    return Finding("bank", "note" if stale else "ok", f"{told}{f', {stale} of them stale' if stale else ''}")


def check_encoder(location: str, make: Callable[[Bank], Encoder]) -> Finding:
    """Whether the encoder loads and encodes, and whether the bank has vectors of it."""
    started = time.monotonic()
    try:
        with Bank.open(location, readonly=True) as bank:
            encoder = make(bank)
            dimension = encoder.encode([SAMPLE_TASK]).shape[1]
            known = bank.vector_counts()
    except SkillDeltaError as error:
        return Finding("encoder", "wrong", str(error), "check --encoder, its endpoint and its key")
    told = f"{encoder.identity}: {dimension} dimensions in {time.monotonic() - started:.1f} s"
    if known and encoder.identity not in known:
        return Finding("encoder", "note", f"{told}; the bank has vectors of {', '.join(sorted(known))}")
    return Finding("encoder", "ok", told)


def check_server(url: str, token: str, banks: list[str], *, timeout: float) -> Finding:
    """Whether a server answers, of this version and on the same bank; without one, hooks decide by themselves."""
    try:
        health = _get(url, "/v1/health", token, timeout)
        bank = _get(url, "/v1/bank", token, timeout)
    except OSError as error:
        told = f"{url}: {error.strerror or error}; hooks decide in their own process"
        return Finding("server", "note", told, "skilldelta serve")
    except ValueError as error:
        return Finding("server", "wrong", f"{url}: {error}", "check SKILLDELTA_SERVER and SKILLDELTA_TOKEN")
    version, served = str(health.get("version")), _size(bank.get("tasks"), bank.get("executions"))
    told = f"{url}: version {version}, a bank of {served}"
    if version != __version__:
        return Finding("server", "wrong", f"{told}; this is version {__version__}", "restart skilldelta serve")
    local = [_size_of(one) for one in banks]
    if local and served not in local:
        return Finding("server", "wrong", f"{told}; the bank here has {' or '.join(local)}", "serve the same bank")
    return Finding("server", "ok", told)


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


def _get(url: str, path: str, token: str, timeout: float) -> dict[str, Any]:
    """A document of a server; an OSError where there is none, a ValueError where it answers as another would."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    address = urlsplit(url)
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    if not address.hostname:
        raise ValueError("is no address")
    connection = kind(address.hostname, address.port, timeout=timeout)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        response = connection.getresponse()
        document = json.loads(response.read(1 << 20))
    except OSError:  # some of these are HTTPExceptions or ValueErrors, too
        raise
    except (HTTPException, ValueError, RecursionError) as error:
        raise ValueError(f"does not answer as SkillDelta does ({type(error).__name__})") from None
    finally:
        connection.close()
    if response.status != 200 or not isinstance(document, dict):
        raise ValueError(f"answered {path} with status {response.status}")
    return document
