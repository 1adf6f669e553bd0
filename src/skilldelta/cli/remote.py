"""Commands that ask a server in place of a bank on this machine: whom they ask, and their answers as the types that are shown.

`--server URL` or SKILLDELTA_SERVER names the server. The variable is also there for hooks, so a bank that is named in any way,
or that is in this folder, goes before it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import click
from click.core import ParameterSource

from skilldelta.errors import InputError
from skilldelta.serve.hooks.server_client import ServerAddress, ServerSilentError, ask_server
from skilldelta.server_proof import KEY_VARIABLE, known_key

if TYPE_CHECKING:
    from skilldelta.bank import BankStatus
    from skilldelta.gate import Answer, Explanation

T = TypeVar("T")

# A server that has not learned its evidence yet may take longer than a hook would wait.
_SECONDS = 60.0

server_option = click.option(
    "--server",
    envvar="SKILLDELTA_SERVER",
    metavar="URL",
    help="Ask this server in place of a bank on this machine; SKILLDELTA_TOKEN is its token.",
)


class Remote:
    """A server that a command asks."""

    def __init__(self, url: str, environment: Mapping[str, str]) -> None:
        self.url = url
        token, is_pinned = environment.get("SKILLDELTA_TOKEN", ""), bool(environment.get(KEY_VARIABLE))
        self._address = ServerAddress(url, token, _SECONDS, known_key(environment), is_pinned)

    def ask(self, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> dict[str, Any]:
        """The server's document; what keeps it from answering is an error of one line with its remedy."""
        words = urlencode({name: value for name, value in query.items() if value is not None})
        try:
            return ask_server(self._address, f"{path}?{words}" if words else path, None if body is None else dict(body))
        except ServerSilentError as error:
            raise InputError(error.in_full, setting="server") from None

    def read(self, make: Callable[[dict[str, Any]], T], document: dict[str, Any]) -> T:
        """A document as one of our types; one that lacks a field is of another version."""
        try:
            return make(document)
        except (KeyError, TypeError, AttributeError):
            raise InputError(
                f"{self.url} answers as another version of SkillDelta does; update the older of the two"
            ) from None


def remote_of(ctx: click.Context, url: str | None) -> Remote | None:
    """The server to ask; None where a bank is meant."""
    if not url:
        return None
    bank = ctx.get_parameter_source("bank")
    if ctx.get_parameter_source("server") is ParameterSource.COMMANDLINE:
        if bank is ParameterSource.COMMANDLINE:
            raise InputError("--bank and --server are two places to ask; name one of them")
        return Remote(url, os.environ)
    has_bank = bank is not ParameterSource.DEFAULT or Path(ctx.params["bank"]).exists()
    return None if has_bank else Remote(url, os.environ)


def refuse_local(ctx: click.Context, names: Mapping[str, str]) -> None:
    """Options that only a bank on this machine can follow, by parameter name and flag."""
    for name, flag in names.items():
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(
                f"{flag} needs the bank itself; leave it out, or name a bank with --bank in place of a server"
            )


def answer_of(document: dict[str, Any]) -> Answer:
    """The answer behind the document of `/v1/decide`."""
    from skilldelta.gate import Answer, CarriedOver, Decision, Neighbor
    from skilldelta.gate.basis import Basis
    from skilldelta.intervals import Interval
    from skilldelta.predictor import Settings

    support, carried, basis = document["support"], document["carried_over"], document["basis"]
    names = ("action", "gain", "threshold", "reason", "would_change")
    return Answer(
        Decision(**{name: document[name] for name in names}, is_fallback=document["fallback"]),
        agent=document["agent"],
        skill=document["skill"],
        suite=document["suite"] or "",
        family=document["family"] or "",
        estimator=document["estimator"],
        settings=Settings(k=document["k"], weighting=document["weighting"]),
        scope=document["scope"],
        settings_choose=document["settings_choose"],
        other_skills=support["other_skills"],
        eligible=support["eligible"],
        neighbors=tuple(Neighbor(**neighbor) for neighbor in document["neighbors"]),
        effective=support["effective"],
        radius=support["radius"],
        familiarity=support["familiarity"],
        interval=None if document["interval"] is None else Interval(**document["interval"]),
        of_previous_revision=document["previous_revision"],
        carried_over=None if carried is None else CarriedOver(**carried),
        basis=None if basis is None else Basis(**{field.name: basis[field.name] for field in fields(Basis)}),
        explanation=_explanation(document.get("explanation")),
        decision_id=document.get("decision_id"),
        warning=document.get("warning"),
        logged_document=document,
    )


def _explanation(document: dict[str, Any] | None) -> Explanation | None:
    from skilldelta.costs import Cost
    from skilldelta.gate import Explanation
    from skilldelta.probability import Chance

    if document is None:
        return None

    def chance(name: str) -> Chance | None:
        value = document[name]
        return None if value is None else Chance(value["help"], value["harm"])

    cost = None if document["cost"] is None else Cost(**document["cost"])
    return Explanation(document["components"], document["shares"], chance("chance"), chance("usual_chance"), cost)


def status_of(url: str, document: dict[str, Any]) -> BankStatus:
    """What `/v1/bank` says of a server's bank; its place is the server's address."""
    from skilldelta.bank import BankStatus
    from skilldelta.bank.learned import LearnedStates
    from skilldelta.bank.status import Coverage, Panel
    from skilldelta.records import Agent

    panels = tuple(
        Panel(**{**panel, "agent": Agent(**panel["agent"]), "coverage": Coverage(**panel["coverage"])})
        for panel in document["panels"]
    )
    return BankStatus(
        **{**document, "location": url, "learned": LearnedStates(**document["learned"]), "panels": panels}
    )
