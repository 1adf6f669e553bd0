"""`skilldelta token`: who may reach a server on an address that others can reach."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, table, write_json

if TYPE_CHECKING:
    from skilldelta.serve.access_tokens import AccessToken, TokenScope


@click.group("token")
def command() -> None:
    """Access tokens of the server: create, list, revoke; the key by which other machines know it."""


@command.command("create")
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["read", "write"]),
    default="write",
    help="read sees and asks; write also records, imports and starts jobs.",
)
@click.option(
    "--expires", type=click.FloatRange(0, min_open=True), metavar="DAYS", help="After so many days it is refused."
)
@settings.tokens_option
@settings.json_option
def create(name: str, scope: TokenScope, expires: float | None, tokens: Path, as_json: bool) -> None:
    """Make a token and show it, once: only a digest of it is kept.

    NAME is for you, to list and revoke it. Clients send it as `Authorization: Bearer TOKEN`.
    """
    from skilldelta.serve.access_tokens import TokenFile

    secret = TokenFile(tokens).create(name, scope, now=time.time(), days=expires)
    if as_json:
        write_json({"name": name, "scope": scope, "token": secret})
    else:
        click.echo(secret)
        note("keep it now; it cannot be shown again")


@command.command("list")
@settings.tokens_option
@settings.json_option
def list_tokens(tokens: Path, as_json: bool) -> None:
    """The tokens there are, without their secrets."""
    from skilldelta.serve.access_tokens import TokenFile

    tokens_now, now = TokenFile(tokens).tokens(), time.time()
    if as_json:
        write_json({"tokens": [_document(token, now) for token in tokens_now]})
        return
    rows = [[token.name, token.scope, _day(token.created), _expiry(token, now)] for token in tokens_now]
    if rows:
        console().print(table("Tokens", ("name", "scope", "created", "expires"), rows, left=4))
    else:
        note("there are no tokens; make one with: skilldelta token create NAME")


@command.command("revoke")
@click.argument("name")
@settings.tokens_option
def revoke(name: str, tokens: Path) -> None:
    """Remove a token; running servers refuse it from now on."""
    from skilldelta.serve.access_tokens import TokenFile

    TokenFile(tokens).revoke(name)
    note(f"the token {name} is revoked")


def _document(token: AccessToken, now: float) -> dict[str, object]:
    return {
        "name": token.name,
        "scope": token.scope,
        "created": token.created,
        "expires": token.expires,
        "expired": token.expires is not None and token.expires <= now,
    }


def _expiry(token: AccessToken, now: float) -> str:
    if token.expires is None:
        return "never"
    return f"{_day(token.expires)}{' (expired)' if token.expires <= now else ''}"


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"


@command.command("server-key")
def server_key() -> None:
    """Print the key by which clients know this user's server, made where there is none.

    Set it as SKILLDELTA_SERVER_KEY on another machine of a private network, which may then ask this server without TLS. It
    proves the server to its clients, and hides nothing from those who listen on the way.
    """
    import os

    from skilldelta.errors import InputError
    from skilldelta.server_proof import key_file, own_key

    key = own_key(os.environ)
    if not key:
        place = key_file(os.environ) or "a home folder"
        raise InputError(
            f"no key can be kept at {place}; make the folder yours alone (chmod 700), or set XDG_STATE_HOME"
        )
    click.echo(key)
